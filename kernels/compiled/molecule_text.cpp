#include "kernels/compiled/molecule_text.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/compiled/function_text.hpp"
#include "kernels/compiled/pair_text.hpp"

namespace starpmc::compiled {
namespace {

constexpr std::array<std::string_view, 2> kEnergies{"coulomb", "vdw"};

/// What coordinates are, and how they become displacements.
enum class Places : std::uint8_t { one_image, images, fixed_point };

/// A term of the pairs, ready to be written.
struct WrittenTerm {
  const PairTerm& term;
  std::vector<FusedInstruction> instructions;
  std::size_t first_coefficient;
};

class MoleculeText {
 public:
  MoleculeText(std::span<const PairTerm> terms, double least, bool single, InstructionSet set)
      : least_(least), text_(so_far_, lanes_of(set, single), single), pair_(text_, set, least > 0) {
    for (const PairTerm& term : terms) {
      terms_.push_back({term, fused_instructions(term.program, true), coefficients_});
      coefficients_ += term.coefficients();
    }
  }

  std::optional<std::string> text() {
    for (const WrittenTerm& term : terms_) {
      for (const FusedInstruction& instruction : term.instructions) {
        if (instruction.fusion == Fusion::none && !has_vector_form(instruction.operation)) {
          return std::nullopt;
        }
      }
    }
    write("one_image", Places::one_image);
    write("images", Places::images);
    write("fixed_point", Places::fixed_point);
    return so_far_.text + pair_.declarations() + pair_.attributes();
  }

 private:
  /// Molecules side by side in lanes; sites of the source, then of the target, in turn.
  void write(std::string_view name, Places places) {
    places_ = places;
    so_far_.text += joined(
        {"define void @", name,
         "(i64 %count, i64 %stride, i64 %targets, i64 %sources, ptr noalias readonly "
         "%target_sites, "
         "ptr noalias readonly %source_sites, ptr noalias readonly %box, "
         "ptr noalias readonly %present, ptr noalias readonly %coefficients, "
         "ptr noalias readonly %cutoffs, ptr noalias %coulomb_row, ptr noalias %vdw_row) #0 {\n"});
    text_.label("entry");
    for (std::size_t k = 0; k < 2; ++k) cutoffs_[k] = load_same("%cutoffs", std::to_string(k));
    const std::size_t lengths = places == Places::images        ? 6
                                : places == Places::fixed_point ? 3
                                                                : 0;
    for (std::size_t k = 0; k < lengths; ++k) box_[k] = load_same("%box", std::to_string(k));
    text_.line({"%any = icmp ne i64 %count, 0"});
    text_.line({"br i1 %any, label %molecules, label %done"});
    text_.label("molecules");
    text_.line({"%i = phi i64 [ 0, %entry ], [ %next_i, %store ]"});
    text_.line({"br label %source"});
    begin_source();
    begin_target();
    write_pair();
    end_loops();
    so_far_.text += "}\n";
  }

  void sums(std::string_view block, std::string_view from, std::string_view first,
            std::string_view again) {
    for (const std::string_view energy : kEnergies) {
      const std::string before =
          first.empty() ? std::string("zeroinitializer") : joined({"%", energy, "_", first});
      text_.line({"%", energy, "_", block, " = phi ", text_.vector(), " [ ", before, ", %", from,
                  " ], [ %", energy, "_done, %", again, " ]"});
    }
  }

  void begin_source() {
    text_.label("source");
    text_.line({"%b = phi i64 [ 0, %molecules ], [ %next_b, %source_done ]"});
    text_.line({"%first_pair = phi i64 [ 0, %molecules ], [ %next_pair, %source_done ]"});
    sums("source", "molecules", "", "source_done");
    const std::string first = text_.value({"mul i64 %b, 3"});
    for (std::size_t k = 0; k < 3; ++k) {
      const std::string row = text_.value({"add i64 ", first, ", ", std::to_string(k)});
      const std::string start = text_.value({"mul i64 ", row, ", %stride"});
      const std::string at = text_.value({"add i64 ", start, ", %i"});
      source_[k] = load_source(at);
    }
    text_.line({"br label %target"});
  }

  std::string integers() const { return joined({"<", std::to_string(text_.lanes()), " x i32>"}); }

  std::string load_source(const std::string& index) {
    if (places_ != Places::fixed_point) {
      return text_.value(
          {"load ", text_.vector(), ", ptr ", element("%source_sites", index), alignment()});
    }
    const std::string at = text_.value({"getelementptr i32, ptr %source_sites, i64 ", index});
    return text_.value({"load ", integers(), ", ptr ", at, ", align 4"});
  }

  /// Along one axis, of a target from the source.
  std::string displacement(std::size_t axis, const std::string& index) {
    if (places_ == Places::fixed_point) {
      const std::string at = text_.value({"getelementptr i32, ptr %target_sites, i64 ", index});
      const std::string one = text_.value({"load i32, ptr ", at});
      const std::string first =
          text_.value({"insertelement ", integers(), " poison, i32 ", one, ", i32 0"});
      const std::string same =
          text_.value({"shufflevector ", integers(), " ", first, ", ", integers(), " poison, ",
                       integers(), " zeroinitializer"});
      const std::string units = text_.value({"sub ", integers(), " ", same, ", ", source_[axis]});
      const std::string number =
          text_.value({"sitofp ", integers(), " ", units, " to ", text_.vector()});
      return text_.multiply(number, box_[axis]);
    }
    std::string d = text_.subtract(load_same("%target_sites", index), source_[axis]);
    if (places_ == Places::one_image) return d;
    const std::string edges = text_.unary("rint", text_.multiply(d, box_[3 + axis]));
    return text_.multiply_add(text_.negate(box_[axis]), edges, d);
  }

  void begin_target() {
    text_.label("target");
    text_.line({"%a = phi i64 [ 0, %source ], [ %next_a, %pair_done ]"});
    text_.line({"%pair = phi i64 [ %first_pair, %source ], [ %next_pair, %pair_done ]"});
    sums("target", "source", "source", "pair_done");
  }

  void end_loops() {
    text_.line({"br label %pair_done"});
    text_.label("pair_done");
    for (std::size_t k = 0; k < 2; ++k) {
      // named ahead, in the phi: an identity that the optimizer removes
      text_.line({"%", kEnergies[k], "_done = select i1 true, ", text_.vector(), " ", sums_[k],
                  ", ", text_.vector(), " zeroinitializer"});
    }
    text_.line({"%next_pair = add nuw i64 %pair, 1"});
    text_.line({"%next_a = add nuw i64 %a, 1"});
    text_.line({"%more_targets = icmp ult i64 %next_a, %targets"});
    text_.line({"br i1 %more_targets, label %target, label %source_done, !llvm.loop !0"});
    text_.label("source_done");
    text_.line({"%next_b = add nuw i64 %b, 1"});
    text_.line({"%more_sources = icmp ult i64 %next_b, %sources"});
    text_.line({"br i1 %more_sources, label %source, label %store, !llvm.loop !0"});
    text_.label("store");
    for (const std::string_view energy : kEnergies) {
      text_.line({"store ", text_.vector(), " %", energy, "_done, ptr ",
                  element(joined({"%", energy, "_row"}), "%i"), alignment()});
    }
    text_.line({"%next_i = add nuw i64 %i, ", std::to_string(text_.lanes())});
    text_.line({"%more_molecules = icmp ult i64 %next_i, %count"});
    text_.line({"br i1 %more_molecules, label %molecules, label %done, !llvm.loop !0"});
    text_.label("done");
    text_.line({"ret void"});
  }

  void write_pair() {
    write_distance();
    const std::string at = text_.value({"getelementptr i32, ptr %present, i64 %pair"});
    const std::string present = text_.value({"load i32, ptr ", at});
    const std::string record = text_.value({"mul i64 %pair, ", std::to_string(coefficients_)});
    const std::string coefficients = element("%coefficients", record);
    // most pairs have charges only, and need not be asked for every term
    sums_ = {"%coulomb_target", "%vdw_target"};
    block_ = "target";
    write_term(0, present, coefficients);
    const std::string only = text_.value({"icmp ult i32 ", present, ", 2"});
    text_.line({"br i1 ", only, ", label %pair_end, label %more_terms"});
    const std::array<std::string, 2> first = sums_;
    const std::string first_block = block_;
    text_.label("more_terms");
    block_ = "more_terms";
    for (std::size_t t = 1; t < terms_.size(); ++t) write_term(t, present, coefficients);
    text_.line({"br label %pair_end"});
    text_.label("pair_end");
    for (std::size_t k = 0; k < 2; ++k) {
      sums_[k] = text_.value({"phi ", text_.vector(), " [ ", first[k], ", %", first_block, " ], [ ",
                              sums_[k], ", %", block_, " ]"});
    }
  }

  void write_distance() {
    const std::string first = text_.value({"mul i64 %a, 3"});
    std::array<std::string, 3> d;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::string at = text_.value({"add i64 ", first, ", ", std::to_string(k)});
      d[k] = displacement(k, at);
    }
    pair_.set_squared_distance(pair_.at_least(pair_.length_squared(d[0], d[1], d[2]), least_));
    const bool roots = std::ranges::any_of(terms_, [&](const WrittenTerm& term) {
      return std::ranges::any_of(term.instructions, [&](const FusedInstruction& instruction) {
        return pair_.needs_roots(instruction, 0);
      });
    });
    if (roots) pair_.inverse();  // once for all terms
  }

  /// Adds a term, where the pair has it.
  void write_term(std::size_t t, const std::string& present, const std::string& coefficients) {
    const std::string number = std::to_string(t);
    const std::string here = "term" + number;
    const std::string after = "after" + number;
    const std::string bit = text_.value({"and i32 ", present, ", ", std::to_string(1U << t)});
    const std::string has = text_.value({"icmp ne i32 ", bit, ", 0"});
    text_.line({"br i1 ", has, ", label %", here, ", label %", after});
    text_.label(here);
    const WrittenTerm& term = terms_[t];
    const auto energy = static_cast<std::size_t>(term.term.energy);
    const std::string value = evaluate(term, coefficients);
    const std::string within = text_.compare("olt", pair_.squared_distance(), cutoffs_[energy]);
    const std::string sum = text_.choose(within, text_.add(sums_[energy], value), sums_[energy]);
    text_.line({"br label %", after});
    text_.label(after);
    sums_[energy] = text_.value({"phi ", text_.vector(), " [ ", sums_[energy], ", %", block_,
                                 " ], [ ", sum, ", %", here, " ]"});
    block_ = after;
  }

  std::string evaluate(const WrittenTerm& term, const std::string& coefficients) {
    const Program& program = term.term.program;
    std::vector<std::string> names(program.values());
    names[0] = pair_.squared_distance();
    for (std::uint32_t i = 1; i < program.first_constant(); ++i) {
      names[i] = load_same(coefficients, std::to_string(term.first_coefficient + i - 1));
    }
    for (std::uint32_t i = 0; i < program.constants.size(); ++i) {
      names[program.first_constant() + i] = text_.constant(program.constants[i]);
    }
    for (const FusedInstruction& instruction : term.instructions) {
      names[instruction.result] = pair_.compute(instruction, names);
    }
    return names[program.outputs.front()];
  }

  std::string_view alignment() const { return text_.single() ? ", align 4" : ", align 8"; }
  std::string element(std::string_view array, std::string_view index) {
    return text_.value({"getelementptr ", text_.real(), ", ptr ", array, ", i64 ", index});
  }
  std::string load_same(std::string_view array, std::string_view index) {
    return text_.same(text_.value({"load ", text_.real(), ", ptr ", element(array, index)}));
  }

  double least_;
  Places places_ = Places::one_image;
  TextSoFar so_far_;
  VectorText text_;
  PairText pair_;
  std::vector<WrittenTerm> terms_;
  std::size_t coefficients_ = 0;  ///< of a pair
  std::array<std::string, 2> cutoffs_;
  std::array<std::string, 6> box_;
  std::array<std::string, 3> source_;
  std::array<std::string, 2> sums_;
  std::string block_;  ///< the label of what is written
};

}  // namespace

std::optional<std::string> molecule_text(std::span<const PairTerm> terms, double least, bool single,
                                         InstructionSet set) {
  return MoleculeText(terms, least, single, set).text();
}

}  // namespace starpmc::compiled
