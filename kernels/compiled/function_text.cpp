#include "kernels/compiled/function_text.hpp"

#include "error.hpp"

namespace starpmc::compiled {

bool has_vector_form(Operation operation) {
  switch (operation) {
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::divide:
    case Operation::negate:
    case Operation::reciprocal:
    case Operation::square_root:
    case Operation::reciprocal_square_root:
    case Operation::abs:
    case Operation::floor:
    case Operation::ceil:
    case Operation::min:
    case Operation::max:
    case Operation::step:
    case Operation::delta:
    case Operation::select:
      return true;
    default:
      return false;
  }
}

std::string vector_operation(VectorText& t, Operation operation, std::span<const std::string> x) {
  const std::string zero = t.constant(0);
  const std::string one = t.constant(1);
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
      return t.divide(one, x[0]);
    case Operation::square_root:
      return t.unary("sqrt", x[0]);
    case Operation::reciprocal_square_root:
      return t.divide(one, t.unary("sqrt", x[0]));
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
      return t.choose(t.compare("olt", x[0], zero), zero, one);
    case Operation::delta:
      return t.choose(t.compare("oeq", x[0], zero), one, zero);
    case Operation::select:
      return t.choose(t.compare("oeq", x[0], zero), x[2], x[1]);
    default:
      throw RunError("an operation has no form for vectors");
  }
}

std::string function_declarations(const VectorText&) { return {}; }

}  // namespace starpmc::compiled
