# The Debian package: cmake --preset package && cmake --build --preset package --target package.
# Debian 12's own StarPU, 1.3.10, takes 4 CPU workers at most; the StarPU that was built for this
# program comes with it instead, in a folder of its own that nothing else looks into.
set(private_libraries ${CMAKE_INSTALL_LIBDIR}/starpmc)
string(REPLACE "starpu-" "" series ${STARPU_MODULE_NAME})
foreach(name starpu-${series} starpumpi-${series})
  file(GLOB library ${STARPU_LIBDIR}/lib${name}.so.?)
  if(NOT library)
    continue()
  endif()
  get_filename_component(file ${library} REALPATH)
  get_filename_component(soname ${library} NAME)
  install(PROGRAMS ${file} DESTINATION ${private_libraries} RENAME ${soname})
  # Where the linker found one StarPU library beside the other is no place of the user's machine.
  install(CODE "
    file(CHMOD \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${private_libraries}/${soname}\"
         PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
    execute_process(COMMAND readelf -d
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${private_libraries}/${soname}\" OUTPUT_VARIABLE dynamic)
    if(dynamic MATCHES \"RUNPATH\")
      file(RPATH_SET FILE
        \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${private_libraries}/${soname}\"
        NEW_RPATH \"/usr/${private_libraries}\")
    endif()")
endforeach()
set_target_properties(starpmc PROPERTIES INSTALL_RPATH "/usr/${private_libraries}")

set(papers ${CMAKE_INSTALL_DATADIR}/doc/starpmc)
set(packed ${CMAKE_BINARY_DIR}/packed)
file(MAKE_DIRECTORY ${packed})
foreach(pair "debian-changelog changelog.Debian" "RELEASE_NOTES.md RELEASE_NOTES.md")
  separate_arguments(pair)
  list(GET pair 0 from)
  list(GET pair 1 to)
  execute_process(COMMAND gzip -9nc ${CMAKE_CURRENT_LIST_DIR}/${from} OUTPUT_FILE ${packed}/${to}.gz
                  COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${packed}/${to}.gz DESTINATION ${papers})
endforeach()
install(FILES ${CMAKE_CURRENT_LIST_DIR}/debian-copyright DESTINATION ${papers} RENAME copyright)
install(CODE "
  execute_process(COMMAND gzip -9nf
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/starpmc.1\"
    COMMAND_ERROR_IS_FATAL ANY)")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME starpmc)
set(CPACK_PACKAGE_VENDOR starpmc)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
    GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${STARPMC_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "perturbative Monte Carlo QM/MM on every core and OpenCL device")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"A solute treated by quantum mechanics in a periodic box of rigid classical
molecules, sampled by a Monte Carlo chain whose density of the solute is
updated every so many steps. The energy terms are tasks of StarPU, which
shares them out among the CPU cores and OpenCL devices of a machine;
decisions do not depend on which of them computed what.

StarPU 1.4 is part of the package. The QM program, PySCF, is not:
/usr/share/starpmc/configs/packages/README.md says how to add it.")
set(CPACK_DEBIAN_PACKAGE_DEPENDS "gromacs-data")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd, python3, python3-venv")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${STARPU_LIBDIR})
include(CPack)
