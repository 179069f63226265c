#include "app/equilibration_search.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "analysis/equilibration.hpp"
#include "io/json_fields.hpp"

namespace starpmc {
namespace {

constexpr std::uint64_t kSweepsPerLook = 10;
constexpr std::uint64_t kFewestStepsPerLook = 100;
constexpr std::uint64_t kFirstJudgement = 100;  ///< looks
constexpr double kLargestChangeOfSizes = 0.1;

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The tuning has come to its end.
bool is_steady(const BlockAverage& sizes) {
  const std::span<const double> all = sizes.blocks();
  const std::size_t quarter = all.size() / 4;
  const double last = mean(all.last(quarter));
  const double before = mean(all.last(2 * quarter).first(quarter));
  return std::abs(last - before) <= kLargestChangeOfSizes * last;
}

}  // namespace

EquilibrationSearch::EquilibrationSearch(const Settings::SamplingSection& sampling,
                                         std::size_t molecules)
    : interval_(std::max(kFewestStepsPerLook, kSweepsPerLook * molecules)),
      most_(sampling.equilibration_steps.value_or(sampling.steps)),
      steps_(sampling.equilibration_steps),
      how_(steps_ ? EquilibrationEnd::given : EquilibrationEnd::not_settled),
      next_judgement_(kFirstJudgement) {}

std::uint64_t EquilibrationSearch::next_look(std::uint64_t step) const {
  return std::min((step / interval_ + 1) * interval_, most_);
}

/// Only the look at the latest end is not at a multiple of the interval.
bool EquilibrationSearch::depends_on_most_steps() const {
  return automatic() && steps_ &&
         (how_ == EquilibrationEnd::not_settled || *steps_ % interval_ != 0);
}

bool EquilibrationSearch::settled() const {
  return is_steady(series_[kTranslation]) && is_steady(series_[kRotation]) &&
         is_at_rest(series_[kAmongMm]) && is_at_rest(series_[kSoluteVdw]) &&
         is_at_rest(series_[kSoluteCoulomb]);
}

void EquilibrationSearch::look(std::uint64_t step, const EnergyTerms& energies,
                               double solute_coulomb, const StepSizes& sizes) {
  series_[kAmongMm].add(energies.mm_coulomb + energies.mm_vdw);
  series_[kSoluteVdw].add(energies.qmmm_vdw);
  series_[kSoluteCoulomb].add(solute_coulomb);
  series_[kTranslation].add(sizes.translation_angstrom);
  series_[kRotation].add(sizes.rotation_degrees);
  const std::uint64_t looks = series_[kAmongMm].count();
  if (looks >= next_judgement_) {
    if (settled()) {
      how_ = EquilibrationEnd::settled;
      steps_ = step;
      return;
    }
    next_judgement_ = looks + looks / 4;
  }
  if (step >= most_) steps_ = step;
}

nlohmann::json EquilibrationSearch::state() const {
  nlohmann::json state{{"how", static_cast<int>(how_)}, {"next_judgement", next_judgement_}};
  put(state, "steps", steps_);
  state["series"] = nlohmann::json::array();
  for (const BlockAverage& series : series_) state["series"].push_back(series.state());
  return state;
}

void EquilibrationSearch::restore(const nlohmann::json& state) {
  how_ = static_cast<EquilibrationEnd>(state.at("how").get<int>());
  next_judgement_ = state.at("next_judgement");
  steps_.reset();
  take(state, "steps", steps_);
  for (std::size_t i = 0; i < series_.size(); ++i) series_[i].restore(state.at("series").at(i));
}

}  // namespace starpmc
