#include "kernels/compiled/row.hpp"

#include <type_traits>

#include "error.hpp"

#if STARPMC_LLVM

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <algorithm>
#include <mutex>
#include <string>

#include "kernels/compiled/row_text.hpp"

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
  throw RunError("compiling an expression failed: " + text);
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

/// Machine code and what keeps it in memory.
class Compiled {
 public:
  explicit Compiled(const std::string& text) {
    Machine machine = make_machine();
    const Context context(LLVMOrcCreateNewThreadSafeContext());
    Module module = parse(text, LLVMOrcThreadSafeContextGetContext(context.get()));
    const PassOptions options(LLVMCreatePassBuilderOptions());
    check(LLVMRunPasses(module.get(), "default<O2>", machine.get(), options.get()));
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
        builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine.release()));
    LLVMOrcLLJITRef jit = nullptr;
    check(LLVMOrcCreateLLJIT(&jit, builder));
    jit_.reset(jit);
    check(LLVMOrcLLJITAddLLVMIRModule(
        jit, LLVMOrcLLJITGetMainJITDylib(jit),
        LLVMOrcCreateNewThreadSafeModule(module.release(), context.get())));
    check(LLVMOrcLLJITLookup(jit, &address_, "row"));
  }

  template <class Function>
  Function function() const {
    return reinterpret_cast<Function>(address_);
  }

 private:
  static Module parse(const std::string& text, LLVMContextRef context) {
    // Taken over by the parser, which wants a terminating zero.
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text.c_str(), text.size(), "row");
    LLVMModuleRef module = nullptr;
    char* error = nullptr;
    if (LLVMParseIRInContext(context, buffer, &module, &error) != 0) {
      const Message message(error);
      throw RunError("LLVM does not take an expression's text: " + std::string(message.get()));
    }
    return Module(module);
  }

  Jit jit_;
  LLVMOrcExecutorAddress address_ = 0;
};

}  // namespace

InstructionSet best_instruction_set() { return processor().set; }

template <class Real>
struct RowFunction<Real>::Code {
  using Function = void (*)(const Real* x, const Real* y, const Real* z, std::size_t count,
                            const Real* targets, const Real* const* varying, const Real* uniform,
                            const Real* squared_cutoffs, double* totals, Real* const* per_source);
  Compiled compiled;
  Function function;
  std::size_t varying;

  Code(const std::string& text, std::size_t varying_rows)
      : compiled(text), function(compiled.template function<Function>()), varying(varying_rows) {}
};

template <class Real>
std::optional<RowFunction<Real>> RowFunction<Real>::compile(const Program& program,
                                                            const RowShape& shape,
                                                            InstructionSet set) {
  if (set == InstructionSet::portable) return std::nullopt;
  const auto text = row_text(program, shape, std::is_same_v<Real, float>, set);
  if (!text) return std::nullopt;
  const auto uniform = std::ranges::count(shape.uniform, true);
  const std::size_t varying = program.inputs.size() - static_cast<std::size_t>(uniform) - 1;
  return RowFunction(std::make_shared<const Code>(*text, varying));
}

/// fp32 sums of so many sources are added in fp64.
constexpr std::size_t kChunk = 256;

template <class Real>
void RowFunction<Real>::operator()(const RowArguments<Real>& a) const {
  const auto call = [&](std::size_t start, std::size_t count, const Real* const* varying,
                        Real* const* per_source) {
    code_->function(a.source[0] + start, a.source[1] + start, a.source[2] + start, count, a.targets,
                    varying, a.uniform, a.squared_cutoffs, a.totals, per_source);
  };
  if (a.count <= kChunk || a.per_source != nullptr || std::is_same_v<Real, double>) {
    return call(0, a.count, a.varying, a.per_source);
  }
  std::vector<const Real*> varying(a.varying, a.varying + code_->varying);
  for (std::size_t start = 0; start < a.count; start += kChunk) {
    call(start, std::min(kChunk, a.count - start), varying.data(), a.per_source);
    for (const Real*& row : varying) row += kChunk;
  }
}

}  // namespace starpmc::compiled

#else

namespace starpmc::compiled {

InstructionSet best_instruction_set() { return InstructionSet::portable; }

template <class Real>
struct RowFunction<Real>::Code {};

template <class Real>
std::optional<RowFunction<Real>> RowFunction<Real>::compile(const Program&, const RowShape&,
                                                            InstructionSet) {
  return std::nullopt;
}

template <class Real>
void RowFunction<Real>::operator()(const RowArguments<Real>&) const {
  throw RunError("this build has no LLVM");  // never: compile() gives no function
}

}  // namespace starpmc::compiled

#endif

namespace starpmc::compiled {
template class RowFunction<float>;
template class RowFunction<double>;
}  // namespace starpmc::compiled
