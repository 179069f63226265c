#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/compiled/vector_text.hpp"
#include "kernels/joined.hpp"

/// kernels/common/functions.h and angle_functions.h for values that are names in LLVM's text: a
/// function "called" here writes its instructions. Nothing is contracted: the text has no leave to.
namespace starpmc::compiled::text_functions {

/// What is written to, while this lives, by the thread.
class Writing {
 public:
  explicit Writing(VectorText& doubles) : before_(current()), text_(doubles) { current() = this; }
  ~Writing() { current() = before_; }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

  static VectorText& text() { return current()->text_; }
  /// The name, kept while this lives: values below are copied as freely as numbers.
  static std::string_view keep(std::string name) {
    return current()->names_.emplace_back(std::move(name));
  }

 private:
  static Writing*& current() {
    static thread_local Writing* writing = nullptr;
    return writing;
  }
  Writing* before_;
  VectorText& text_;
  std::deque<std::string> names_;
};

struct real_t {
  std::string_view name;
};
struct word_t {
  std::string_view name;
};
struct mask_t {
  std::string_view name;
};

inline std::string words() {
  return joined({"<", std::to_string(Writing::text().lanes()), " x i64>"});
}
inline real_t strict(std::string_view operation, real_t a, real_t b) {
  VectorText& t = Writing::text();
  return {Writing::keep(t.value({operation, " ", t.vector(), " ", a.name, ", ", b.name}))};
}
inline word_t on_words(std::string_view operation, word_t a, word_t b) {
  return {
      Writing::keep(Writing::text().value({operation, " ", words(), " ", a.name, ", ", b.name}))};
}
inline word_t word_constant(std::uint64_t x) {
  const std::string element = joined({"i64 ", std::to_string(x)});
  std::string text = "<";
  for (std::uint32_t i = 0; i < Writing::text().lanes(); ++i) {
    text += joined({i == 0 ? "" : ", ", element});
  }
  return {Writing::keep(text + ">")};
}
inline real_t real_constant(double x) { return {Writing::keep(Writing::text().constant(x))}; }

inline real_t operator+(real_t a, real_t b) { return strict("fadd", a, b); }
inline real_t operator-(real_t a, real_t b) { return strict("fsub", a, b); }
inline real_t operator*(real_t a, real_t b) { return strict("fmul", a, b); }
inline real_t operator/(real_t a, real_t b) { return strict("fdiv", a, b); }
inline word_t operator+(word_t a, word_t b) { return on_words("add", a, b); }
inline word_t operator&(word_t a, word_t b) { return on_words("and", a, b); }
inline word_t operator|(word_t a, word_t b) { return on_words("or", a, b); }
inline word_t operator^(word_t a, word_t b) { return on_words("xor", a, b); }
inline word_t operator>>(word_t a, int n) {
  return on_words("lshr", a, word_constant(static_cast<std::uint64_t>(n)));
}
inline word_t operator<<(word_t a, int n) {
  return on_words("shl", a, word_constant(static_cast<std::uint64_t>(n)));
}
inline word_t w_product32(word_t a, word_t b) { return on_words("mul", a, b); }
inline real_t r_sqrt(real_t x) { return {Writing::keep(Writing::text().unary("sqrt", x.name))}; }
inline real_t r_rint(real_t x) { return {Writing::keep(Writing::text().unary("rint", x.name))}; }
inline real_t r_floor(real_t x) { return {Writing::keep(Writing::text().unary("floor", x.name))}; }
inline word_t r_bits(real_t x) {
  VectorText& t = Writing::text();
  return {Writing::keep(t.value({"bitcast ", t.vector(), " ", x.name, " to ", words()}))};
}
inline real_t w_real(word_t x) {
  VectorText& t = Writing::text();
  return {Writing::keep(t.value({"bitcast ", words(), " ", x.name, " to ", t.vector()}))};
}
inline word_t w_from_real(real_t x) {
  VectorText& t = Writing::text();
  return {Writing::keep(t.value({"fptosi ", t.vector(), " ", r_rint(x).name, " to ", words()}))};
}
inline mask_t r_equal(real_t a, real_t b) {
  return {Writing::keep(Writing::text().compare("oeq", a.name, b.name))};
}
inline mask_t r_less(real_t a, real_t b) {
  return {Writing::keep(Writing::text().compare("olt", a.name, b.name))};
}
inline real_t r_select(mask_t mask, real_t a, real_t b) {
  return {Writing::keep(Writing::text().choose(mask.name, a.name, b.name))};
}
inline mask_t on_masks(std::string_view operation, mask_t a, mask_t b) {
  VectorText& t = Writing::text();
  return {Writing::keep(t.value({operation, " ", t.mask(), " ", a.name, ", ", b.name}))};
}
inline mask_t r_both(mask_t a, mask_t b) { return on_masks("and", a, b); }
inline mask_t r_either(mask_t a, mask_t b) { return on_masks("or", a, b); }
/// A path is written or it is not: functions that ask this (sin, cos, tan) are not for text.
bool r_any(mask_t mask);
word_t w_entry(const std::uint64_t* table, word_t index);

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
