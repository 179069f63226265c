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
#include <numeric>
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
    const Topology& topology = a.window.topology;
    const auto count = static_cast<std::size_t>(a.last_molecule - a.first_molecule);
    grid_ = CellGrid(a.window.interaction, count, reach,
                     hn::Lanes(typename MoleculeList<Real>::Lanes()));
    place(a);
    count_cells(a);
    sort(a, static_cast<std::size_t>(topology.shape.sites));
  }

  const MoleculeList<Real>& molecules() const { return molecules_; }
  std::size_t count(int type) const { return first_of(type + 1) - first_of(type); }

  /// Calls visit(first, last) for runs of molecules of a type that hold all within reach of a
  /// centre.
  template <class Visit>
  HWY_INLINE void visit(int type, const double* centre, double reach, Visit&& visit) {
    const std::size_t base = static_cast<std::size_t>(type) * grid_.cells();
    grid_.visit(centre, reach, [&](std::size_t first_cell, std::size_t last_cell) HWY_ATTR {
      const std::size_t first = cell_first_[base + first_cell];
      const std::size_t last = cell_first_[base + last_cell];
      if (first < last) visit(first, last);
    });
  }

 private:
  std::size_t first_of(int type) const {
    return cell_first_[static_cast<std::size_t>(type) * grid_.cells()];
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

  void sort(const MmPairArguments<Real>& a, std::size_t sites) {
    const auto count = static_cast<std::size_t>(a.last_molecule - a.first_molecule);
    order_.resize(std::max(order_.size(), count));
    next_.assign(cell_first_.begin(), cell_first_.end());
    for (std::size_t i = 0; i < count; ++i)
      order_[next_[cells_[i]]++] = static_cast<std::uint32_t>(i);
    const std::size_t taken = cell_first_[cell_first_.size() - 2];
    molecules_.reset(count, sites);
    molecules_.set_count(taken);
    const auto stride = static_cast<std::size_t>(a.window.layout.molecules);
    const auto first = static_cast<std::size_t>(a.first_molecule);
    for (std::size_t k = 0; k < 3; ++k) {
      auto* const centres = molecules_.centre(k);
      if constexpr (sizeof(*centres) == sizeof(double)) {
        gather(&a.lattice[k * stride + first], taken, centres);
      } else {
        gather(positions_[k].data(), taken, centres);
      }
    }
    for (std::size_t k = 0; k < 3 * sites; ++k) {
      gather(&a.lattice_sites[k * stride + first], taken, molecules_.site(k));
    }
  }

  template <class From, class To>
  void gather(const From* from, std::size_t count, To* to) const {
    for (std::size_t i = 0; i < count; ++i) to[i] = stored(from[order_[i]]);
  }
  static std::int32_t stored(FixedCoordinate x) { return x.value; }
  static std::int32_t stored(std::uint32_t x) { return static_cast<std::int32_t>(x); }
  static double stored(double x) { return x; }
  static float stored(float x) { return x; }

  CellGrid grid_;
  std::vector<std::uint32_t> positions_[3];
  std::vector<std::uint32_t> cells_;
  std::vector<std::uint32_t> cell_first_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> order_;
  MoleculeList<Real> molecules_;
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
