// write_trajectory FOLDER [FRAMES]: writes trajectory.h5md, system.pdb and expected.json into a
// folder, for test_trajectory_mdanalysis.py. Without FRAMES five frames; with 0 it writes frames
// until it is killed, with a line on standard output for each frame done.

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/checked_file.hpp"
#include "io/site_order.hpp"
#include "io/trajectory.hpp"
#include "tests/io/example_system.hpp"

namespace starpmc {
namespace {

constexpr std::uint64_t steps_per_frame = 250;

void write_until_killed(const System& system, Trajectory& trajectory) {
  constexpr int frames_held = 100;  // a run flushes once a second
  std::string reported;
  for (int frame = 0;; ++frame) {
    trajectory.append(steps_per_frame * static_cast<std::uint64_t>(frame),
                      test::moved(system, frame));
    reported += std::to_string(trajectory.frame_count()) + "\n";
    if (frame % frames_held != 0) continue;
    trajectory.flush();
    std::cout << std::exchange(reported, "") << std::flush;
  }
}

void write_frames(const System& system, Trajectory& trajectory, int frames,
                  const std::filesystem::path& folder) {
  nlohmann::json expected;
  for (int frame = 0; frame < frames; ++frame) {
    const auto molecules = test::moved(system, frame);
    const std::uint64_t step = steps_per_frame * static_cast<std::uint64_t>(frame);
    trajectory.append(step, molecules);
    nlohmann::json centres = nlohmann::json::array();
    nlohmann::json orientations = nlohmann::json::array();
    for (const Molecule& molecule : molecules) {
      const auto& [w, x, y, z] = molecule.orientation;
      centres.push_back({molecule.centre.x, molecule.centre.y, molecule.centre.z});
      orientations.push_back({w, x, y, z});
    }
    expected["frames"].push_back({{"step", step},
                                  {"positions", particle_positions(system, molecules)},
                                  {"centres", centres},
                                  {"orientations", orientations}});
  }
  trajectory.close();
  expected["box"] = {system.box.lengths.x, system.box.lengths.y, system.box.lengths.z};
  for (const ParticleLabel& label : particle_labels(system)) {
    expected["names"].push_back(label.name);
    expected["residues"].push_back(label.residue);
    expected["atomic_numbers"].push_back(label.atomic_number);
    expected["charges"].push_back(label.charge);
    expected["masses"].push_back(label.mass);
  }
  write_file_atomically(folder / "expected.json", expected.dump(1));
}

}  // namespace
}  // namespace starpmc

int main(int argument_count, char** arguments) {
  using namespace starpmc;
  constexpr int default_frames = 5;
  if (argument_count < 2) return 2;
  try {
    const std::filesystem::path folder = arguments[1];
    const int frames = argument_count > 2 ? std::atoi(arguments[2]) : default_frames;
    const System system = test::example_system();
    write_system_pdb(folder / "system.pdb", system, system.molecules);
    Trajectory trajectory(folder / "trajectory.h5md", system, {.creator_version = "test"});
    if (frames == 0) write_until_killed(system, trajectory);
    write_frames(system, trajectory, frames, folder);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
