#pragma once

#include <algorithm>

#include "kernels/potential.hpp"
#include "window_fixture.hpp"

/// The built-in energies as functions of the user's.
namespace starpmc::test {

/// Writes a program, value by value.
class Writer {
 public:
  explicit Writer(std::vector<std::string> inputs, std::vector<double> constants) {
    program_.inputs = std::move(inputs);
    program_.constants = std::move(constants);
  }
  std::uint32_t operator()(Operation operation, std::uint32_t a, std::uint32_t b = 0) {
    program_.instructions.push_back({operation, {a, b, 0}});
    return program_.values() - 1;
  }
  Program returns(std::uint32_t value) {
    program_.outputs = {value};
    return program_;
  }

 private:
  Program program_;
};

/// (1 - r/rc)^2 / r.
inline Program coulomb_program(double cutoff) {
  Writer write({"r2"}, {1, 1 / cutoff});
  const auto inverse = write(Operation::reciprocal_square_root, 0);
  const auto r = write(Operation::multiply, 0, inverse);
  const auto remaining = write(Operation::subtract, 1, write(Operation::multiply, r, 2));
  const auto square = write(Operation::multiply, remaining, remaining);
  return write.returns(write(Operation::multiply, square, inverse));
}

/// c12/r^12 - c6/r^6 + shift + slope r.
inline Program vdw_program() {
  Writer write({"r2", "c12", "c6", "shift", "slope"}, {});
  const auto inverse2 = write(Operation::reciprocal, 0);
  const auto inverse4 = write(Operation::multiply, inverse2, inverse2);
  const auto inverse6 = write(Operation::multiply, inverse4, inverse2);
  const auto first = write(Operation::multiply, 1, inverse6);
  const auto both = write(Operation::multiply, write(Operation::subtract, first, 2), inverse6);
  const auto linear =
      write(Operation::add, 3, write(Operation::multiply, 4, write(Operation::square_root, 0)));
  return write.returns(write(Operation::add, both, linear));
}

/// A system whose energies are functions of the user's, and the same with built-in ones.
struct TwoSystems {
  TestSystem built_in;
  TestSystem user;
  Potential potential;

  /// @param as_pairs Potential::grid_as_pairs, Potential::mm_as_pairs
  explicit TwoSystems(const SystemOptions& options, bool as_pairs = true)
      : TwoSystems(make_system(options), as_pairs) {}
  explicit TwoSystems(const TestSystem& system, bool as_pairs = true) : built_in(system) {
    user = built_in;
    potential = {coulomb_program(built_in.interaction.coulomb_cutoff), vdw_program(), vdw_program(),
                 as_pairs, as_pairs};
    user.potential = &potential;
    user.shape.pairs = {14, 4, 8, 13};
    user.reals.assign(static_cast<std::size_t>(topology_reals_size(user.shape)), 0.0);
    std::copy_n(built_in.reals.begin(), topology_pair(user.shape, 0, 0), user.reals.begin());
    for (int a = 0; a < user.shape.site_types; ++a) {
      for (int b = 0; b < user.shape.site_types; ++b) {
        const double* const from = built_in.topology().pair(a, b);
        double* const to = &user.reals[static_cast<std::size_t>(topology_pair(user.shape, a, b))];
        for (const int function : {user.shape.pairs.mm_function, user.shape.pairs.qmmm_function}) {
          to[function] = from[0] != 0 || from[1] != 0 ? 1 : 0;
          std::copy_n(from, 4, to + function + 1);
        }
      }
    }
  }
};

}  // namespace starpmc::test
