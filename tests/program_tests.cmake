# Tests of the program as a whole, and those that are scripts. Status 77: skipped, with a reason.
# Those marked `device` start StarPU with every worker: one at a time, so that the calibrations
# they share are written by one process.
if(STARPMC_TEST_PYTHON)
  set(test_python ${STARPMC_TEST_PYTHON})
else()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(test_python ${Python3_EXECUTABLE})
endif()
set(starpu_home ${CMAKE_CURRENT_BINARY_DIR}/starpu-home)

# starpmc_script_test(NAME TIMEOUT LABELS COMMAND...)
function(starpmc_script_test name timeout labels)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${timeout} SKIP_RETURN_CODE 77 LABELS "${labels}"
    ENVIRONMENT "STARPMC_TEST_STARPU_HOME=${starpu_home};OMP_NUM_THREADS=1;OPENBLAS_NUM_THREADS=1")
  if("device" IN_LIST labels)
    set_tests_properties(${name} PROPERTIES PROCESSORS 2 RESOURCE_LOCK starpu)
  endif()
endfunction()

# starpmc_program_test(NAME SCRIPT TIMEOUT LABELS ARGUMENTS...)
function(starpmc_program_test name script timeout labels)
  starpmc_script_test(${name} ${timeout} "${labels}"
    ${test_python} ${CMAKE_CURRENT_SOURCE_DIR}/${script} $<TARGET_FILE:starpmc> ${ARGN})
endfunction()

if(TARGET starpmc)
  starpmc_program_test(reference/energies reference/test_energies.py 600 "reference;device")
  starpmc_program_test(reference/gromacs reference/test_gromacs.py 300 "reference;device")
  starpmc_program_test(reference/averages_of_argon reference/averages_against_gromacs.py 600
                       "reference;device" --systems argon --length 0.15)
  starpmc_program_test(reference/averages reference/averages_against_gromacs.py 7200
                       "reference;device;slow")
  starpmc_program_test(reference/nist reference/test_nist.py 120 "reference;device")
  starpmc_program_test(reference/jumps reference/test_jumps.py 600 "reference;device")
  starpmc_program_test(reference/jumps_of_200_updates reference/test_jumps.py 7200
                       "reference;device;slow" --updates 200 --interval 1000)
  starpmc_program_test(reference/water reference/water_against_openmm.py 7200
                       "reference;device;slow")
  starpmc_program_test(reference/density_potential reference/density_wells.py 300 "reference"
                       potential)
  starpmc_program_test(reference/density_wells reference/density_wells.py 7200
                       "reference;device;slow")
  starpmc_program_test(reference/exact_ensemble reference/exact_ensemble.py 900 "reference;device")
  starpmc_program_test(reference/exact_ensemble_of_a_million reference/exact_ensemble.py 14400
                       "reference;device;slow" --samples 900000 --blocks 80000)
  starpmc_program_test(reference/exact_with_pyscf reference/exact_with_pyscf.py 14400
                       "reference;device;slow")
  starpmc_program_test(analysis/pymbar analysis/test_pymbar.py 300 "analysis;device")
  starpmc_program_test(app/decisions app/test_decisions.py 600 "app;device")
  starpmc_program_test(app/decision_bound app/test_decision_bound.py 600 "app;device")
  starpmc_program_test(app/same_bytes app/test_same_bytes.py 600 "app;device")
  starpmc_program_test(app/team app/test_team.py 600 "app;device")
  starpmc_program_test(app/queued_terms app/test_queued_terms.py 300 "app;device")
  starpmc_program_test(app/intel_opencl app/test_intel_opencl.py 300 "app;device")
  starpmc_program_test(app/potential app/test_potential.py 600 "app;device")
  starpmc_program_test(app/drift app/test_drift.py 600 "app;device")
  starpmc_program_test(app/lennard_jones_fluid app/test_lennard_jones_fluid.py 600 "app;device")
  starpmc_program_test(app/output app/test_output.py 300 "app;device")
  starpmc_program_test(app/qmmm_energy app/test_qmmm_energy.py 300 "app;device")
  starpmc_program_test(app/report app/test_report.py 600 "app;device")
  starpmc_program_test(app/structure app/test_structure.py 300 "app;device")
  starpmc_program_test(app/pressure app/test_pressure.py 300 "app;device")
  starpmc_program_test(app/exact app/test_exact.py 900 "app;device")
  starpmc_program_test(app/resume app/test_resume.py 900 "app;device")
  starpmc_program_test(app/mixed_up app/test_mixed_up.py 300 "app;device")
  starpmc_program_test(app/more_steps app/test_more_steps.py 600 "app;device")
  starpmc_program_test(app/from_run app/test_from_run.py 300 "app;device")
  starpmc_program_test(app/equilibration app/test_equilibration.py 600 "app;device")
  starpmc_program_test(app/faults app/test_faults.py 300 "app;device")
  starpmc_program_test(app/interrupted_qm app/test_interrupted_qm.py 300 "app;device")
  starpmc_program_test(app/shared_workers app/test_shared_workers.py 300 "app;device")
  starpmc_program_test(app/device_server app/test_device_server.py 300 "app;device")
  starpmc_program_test(app/faulty_devices app/test_faulty_devices.py 300 "app;device"
                       $<TARGET_FILE:failing_opencl>)
  starpmc_program_test(app/ranks app/test_ranks.py 600 "app;device")
  starpmc_program_test(app/ranks_over_network app/test_ranks_over_network.py 300 "app;device")
  starpmc_program_test(app/bench app/test_bench.py 120 "app;device")
  starpmc_program_test(app/evaluation app/test_evaluation.py 600 "app;device"
                       $<TARGET_FILE:fake_nvml> Published Plan WholeRun AgainstPaper Power
                       ChainScaling Inputs ExactRuns)
  # All of the paper's tables, and the Cell experiment, with small boxes.
  starpmc_program_test(app/evaluation_of_all app/test_evaluation.py 600 "app;device;slow"
                       $<TARGET_FILE:fake_nvml> Paper Cell)
  starpmc_program_test(app/score app/test_score.py 300 "app;device")
  starpmc_program_test(path/path path/test_path.py 300 "path")
  starpmc_program_test(path/path_slow path/test_path.py 1800 "path;slow" --slow SlowTest)
  starpmc_program_test(profile/profile profile/test_profile.py 1200 "profile;device")
  starpmc_program_test(profile/ranks profile/test_profile_ranks.py 600 "profile;device"
                       Same.test_as_one_process Refused)
  starpmc_program_test(profile/ranks_that_end profile/test_profile_ranks.py 900 "profile;device"
                       Failed Stopped)
  starpmc_program_test(profile/ranks_ahead profile/test_profile_ranks.py 600 "profile;device"
                       Same.test_references_made_ahead)
  starpmc_program_test(profile/rigid_solvent profile/test_rigid_solvent.py 600 "profile;device")
  starpmc_program_test(profile/estimates profile/test_estimates.py 300 "profile")
  starpmc_program_test(profile/added_images profile/test_added_images.py 300 "profile;device"
                       AddedImages)
  starpmc_program_test(profile/added_images_and_steps profile/test_added_images.py 900
                       "profile;device;slow" MoreSteps)
  starpmc_program_test(profile/report profile/test_profile_report.py 300 "profile;device")
  starpmc_program_test(profile/faulty_device profile/test_faulty_device.py 300 "profile;device"
                       $<TARGET_FILE:failing_opencl>)
  starpmc_program_test(profile/alchemlyb profile/test_alchemlyb.py 300 "profile;device")
  # A few waters, and as many as the validation has for those who ask for it.
  starpmc_program_test(profile/openmm profile/profile_against_openmm.py 1800 "profile;device;slow"
                       --waters 64 --cutoff 6 --sweeps 6000 --equilibration-sweeps 300
                       --picoseconds 15 --equilibration-picoseconds 3 --largest-error 4)
  starpmc_program_test(profile/openmm_of_500_waters profile/profile_against_openmm.py 28800
                       "profile;device;slow")
  starpmc_program_test(profile/closed_cycles profile/closed_cycles.py 7200 "profile;device;slow")
  starpmc_program_test(app/performance_models app/test_performance_models.py 120 "app;device")
  starpmc_program_test(app/trajectory app/test_trajectory.py 120 "app;device")
  starpmc_program_test(app/trace app/test_trace.py 300 "app;device")
  starpmc_program_test(app/trace_tools app/test_trace_tools.py 300 "app;device;slow")
  starpmc_program_test(app/inputs app/test_inputs.py 120 "app;device")
  starpmc_program_test(app/malformed app/test_malformed.py 600 "app;device")
  starpmc_program_test(app/check app/test_check.py 400 "app;device")
  starpmc_program_test(app/bounded_inputs app/test_bounded_inputs.py 600 "app;device")
  starpmc_program_test(app/foreign_text app/test_foreign_text.py 120 "app;device")
  starpmc_program_test(app/expression app/test_expression.py 60 "app")
  starpmc_program_test(app/expression_openmm app/test_expression_openmm.py 300 "app")
  starpmc_program_test(app/potential_openmm app/test_potential_openmm.py 120 "app;device")
  starpmc_program_test(python/package python/test_package.py 300 "python;device")
  # Few attempts every day, many for those who ask for them: faults/README.md.
  foreach(fault "kill_loop 3 200" "damaged_run 15 600" "full_disk 3 150" "qm_worker 6 300"
          "damaged_cache 4 300" "fuzz_readers 28 5000")
    separate_arguments(fault)
    list(POP_FRONT fault name few many)
    starpmc_program_test(faults/${name} faults/${name}.py 300 "faults;device" --count ${few})
    starpmc_program_test(faults/${name}_long faults/${name}.py 7200 "faults;device;slow"
                         --count ${many} --seed 2)
  endforeach()
  starpmc_program_test(documentation/man_page documentation/test_man_page.py 60 "documentation")
  starpmc_program_test(documentation/completion documentation/test_completion.py 120
                       "documentation")
  starpmc_program_test(documentation/tutorial documentation/test_tutorial.py 600
                       "documentation;device")
  starpmc_program_test(documentation/tutorial_with_pyscf documentation/test_tutorial.py 3600
                       "documentation;device;slow" --pyscf)
  starpmc_program_test(documentation/option_tables documentation/test_option_tables.py 60
                       "documentation" ${CMAKE_SOURCE_DIR}/configs/README.md)
  starpmc_program_test(app/install app/test_install.py 120 "app;device"
                       ${CMAKE_BINARY_DIR} ${CMAKE_COMMAND})
endif()

starpmc_script_test(reference/model_ensemble 300 "reference"
  ${test_python} ${CMAKE_CURRENT_SOURCE_DIR}/reference/test_model_ensemble.py)
starpmc_script_test(setup/quickstart 120 "setup"
  ${CMAKE_CURRENT_SOURCE_DIR}/setup/test_quickstart.sh ${CMAKE_SOURCE_DIR})
starpmc_script_test(setup/packages 60 "setup"
  ${test_python} ${CMAKE_CURRENT_SOURCE_DIR}/setup/test_packages.py)

starpmc_script_test(documentation/pages 60 "documentation"
  ${test_python} ${CMAKE_CURRENT_SOURCE_DIR}/documentation/test_pages.py ${CMAKE_SOURCE_DIR})
starpmc_script_test(documentation/energy_terms 60 "documentation"
  ${test_python} ${CMAKE_CURRENT_SOURCE_DIR}/documentation/test_energy_terms.py ${CMAKE_SOURCE_DIR})

# What a GPU of NVIDIA's runs, on PoCL, which compiles it for minutes.
starpmc_script_test(kernels/windows_of_three_launches 3600 "kernels;slow"
  $<TARGET_FILE:kernels_tests> --gtest_also_run_disabled_tests
  --gtest_filter=*DISABLED_DoubtsOfALaunchOfTheirOwn*)
set_tests_properties(kernels/windows_of_three_launches PROPERTIES
  FAIL_REGULAR_EXPRESSION "Running 0 tests")

# The replay of scale_on_paper/run, where that has been built.
starpmc_script_test(scale_on_paper/report 60 "bench" ${test_python}
  ${CMAKE_CURRENT_SOURCE_DIR}/scale_on_paper/test_scale_on_paper.py)
starpmc_script_test(scale_on_paper/replay 300 "bench;slow" ${test_python}
  ${CMAKE_CURRENT_SOURCE_DIR}/scale_on_paper/test_scale_on_paper.py
  ${CMAKE_SOURCE_DIR}/build/scale-on-paper/tests/scale_on_paper/replay_chains)

# Without a Python for the tests they skip themselves: /usr/bin/python3 has no PySCF or MDAnalysis.
file(GLOB qm_scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/qm/test_*.py)
foreach(script ${qm_scripts})
  get_filename_component(name ${script} NAME_WE)
  string(REPLACE "test_" "qm/" name ${name})
  starpmc_script_test(${name} 600 "qm" ${test_python} ${script})
endforeach()
starpmc_script_test(qm/exact_ensemble_of_all_methods 3600 "qm;slow" ${test_python}
  ${CMAKE_CURRENT_SOURCE_DIR}/qm/test_exact_ensemble.py --all)
starpmc_script_test(path/geometry 60 "path" ${test_python}
  ${CMAKE_CURRENT_SOURCE_DIR}/path/test_geometry.py)
starpmc_script_test(qm/embedding_of_all_frames 7200 "qm;slow" ${test_python}
  ${CMAKE_CURRENT_SOURCE_DIR}/qm/test_embedding.py --all)

add_executable(write_trajectory io/write_trajectory.cpp)
target_link_libraries(write_trajectory PRIVATE starpmc_io)
starpmc_script_test(io/trajectory_mdanalysis 120 "io"
  ${test_python} ${CMAKE_CURRENT_SOURCE_DIR}/io/test_trajectory_mdanalysis.py
  $<TARGET_FILE:write_trajectory>)
