#pragma once

#include <functional>
#include <map>
#include <optional>
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

  /// Parameters of sites a and b, and of b and a.
  struct BothWays {
    Parameters parameters;
    Parameters swapped;
    std::string sites;
    std::string swapped_sites;
  };
  /// Nothing to do where the expression shows it. Otherwise values are compared, from the least
  /// distance that counts to the cutoff.
  /// @throws InputError unless the energy stays the same when the two sites are swapped
  void check_symmetry(const BothWays& both);

  /// Of the option whose expression is the largest at a distance.
  const std::string& place_of_largest(const Parameters& parameters, double distance);
  /// Of the option whose expression has no derivative at a distance.
  const std::string& place_without_slope(const Parameters& parameters, double distance);

 private:
  struct Part {
    std::string place;
    expression::Node node;
  };
  void treat_sum();
  PartedProgram translate(std::span<const expression::Node> outputs);
  void check_cutoff(const Parameters& parameters, const std::string& sites);
  bool is_symmetric(expression::Node node);
  std::optional<double> asymmetric_distance(const BothWays& both);
  std::optional<double> not_finite_distance(std::span<const double> coefficients) const;
  double value_of(expression::Node node, const Parameters& parameters, double distance) const;
  /// @param at_fault whether a part is
  const std::string& place_where(const std::function<bool(expression::Node)>& at_fault) const;

  std::string place_;  ///< of the first option, for what none of them does alone
  std::vector<Part> parts_;
  Cutoff cutoff_;
  expression::Pool pool_;
  expression::Node untreated_;
  expression::Node function_;
  std::optional<bool> symmetric_;  ///< none: not asked for yet
  std::vector<std::string> used_;
  PartedProgram parted_;
};

}  // namespace starpmc
