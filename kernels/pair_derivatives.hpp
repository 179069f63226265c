#pragma once

#include <cstddef>
#include <vector>

#include "kernels/program.hpp"

namespace starpmc {

/// Every pair function of a system, the built-in ones among them, with its derivative. A program
/// takes r^2 (A^2), then coefficients of the pair, and gives V (kJ/mol) and V'(r)/r (kJ/mol/A^2).
struct PairDerivatives {
  /// A function of some pairs of site kinds, 0 for the others.
  struct Function {
    Program program;
    std::size_t kinds = 0;
    std::vector<double> table{};  ///< per pair of kinds, row-major: 1 or 0, then coefficients

    std::size_t coefficients() const { return program.inputs.size() - 1; }
    /// Null: the function is 0.
    const double* of_pair(int a, int b) const {
      const std::size_t row = static_cast<std::size_t>(a) * kinds + static_cast<std::size_t>(b);
      const double* const values = &table[row * (1 + coefficients())];
      return values[0] == 0 ? nullptr : values + 1;
    }
  };

  Program coulomb;             ///< of two unit charges, without the Coulomb constant
  double coulomb_pole = 1;     ///< Potential::coulomb_pole
  std::vector<Function> mm;    ///< their sum: van der Waals energy of two sites of MM molecules
  std::vector<Function> qmmm;  ///< of a site of an MM molecule and a nucleus
};

}  // namespace starpmc
