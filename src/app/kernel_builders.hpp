#pragma once

#include <string_view>

namespace starpmc {

/// The hidden subcommand by which this program asks itself for kernels.
inline constexpr std::string_view kBuildKernels = "build-kernels";

/// Kernels that no cache has are told of on standard error, and built by processes of their own
/// where there are cores for several. STARPMC_KERNEL_PROCESSES=0 in the environment forbids these,
/// 1 has them everywhere. What such a process fails to build, this one does, and says why.
void help_with_kernels();

/// Builds what standard input asks for. @return the exit status
int build_kernels_asked_for();

}  // namespace starpmc
