// The molecules outside a window in spatial order. Included once per instruction set.
#if defined(STARPMC_CELL_LIST_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_CELL_LIST_INL
#undef STARPMC_CELL_LIST_INL
#else
#define STARPMC_CELL_LIST_INL
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/cell_grid.hpp"
#include "kernels/simd/molecule_list-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

/// Molecules sorted by type and cell, so that those within reach of a centre are a few runs of
/// neighbours in memory. Made anew for every window: the work is linear in their number.
template <class Real>
class CellList {
 public:
  using Word = WordOf<Real>;

  /// @param reach  largest distance that will be asked for
  void build(const MmPairArguments<Real>& a, double reach) {
    const auto count = static_cast<std::size_t>(a.last_molecule - a.first_molecule);
    grid_ = CellGrid(a.window.interaction, count, reach,
                     hn::Lanes(typename MoleculeList<Real>::Lanes()));
    std::copy_n(a.window.interaction.box, 3, edge_);
    reserve_columns();
    place(a);
    count_cells(a);
    sort(a);
  }

  /// By type, those of a cell side by side.
  const MoleculeSet<Real>& molecules() const { return molecules_; }

  /// Runs of molecules of a type that hold all within reach of a centre; until the next call.
  std::span<const MoleculeRun> within(int type, const double* centre, double reach) {
    // Cells are found from the upper 16 bits of a fixed_coordinate(); this also covers fp32.
    const double slack = *std::max_element(edge_, edge_ + 3) * 0x1p-15;
    const double cells_per_angstrom = static_cast<double>(grid_.divisions[0]) / edge_[0];
    const double x = (centre[0] / edge_[0] - std::floor(centre[0] / edge_[0])) *
                     static_cast<double>(grid_.divisions[0]);
    squared_gaps(centre[1], 1);
    squared_gaps(centre[2], 2);
    find_columns((reach + slack) * (reach + slack), x, cells_per_angstrom);
    runs_.resize(2 * columns_ + 1);
    const std::uint32_t* const cells = &cell_first_[static_cast<std::size_t>(type) * grid_.cells()];
    MoleculeRun* next = runs_.data();
    for (std::size_t i = 0; i < columns_; ++i) {
      next = add_runs(cells + column_[i], low_[i], high_[i], next);
    }
    return {runs_.data(), next};
  }

 private:
  void reserve_columns() {
    const std::size_t lanes = hn::Lanes(hn::ScalableTag<float>());
    for (std::size_t axis = 1; axis < 3; ++axis)
      gaps_[axis].resize(CellGrid::kMostDivisions + lanes);
    const std::size_t columns = grid_.divisions[1] * grid_.divisions[2] + lanes;
    for (auto* const array : {&column_, &low_, &high_}) {
      array->resize(std::max(array->size(), columns));
    }
  }

  /// Squared distance of a coordinate from each cell along an axis, to the nearest image.
  void squared_gaps(double x, std::size_t axis) {
    const hn::ScalableTag<float> d;
    const double edge = edge_[axis];
    const double width = edge / static_cast<double>(grid_.divisions[axis]);
    const auto widths = hn::Set(d, static_cast<float>(width));
    const auto half = hn::Set(d, static_cast<float>(width / 2));
    const auto inverse = hn::Set(d, static_cast<float>(1 / edge));
    const auto edges = hn::Set(d, static_cast<float>(edge));
    const auto origin = hn::Set(d, static_cast<float>(width / 2 - x));
    for (std::size_t cell = 0; cell < grid_.divisions[axis]; cell += hn::Lanes(d)) {
      auto r = hn::MulAdd(hn::Iota(d, static_cast<float>(cell)), widths, origin);
      r = hn::NegMulAdd(hn::Round(hn::Mul(r, inverse)), edges, r);
      const auto gap = hn::Max(hn::Sub(hn::Abs(r), half), hn::Zero(d));
      hn::StoreU(hn::Mul(gap, gap), d, &gaps_[axis][cell]);
    }
  }

  /// Columns that come within a distance, and their cells that do: first and last of the column's
  /// periodic continuation.
  void find_columns(double squared, double x, double cells_per_angstrom) {
    const hn::ScalableTag<float> d;
    const IntegersOf<decltype(d)> integers;
    const auto scale = hn::Set(d, static_cast<float>(cells_per_angstrom));
    const auto position = hn::Set(d, static_cast<float>(x));
    const std::size_t along_y = grid_.divisions[1];
    columns_ = 0;
    for (std::size_t z = 0; z < grid_.divisions[2]; ++z) {
      const auto left_of_z = hn::Set(d, static_cast<float>(squared) - gaps_[2][z]);
      for (std::size_t y = 0; y < along_y; y += hn::Lanes(d)) {
        const auto left = hn::Sub(left_of_z, hn::LoadU(d, &gaps_[1][y]));
        const auto reached = hn::And(hn::Ge(left, hn::Zero(d)), hn::FirstN(d, along_y - y));
        if (hn::AllFalse(d, reached)) continue;
        const auto half = hn::Mul(hn::Sqrt(hn::Max(left, hn::Zero(d))), scale);
        const auto chosen = hn::RebindMask(integers, reached);
        const auto put = [&](auto values, std::vector<std::int32_t>& to) HWY_ATTR {
          hn::StoreU(hn::Compress(values, chosen), integers, &to[columns_]);
        };
        put(hn::ConvertTo(integers, hn::Floor(hn::Sub(position, half))), low_);
        put(hn::ConvertTo(integers, hn::Floor(hn::Add(position, half))), high_);
        const auto column = hn::Iota(integers, static_cast<std::int32_t>(z * along_y + y));
        put(hn::Mul(column, hn::Set(integers, static_cast<std::int32_t>(grid_.divisions[0]))),
            column_);
        columns_ += hn::CountTrue(integers, chosen);
      }
    }
  }

  /// The cells [low, high] of a column's periodic continuation as at most two runs.
  /// @param cells  where the molecules of the column's cells begin
  /// @return past the last run
  MoleculeRun* add_runs(const std::uint32_t* cells, std::int32_t low, std::int32_t high,
                        MoleculeRun* to) const {
    const auto n = static_cast<std::int32_t>(grid_.divisions[0]);
    const bool whole = high - low + 1 >= n;
    const auto add = [&](std::int32_t first, std::int32_t last) {
      *to = {cells[first], cells[last]};
      to += to->first < to->last ? 1 : 0;
    };
    add(whole ? 0 : std::max(low, 0), whole ? n : std::min(high + 1, n));
    const std::int32_t first = low < 0 ? low + n : 0;
    const std::int32_t last = low < 0 ? n : high - n + 1;
    const bool wraps = !whole && (low < 0 || high >= n);
    add(wraps ? first : 0, wraps ? last : 0);
    return to;
  }

  /// Centres as fixed_coordinate(), and their cells.
  void place(const MmPairArguments<Real>& a) {
    const hn::ScalableTag<double> d;
    const hn::Rebind<std::uint64_t, decltype(d)> bits;
    const hn::Rebind<std::uint32_t, decltype(d)> words;
    const auto count = static_cast<std::size_t>(a.last_molecule - a.first_molecule);
    const std::size_t room = count + hn::Lanes(d);
    cells_.resize(std::max(cells_.size(), room));
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<std::uint32_t>& positions = positions_[k];
      positions.resize(std::max(positions.size(), room));
      const auto units = hn::Set(d, 1 / fixed_unit(a.window.interaction.box[k]));
      // leaves the rounded integer, modulo 2^32, in the low bits
      const auto shift = hn::Set(d, 6755399441055744.0);
      const double* const centres =
          &a.lattice[k * static_cast<std::size_t>(a.window.layout.molecules)];
      const auto divisions = hn::Set(words, static_cast<std::uint32_t>(grid_.divisions[k]));
      const auto stride = hn::Set(words, static_cast<std::uint32_t>(grid_.stride(k)));
      for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
        const auto at = static_cast<std::size_t>(a.first_molecule) + i;
        const auto centre = hn::MulAdd(load_some(d, centres + at, count - i), units, shift);
        const auto position = hn::TruncateTo(words, hn::BitCast(bits, centre));
        hn::StoreU(position, words, &positions[i]);
        const auto cell =
            hn::Mul(hn::ShiftRight<16>(hn::Mul(hn::ShiftRight<16>(position), divisions)), stride);
        const auto sum = k == 0 ? cell : hn::Add(cell, hn::LoadU(words, &cells_[i]));
        hn::StoreU(sum, words, &cells_[i]);
      }
    }
  }

  /// The lattice ends with its last molecule, and not every instruction set loads part of a vector.
  template <class D>
  static HWY_INLINE VecOf<D> load_some(D d, const double* from, std::size_t room) {
    if (room >= hn::Lanes(d)) return hn::LoadU(d, from);
    HWY_ALIGN double values[hn::MaxLanes(d)] = {};
    std::copy_n(from, room, values);
    return hn::Load(d, values);
  }

  /// Adds the types to the cells, and finds where the molecules of each cell begin.
  void count_cells(const MmPairArguments<Real>& a) {
    const Topology& topology = a.window.topology;
    const auto count = static_cast<std::size_t>(a.last_molecule - a.first_molecule);
    const auto cells_of_type = static_cast<std::uint32_t>(grid_.cells());
    const std::uint32_t nowhere =
        cells_of_type * static_cast<std::uint32_t>(topology.shape.molecule_types);
    cell_first_.assign(nowhere + 2, 0);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t molecule = static_cast<std::size_t>(a.first_molecule) + i;
      const auto type = static_cast<std::uint32_t>(topology.integers[molecule]);
      const std::uint32_t cell =
          a.outside[molecule] != 0 ? cells_[i] + type * cells_of_type : nowhere;
      cells_[i] = cell;
      ++cell_first_[cell + 1];
    }
    std::partial_sum(cell_first_.begin(), cell_first_.end(), cell_first_.begin());
  }

  void sort(const MmPairArguments<Real>& a) {
    const auto count = static_cast<std::size_t>(a.last_molecule - a.first_molecule);
    // Those that take part in the window come last, and no run holds them.
    molecules_.reset(count, static_cast<std::size_t>(a.window.layout.sites));
    place_.resize(std::max(place_.size(), count));
    next_.assign(cell_first_.begin(), cell_first_.end());
    for (std::size_t i = 0; i < count; ++i) place_[i] = next_[cells_[i]]++;
    for (std::size_t k = 0; k < 3; ++k) {
      const Word* const from = centres(a, k);
      Word* const to = molecules_.centre(k);
      for (std::size_t i = 0; i < count; ++i) to[place_[i]] = from[i];
    }
    write_records(a);
  }

  /// The centres' words, from the first molecule.
  const Word* centres(const MmPairArguments<Real>& a, std::size_t k) const {
    if constexpr (kPrecisionOf<Real> == Precision::fp64) {
      return words_at(a.lattice, a, k);
    } else {
      return reinterpret_cast<const Word*>(positions_[k].data());
    }
  }
  template <class From>
  static const Word* words_at(std::span<const From> arrays, const MmPairArguments<Real>& a,
                              std::size_t k) {
    return reinterpret_cast<const Word*>(
        &arrays[k * static_cast<std::size_t>(a.window.layout.molecules) +
                static_cast<std::size_t>(a.first_molecule)]);
  }

  void write_records(const MmPairArguments<Real>& a) {
    constexpr std::size_t kBlock = kSide<Word>;
    const auto count = static_cast<std::size_t>(a.last_molecule - a.first_molecule);
    columns_of_words_.clear();
    for (std::size_t k = 0; k < kFirstSiteWord; ++k) columns_of_words_.push_back(centres(a, k));
    for (std::size_t k = 0; k < 3 * static_cast<std::size_t>(a.window.layout.sites); ++k) {
      columns_of_words_.push_back(words_at(a.lattice_sites, a, k));
    }
    columns_of_words_.resize(molecules_.record_words(), columns_of_words_.back());
    const hn::ScalableTag<Word> d;
    std::size_t i = 0;
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
      Word* rows[hn::MaxLanes(d)];
      for (std::size_t k = 0; k < hn::Lanes(d); ++k) rows[k] = molecules_.record(place_[i + k]);
      for (std::size_t word = 0; word < columns_of_words_.size(); word += kBlock) {
        VecOf<decltype(d)> v[kBlock];
        for (std::size_t k = 0; k < kBlock; ++k) {
          v[k] = hn::LoadU(d, columns_of_words_[word + k] + i);
        }
        transpose(d, v);
        for (std::size_t k = 0; k < kBlock; ++k) store_blocks(d, v[k], &rows[k], word);
      }
    }
    for (; i < count; ++i) {
      for (std::size_t word = 0; word < columns_of_words_.size(); ++word) {
        std::memcpy(molecules_.record(place_[i]) + word, columns_of_words_[word] + i, sizeof(Word));
      }
    }
  }

  CellGrid grid_;
  double edge_[3] = {};
  std::vector<float> gaps_[3];
  std::size_t columns_ = 0;
  std::vector<std::int32_t> column_;
  std::vector<std::int32_t> low_;
  std::vector<std::int32_t> high_;
  std::vector<MoleculeRun> runs_;
  std::vector<std::uint32_t> positions_[3];
  std::vector<std::uint32_t> cells_;
  std::vector<std::uint32_t> cell_first_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> place_;  ///< of each molecule in the order by cells
  std::vector<const Word*> columns_of_words_;
  MoleculeSet<Real> molecules_;
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
