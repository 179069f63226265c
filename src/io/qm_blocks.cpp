#include "io/qm_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/integrated_covariance.hpp"
#include "io/binary_json.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

using nlohmann::json;

constexpr std::size_t kTerms = EnergyTerms::names.size();

/// A block as numbers, so that thousands of them take little of a checkpoint.
enum Field : std::size_t {
  kStep,
  kDifference,
  kSampledEnergy,
  kDipole,
  kPolarisation = kDipole + 3,
  kIterations,
  kSeconds,
  kProbability,
  kAccepted,
  kEndTerms,
  kMeanTerms = kEndTerms + kTerms,
  kFields = kMeanTerms + kTerms
};

void append(const QmBlock& block, std::vector<double>& numbers) {
  const BlockEnd& end = block.end;
  numbers.insert(
      numbers.end(),
      {static_cast<double>(end.step), end.difference_kj_per_mol, end.sampled_energy_kj_per_mol,
       end.dipole_debye[0], end.dipole_debye[1], end.dipole_debye[2],
       end.polarisation_energy_kj_per_mol.value_or(NAN), static_cast<double>(end.iterations),
       end.seconds, block.probability, block.accepted ? 1.0 : 0.0});
  for (const EnergyTerms* const terms : {&end.terms, &block.mean_terms}) {
    const auto values = terms->values();
    numbers.insert(numbers.end(), values.begin(), values.end());
  }
}

EnergyTerms terms_from(std::span<const double> numbers) {
  std::array<double, kTerms> values{};
  std::ranges::copy(numbers.first(kTerms), values.begin());
  return EnergyTerms::of(values);
}

QmBlock block_from(std::span<const double> numbers) {
  QmBlock block;
  BlockEnd& end = block.end;
  end.step = static_cast<std::uint64_t>(numbers[kStep]);
  end.difference_kj_per_mol = numbers[kDifference];
  end.sampled_energy_kj_per_mol = numbers[kSampledEnergy];
  end.dipole_debye = {numbers[kDipole], numbers[kDipole + 1], numbers[kDipole + 2]};
  if (!std::isnan(numbers[kPolarisation])) {
    end.polarisation_energy_kj_per_mol = numbers[kPolarisation];
  }
  end.iterations = static_cast<int>(numbers[kIterations]);
  end.seconds = numbers[kSeconds];
  block.probability = numbers[kProbability];
  block.accepted = numbers[kAccepted] != 0;
  end.terms = terms_from(numbers.subspan(kEndTerms));
  block.mean_terms = terms_from(numbers.subspan(kMeanTerms));
  return block;
}

double magnitude(const std::array<double, 3>& v) { return std::hypot(v[0], v[1], v[2]); }

/// For each block the end that stands after its test.
std::vector<const BlockEnd*> kept_ends(std::span<const QmBlock> blocks) {
  std::vector<const BlockEnd*> kept;
  for (const QmBlock& block : blocks) {
    kept.push_back(block.accepted || kept.empty() ? &block.end : kept.back());
  }
  return kept;
}

/// No more than one block in so many is left out as one that remembers the sampled ensemble.
constexpr std::uint64_t kLeastPart = 4;
constexpr double kAcceptedBlocks = 2;  ///< after which it is forgotten

/// @param accepted not 0
std::uint64_t needed_to_forget(std::uint64_t tests, std::uint64_t accepted) {
  const double share = static_cast<double>(accepted) / static_cast<double>(tests);
  return static_cast<std::uint64_t>(std::ceil(kAcceptedBlocks / share));
}

std::uint64_t accepted_of(std::span<const QmBlock> blocks) {
  return static_cast<std::uint64_t>(std::ranges::count_if(blocks.subspan(1), &QmBlock::accepted));
}

/// For each block what the start still changes in a mean from there on, over kT.
std::vector<double> left_from(std::size_t blocks, double variance, double inefficiency) {
  constexpr double kHuge = 500;  // whose exp() is finite
  std::vector<double> left(blocks);
  double sum = 0;
  for (std::size_t n = blocks; n-- > 0;) {
    const double here = variance * std::exp(-2 * static_cast<double>(n) / inefficiency);
    sum += std::exp(std::min(here, kHuge));
    left[n] = std::log(sum / static_cast<double>(blocks - n));
  }
  return left;
}

AverageEstimate estimate(std::span<const double> samples) {
  BlockAverage average;
  for (const double sample : samples) average.add(sample);
  return average.estimate();
}

double mean(std::span<const double> samples) {
  double sum = 0;
  for (const double sample : samples) sum += sample;
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

/// A quantity of the configuration over the steps of blocks, with what the sampled Hamiltonian has
/// wrong of it taken out to first order: with D the true less the sampled energy,
///
///     <A> = <A(t)> - (cov(A(end), D(end)) - cov(A(t), D(start))) / kT.
///
/// A block begins in the exact ensemble, and what remains of its start at step t is what the second
/// covariance tells; so nothing is corrected where blocks are short, all of it where they are long.
///
/// @param added to the sample of each block; empty: nothing
AverageEstimate corrected(std::span<const double> over_steps, std::span<const double> at_end,
                          std::span<const double> difference_at_end,
                          std::span<const double> difference_at_start, double kt,
                          std::span<const double> added) {
  const double mean_over = mean(over_steps);
  const double mean_end = mean(at_end);
  const double mean_difference_end = mean(difference_at_end);
  const double mean_difference_start = mean(difference_at_start);
  std::vector<double> samples;
  for (std::size_t i = 0; i < over_steps.size(); ++i) {
    const double end = (at_end[i] - mean_end) * (difference_at_end[i] - mean_difference_end);
    const double start =
        (over_steps[i] - mean_over) * (difference_at_start[i] - mean_difference_start);
    samples.push_back(over_steps[i] - (end - start) / kt + (added.empty() ? 0 : added[i]));
  }
  return estimate(samples);
}

void average_steps(std::span<const QmBlock> blocks, std::span<const BlockEnd* const> kept,
                   double kt, BlockAverages& averages) {
  std::vector<double> at_end;
  std::vector<double> at_start;
  std::vector<double> kept_difference;
  // Those whose start is of the true ensemble.
  const std::size_t first =
      std::max<std::size_t>(1, std::min(first_averaged(blocks, kt) + 1, blocks.size() - 1));
  for (std::size_t i = first; i < blocks.size(); ++i) {
    at_end.push_back(blocks[i].end.difference_kj_per_mol);
    at_start.push_back(kept[i - 1]->difference_kj_per_mol);
    kept_difference.push_back(kept[i]->difference_kj_per_mol);
  }
  const auto of = [&](const auto& over_steps, const auto& end, std::span<const double> added) {
    std::vector<double> steps_of_block;
    std::vector<double> ends;
    for (std::size_t i = first; i < blocks.size(); ++i) {
      steps_of_block.push_back(over_steps(blocks[i]));
      ends.push_back(end(blocks[i]));
    }
    return corrected(steps_of_block, ends, at_end, at_start, kt, added);
  };
  for (std::size_t term = 0; term < kTerms; ++term) {
    averages.terms_of_steps[term] =
        of([=](const QmBlock& block) { return block.mean_terms.values()[term]; },
           [=](const QmBlock& block) { return block.end.terms.values()[term]; }, {});
  }
  averages.energy_of_steps = of(
      [&](const QmBlock& block) {
        // What the terms leave out is constant but for the difference.
        return block.mean_terms.total() - block.end.terms.total() +
               block.end.sampled_energy_kj_per_mol;
      },
      [](const QmBlock& block) { return block.end.sampled_energy_kj_per_mol; }, kept_difference);
}

std::string line_of(std::size_t number, const QmBlock& block) {
  const BlockEnd& end = block.end;
  return fmt::format("{},{},{:.6f},{:.6f},{:.6f},{:.6g},{}\n", number, end.step,
                     end.true_energy_kj_per_mol(), end.sampled_energy_kj_per_mol,
                     end.difference_kj_per_mol, block.probability, block.accepted ? 1 : 0);
}

std::string table_of(std::span<const QmBlock> blocks) {
  std::string text =
      "# starpmc: blocks of the exact ensemble, energies in kJ/mol; block 0 is the start\n"
      "block,step,true_energy,sampled_energy,difference,probability,accepted\n";
  for (std::size_t i = 0; i < blocks.size(); ++i) text += line_of(i, blocks[i]);
  return text;
}

}  // namespace

BlockTable::BlockTable(const std::filesystem::path& path, std::span<const QmBlock> blocks)
    : file_((write_file_atomically(path, table_of(blocks)), path), CheckedFile::Mode::existing) {}

void BlockTable::append(std::size_t number, const QmBlock& block) {
  file_.write(line_of(number, block));
  file_.flush();
}

json blocks_state(std::span<const QmBlock> blocks) {
  std::vector<double> numbers;
  numbers.reserve(kFields * blocks.size());
  for (const QmBlock& block : blocks) append(block, numbers);
  return to_binary(numbers);
}

std::vector<QmBlock> blocks_from(const json& state) {
  const auto numbers = vector_from_binary<double>(state);
  if (numbers.size() % kFields != 0) throw RunError("the checkpoint holds half a block");
  std::vector<QmBlock> blocks;
  for (std::size_t i = 0; i < numbers.size(); i += kFields) {
    blocks.push_back(block_from(std::span(numbers).subspan(i, kFields)));
  }
  return blocks;
}

std::size_t blocks_of_forgetting(std::size_t blocks) {
  constexpr std::size_t kParts = 8;
  const std::size_t part = std::max<std::size_t>(1, std::bit_floor(blocks) / kParts);
  return blocks - blocks % part;
}

Forgetting forgetting(std::span<const QmBlock> blocks, double kt) {
  constexpr double kEnough = 0.25;  // of the error: so much may be left
  constexpr double kChains = 16;
  blocks = blocks.first(blocks_of_forgetting(blocks.size()));
  if (blocks.size() < 2) return {};
  const std::uint64_t tests = blocks.size() - 1;
  const std::uint64_t accepted = accepted_of(blocks);
  if (accepted == 0) return {.blocks = 0, .enough = false};
  const std::size_t least = first_of_true_ensemble(tests, accepted, {});
  const std::vector<const BlockEnd*> ends = kept_ends(blocks);
  std::vector<double> kept;
  for (std::size_t i = least; i < ends.size(); ++i) {
    kept.push_back(ends[i]->difference_kj_per_mol / kt);
  }
  if (kept.size() < 2) return {};
  const IntegratedCovariance found = integrated_covariance(kept);
  if (!(found.variance >
        0)) {  // one configuration, of which nothing is known where others are refused
    const double share = static_cast<double>(accepted) / static_cast<double>(tests);
    return {.blocks = 0,
            .enough = share >= kLowBlockAcceptance ||
                      needed_to_forget(tests, accepted) <= tests / kLeastPart};
  }
  const double g = found.sum / found.variance;
  // By independent proposals alone, so many of which are accepted, it would be 2/acceptance - 1.
  const double rejected =
      kAcceptedBlocks * static_cast<double>(tests) / static_cast<double>(accepted) - 1;
  const std::vector<double> left = left_from(blocks.size(), found.variance, std::max(g, rejected));
  const auto small = [&](std::size_t first) {
    const auto count = static_cast<double>(blocks.size() - first);
    return left[first] <= kEnough * std::sqrt(found.sum / (kChains * count));
  };
  const std::size_t most = 1 + tests / kLeastPart;
  std::size_t first = least;
  while (first < most && !small(first)) ++first;
  return {.blocks = first - 1, .enough = small(first)};
}

std::size_t first_of_true_ensemble(std::uint64_t tests, std::uint64_t accepted,
                                   const Forgetting& found) {
  if (accepted == 0) return 1;
  return 1 + std::min(std::max<std::uint64_t>(needed_to_forget(tests, accepted), found.blocks),
                      tests / kLeastPart);
}

std::size_t first_averaged(std::span<const QmBlock> blocks, double kt) {
  if (blocks.empty()) return 1;
  return first_of_true_ensemble(blocks.size() - 1, accepted_of(blocks), forgetting(blocks, kt));
}

bool remembers_start(std::span<const QmBlock> blocks, double kt) {
  return !forgetting(blocks, kt).enough;
}

BlockAverages average_blocks(std::span<const QmBlock> blocks, double kt) {
  BlockAverages averages;
  if (blocks.empty()) return averages;
  const std::vector<const BlockEnd*> kept = kept_ends(blocks);
  averages.blocks = blocks.size() - 1;
  const std::size_t first = first_averaged(blocks, kt);
  SeriesMoments differences;
  BlockAverage difference;
  BlockAverage energy;
  BlockAverage dipole;
  std::array<BlockAverage, 3> components;
  std::array<BlockAverage, kTerms> terms;
  BlockAverage polarisation;
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    averages.accepted += blocks[i].accepted ? 1 : 0;
    difference.add(blocks[i].end.difference_kj_per_mol);
    differences.add(blocks[i].end.difference_kj_per_mol);
    if (i < first) continue;
    const BlockEnd& end = *kept[i];
    energy.add(end.true_energy_kj_per_mol());
    dipole.add(magnitude(end.dipole_debye));
    for (std::size_t k = 0; k < 3; ++k) components[k].add(end.dipole_debye[k]);
    const auto values = end.terms.values();
    for (std::size_t term = 0; term < kTerms; ++term) terms[term].add(values[term]);
    if (end.polarisation_energy_kj_per_mol) polarisation.add(*end.polarisation_energy_kj_per_mol);
  }
  averages.difference = difference.estimate();
  averages.width_kj_per_mol = differences.count > 1 ? std::sqrt(differences.variance()) : 0;
  averages.energy = energy.estimate();
  averages.dipole_debye = dipole.estimate();
  averages.polarisation_energy = polarisation.estimate();
  for (std::size_t k = 0; k < 3; ++k)
    averages.dipole_components_debye[k] = components[k].estimate();
  for (std::size_t term = 0; term < kTerms; ++term) averages.terms[term] = terms[term].estimate();
  average_steps(blocks, kept, kt, averages);
  return averages;
}

ChainStatistics energies_of(std::span<const QmBlock> blocks, double kt) {
  ChainStatistics statistics;
  const std::vector<const BlockEnd*> kept = kept_ends(blocks);
  for (std::size_t i = first_averaged(blocks, kt); i < kept.size(); ++i)
    statistics.add(kept[i]->true_energy_kj_per_mol());
  statistics.set_remembers_start(remembers_start(blocks, kt));
  return statistics;
}

}  // namespace starpmc
