// The OpenMM wheel ships Lepton's headers but not asmjit's, which they name. Only room is needed:
// Lepton's compiled expressions hold the run-time as their last member and manage it in libOpenMM.
#pragma once

#include <cstddef>

namespace asmjit {
inline namespace _abi_1_9 {

class JitRuntime {
  alignas(16) std::byte room_[4096];
};

namespace x86 {
class Compiler;
class Xmm;
class Ymm;
}  // namespace x86

}  // namespace _abi_1_9
}  // namespace asmjit
