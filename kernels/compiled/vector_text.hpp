#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/joined.hpp"

namespace starpmc::compiled {

/// What has been written, and how many names were given.
struct TextSoFar {
  std::string text;
  int names = 0;
};

/// Writes instructions of LLVM over vectors of one type; every method returns the name of its
/// result.
class VectorText {
 public:
  VectorText(TextSoFar& so_far, std::uint32_t lanes, bool single)
      : so_far_(so_far),
        lanes_(std::to_string(lanes)),
        count_(lanes),
        single_(single),
        real_(single ? "float" : "double"),
        vector_(joined({"<", lanes_, " x ", real_, ">"})),
        mask_(joined({"<", lanes_, " x i1>"})),
        suffix_(joined({".v", lanes_, single ? "f32" : "f64"})) {}

  const std::string& real() const { return real_; }
  const std::string& vector() const { return vector_; }
  const std::string& mask() const { return mask_; }
  const std::string& suffix() const { return suffix_; }
  std::uint32_t lanes() const { return count_; }
  bool single() const { return single_; }

  /// The same lanes of doubles, written to the same text.
  VectorText doubles() const { return {so_far_, count_, false}; }

  void line(std::initializer_list<std::string_view> parts) {
    so_far_.text += joined({"  ", joined(parts), "\n"});
  }
  void label(std::string_view name) { so_far_.text += joined({name, ":\n"}); }
  std::string value(std::initializer_list<std::string_view> parts) {
    std::string name = "%v";
    name.append(std::to_string(so_far_.names++));
    so_far_.text += joined({"  ", name, " = ", joined(parts), "\n"});
    return name;
  }

  /// A number in the notation of constants: the bits of the double.
  std::string number(double x) const {
    if (single_) x = static_cast<double>(static_cast<float>(x));
    std::array<char, 17> digits{};
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const auto end = std::to_chars(digits.data(), digits.data() + 16, bits, 16).ptr;
    const std::string_view significant(digits.data(), end);
    return joined({"0x", std::string(16 - significant.size(), '0'), significant});
  }
  /// A constant in all lanes.
  std::string constant(double x) const {
    const std::string element = joined({real_, " ", number(x)});
    std::string text = "<";
    for (std::uint32_t i = 0; i < count_; ++i) text += joined({i == 0 ? "" : ", ", element});
    return text + ">";
  }
  /// A number in all lanes.
  std::string same(std::string_view scalar) {
    const std::string one =
        value({"insertelement ", vector_, " poison, ", real_, " ", scalar, ", i32 0"});
    return value({"shufflevector ", vector_, " ", one, ", ", vector_, " poison, <", lanes_,
                  " x i32> zeroinitializer"});
  }

  /// fadd, fsub, fmul, fdiv. Nothing may be contracted, or rows of pairs and molecules would have
  /// other bits where a processor's multiply-adds serve one better than the other; infinities and
  /// NaN must come through.
  std::string arithmetic(std::string_view name, std::string_view a, std::string_view b) {
    return value({name, " nsz ", vector_, " ", a, ", ", b});
  }
  std::string add(std::string_view a, std::string_view b) { return arithmetic("fadd", a, b); }
  std::string subtract(std::string_view a, std::string_view b) { return arithmetic("fsub", a, b); }
  std::string multiply(std::string_view a, std::string_view b) { return arithmetic("fmul", a, b); }
  std::string divide(std::string_view a, std::string_view b) { return arithmetic("fdiv", a, b); }
  std::string negate(std::string_view a) { return value({"fneg ", vector_, " ", a}); }
  std::string multiply_add(std::string_view a, std::string_view b, std::string_view c) {
    return value({"call ", vector_, " @llvm.fma", suffix_, "(", vector_, " ", a, ", ", vector_, " ",
                  b, ", ", vector_, " ", c, ")"});
  }
  /// sqrt, fabs, floor, ceil, rint
  std::string unary(std::string_view name, std::string_view a) {
    return value({"call ", vector_, " @llvm.", name, suffix_, "(", vector_, " ", a, ")"});
  }
  /// condition: olt, oeq
  std::string compare(std::string_view condition, std::string_view a, std::string_view b) {
    return value({"fcmp ", condition, " ", vector_, " ", a, ", ", b});
  }
  std::string choose(std::string_view mask, std::string_view a, std::string_view b) {
    return value({"select ", mask_, " ", mask, ", ", vector_, " ", a, ", ", vector_, " ", b});
  }

  /// Declarations of the functions that the methods above call.
  std::string declarations() const {
    std::string text;
    for (const std::string_view name : {"sqrt", "fabs", "floor", "ceil", "rint"}) {
      text += joined({"declare ", vector_, " @llvm.", name, suffix_, "(", vector_, ")\n"});
    }
    return text + joined({"declare ", vector_, " @llvm.fma", suffix_, "(", vector_, ", ", vector_,
                          ", ", vector_, ")\n"});
  }

 private:
  TextSoFar& so_far_;
  std::string lanes_;
  std::uint32_t count_;
  bool single_;
  std::string real_;
  std::string vector_;
  std::string mask_;
  std::string suffix_;
};

}  // namespace starpmc::compiled
