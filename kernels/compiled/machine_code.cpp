#include "kernels/compiled/machine_code.hpp"

#if STARPMC_LLVM

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/base/binary_cache.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"
#include "kernels/joined.hpp"

namespace starpmc::compiled {
namespace {

template <auto kDispose>
struct Dispose {
  template <class Handle>
  void operator()(Handle* handle) const {
    kDispose(handle);
  }
};
template <class Handle, auto kDispose>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Dispose<kDispose>>;

using Machine = Owned<LLVMTargetMachineRef, LLVMDisposeTargetMachine>;
using Message = Owned<char*, LLVMDisposeMessage>;
using PassOptions = Owned<LLVMPassBuilderOptionsRef, LLVMDisposePassBuilderOptions>;
using Context = Owned<LLVMOrcThreadSafeContextRef, LLVMOrcDisposeThreadSafeContext>;
using Buffer = Owned<LLVMMemoryBufferRef, LLVMDisposeMemoryBuffer>;
using Module = Owned<LLVMModuleRef, LLVMDisposeModule>;

struct DisposeJit {
  void operator()(LLVMOrcOpaqueLLJIT* jit) const {
    // There is nobody to tell, and nothing to be done.
    LLVMConsumeError(LLVMOrcDisposeLLJIT(jit));
  }
};
using Jit = std::unique_ptr<LLVMOrcOpaqueLLJIT, DisposeJit>;

void check(LLVMErrorRef error) {
  if (error == nullptr) return;
  char* const message = LLVMGetErrorMessage(error);
  const std::string text = message;
  LLVMDisposeErrorMessage(message);
  throw RunError(text);
}

struct Processor {
  std::string name;
  std::string features;
  InstructionSet set = InstructionSet::portable;
};

/// LLVM is made ready once; PoCL, which may use the same library, does the same.
const Processor& processor() {
  static const Processor found = [] {
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();
    const Message name(LLVMGetHostCPUName());
    const Message features(LLVMGetHostCPUFeatures());
    Processor here{name.get(), features.get()};
    const auto has = [&](std::string_view feature) {
      const std::string all = "," + here.features + ",";
      return all.find(",+" + std::string(feature) + ",") != std::string::npos;
    };
    if (has("avx2") && has("fma")) here.set = InstructionSet::avx2;
    if (has("avx512f") && has("avx512dq") && has("avx512bw") && has("avx512vl")) {
      here.set = InstructionSet::avx512;
    }
    return here;
  }();
  return found;
}

Machine make_machine() {
  const Message triple(LLVMGetDefaultTargetTriple());
  LLVMTargetRef target = nullptr;
  char* error = nullptr;
  if (LLVMGetTargetFromTriple(triple.get(), &target, &error) != 0) {
    const Message message(error);
    throw RunError("LLVM does not know this processor: " + std::string(message.get()));
  }
  return Machine(LLVMCreateTargetMachine(target, triple.get(), processor().name.c_str(),
                                         processor().features.c_str(), LLVMCodeGenLevelAggressive,
                                         LLVMRelocDefault, LLVMCodeModelJITDefault));
}

/// Parses and optimizes: an object file.
Buffer object_of(const std::string& text) {
  const Machine machine = make_machine();
  const Context context(LLVMOrcCreateNewThreadSafeContext());
  // Taken over by the parser, which wants a terminating zero.
  LLVMMemoryBufferRef source =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(text.c_str(), text.size(), "expression");
  LLVMModuleRef parsed = nullptr;
  char* error = nullptr;
  if (LLVMParseIRInContext(LLVMOrcThreadSafeContextGetContext(context.get()), source, &parsed,
                           &error) != 0) {
    const Message message(error);
    throw RunError("LLVM does not take an expression's text: " + std::string(message.get()));
  }
  const Module module(parsed);
  const PassOptions options(LLVMCreatePassBuilderOptions());
  check(LLVMRunPasses(module.get(), "default<O2>", machine.get(), options.get()));
  LLVMMemoryBufferRef object = nullptr;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine.get(), module.get(), LLVMObjectFile, &error,
                                          &object) != 0) {
    const Message message(error);
    throw RunError("LLVM cannot write machine code: " + std::string(message.get()));
  }
  return Buffer(object);
}

/// Code in memory.
class Loaded : public MachineCode {
 public:
  explicit Loaded(Buffer object) {
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
        builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(make_machine().release()));
    LLVMOrcLLJITRef jit = nullptr;
    check(LLVMOrcCreateLLJIT(&jit, builder));
    jit_.reset(jit);
    check(LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), object.release()));
  }

 private:
  std::uint64_t address_of(const char* name) const override {
    LLVMOrcExecutorAddress address = 0;
    check(LLVMOrcLLJITLookup(jit_.get(), &address, name));
    return address;
  }

  Jit jit_;
};

/// Longer texts would take LLVM longer than a user wants to wait.
constexpr std::ptrdiff_t kMostLines = 20000;

std::shared_ptr<const MachineCode> make(const std::string& text) {
  const std::string key = joined({"LLVM ", LLVM_VERSION_STRING, "\n", processor().name, "\n",
                                  processor().features, "\n", text});
  const auto cache = BinaryCache::of_user();
  if (const auto stored = cache ? cache->load(key) : std::nullopt) {
    const auto* const bytes = reinterpret_cast<const char*>(stored->data());
    return std::make_shared<Loaded>(
        Buffer(LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes, stored->size(), "expression")));
  }
  Buffer object = object_of(text);
  if (cache) {
    const auto* const bytes =
        reinterpret_cast<const unsigned char*>(LLVMGetBufferStart(object.get()));
    cache->store(key, {bytes, LLVMGetBufferSize(object.get())});
  }
  return std::make_shared<Loaded>(std::move(object));
}

}  // namespace

InstructionSet best_instruction_set() { return processor().set; }

std::shared_ptr<const MachineCode> MachineCode::of(const std::string& text) {
  if (std::ranges::count(text, '\n') > kMostLines) return nullptr;
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const MachineCode>> made;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = made.try_emplace(text);
  if (!is_new) return found->second;
  try {
    found->second = make(text);
  } catch (const RunError& error) {
    static bool warned = false;
    if (!warned) {
      spdlog::warn("expressions run uncompiled, more slowly: {}", error.what());
    }
    warned = true;
  }
  return found->second;
}

}  // namespace starpmc::compiled

#else

namespace starpmc::compiled {

InstructionSet best_instruction_set() { return InstructionSet::portable; }

std::shared_ptr<const MachineCode> MachineCode::of(const std::string&) { return nullptr; }

}  // namespace starpmc::compiled

#endif
