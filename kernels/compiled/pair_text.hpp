#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/compiled/machine_code.hpp"
#include "kernels/compiled/vector_text.hpp"
#include "kernels/fused_program.hpp"

namespace starpmc::compiled {

/// Lanes of a vector.
std::uint32_t lanes_of(InstructionSet set, bool single);

/// Writes what becomes of the squared distances in the lanes.
class PairText {
 public:
  /// @param positive  whether no squared distance is 0: square roots and reciprocals then come from
  ///                  the estimate of 1/r, too
  PairText(VectorText& text, InstructionSet set, bool positive)
      : text_(text), set_(set), positive_(positive) {}

  /// Other pairs from here on.
  void set_squared_distance(std::string r2);
  const std::string& squared_distance() const { return r2_; }
  /// 1/r, written where it is first asked for; so that instructions of other blocks find it.
  const std::string& inverse();

  /// r^2 of points in the lanes, from displacements.
  std::string length_squared(std::string_view x, std::string_view y, std::string_view z);
  /// Values below some least one count as that.
  std::string at_least(const std::string& value, double least);

  /// One instruction of a program. Its operands' names are in `names`, which may be the squared
  /// distance's.
  std::string compute(const FusedInstruction& instruction, const std::vector<std::string>& names);

  /// The same of an instruction that multiplies 1 + slope r^2 by 1/r, in single precision.
  std::string compute_growth(FusedInstruction instruction, const std::vector<std::string>& names,
                             const std::string& slope);

  /// Whether an instruction takes roots of what has the number of the squared distance.
  bool needs_roots(const FusedInstruction& instruction, std::uint32_t squared_distance) const;

  /// Declarations of what is called.
  std::string declarations() const;
  /// Attributes #0 of functions, and !0 of loops.
  std::string attributes() const;

 private:
  std::string compute_plain(Operation operation, const std::vector<std::string>& x);
  void write_roots();
  std::string slope_of_third_order(const std::string& h);
  std::string squared_inverse();
  std::string halved(const std::string& x);
  std::string estimate(const std::string& r2);

  VectorText& text_;
  InstructionSet set_;
  bool positive_;
  std::string r2_;
  std::string inverse_;  ///< 1/r of the current pairs; empty: not yet
  std::string root_;     ///< r
};

}  // namespace starpmc::compiled
