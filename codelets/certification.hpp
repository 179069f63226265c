#pragma once

#include "codelets/operations.hpp"

/// What the two codelets that certify decisions share.
namespace starpmc::codelets {

/// Which of a task's buffers its certification needs.
struct CertificationPlaces {
  std::size_t solute;        ///< used where there are nuclei
  std::size_t exact_blocks;  ///< used where there are blocks, as is the next
  std::size_t exact_points;
};

inline Certification certification_view(HostBuffers b, const CertificationArguments& arguments,
                                        const CertificationPlaces& places) {
  const bool exact = arguments.blocks > 0;
  return {arguments.active != 0,
          arguments.bound,
          b.read_if<double>(exact, places.exact_blocks),
          b.read_if<double>(exact, places.exact_points),
          b.read_if<double>(arguments.nuclei > 0, places.solute),
          arguments.nuclei};
}

inline opencl::Certification opencl_certification(DeviceBuffers b,
                                                  const CertificationArguments& arguments,
                                                  const CertificationPlaces& places) {
  const bool exact = arguments.blocks > 0;
  return {arguments.active != 0,
          arguments.bound,
          arguments.blocks,
          b.at_if(exact, places.exact_blocks),
          b.at_if(exact, places.exact_points),
          b.at_if(arguments.nuclei > 0, places.solute),
          arguments.nuclei,
          arguments.alone};
}

/// The response in a task's buffers from `first` on: candidates, molecules, total.
inline ResponseArguments response_view(HostBuffers b, int components, std::size_t first) {
  if (components == 0) return {};
  return {components, b.read<int>(first), b.write<int>(first + 1),
          b.write<std::int64_t>(first + 2)};
}
inline opencl::ResponseBuffers opencl_response(DeviceBuffers b, int components, std::size_t first) {
  if (components == 0) return {};
  return {components, b.at(first), b.at(first + 1), b.at(first + 2)};
}

}  // namespace starpmc::codelets
