#include "kernels/compiled/row.hpp"

#include <algorithm>
#include <type_traits>

#include "kernels/compiled/machine_code.hpp"
#include "kernels/compiled/row_text.hpp"

namespace starpmc::compiled {

template <class Real>
struct RowFunction<Real>::Code {
  using Function = void (*)(const Real* x, const Real* y, const Real* z, std::size_t count,
                            const Real* targets, const Real* const* varying, const Real* uniform,
                            const Real* squared_cutoffs, double* totals, Real* const* per_source);
  std::shared_ptr<const MachineCode> machine_code;
  Function function;
  std::size_t varying;
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
  const auto code = MachineCode::of(*text);
  if (code == nullptr) return std::nullopt;
  return RowFunction(std::make_shared<const Code>(
      Code{code, code->template function<typename Code::Function>("row"), varying}));
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

template class RowFunction<float>;
template class RowFunction<double>;

}  // namespace starpmc::compiled
