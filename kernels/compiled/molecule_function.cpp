#include "kernels/compiled/molecule_function.hpp"

#include <array>
#include <type_traits>

#include "kernels/common/layout.h"
#include "kernels/compiled/machine_code.hpp"
#include "kernels/compiled/molecule_text.hpp"

namespace starpmc::compiled {

template <class T>
std::shared_ptr<const MoleculeFunction<T>> MoleculeFunction<T>::compile(
    std::span<const PairTerm> terms, InstructionSet set) {
  if (set == InstructionSet::portable) return nullptr;
  const auto text =
      molecule_text(terms, STARPMC_MINIMUM_DISTANCE_SQUARED, std::is_same_v<T, float>, set);
  if (!text) return nullptr;
  auto code = MachineCode::of(*text);
  if (code == nullptr) return nullptr;
  auto made = std::make_shared<MoleculeFunction<T>>();
  made->one_image_ = code->template function<Function>("one_image");
  made->images_ = code->template function<Function>("images");
  made->fixed_point_ = code->template function<Function>("fixed_point");
  made->code_ = std::move(code);
  return made;
}

template <class T>
void MoleculeFunction<T>::operator()(const MoleculePairArguments<T>& a) const {
  const SitePairTerms<T>& sites = *a.sites;
  const auto call = [&](Function function, const void* targets, const void* sources, const T* box) {
    function(a.count, a.stride, sites.targets, sites.sources, targets, sources, box,
             sites.present.data(), sites.coefficients.data(), a.squared_cutoffs, a.energies[0],
             a.energies[1]);
  };
  if (a.fixed_sources != nullptr) {
    return call(fixed_point_, a.fixed_targets, a.fixed_sources, a.units);
  }
  std::array<T, 6> box{};
  if (a.box != nullptr) {
    for (std::size_t k = 0; k < 3; ++k) {
      box[k] = static_cast<T>(a.box[k]);
      box[3 + k] = static_cast<T>(1 / a.box[k]);
    }
  }
  call(a.box == nullptr ? one_image_ : images_, a.targets, a.sources, box.data());
}

template class MoleculeFunction<float>;
template class MoleculeFunction<double>;

}  // namespace starpmc::compiled
