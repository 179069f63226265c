#include "kernels/compiled/molecule_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "kernels/compiled/function_text.hpp"
#include "kernels/compiled/growths.hpp"
#include "kernels/compiled/pair_text.hpp"

namespace starpmc::compiled {
namespace {

constexpr std::array<std::string_view, 2> kEnergies{"coulomb", "vdw"};

class MoleculeText {
 public:
  MoleculeText(std::span<const PairTerm> terms, double least, bool single, InstructionSet set)
      : least_(least), text_(so_far_, lanes_of(set, single), single), pair_(text_, set, least > 0) {
    for (const PairTerm& term : terms) {
      terms_.push_back({term, fused_instructions(term.program, true), coefficients_});
      coefficients_ += term.coefficients();
    }
  }

  std::optional<std::string> text(std::span<const Places> all) {
    for (const WrittenTerm& term : terms_) {
      for (const FusedInstruction& instruction : term.instructions) {
        if (instruction.fusion == Fusion::none && !has_vector_form(instruction.operation)) {
          return std::nullopt;
        }
      }
    }
    for (const Places places : all) write(places);
    return so_far_.text + pair_.declarations() + pair_.attributes();
  }

 private:
  /// Molecules side by side in lanes; sites of the source, then of the target, in turn. Of mutual
  /// pairs: parts, then pairs. Coefficients and the target's sites may be where energies go, as far
  /// as LLVM is told: it would load them once and keep them, which takes more registers than there
  /// are.
  void write(Places places) {
    places_ = places;
    so_far_.text += joined({"define void @", name_of(places),
                            "(ptr readonly %arguments, ptr readonly %target_sites, "
                            "ptr readonly %source_sites, ptr readonly %box, ptr readonly %parts, "
                            "i64 %sources) #0 {\n"});
    text_.label("entry");
    if (text_.single()) {
      load_arguments<float>();
    } else {
      load_arguments<double>();
    }
    for (std::size_t k = 0; k < 2; ++k) cutoffs_[k] = load_same("%cutoffs", std::to_string(k));
    const std::size_t lengths = has_images() ? 6 : is_fixed_point() ? 3 : 0;
    for (std::size_t k = 0; k < lengths; ++k) box_[k] = load_same("%box", std::to_string(k));
    text_.line({"%site_stride = mul i64 %stride, 3"});
    text_.line({"%any = icmp ne i64 %count, 0"});
    text_.line({"br i1 %any, label %molecules, label %done"});
    text_.label("molecules");
    text_.line({"%i = phi i64 [ 0, %entry ], [ %next_i, %store ]"});
    for (std::size_t k = 0; k < 3; ++k) {
      const std::string axis = text_.value({"mul i64 %stride, ", std::to_string(k)});
      const std::string first = text_.value({"add i64 %i, ", axis});
      source_axes_[k] = place("%source_sites", first);
      target_axes_[k] = place("%target_sites", first);
      half_axes_[k] = element("%halves", first);
    }
    if (is_of_three_sites(places_)) {
      write_three_sites();
    } else {
      text_.line({"br label %source"});
      begin_source();
      begin_target();
      block_ = "target";
      pair_number_ = "%pair";
      sums_ = {"%coulomb_target", "%vdw_target"};
      load_sites();
      write_pair();
      end_loops();
    }
    end_molecules();
    so_far_.text += "}\n";
  }

  template <class T>
  void load_arguments() {
    using Arguments = MoleculePairArguments<T>;
    static_assert(std::is_standard_layout_v<Arguments>);
    const auto at = [&](std::string_view name, std::size_t offset) {
      text_.line({name, " = getelementptr i8, ptr %arguments, i64 ", std::to_string(offset)});
    };
    const auto load = [&](std::string_view name, std::string_view type, std::size_t offset) {
      const std::string place = joined({name, "_at"});
      at(place, offset);
      text_.line({name, " = load ", type, ", ptr ", place});
    };
    load("%count", "i64", offsetof(Arguments, count));
    load("%stride", "i64", offsetof(Arguments, stride));
    load("%targets", "i64", offsetof(Arguments, target_count));
    load("%rows", "ptr", offsetof(Arguments, rows));
    load("%present", "ptr", offsetof(Arguments, present));
    load("%coefficients", "ptr", offsetof(Arguments, coefficients));
    load("%halves", "ptr", offsetof(Arguments, listed) + offsetof(ListedSites<T>, halves));
    load("%coulomb_row", "ptr", offsetof(Arguments, energies));
    load("%vdw_row", "ptr", offsetof(Arguments, energies) + sizeof(T*));
    at("%cutoffs", offsetof(Arguments, squared_cutoffs));
  }

  using ThreeSites = std::array<std::array<std::string, 3>, 3>;

  /// Each site is loaded once.
  void load_three_sites(ThreeSites& targets, ThreeSites& sources) {
    const auto along = [&](const std::string& at) {
      return text_.value({"load ", text_.vector(), ", ptr ", at, alignment()});
    };
    std::array<std::string, 3> halves;
    if (!is_fixed_point()) std::ranges::transform(half_axes_, halves.begin(), along);
    for (std::size_t site = 0; site < 3; ++site) {
      const std::string row = text_.value({"mul i64 %site_stride, ", std::to_string(site)});
      sources[site] = load_rows(source_axes_, row);
      for (std::size_t k = 0; k < 3; ++k) {
        targets[site][k] = load_target(std::to_string(3 * site + k));
        if (is_fixed_point()) continue;
        targets[site][k] = text_.subtract(targets[site][k], halves[k]);
        sources[site][k] = text_.add(sources[site][k], halves[k]);
      }
    }
  }

  /// All pairs one after another, as terms_of_molecules() orders them.
  void write_three_sites() {
    using Sites = std::array<std::size_t, 2>;  // the target's and the source's
    constexpr std::array<std::array<Sites, 3>, 3> kParts{
        {{{{1, 0}, {2, 0}, {2, 1}}}, {{{0, 1}, {0, 2}, {1, 2}}}, {{{0, 0}, {1, 1}, {2, 2}}}}};
    ThreeSites targets;
    ThreeSites sources;
    load_three_sites(targets, sources);
    block_ = "molecules";
    std::size_t pair = 0;
    constexpr const char* kZero = "zeroinitializer";
    std::array<std::string, 2> totals{kZero, kZero};
    for (const auto& part : kParts) {
      sums_ = {kZero, kZero};
      for (const auto& [target, source] : part) {
        target_ = targets[target];
        source_ = sources[source];
        pair_number_ = std::to_string(pair++);
        write_pair();
      }
      for (std::size_t k = 0; k < 2; ++k) {
        totals[k] = totals[k] == kZero
                        ? sums_[k]
                        : text_.value({"fadd ", text_.vector(), " ", totals[k], ", ", sums_[k]});
      }
    }
    sums_ = totals;
    text_.line({"br label %store"});
  }

  bool has_images() const { return have_images(places_); }
  bool is_fixed_point() const { return compiled::is_fixed_point(places_); }

  /// Sums at a block's begin: from block `from`, those named `first` or 0; from `again`, those
  /// named `last`.
  void sums(std::string_view block, std::string_view from, std::string_view first,
            std::string_view again, std::string_view last) {
    for (const std::string_view energy : kEnergies) {
      const std::string before =
          first.empty() ? std::string("zeroinitializer") : joined({"%", energy, "_", first});
      text_.line({"%", energy, "_", block, " = phi ", text_.vector(), " [ ", before, ", %", from,
                  " ], [ %", energy, "_", last, ", %", again, " ]"});
    }
  }
  std::string_view sums_of_source() const { return is_mutual(places_) ? "sum" : "done"; }

  void begin_source() {
    text_.label("source");
    text_.line({"%b = phi i64 [ 0, %molecules ], [ %next_b, %source_done ]"});
    text_.line({"%first_pair = phi i64 [ 0, %molecules ], [ %next_pair, %source_done ]"});
    sums("source", "molecules", "", "source_done", sums_of_source());
    if (is_mutual(places_)) {
      const std::string at = text_.value({"getelementptr i64, ptr %parts, i64 %b"});
      text_.line({"%part = load i64, ptr ", at});
    } else {
      source_ = load_rows(source_axes_, text_.value({"mul i64 %b, %site_stride"}));
    }
    text_.line({"br label %target"});
  }

  std::string vector_of(std::string_view type) const {
    return joined({"<", std::to_string(text_.lanes()), " x ", type, ">"});
  }
  std::string integers() const { return vector_of("i32"); }

  /// The type of coordinates side by side.
  std::string_view stored() const {
    if (is_fixed_point()) return "i32";
    return are_of_single(places_) ? std::string_view("float") : text_.real();
  }

  /// Where an array has a coordinate.
  std::string place(std::string_view array, std::string_view index) {
    return text_.value({"getelementptr ", stored(), ", ptr ", array, ", i64 ", index});
  }

  /// x, y, z of a site in lanes, from where the axes have its row.
  std::array<std::string, 3> load_rows(const std::array<std::string, 3>& axes,
                                       std::string_view row) {
    std::array<std::string, 3> rows;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::string at = place(axes[k], row);
      const std::string lanes = vector_of(stored());
      rows[k] =
          text_.value({"load ", lanes, ", ptr ", at, ", align ", stored() == "double" ? "8" : "4"});
      if (are_of_single(places_)) {
        rows[k] = text_.value({"fpext ", lanes, " ", rows[k], " to ", text_.vector()});
      }
    }
    return rows;
  }

  /// A coordinate of the target, the same in all lanes.
  std::string load_target(const std::string& index) {
    if (!is_fixed_point()) return load_same("%target_sites", index);
    const std::string one = text_.value({"load i32, ptr ", place("%target_sites", index)});
    const std::string first =
        text_.value({"insertelement ", integers(), " poison, i32 ", one, ", i32 0"});
    return text_.value({"shufflevector ", integers(), " ", first, ", ", integers(), " poison, ",
                        integers(), " zeroinitializer"});
  }

  /// The sites of the present pair.
  void load_sites() {
    std::string target = "%a";
    if (is_mutual(places_)) {
      const std::string first = text_.value({"mul i64 %pair, 2"});
      target = load_row(first);
      source_ = load_rows(source_axes_, load_row(text_.value({"add i64 ", first, ", 1"})));
      if (!is_fixed_point()) {
        target_ = load_rows(target_axes_, target);
        return;
      }
    }
    for (std::size_t k = 0; k < 3; ++k) {
      target_[k] = load_target(target);
      if (k < 2) target = text_.value({"add i64 ", target, ", %targets"});
    }
  }

  std::string load_row(const std::string& index) {
    return text_.value(
        {"load i64, ptr ", text_.value({"getelementptr i64, ptr %rows, i64 ", index})});
  }

  /// Along one axis, of a target from the source.
  std::string displacement(std::size_t axis) {
    if (is_fixed_point()) {
      const std::string units =
          text_.value({"sub ", integers(), " ", target_[axis], ", ", source_[axis]});
      const std::string number =
          text_.value({"sitofp ", integers(), " ", units, " to ", text_.vector()});
      return text_.multiply(number, box_[axis]);
    }
    std::string d = text_.subtract(target_[axis], source_[axis]);
    if (!has_images()) return d;
    const std::string edges = text_.unary("rint", text_.multiply(d, box_[3 + axis]));
    return text_.multiply_add(text_.negate(box_[axis]), edges, d);
  }

  void begin_target() {
    text_.label("target");
    text_.line({"%a = phi i64 [ 0, %source ], [ %next_a, %pair_done ]"});
    text_.line({"%pair = phi i64 [ %first_pair, %source ], [ %next_pair, %pair_done ]"});
    sums("target", "source", is_mutual(places_) ? "" : "source", "pair_done", "done");
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
    text_.line(
        {"%more_targets = icmp ult i64 %next_a, ", is_mutual(places_) ? "%part" : "%targets"});
    text_.line({"br i1 %more_targets, label %target, label %source_done, !llvm.loop !0"});
    text_.label("source_done");
    if (is_mutual(places_)) {
      // never fused with a product, so that two parts may be exchanged
      for (const std::string_view energy : kEnergies) {
        text_.line({"%", energy, "_sum = fadd ", text_.vector(), " %", energy, "_source, %", energy,
                    "_done"});
      }
    }
    text_.line({"%next_b = add nuw i64 %b, 1"});
    text_.line({"%more_sources = icmp ult i64 %next_b, %sources"});
    text_.line({"br i1 %more_sources, label %source, label %store, !llvm.loop !0"});
    for (std::size_t k = 0; k < 2; ++k) {
      sums_[k] = joined({"%", kEnergies[k], "_", sums_of_source()});
    }
  }

  void end_molecules() {
    text_.label("store");
    for (std::size_t k = 0; k < 2; ++k) {
      const auto has = [&](const WrittenTerm& term) {
        return static_cast<std::size_t>(term.term.energy) == k;
      };
      if (std::ranges::none_of(terms_, has)) continue;
      text_.line({"store ", text_.vector(), " ", sums_[k], ", ptr ",
                  element(joined({"%", kEnergies[k], "_row"}), "%i"), alignment()});
    }
    text_.line({"%next_i = add nuw i64 %i, ", std::to_string(text_.lanes())});
    text_.line({"%more_molecules = icmp ult i64 %next_i, %count"});
    text_.line({"br i1 %more_molecules, label %molecules, label %done, !llvm.loop !0"});
    text_.label("done");
    text_.line({"ret void"});
  }

  void write_pair() {
    write_distance();
    if (terms_.size() == 1) {
      const auto energy = static_cast<std::size_t>(terms_[0].term.energy);
      const std::string record =
          text_.value({"mul i64 ", pair_number_, ", ", std::to_string(coefficients_)});
      sums_[energy] = added(terms_[0], element("%coefficients", record));
      return;
    }
    const std::string at = text_.value({"getelementptr i32, ptr %present, i64 ", pair_number_});
    const std::string present = text_.value({"load i32, ptr ", at});
    const std::string record =
        text_.value({"mul i64 ", pair_number_, ", ", std::to_string(coefficients_)});
    const std::string coefficients = element("%coefficients", record);
    // most pairs have charges only, and need not be asked for every term
    const std::string end = "pair_end" + suffix();
    const std::string more = "more_terms" + suffix();
    if (!is_of_three_sites(places_)) {
      write_term(0, present, coefficients);
    } else {
      const auto energy = static_cast<std::size_t>(terms_[0].term.energy);
      sums_[energy] = added(terms_[0], coefficients);
      if (pair_number_ != std::to_string(kPairOfFirstSites)) return;
    }
    const std::string only = text_.value({"icmp ult i32 ", present, ", 2"});
    text_.line({"br i1 ", only, ", label %", end, ", label %", more});
    const std::array<std::string, 2> first = sums_;
    const std::string first_block = block_;
    text_.label(more);
    block_ = more;
    for (std::size_t t = 1; t < terms_.size(); ++t) write_term(t, present, coefficients);
    text_.line({"br label %", end});
    text_.label(end);
    for (std::size_t k = 0; k < 2; ++k) {
      sums_[k] = text_.value({"phi ", text_.vector(), " [ ", first[k], ", %", first_block, " ], [ ",
                              sums_[k], ", %", block_, " ]"});
    }
    block_ = end;
  }

  /// Of labels that each pair has.
  std::string suffix() const {
    return is_of_three_sites(places_) ? "_" + pair_number_ : std::string();
  }

  void write_distance() {
    const std::array d{displacement(0), displacement(1), displacement(2)};
    const std::string r2 = pair_.length_squared(d[0], d[1], d[2]);
    pair_.set_squared_distance(are_apart(places_) ? r2 : pair_.at_least(r2, least_));
    if (terms_.size() == 1) return;
    const bool roots = std::ranges::any_of(terms_, [&](const WrittenTerm& term) {
      return std::ranges::any_of(term.instructions, [&](const FusedInstruction& instruction) {
        return pair_.needs_roots(instruction, 0);
      });
    });
    if (roots) pair_.inverse();  // once for all terms
  }

  /// Adds a term, where the pair has it.
  void write_term(std::size_t t, const std::string& present, const std::string& coefficients) {
    const std::string number = std::to_string(t) + suffix();
    const std::string here = "term" + number;
    const std::string after = "after" + number;
    const std::string bit = text_.value({"and i32 ", present, ", ", std::to_string(1U << t)});
    const std::string has = text_.value({"icmp ne i32 ", bit, ", 0"});
    text_.line({"br i1 ", has, ", label %", here, ", label %", after});
    text_.label(here);
    const WrittenTerm& term = terms_[t];
    const auto energy = static_cast<std::size_t>(term.term.energy);
    const std::string sum = added(term, coefficients);
    text_.line({"br label %", after});
    text_.label(after);
    sums_[energy] = text_.value({"phi ", text_.vector(), " [ ", sums_[energy], ", %", block_,
                                 " ], [ ", sum, ", %", here, " ]"});
    block_ = after;
  }

  /// A term added to its energy, where it is inside the cutoff.
  std::string added(const WrittenTerm& term, const std::string& coefficients) {
    const auto energy = static_cast<std::size_t>(term.term.energy);
    std::string sum = evaluate(term, coefficients, sums_[energy]);
    if (places_ == Places::inside) return sum;
    const std::string within = text_.compare("olt", pair_.squared_distance(), cutoffs_[energy]);
    return text_.choose(within, sum, sums_[energy]);
  }

  /// A term and what it is added to; both at once where it is a product.
  std::string evaluate(const WrittenTerm& term, const std::string& coefficients,
                       const std::string& sum) {
    const Program& program = term.term.program;
    std::vector<std::string> names(program.values());
    names[0] = pair_.squared_distance();
    for (std::uint32_t i = 1; i < program.first_constant(); ++i) {
      names[i] = load_same(coefficients, std::to_string(term.first_coefficient + i - 1));
    }
    for (std::uint32_t i = 0; i < program.constants.size(); ++i) {
      names[program.first_constant() + i] = text_.constant(program.constants[i]);
    }
    const Growths growths(term);
    const bool by_growth = terms_.size() == 1 && text_.single();
    const std::uint32_t output = program.outputs.front();
    for (const FusedInstruction& instruction : term.instructions) {
      const auto [a, b, _] = instruction.operands;
      const auto slope = by_growth ? growths.slope_of(instruction) : std::nullopt;
      // not r^2 times 1/r, which PairText knows better
      if (instruction.result == output && !slope && a != 0 && b != 0 &&
          instruction.fusion == Fusion::none && instruction.operation == Operation::multiply) {
        return text_.multiply_add(names[a], names[b], sum);
      }
      names[instruction.result] = slope ? pair_.compute_growth(instruction, names, names[*slope])
                                        : pair_.compute(instruction, names);
    }
    return text_.add(sum, names[output]);
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
  std::array<std::string, 3> source_axes_;  ///< where x, y and z begin
  std::array<std::string, 3> target_axes_;
  std::array<std::string, 3> half_axes_;
  std::array<std::string, 3> source_;  ///< coordinates
  std::array<std::string, 3> target_;
  std::array<std::string, 2> sums_;
  std::string pair_number_;
  std::string block_;  ///< the label of what is written
};

}  // namespace

std::optional<std::string> molecule_text(std::span<const PairTerm> terms,
                                         std::span<const Places> places, double least, bool single,
                                         InstructionSet set) {
  return MoleculeText(terms, least, single, set).text(places);
}

}  // namespace starpmc::compiled
