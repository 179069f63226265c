#pragma once

#include <cstdint>
#include <memory>
#include <string>

/// Programs compiled to machine code at run time, through LLVM, for the processor they run on.
namespace starpmc::compiled {

/// What a vector register holds and how 1/sqrt is estimated.
enum class InstructionSet {
  portable,  ///< 16 bytes, no estimate
  avx2,      ///< 32 bytes, 12 bits
  avx512     ///< 64 bytes, 14 bits
};

/// The best that this processor has; portable also where this build cannot compile at all.
InstructionSet best_instruction_set();

/// Functions of a text in LLVM's language as machine code of this processor.
class MachineCode {
 public:
  virtual ~MachineCode() = default;

  /// @throws RunError where there is no such function
  template <class Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(address_of(name));
  }

  /// Each text is compiled once in the life of a process, and found in the user's cache (as the
  /// OpenCL programs, base/binary_cache.hpp) by the next.
  /// @return null where this build cannot compile, the text has more than 20,000 lines, or
  ///         compiling failed; the first failure is logged as a warning
  static std::shared_ptr<const MachineCode> of(const std::string& text);

 private:
  virtual std::uint64_t address_of(const char* name) const = 0;
};

}  // namespace starpmc::compiled
