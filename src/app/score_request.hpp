#pragma once

#include <boost/program_options/options_description.hpp>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>

#include "config/settings.hpp"
#include "scoring/pose_scorer.hpp"
#include "scoring/site_parameters.hpp"

namespace starpmc {

/// The command line of `starpmc score`, checked.
struct ScoreRequest {
  std::filesystem::path receptor;
  std::filesystem::path ligand;
  std::filesystem::path poses;        ///< the ligand's file where none is given
  std::filesystem::path well_depths;  ///< empty: the program's own
  std::filesystem::path topology;     ///< empty: none
  ScoringFunction function;
  ScorerSettings settings;
  std::size_t best = 0;
  bool rows = true;  ///< write the table of all poses
  std::string output;
  Precision precision = Precision::mixed;
  Implementation implementation = Implementation::any;

  bool has_vdw() const { return function.interaction.lennard_jones != 0; }
  std::filesystem::path table_path() const { return output + ".csv"; }
  std::filesystem::path json_path() const { return output + ".json"; }
};

boost::program_options::options_description score_options();

/// @return nothing where the help was asked for, and printed
/// @throws InputError
std::optional<ScoreRequest> read_score_request(std::span<const std::string> arguments,
                                               std::ostream& out);

/// What the files say.
struct ScoreInput {
  PqrModel ligand;
  ScoredSites sites;
  ScoringFunction function;  ///< with the combination rule of the parameters
};
/// @throws InputError
ScoreInput read_score_input(const ScoreRequest& request);

}  // namespace starpmc
