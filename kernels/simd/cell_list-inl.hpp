// The molecules outside a window in spatial order. Included once per instruction set.
#if defined(STARPMC_CELL_LIST_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_CELL_LIST_INL
#undef STARPMC_CELL_LIST_INL
#else
#define STARPMC_CELL_LIST_INL
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
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

  /// The molecules of a type, those of a cell side by side.
  const MoleculeList<Real>& molecules(int type) const {
    return molecules_[static_cast<std::size_t>(type)];
  }

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
    runs_.clear();
    const std::uint32_t* const cells = &cell_first_[static_cast<std::size_t>(type) * grid_.cells()];
    for (std::size_t i = 0; i < columns_; ++i) {
      add_runs(cells + column_[i], cells[0], low_[i], high_[i]);
    }
    return runs_;
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

  /// @param cells  where the column's cells begin in the order of all molecules; list: where the
  ///               type's do
  void add_runs(const std::uint32_t* cells, std::uint32_t list, std::int32_t low,
                std::int32_t high) {
    const auto n = static_cast<std::int32_t>(grid_.divisions[0]);
    const auto add = [&](std::int32_t first, std::int32_t last) {
      if (cells[first] < cells[last]) runs_.push_back({cells[first] - list, cells[last] - list});
    };
    if (high - low + 1 >= n) {
      add(0, n);
    } else if (low < 0) {
      add(0, high + 1);
      add(low + n, n);
    } else if (high >= n) {
      add(0, high - n + 1);
      add(low, n);
    } else {
      add(low, high + 1);
    }
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

  /// The lattice ends with its last molecule.
  template <class D>
  static HWY_INLINE VecOf<D> load_some(D d, const double* from, std::size_t room) {
    return room >= hn::Lanes(d) ? hn::LoadU(d, from) : hn::MaskedLoad(hn::FirstN(d, room), d, from);
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
    order_.resize(std::max(order_.size(), count + 1));
    molecules_.resize(static_cast<std::size_t>(a.window.topology.shape.molecule_types));
    next_.assign(cell_first_.begin(), cell_first_.end());
    for (std::size_t i = 0; i < count; ++i)
      order_[next_[cells_[i]]++] = static_cast<std::uint32_t>(i);
    for (int type = 0; type < a.window.topology.shape.molecule_types; ++type) take(a, type);
  }

  void take(const MmPairArguments<Real>& a, int type) {
    const std::size_t cells = grid_.cells();
    const std::size_t before = cell_first_[static_cast<std::size_t>(type) * cells];
    const std::size_t count = cell_first_[static_cast<std::size_t>(type + 1) * cells] - before;
    const auto sites = static_cast<std::size_t>(a.window.topology.site_count(type));
    MoleculeList<Real>& list = molecules_[static_cast<std::size_t>(type)];
    list.reset(count, sites);
    list.set_count(count);
    const std::span<const std::uint32_t> order(&order_[before], count);
    const auto stride = static_cast<std::size_t>(a.window.layout.molecules);
    const auto first = static_cast<std::size_t>(a.first_molecule);
    for (std::size_t k = 0; k < 3; ++k) {
      if constexpr (kPrecisionOf<Real> == Precision::fp64) {
        gather(&a.lattice[k * stride + first], order, list.centre(k));
      } else {
        gather(positions_[k].data(), order, list.centre(k));
      }
    }
    for (std::size_t k = 0; k < 3 * sites; ++k) {
      gather(&a.lattice_sites[k * stride + first], order, list.site(k));
    }
  }

  template <class From>
  static void gather(const From* from, std::span<const std::uint32_t> order,
                     typename MoleculeList<Real>::Word* to) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      to[i] = std::bit_cast<typename MoleculeList<Real>::Word>(from[order[i]]);
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
  std::vector<std::uint32_t> order_;
  std::vector<MoleculeList<Real>> molecules_;  ///< per type
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
