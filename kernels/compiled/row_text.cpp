#include "kernels/compiled/row_text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>

#include "error.hpp"
#include "kernels/compiled/function_text.hpp"
#include "kernels/compiled/pair_text.hpp"

namespace starpmc::compiled {
namespace {

constexpr std::uint32_t kMostTargets = 4;

std::string numbered(std::string_view prefix, std::uint32_t number) {
  return joined({prefix, std::to_string(number)});
}

class RowText {
 public:
  RowText(const Program& program, const RowShape& shape, bool single, InstructionSet set)
      : program_(program),
        shape_(shape),
        instructions_(fused_instructions(program, true)),
        text_(so_far_, lanes_of(set, single), single),
        pair_(text_, set, shape.least_squared_distance > 0),
        names_(program.values()),
        varies_(program.values(), false),
        outputs_(static_cast<std::uint32_t>(program.outputs.size())) {
    for (std::uint32_t i = 0; i < program.first_constant(); ++i) {
      varies_[i] = shape.uniform.empty() || !shape.uniform[i];
    }
    for (const FusedInstruction& instruction : instructions_) {
      varies_[instruction.result] = std::ranges::any_of(
          operands_of(instruction),
          [&](std::uint32_t value) { return static_cast<bool>(varies_[value]); });
    }
    if (single && set != InstructionSet::portable) find_growths();
  }

  std::optional<std::string> text() {
    for (const FusedInstruction& instruction : instructions_) {
      if (instruction.fusion == Fusion::none && !has_vector_form(instruction.operation)) {
        return std::nullopt;
      }
    }
    prologue();
    loop();
    rest();
    epilogue();
    return head() + so_far_.text + "}\n" + declarations() + pair_.attributes();
  }

 private:
  using Accumulators = std::vector<std::string>;

  static std::span<const std::uint32_t> operands_of(const FusedInstruction& instruction) {
    return std::span(instruction.operands)
        .first(static_cast<std::size_t>(instruction.operands_read()));
  }

  static std::string head() {
    return "define void @row(ptr noalias readonly %x, ptr noalias readonly %y, "
           "ptr noalias readonly %z, i64 %count, ptr noalias readonly %targets, "
           "ptr noalias readonly %varying, ptr noalias readonly %uniform, "
           "ptr noalias readonly %cutoffs, ptr noalias %totals, ptr noalias %per_source) #0 {\n"
           "entry:\n";
  }

  /// A number of the type of the pairs from an array, in all lanes.
  std::string load_same(std::string_view array, std::uint32_t index) {
    const std::string at = text_.value(
        {"getelementptr ", text_.real(), ", ptr ", array, ", i64 ", std::to_string(index)});
    return text_.same(text_.value({"load ", text_.real(), ", ptr ", at}));
  }

  void prologue() {
    std::uint32_t uniform = 0;
    std::uint32_t varying = 0;
    for (std::uint32_t i = 0; i < program_.first_constant(); ++i) {
      if (!varies_[i]) {
        names_[i] = load_same("%uniform", uniform++);
      } else if (i != shape_.squared_distance) {
        const std::string at =
            text_.value({"getelementptr ptr, ptr %varying, i64 ", std::to_string(varying++)});
        rows_.emplace_back(i, text_.value({"load ptr, ptr ", at}));
      }
    }
    for (std::uint32_t i = 0; i < program_.constants.size(); ++i) {
      names_[program_.first_constant() + i] = text_.constant(program_.constants[i]);
    }
    for (const FusedInstruction& instruction : instructions_) {
      if (!varies_[instruction.result])
        names_[instruction.result] = pair_.compute(instruction, names_);
    }
    for (std::uint32_t i = 0; i < 3 * shape_.targets; ++i) {
      targets_.push_back(load_same("%targets", i));
    }
    for (std::uint32_t i = 0; i < outputs_; ++i) {
      if (shape_.cut) cutoffs_.push_back(load_same("%cutoffs", i));
      if (shape_.result != RowResult::per_source) continue;
      const std::string at =
          text_.value({"getelementptr ptr, ptr %per_source, i64 ", std::to_string(i)});
      result_rows_.push_back(text_.value({"load ptr, ptr ", at}));
    }
    text_.line({"%whole = and i64 %count, ", std::to_string(-static_cast<long>(text_.lanes()))});
    text_.line({"%has_whole = icmp ne i64 %whole, 0"});
    text_.line({"br i1 %has_whole, label %loop, label %check"});
  }

  /// Finds 1/r and what is 1 + slope r^2, which the shifted-force Coulomb function multiplies.
  void find_growths() {
    const std::uint32_t r2 = shape_.squared_distance;
    const auto is_one = [&](std::uint32_t value) {
      const std::uint32_t first = program_.first_constant();
      return value >= first && value < program_.first_result() &&
             program_.constants[value - first] == 1;
    };
    for (const FusedInstruction& instruction : instructions_) {
      const auto [a, b, c] = instruction.operands;
      if (instruction.fusion == Fusion::multiply_add && is_one(c)) {
        if (a == r2 && !varies_[b]) slopes_[instruction.result] = b;
        if (b == r2 && !varies_[a]) slopes_[instruction.result] = a;
      } else if (instruction.fusion == Fusion::none && a == r2 &&
                 instruction.operation == Operation::reciprocal_square_root) {
        inverse_ = instruction.result;
      }
    }
  }

  /// The slope of (1 + slope r^2)/r where that is an instruction's product.
  std::optional<std::uint32_t> slope_of_product(const FusedInstruction& instruction) const {
    const bool product =
        instruction.fusion != Fusion::none || instruction.operation == Operation::multiply;
    const auto [a, b, _] = instruction.operands;
    if (!product || !inverse_ || (a != *inverse_ && b != *inverse_)) return std::nullopt;
    const auto found = slopes_.find(a == *inverse_ ? b : a);
    return found == slopes_.end() ? std::nullopt : std::optional(found->second);
  }

  std::string compute(FusedInstruction instruction) {
    const auto slope = slope_of_product(instruction);
    if (!slope) return pair_.compute(instruction, names_);
    const auto [first, second] = pair_.growth_over_distance(names_[*slope]);
    const std::vector<std::string> names{first, second, names_[instruction.operands[2]]};
    instruction.operands = {0, 1, 2};
    return pair_.compute(instruction, names);
  }

  std::uint32_t accumulators() const {
    return shape_.result == RowResult::totals ? shape_.targets * outputs_ : 0;
  }

  void loop() {
    text_.label("loop");
    text_.line({"%i = phi i64 [ 0, %entry ], [ %next, %loop ]"});
    Accumulators before;
    for (std::uint32_t k = 0; k < accumulators(); ++k) {
      before.push_back(numbered("%sum", k));
      text_.line({before.back(), " = phi ", text_.vector(), " [ zeroinitializer, %entry ], [ ",
                  numbered("%more", k), ", %loop ]"});
    }
    const Accumulators after = pairs("%i", "", before);
    // named ahead, in the phi: an identity that the optimizer removes
    for (std::uint32_t k = 0; k < accumulators(); ++k) {
      text_.line({numbered("%more", k), " = select i1 true, ", text_.vector(), " ", after[k], ", ",
                  text_.vector(), " zeroinitializer"});
    }
    text_.line({"%next = add nuw i64 %i, ", std::to_string(text_.lanes())});
    text_.line({"%again = icmp ult i64 %next, %whole"});
    text_.line({"br i1 %again, label %loop, label %check, !llvm.loop !0"});
  }

  /// The last, partial vector.
  void rest() {
    text_.label("check");
    Accumulators before;
    for (std::uint32_t k = 0; k < accumulators(); ++k) {
      before.push_back(numbered("%whole_sum", k));
      text_.line({before.back(), " = phi ", text_.vector(), " [ zeroinitializer, %entry ], [ ",
                  numbered("%more", k), ", %loop ]"});
    }
    text_.line({"%has_rest = icmp ne i64 %whole, %count"});
    text_.line({"br i1 %has_rest, label %rest, label %finish"});
    text_.label("rest");
    const std::string lanes = std::to_string(text_.lanes());
    const std::string integers = joined({"<", lanes, " x i64>"});
    std::string numbers = "<";
    for (std::uint32_t i = 0; i < text_.lanes(); ++i) {
      numbers += joined({i == 0 ? "" : ", ", "i64 ", std::to_string(i)});
    }
    const std::string left = text_.value({"sub i64 %count, %whole"});
    const std::string one =
        text_.value({"insertelement ", integers, " poison, i64 ", left, ", i32 0"});
    const std::string same = text_.value({"shufflevector ", integers, " ", one, ", ", integers,
                                          " poison, <", lanes, " x i32> zeroinitializer"});
    const std::string mask = text_.value({"icmp ult ", integers, " ", numbers, ">, ", same});
    after_rest_ = pairs("%whole", mask, before);
    text_.line({"br label %finish"});
  }

  void epilogue() {
    text_.label("finish");
    for (std::uint32_t k = 0; k < accumulators(); ++k) {
      const std::string sum = text_.value({"phi ", text_.vector(), " [ ", numbered("%whole_sum", k),
                                           ", %check ], [ ", after_rest_[k], ", %rest ]"});
      finals_.push_back(sum);
    }
    const std::string wide = joined({"<", std::to_string(text_.lanes()), " x double>"});
    for (std::uint32_t k = 0; k < accumulators(); ++k) {
      const std::string doubles =
          text_.single() ? text_.value({"fpext ", text_.vector(), " ", finals_[k], " to ", wide})
                         : finals_[k];
      const std::string total =
          text_.value({"call reassoc double @llvm.vector.reduce.fadd.v",
                       std::to_string(text_.lanes()), "f64(double 0.0, ", wide, " ", doubles, ")"});
      const std::string at =
          text_.value({"getelementptr double, ptr %totals, i64 ", std::to_string(k)});
      const std::string before = text_.value({"load double, ptr ", at});
      const std::string after = text_.value({"fadd double ", before, ", ", total});
      text_.line({"store double ", after, ", ptr ", at});
    }
    text_.line({"ret void"});
  }

  std::string load(std::string_view array, std::string_view index, std::string_view mask) {
    const std::string at =
        text_.value({"getelementptr ", text_.real(), ", ptr ", array, ", i64 ", index});
    const std::string bytes = text_.single() ? "4" : "8";
    if (mask.empty()) {
      return text_.value({"load ", text_.vector(), ", ptr ", at, ", align ", bytes});
    }
    // values without meaning, but no reason for a trap or a slow path
    return text_.value({"call ", text_.vector(), " @llvm.masked.load", text_.suffix(), ".p0(ptr ",
                        at, ", i32 ", bytes, ", ", text_.mask(), " ", mask, ", ", text_.vector(),
                        " ", text_.constant(1), ")"});
  }

  /// Adds the pairs of the targets with the sources from index on.
  /// @param mask lanes that count; empty: all
  Accumulators pairs(std::string_view index, std::string_view mask, Accumulators sums) {
    std::array<std::string, 3> source;
    constexpr std::array<std::string_view, 3> kArrays{"%x", "%y", "%z"};
    for (std::size_t axis = 0; axis < 3; ++axis) source[axis] = load(kArrays[axis], index, mask);
    for (const auto& [input, row] : rows_) names_[input] = load(row, index, mask);
    std::vector<std::string> rows(outputs_);
    for (std::uint32_t target = 0; target < shape_.targets; ++target) {
      pair_.set_squared_distance(squared_distance(target, source));
      names_[shape_.squared_distance] = pair_.squared_distance();
      for (const FusedInstruction& instruction : instructions_) {
        if (varies_[instruction.result]) names_[instruction.result] = compute(instruction);
      }
      for (std::uint32_t k = 0; k < outputs_; ++k) {
        const std::string counted = counting(mask, k);
        const std::string& output = names_[program_.outputs[k]];
        std::string& sum =
            shape_.result == RowResult::totals ? sums[target * outputs_ + k] : rows[k];
        if (sum.empty()) sum = load(result_rows_[k], index, mask);
        const std::string more = text_.add(sum, output);
        sum = counted.empty() ? more : text_.choose(counted, more, sum);
      }
    }
    if (shape_.result == RowResult::per_source) store(rows, index, mask);
    return sums;
  }

  /// Lanes of `mask` whose pair is inside the cutoff of an output; empty: all.
  std::string counting(std::string_view mask, std::uint32_t output) {
    if (!shape_.cut) return std::string(mask);
    const std::string within =
        text_.compare("olt", names_[shape_.squared_distance], cutoffs_[output]);
    return mask.empty() ? within : text_.value({"and ", text_.mask(), " ", within, ", ", mask});
  }

  void store(const std::vector<std::string>& rows, std::string_view index, std::string_view mask) {
    const std::string bytes = text_.single() ? "4" : "8";
    for (std::uint32_t k = 0; k < outputs_; ++k) {
      const std::string at =
          text_.value({"getelementptr ", text_.real(), ", ptr ", result_rows_[k], ", i64 ", index});
      if (mask.empty()) {
        text_.line({"store ", text_.vector(), " ", rows[k], ", ptr ", at, ", align ", bytes});
      } else {
        text_.line({"call void @llvm.masked.store", text_.suffix(), ".p0(", text_.vector(), " ",
                    rows[k], ", ptr ", at, ", i32 ", bytes, ", ", text_.mask(), " ", mask, ")"});
      }
    }
  }

  std::string squared_distance(std::uint32_t target, const std::array<std::string, 3>& source) {
    std::array<std::string, 3> d;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      d[axis] = text_.subtract(targets_[3 * target + axis], source[axis]);
    }
    const std::string r2 = pair_.length_squared(d[0], d[1], d[2]);
    const double least = shape_.least_squared_distance;
    return least == 0 || !shape_.cut ? r2 : pair_.at_least(r2, least);
  }

  std::string declarations() {
    const std::string& v = text_.vector();
    const std::string lanes = std::to_string(text_.lanes());
    return pair_.declarations() +
           joined({"declare ", v, " @llvm.masked.load", text_.suffix(), ".p0(ptr, i32, ",
                   text_.mask(), ", ", v, ")\n"}) +
           joined({"declare void @llvm.masked.store", text_.suffix(), ".p0(", v, ", ptr, i32, ",
                   text_.mask(), ")\n"}) +
           joined({"declare double @llvm.vector.reduce.fadd.v", lanes, "f64(double, <", lanes,
                   " x double>)\n"});
  }

  const Program& program_;
  const RowShape& shape_;
  std::vector<FusedInstruction> instructions_;
  TextSoFar so_far_;
  VectorText text_;
  PairText pair_;
  std::vector<std::string> names_;  ///< per value
  std::vector<bool> varies_;
  std::optional<std::uint32_t> inverse_;           ///< the value 1/r
  std::map<std::uint32_t, std::uint32_t> slopes_;  ///< values 1 + slope r^2 and their slopes
  std::uint32_t outputs_;
  std::vector<std::pair<std::uint32_t, std::string>> rows_;  ///< varying inputs and their arrays
  std::vector<std::string> targets_;
  std::vector<std::string> cutoffs_;
  std::vector<std::string> result_rows_;
  Accumulators after_rest_;
  Accumulators finals_;
};

}  // namespace

void check_shape(const Program& program, const RowShape& shape) {
  const std::size_t inputs = program.inputs.size();
  if (shape.squared_distance >= inputs ||
      (!shape.uniform.empty() &&
       (shape.uniform.size() != inputs || shape.uniform[shape.squared_distance]))) {
    throw RunError("a row of pairs was compiled for other inputs than its program's");
  }
  if (shape.targets < 1 || shape.targets > kMostTargets) {
    throw RunError("a row of pairs has 1 to " + std::to_string(kMostTargets) + " targets, not " +
                   std::to_string(shape.targets));
  }
}

std::optional<std::string> row_text(const Program& program, const RowShape& shape, bool single,
                                    InstructionSet set) {
  check_shape(program, shape);
  return RowText(program, shape, single, set).text();
}

}  // namespace starpmc::compiled
