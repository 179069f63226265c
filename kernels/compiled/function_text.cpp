#include "kernels/compiled/function_text.hpp"

#include "kernels/base/error.hpp"
#include "kernels/compiled/text_functions.hpp"
#include "kernels/elementary_functions.hpp"

namespace starpmc::compiled {

bool has_vector_form(Operation operation) {
  return operation != Operation::sin && operation != Operation::cos && operation != Operation::tan;
}

namespace {

std::string transcendental(VectorText& doubles, Operation operation,
                           std::span<const std::string> x) {
  using namespace text_functions;
  const Writing writing(doubles);
  const real_t a{x[0]};
  switch (operation) {
    case Operation::power:
      return std::string(exact_power(a, {x[1]}).name);
#define STARPMC_CASE(function) \
  case Operation::function:    \
    return std::string(exact_##function(a).name);
      STARPMC_UNCIRCULAR_FUNCTIONS(STARPMC_CASE)
#undef STARPMC_CASE
    case Operation::atan2:
      return std::string(exact_atan2(a, {x[1]}).name);
    default:
      throw RunError("an operation has no form for vectors");
  }
}

/// In fp64, whatever the type of the operands.
std::string in_doubles(VectorText& t, Operation operation, std::span<const std::string> x) {
  VectorText doubles = t.doubles();
  if (!t.single()) return transcendental(doubles, operation, x);
  std::vector<std::string> wide;
  for (const std::string& a : x) {
    wide.push_back(t.value({"fpext ", t.vector(), " ", a, " to ", doubles.vector()}));
  }
  const std::string result = transcendental(doubles, operation, wide);
  return t.value({"fptrunc ", doubles.vector(), " ", result, " to ", t.vector()});
}

}  // namespace

std::string vector_operation(VectorText& t, Operation operation, std::span<const std::string> x) {
  switch (operation) {
    case Operation::add:
      return t.add(x[0], x[1]);
    case Operation::subtract:
      return t.subtract(x[0], x[1]);
    case Operation::multiply:
      return t.multiply(x[0], x[1]);
    case Operation::divide:
      return t.divide(x[0], x[1]);
    case Operation::negate:
      return t.negate(x[0]);
    case Operation::reciprocal:
      return t.divide(t.constant(1), x[0]);
    case Operation::square_root:
      return t.unary("sqrt", x[0]);
    case Operation::reciprocal_square_root:
      return t.divide(t.constant(1), t.unary("sqrt", x[0]));
    case Operation::abs:
      return t.unary("fabs", x[0]);
    case Operation::floor:
      return t.unary("floor", x[0]);
    case Operation::ceil:
      return t.unary("ceil", x[0]);
    case Operation::min:
      return t.choose(t.compare("olt", x[1], x[0]), x[1], x[0]);
    case Operation::max:
      return t.choose(t.compare("olt", x[0], x[1]), x[1], x[0]);
    case Operation::step:
      return t.choose(t.compare("olt", x[0], t.constant(0)), t.constant(0), t.constant(1));
    case Operation::delta:
      return t.choose(t.compare("oeq", x[0], t.constant(0)), t.constant(1), t.constant(0));
    case Operation::select:
      return t.choose(t.compare("oeq", x[0], t.constant(0)), x[2], x[1]);
    default:
      return in_doubles(t, operation, x);
  }
}

std::string function_declarations(VectorText& text) {
  return text.single() ? text.doubles().declarations() : std::string();
}

}  // namespace starpmc::compiled
