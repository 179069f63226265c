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
Places MoleculeFunction<T>::places_of(SitesInLists sites, bool apart, bool images) const {
  const auto either = [&](Places three_apart, Places three) {
    return apart && function(three_apart) != nullptr ? three_apart : three;
  };
  switch (sites) {
    case SitesInLists::in_lanes:
      return images ? either(Places::mutual_three_images_apart, Places::mutual_three_images)
                    : either(Places::mutual_three_apart, Places::mutual_three);
    case SitesInLists::in_single:
      return images ? Places::mutual_three_single_images : Places::mutual_three_single;
    case SitesInLists::fixed_point:
      break;
  }
  return either(Places::mutual_fixed_point_three_apart, Places::mutual_fixed_point_three);
}

template <class T>
void MoleculeFunction<T>::operator()(const MoleculePairArguments<T>& a) const {
  const auto call = [&](Places places, const void* targets, const void* sources, const T* box) {
    function(places)(&a, targets, sources, box, a.parts.data(),
                     is_mutual(places) ? a.parts.size() : a.source_count);
  };
  const bool images = a.box != nullptr;
  std::array<T, 6> box{};
  for (std::size_t k = 0; images && k < 3; ++k) {
    box[k] = static_cast<T>(a.box[k]);
    box[3 + k] = static_cast<T>(1 / a.box[k]);
  }
  if (a.listed.sources != nullptr) {
    return call(places_of(a.listed.sites, a.apart, images), a.listed.targets, a.listed.sources,
                images ? box.data() : a.units);
  }
  if (a.fixed_sources != nullptr) {
    return call(Places::mutual_fixed_point, a.fixed_targets, a.fixed_sources, a.units);
  }
  const Places mutual = images ? Places::mutual_images : Places::mutual;
  const Places any = images ? Places::images : a.inside ? Places::inside : Places::one_image;
  call(a.rows != nullptr ? mutual : any, a.targets, a.sources, box.data());
}

template class MoleculeFunction<float>;
template class MoleculeFunction<double>;

}  // namespace starpmc::compiled
