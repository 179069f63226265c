#include "kernels/compiled/molecule_function.hpp"

#include <array>
#include <type_traits>

#include "kernels/common/layout.h"

namespace starpmc::compiled {

template <class T>
std::shared_ptr<const MoleculeFunction<T>> MoleculeFunction<T>::compile(
    std::span<const PairTerm> terms, std::span<const Places> places, InstructionSet set) {
  if (set == InstructionSet::portable) return nullptr;
  const auto text =
      molecule_text(terms, places, STARPMC_MINIMUM_DISTANCE_SQUARED, std::is_same_v<T, float>, set);
  if (!text) return nullptr;
  auto code = MachineCode::of(*text);
  if (code == nullptr) return nullptr;
  auto made = std::make_shared<MoleculeFunction<T>>();
  for (const Places place : places) {
    made->functions_[static_cast<std::size_t>(place)] =
        code->template function<Function>(name_of(place).c_str());
  }
  made->code_ = std::move(code);
  return made;
}

template <class T>
void MoleculeFunction<T>::operator()(const MoleculePairArguments<T>& a) const {
  const auto call = [&](Places places, const void* targets, const void* sources, const T* box) {
    functions_[static_cast<std::size_t>(places)](
        a.count, a.stride, a.target_count, is_mutual(places) ? a.parts.size() : a.source_count,
        targets, sources, box, a.parts.data(), a.rows, a.present, a.coefficients, a.squared_cutoffs,
        a.energies[0], a.energies[1]);
  };
  // not everything is compiled for every use
  const auto quickest = [&](Places three_apart, Places three, Places any) {
    const auto has = [&](Places places) {
      return functions_[static_cast<std::size_t>(places)] != nullptr;
    };
    if (!a.three_sites) return any;
    if (a.apart && has(three_apart)) return three_apart;
    return has(three) ? three : any;
  };
  if (a.fixed_sources != nullptr) {
    return call(quickest(Places::mutual_fixed_point_three_apart, Places::mutual_fixed_point_three,
                         Places::mutual_fixed_point),
                a.fixed_targets, a.fixed_sources, a.units);
  }
  const bool mutual = a.rows != nullptr;
  if (a.box == nullptr) {
    const Places places =
        mutual     ? quickest(Places::mutual_three_apart, Places::mutual_three, Places::mutual)
        : a.inside ? Places::inside
                   : Places::one_image;
    return call(places, a.targets, a.sources, nullptr);
  }
  std::array<T, 6> box{};
  for (std::size_t k = 0; k < 3; ++k) {
    box[k] = static_cast<T>(a.box[k]);
    box[3 + k] = static_cast<T>(1 / a.box[k]);
  }
  call(mutual ? Places::mutual_images : Places::images, a.targets, a.sources, box.data());
}

template class MoleculeFunction<float>;
template class MoleculeFunction<double>;

}  // namespace starpmc::compiled
