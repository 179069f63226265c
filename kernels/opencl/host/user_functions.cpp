#include "kernels/opencl/host/user_functions.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

#include "kernels/opencl/host/emit.hpp"
#include "kernels/scaled_program.hpp"

namespace starpmc::opencl {
namespace {

/// `TYPE NAME(TYPE r2, c)`, which calls the emitted NAME_values.
/// @param of_types whether there are coefficients of pairs of site types, even if there are 0 of
/// them
std::string wrapper(const std::string& name, std::size_t coefficients, bool of_types,
                    const std::string& type = "double", const std::string& conversion = "") {
  std::string text = "static inline " + type + " " + name + "(" + type + " r2";
  if (of_types) text += ", __global const double *c";
  text += ") {\n  " + type + " energy;\n  " + name + "_values(r2, ";
  for (std::size_t i = 0; i < coefficients; ++i) {
    text += conversion + "c[" + std::to_string(i) + "], ";
  }
  return text + "&energy);\n  return energy;\n}\n";
}

struct Named {
  const Program& program;
  const char* define;
  const char* name;
  bool of_types;
};

std::array<Named, 3> functions_of(const Potential& potential) {
  return {{{potential.coulomb, "STARPMC_USER_COULOMB", "user_coulomb", false},
           {potential.mm, "STARPMC_USER_MM", "user_mm", true},
           {potential.qmmm, "STARPMC_USER_QMMM", "user_qmmm", true}}};
}

/// For a function of r^2 in lanes and of inputs that are the same in all of them.
FunctionOptions lanes_options(const Program& program) {
  FunctionOptions options;
  options.type = ValueType::lanes;
  options.uniform.assign(program.inputs.size(), true);
  options.uniform[0] = false;
  options.moderate.assign(program.inputs.size(), false);
  options.moderate[0] = true;
  return options;
}

/// Of two MM molecules, of type lanes: lanes_user_coulomb(), lanes_user_mm().
std::string molecule_functions(const Potential& potential) {
  std::string text = "#if USER_MM_IN_LANES\n";
  for (const Named& function : functions_of(potential)) {
    if (!Potential::exists(function.program) || &function.program == &potential.qmmm) continue;
    const std::string name = std::string("lanes_") + function.name;
    text += emit_function(function.program, name + "_values", lanes_options(function.program)) +
            wrapper(name, function.program.inputs.size() - 1, function.of_types, "lanes", "(real)");
  }
  return text + "#endif\n";
}

/// lanes_energy() of opencl/lanes.h, for lengths in the unit of the grid term.
std::string grid_energy(const Program& coulomb) {
  const auto function = [](const Program& program, const std::string& arguments) {
    return emit_function(program, "user_grid_values", lanes_options(program)) +
           "static inline lanes lanes_energy(lanes r2, GridReals reals) {\n"
           "  lanes energy;\n"
           "  user_grid_values(" +
           arguments + ", &energy);\n  return energy;\n}\n";
  };
  return "#if STARPMC_FIXED\n" + function(in_length_unit(coulomb), "r2, (real)reals.unit") +
         "#else\n" + function(coulomb, "r2") + "#endif\n";
}

}  // namespace

std::string pole_definition(double coulomb_pole) {
  std::array<char, 40> number{};
  std::snprintf(number.data(), number.size(), "%a", coulomb_pole);
  return std::string(" -DSTARPMC_COULOMB_POLE=(") + number.data() + ")";
}

UserFunctions user_functions(const Potential& potential) {
  UserFunctions result;
  // Emitted for the precision of the pair terms.
  result.quick =
      "#define STARPMC_QUICK_USER_FUNCTIONS\n#define real double\n"
      "#define reciprocal_square_root wide_reciprocal_square_root\n"
      "#define root_of_square wide_root_of_square\n"
      "#define reciprocal_of_square wide_reciprocal_of_square\n";
  for (const Named& function : functions_of(potential)) {
    if (!Potential::exists(function.program)) continue;
    const std::string name = function.name;
    const std::size_t coefficients = function.program.inputs.size() - 1;
    FunctionOptions options;
    options.moderate.assign(function.program.inputs.size(), false);
    options.moderate[0] = true;
    result.definitions += std::string(" -D") + function.define + "=1";
    result.quick += emit_function(function.program, name + "_values", options) +
                    wrapper(name, coefficients, function.of_types);
    result.exact += emit_exact_function(function.program, "exact_" + name + "_at_values") +
                    wrapper("exact_" + name + "_at", coefficients, function.of_types);
  }
  if (result.exact.empty()) return {};
  if (potential.in_grid()) result.definitions += pole_definition(potential.coulomb_pole);
  result.quick +=
      "#undef reciprocal_of_square\n#undef root_of_square\n#undef reciprocal_square_root\n"
      "#undef real\n";
  if (potential.in_mm()) {
    if (potential.mm_as_pairs) result.definitions += " -DSTARPMC_USER_MM_AS_PAIRS=1";
    result.lanes += molecule_functions(potential);
  }
  if (potential.in_grid() && potential.grid_as_pairs) {
    result.definitions += " -DSTARPMC_USER_GRID=1";
    result.lanes += grid_energy(potential.coulomb);
  }
  return result;
}

std::string potential_hash(const Potential& potential) {
  const UserFunctions functions = user_functions(potential);
  if (functions.exact.empty()) return {};
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : functions.definitions + functions.exact) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  std::array<char, 16> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x", static_cast<unsigned>(hash ^ (hash >> 32)));
  return digits.data();
}

}  // namespace starpmc::opencl
