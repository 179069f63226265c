#pragma once

#include <map>
#include <string>
#include <vector>

#include "expression/pool.hpp"
#include "kernels/program.hpp"
#include "potential/cutoff_treatment.hpp"

namespace starpmc {

/// A user's function of the distance and of parameters, ready to be given to kernels.
class PairFunction {
 public:
  using Parameters = std::map<std::string, double, std::less<>>;

  struct Text {
    std::string place;  ///< of the option, for messages
    std::string text;
  };
  /// @param texts  expressions of r, cutoff and the parameters; their sum is the function
  /// @param parameters names there may be
  /// @throws InputError that shows the expression
  PairFunction(const std::vector<Text>& texts, const std::vector<std::string>& parameters,
               const Cutoff& cutoff);

  /// Names of the parameters that the function depends on.
  const std::vector<std::string>& parameters() const { return used_; }
  /// r^2 and coefficients() in, the energy out.
  const Program& program() const { return parted_.each; }
  std::size_t coefficient_count() const { return parted_.once.outputs.size(); }
  /// The function and V'(r)/r, translated jointly: r^2 and what `once` makes of the parameters in,
  /// both out.
  PartedProgram with_derivative();

  /// Whether the function is zero with these parameters, whatever the distance.
  bool is_zero(const Parameters& parameters);
  /// @throws InputError naming `sites` unless all are finite, the function from half the cutoff to
  ///         the cutoff, and what the treatment of the cutoff takes of it
  std::vector<double> coefficients(const Parameters& parameters, const std::string& sites);
  /// The value at a distance.
  double value(double distance, std::span<const double> coefficients) const;
  const std::string& place() const { return place_; }

 private:
  PartedProgram translate(std::span<const expression::Node> outputs);
  void check_cutoff(const Parameters& parameters, const std::string& sites);

  std::string place_;
  Cutoff cutoff_;
  expression::Pool pool_;
  expression::Node untreated_;
  expression::Node function_;
  std::vector<std::string> used_;
  PartedProgram parted_;
};

}  // namespace starpmc
