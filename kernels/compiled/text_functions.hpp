#pragma once

#include <cstdint>
#include <string>

#include "kernels/compiled/vector_text.hpp"
#include "kernels/joined.hpp"

/// kernels/common/functions.h and angle_functions.h for values that are names in LLVM's text: a
/// function "called" here writes its instructions. Nothing is contracted: the text has no leave to.
namespace starpmc::compiled::text_functions {

/// What is written to, while this lives, by the thread.
class Writing {
 public:
  explicit Writing(VectorText& doubles) : before_(current()) { current() = &doubles; }
  ~Writing() { current() = before_; }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

  static VectorText& text() { return *current(); }

 private:
  static VectorText*& current() {
    static thread_local VectorText* text = nullptr;
    return text;
  }
  VectorText* before_;
};

struct real_t {
  std::string name;
};
struct word_t {
  std::string name;
};
struct mask_t {
  std::string name;
};

inline std::string words() {
  return joined({"<", std::to_string(Writing::text().lanes()), " x i64>"});
}
inline real_t strict(std::string_view operation, const real_t& a, const real_t& b) {
  VectorText& t = Writing::text();
  return {t.value({operation, " ", t.vector(), " ", a.name, ", ", b.name})};
}
inline word_t on_words(std::string_view operation, const word_t& a, const word_t& b) {
  return {Writing::text().value({operation, " ", words(), " ", a.name, ", ", b.name})};
}
inline word_t word_constant(std::uint64_t x) {
  const std::string element = joined({"i64 ", std::to_string(x)});
  std::string text = "<";
  for (std::uint32_t i = 0; i < Writing::text().lanes(); ++i) {
    text += joined({i == 0 ? "" : ", ", element});
  }
  return {text + ">"};
}
inline real_t real_constant(double x) { return {Writing::text().constant(x)}; }

inline real_t operator+(const real_t& a, const real_t& b) { return strict("fadd", a, b); }
inline real_t operator-(const real_t& a, const real_t& b) { return strict("fsub", a, b); }
inline real_t operator*(const real_t& a, const real_t& b) { return strict("fmul", a, b); }
inline real_t operator/(const real_t& a, const real_t& b) { return strict("fdiv", a, b); }
inline word_t operator+(const word_t& a, const word_t& b) { return on_words("add", a, b); }
inline word_t operator&(const word_t& a, const word_t& b) { return on_words("and", a, b); }
inline word_t operator|(const word_t& a, const word_t& b) { return on_words("or", a, b); }
inline word_t operator^(const word_t& a, const word_t& b) { return on_words("xor", a, b); }
inline word_t operator>>(const word_t& a, int n) {
  return on_words("lshr", a, word_constant(static_cast<std::uint64_t>(n)));
}
inline word_t operator<<(const word_t& a, int n) {
  return on_words("shl", a, word_constant(static_cast<std::uint64_t>(n)));
}
inline word_t w_product32(const word_t& a, const word_t& b) { return on_words("mul", a, b); }
inline real_t r_sqrt(const real_t& x) { return {Writing::text().unary("sqrt", x.name)}; }
inline real_t r_rint(const real_t& x) { return {Writing::text().unary("rint", x.name)}; }
inline real_t r_floor(const real_t& x) { return {Writing::text().unary("floor", x.name)}; }
inline word_t r_bits(const real_t& x) {
  VectorText& t = Writing::text();
  return {t.value({"bitcast ", t.vector(), " ", x.name, " to ", words()})};
}
inline real_t w_real(const word_t& x) {
  VectorText& t = Writing::text();
  return {t.value({"bitcast ", words(), " ", x.name, " to ", t.vector()})};
}
inline word_t w_from_real(const real_t& x) {
  VectorText& t = Writing::text();
  return {t.value({"fptosi ", t.vector(), " ", r_rint(x).name, " to ", words()})};
}
inline mask_t r_equal(const real_t& a, const real_t& b) {
  return {Writing::text().compare("oeq", a.name, b.name)};
}
inline mask_t r_less(const real_t& a, const real_t& b) {
  return {Writing::text().compare("olt", a.name, b.name)};
}
inline real_t r_select(const mask_t& mask, const real_t& a, const real_t& b) {
  return {Writing::text().choose(mask.name, a.name, b.name)};
}
inline mask_t on_masks(std::string_view operation, const mask_t& a, const mask_t& b) {
  VectorText& t = Writing::text();
  return {t.value({operation, " ", t.mask(), " ", a.name, ", ", b.name})};
}
inline mask_t r_both(const mask_t& a, const mask_t& b) { return on_masks("and", a, b); }
inline mask_t r_either(const mask_t& a, const mask_t& b) { return on_masks("or", a, b); }
/// A path is written or it is not: functions that ask this (sin, cos, tan) are not for text.
bool r_any(const mask_t& mask);
word_t w_entry(const std::uint64_t* table, const word_t& index);

#define REAL(x) real_constant(x)
#define WORD(x) word_constant(x)
#define STARPMC_TABLE inline constexpr std::uint64_t
#define STARPMC_FUNCTION inline
#include "kernels/common/moves.h"
#define STARPMC_FUNCTION inline
#include "kernels/common/functions.h"
#define STARPMC_FUNCTION inline
#include "kernels/common/angle_functions.h"
#undef REAL
#undef WORD
#undef STARPMC_TABLE

}  // namespace starpmc::compiled::text_functions
