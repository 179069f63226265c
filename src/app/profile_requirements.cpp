#include "app/profile_requirements.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "app/run_reference.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

/// Of an image; fewer give no error that could be believed.
constexpr std::uint64_t kFewestFrames = 20;

}  // namespace

void require_profile(const Inputs& inputs) {
  const Settings& settings = inputs.settings;
  const auto refuse = [&](const char* option, const std::string& problem, const std::string& found,
                          const std::string& remedy) {
    throw InputError(inputs.file + ": " + option, problem, found, remedy);
  };
  if (settings.profile.path.empty()) {
    refuse("profile.path", "a profile needs a path", "",
           "name an .xyz file with the images of the QM molecule; starpmc path makes one");
  }
  if (!samples_exactly(inputs)) {
    refuse("sampling.ensemble", "a profile needs the exact ensemble with a QM program", "",
           "sampling.ensemble = exact, qm.engine = pyscf and a system.qm-molecule");
  }
  if (!settings.qm.reference.empty()) {
    refuse("qm.reference", "each image has a reference of its own", settings.qm.reference.string(),
           "leave it out");
  }
  if (settings.output.pressure_interval > 0) {
    refuse("output.pressure-interval", "a profile makes no use of the pressure",
           std::to_string(settings.output.pressure_interval), "leave it out");
  }
  if (settings.sampling.until_error_kj_per_mol > 0) {
    refuse(
        "sampling.until-error",
        "it would end each image where its total energy is known, which says nothing of its free "
        "energy, and no further steps could be made",
        fmt::format("{:g}", settings.sampling.until_error_kj_per_mol),
        "leave it out; profile.until-error ends a profile");
  }
  if (settings.sampling.steps / settings.output.trajectory_interval < kFewestFrames) {
    refuse("output.trajectory-interval",
           fmt::format("the frames of the trajectory are what free energies are made from; so few "
                       "are left of {} steps that there would be no error",
                       settings.sampling.steps),
           std::to_string(settings.output.trajectory_interval),
           fmt::format("at least {} frames: a smaller interval or more sampling.steps",
                       kFewestFrames));
  }
}

void require_same_atoms(const fs::path& file, const SolutePath& path, const Solute& solute) {
  if (path.elements.size() != solute.elements.size()) {
    throw InputError(
        file.string(),
        fmt::format("its images have another number of atoms than the QM molecule {}", solute.name),
        fmt::format("{} instead of {}", path.elements.size(), solute.elements.size()),
        "give a path of the QM molecule, with the topology's atoms in their order");
  }
  for (std::size_t i = 0; i < path.elements.size(); ++i) {
    if (path.elements[i] == solute.elements[i]) continue;
    throw InputError(
        file.string(),
        fmt::format("atom {} is {} in the QM molecule {}", i + 1, solute.elements[i], solute.name),
        path.elements[i], "bring the atoms of the path into the topology's order");
  }
}

void require_same_state(const Inputs& inputs, const SolutePath& path) {
  const auto check = [&](const char* option, std::size_t image, std::optional<double> found,
                         int wanted) {
    if (!found || *found == wanted) return;
    throw InputError(inputs.settings.profile.path.string(),
                     fmt::format("the title of image {} says {}={:g}, qm.{} is {}", image + 1,
                                 option, *found, option, wanted),
                     "", fmt::format("set qm.{}, or give a path of this {}", option, option));
  };
  for (std::size_t i = 0; i < path.images.size(); ++i) {
    check("charge", i, path.images[i].charge, inputs.settings.qm.charge);
    check("multiplicity", i, path.images[i].multiplicity, inputs.settings.qm.multiplicity);
  }
}

}  // namespace starpmc
