#include "kernels/compiled/molecule_function.hpp"

#include <array>

#include "kernels/common/layout.h"
#include "kernels/compiled/machine_code.hpp"
#include "kernels/compiled/molecule_text.hpp"

namespace starpmc::compiled {

std::shared_ptr<const MoleculeFunction> MoleculeFunction::compile(std::span<const PairTerm> terms,
                                                                  InstructionSet set) {
  if (set == InstructionSet::portable) return nullptr;
  const auto text = molecule_text(terms, STARPMC_MINIMUM_DISTANCE_SQUARED, set);
  if (!text) return nullptr;
  auto code = MachineCode::of(*text);
  if (code == nullptr) return nullptr;
  auto made = std::make_shared<MoleculeFunction>();
  made->one_image_ = code->function<Function>("one_image");
  made->images_ = code->function<Function>("images");
  made->code_ = std::move(code);
  return made;
}

void MoleculeFunction::operator()(const MoleculePairArguments& a) const {
  std::array<double, 6> box{};
  if (a.box != nullptr) {
    for (std::size_t k = 0; k < 3; ++k) {
      box[k] = a.box[k];
      box[3 + k] = 1 / a.box[k];
    }
  }
  const SitePairTerms& sites = *a.sites;
  (a.box == nullptr ? one_image_ : images_)(
      a.count, sites.targets, sites.sources, a.targets, a.sources, box.data(), sites.present.data(),
      sites.coefficients.data(), a.squared_cutoffs, a.energies[0], a.energies[1]);
}

}  // namespace starpmc::compiled
