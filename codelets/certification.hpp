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

inline Certification certification_view(void* buffers[], const CertificationArguments& arguments,
                                        const CertificationPlaces& places) {
  const auto view_if = [&](bool present, std::size_t index) {
    return present ? span_of<const double>(buffers[index]) : std::span<const double>();
  };
  const bool exact = arguments.blocks > 0;
  return {arguments.active != 0,
          arguments.bound,
          view_if(exact, places.exact_blocks),
          view_if(exact, places.exact_points),
          view_if(arguments.nuclei > 0, places.solute),
          arguments.nuclei};
}

inline opencl::Certification opencl_certification(void* buffers[],
                                                  const CertificationArguments& arguments,
                                                  const CertificationPlaces& places) {
  const auto buffer_if = [&](bool present, std::size_t index) {
    return present ? opencl_buffer(buffers[index]) : opencl::Buffer{};
  };
  const bool exact = arguments.blocks > 0;
  return {arguments.active != 0,
          arguments.bound,
          arguments.blocks,
          buffer_if(exact, places.exact_blocks),
          buffer_if(exact, places.exact_points),
          buffer_if(arguments.nuclei > 0, places.solute),
          arguments.nuclei};
}

/// The response in a task's buffers from `first` on: candidates, molecules, total.
inline ResponseArguments response_view(void* buffers[], int components, std::size_t first) {
  if (components == 0) return {};
  return {components, span_of<const int>(buffers[first]), span_of<int>(buffers[first + 1]),
          span_of<std::int64_t>(buffers[first + 2])};
}
inline opencl::ResponseBuffers opencl_response(void* buffers[], int components, std::size_t first) {
  if (components == 0) return {};
  return {components, opencl_buffer(buffers[first]), opencl_buffer(buffers[first + 1]),
          opencl_buffer(buffers[first + 2])};
}

}  // namespace starpmc::codelets
