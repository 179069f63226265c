#include "potential/pair_potential.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "base/constants.hpp"
#include "kernels/base/error.hpp"
#include "kernels/scalar/evaluate.hpp"
#include "potential/coulomb_pole.hpp"
#include "potential/cutoff_jump.hpp"
#include "potential/grid_error.hpp"
#include "potential/lennard_jones.hpp"
#include "potential/pair_function.hpp"
#include "potential/potential_options.hpp"
#include "potential/system_error.hpp"
#include "potential/virial_check.hpp"

namespace starpmc {
namespace {

/// The van der Waals energy of one kind of pairs.
struct Role {
  const std::string& replacing;
  const std::string& additional;
  const char* prefix;  ///< of the two options
  bool is_built_in() const { return replacing == kBuiltInPotential; }
};

/// Makes a PairPotential.
class Maker {
 public:
  Maker(const System& system, const Settings& settings, const OptionPlaces& places)
      : system_(system),
        settings_(settings),
        places_(places),
        table_(settings.potential.parameters),
        reader_(system.force_field, table_) {}

  /// @return whether there is no error
  bool read_functions(InputErrors& errors) {
    if (!errors.attempt([this] { check_potential_options(system_, settings_, places_); }))
      return false;
    const bool coulomb = errors.attempt([this] { read_coulomb(); });
    const bool mm = errors.attempt([&] { mm_ = read(mm_role(), both_sites()); });
    const bool qmmm = errors.attempt(
        [&] { qmmm_ = read(qmmm_role(), names_of_site('1', true), names_of_site('2', false)); });
    return coulomb && mm && qmmm;
  }

  PairPotential make() {
    build();
    return std::move(result_);
  }

  PairDerivatives make_derivatives() {
    build();
    PairDerivatives all;
    all.coulomb = coulomb_derivative();
    all.coulomb_pole = coulomb_ != nullptr ? result_.functions.coulomb_pole : 1;
    const auto& options = settings_.potential;
    if (options.mm_vdw == kBuiltInPotential) all.mm.push_back(built_in_derivative());
    if (options.qmmm_vdw == kBuiltInPotential) all.qmmm.push_back(built_in_derivative());
    const auto parameters_of = [this](const PairFunction& function) {
      return [this, &function](std::size_t a, std::size_t b) { return parameters(function, a, b); };
    };
    if (mm_ != nullptr) {
      all.mm.push_back(with_derivative(*mm_, in_mm_, in_mm_, true, parameters_of(*mm_)));
    }
    if (qmmm_ != nullptr) {
      all.qmmm.push_back(with_derivative(*qmmm_, in_mm_, in_solute_, false, parameters_of(*qmmm_)));
    }
    return all;
  }

  /// What is said of functions whose virial is not known at some distance.
  std::vector<std::string> virial_warnings() {
    const PairDerivatives derivatives = make_derivatives();
    std::vector<std::string> warnings;
    const auto see = [&](const std::unique_ptr<PairFunction>& function,
                         const std::vector<PairDerivatives::Function>& derived) {
      if (function == nullptr) return;
      const auto warning = virial_warning(*function, derived.back());
      if (warning) warnings.push_back(*warning);
    };
    see(mm_, derivatives.mm);
    see(qmmm_, derivatives.qmmm);
    return warnings;
  }

 private:
  std::optional<std::string> virial_warning(PairFunction& function,
                                            const PairDerivatives::Function& derived) const {
    for (std::size_t a = 0; a < derived.kinds; ++a) {
      for (std::size_t b = 0; b < derived.kinds; ++b) {
        const double* const row = derived.of_pair(static_cast<int>(a), static_cast<int>(b));
        if (row == nullptr) continue;
        const auto r = undefined_slope(derived, {row, derived.coefficients()},
                                       settings_.interaction.vdw_cutoff_angstrom);
        if (!r) continue;
        return fmt::format(
            "{}: the derivative at a distance of {:.4g} A{} is not a number though the energy is: "
            "virial and pressure are wrong; write the expression as select() of its pieces",
            function.place_without_slope(parameters(function, a, b), *r), *r, names_of(a, b));
      }
    }
    return std::nullopt;
  }

  Role mm_role() const {
    return {settings_.potential.mm_vdw, settings_.potential.mm_additional, "mm"};
  }
  Role qmmm_role() const {
    return {settings_.potential.qmmm_vdw, settings_.potential.qmmm_additional, "qmmm"};
  }

  void build() {
    InputErrors errors(InputErrors::Mode::throw_first);
    read_functions(errors);
    const bool mm_built_in = mm_role().is_built_in();
    const bool qmmm_built_in = qmmm_role().is_built_in();
    if (mm_) result_.functions.mm = mm_->program();
    if (qmmm_) result_.functions.qmmm = qmmm_->program();
    find_kinds();
    lay_out(mm_built_in != qmmm_built_in);
    fill(mm_built_in, qmmm_built_in);
    result_.functions.mm_as_pairs =
        result_.functions.in_mm() &&
        mm_error_in_single(result_, system_, settings_) <=
            kLargestMmError * kGasConstant * settings_.sampling.temperature_kelvin;
  }

  std::string place(const std::string& key) const { return places_("potential." + key); }

  std::vector<std::string> names_of_site(char suffix, bool charged) const {
    std::vector<std::string> names;
    for (const std::string& name : reader_.names()) {
      if (name != "charge" || charged) names.push_back(name + suffix);
    }
    return names;
  }
  std::vector<std::string> both_sites() const {
    std::vector<std::string> names = names_of_site('1', true);
    std::ranges::copy(names_of_site('2', true), std::back_inserter(names));
    return names;
  }

  void read_coulomb() {
    const auto& options = settings_.potential;
    if (options.coulomb == kBuiltInPotential) return;
    const double cutoff = settings_.interaction.coulomb_cutoff_angstrom;
    const std::string text = options.coulomb == kNoPotential ? "0" : options.coulomb;
    coulomb_ = std::make_unique<PairFunction>(
        std::vector<PairFunction::Text>{{place("coulomb"), text}}, std::vector<std::string>{},
        Cutoff{options.coulomb_treatment, cutoff, options.switch_distance_angstrom});
    PairFunction& function = *coulomb_;
    function.coefficients({}, "");
    constexpr int kSamples = 4096;
    const double least = std::sqrt(STARPMC_MINIMUM_DISTANCE_SQUARED);
    for (int i = 0; i <= kSamples; ++i) {
      const double r = least * std::pow(cutoff / least, static_cast<double>(i) / kSamples);
      if (std::isfinite(function.value(r, {}))) continue;
      throw InputError(place("coulomb"),
                       fmt::format("the expression is not finite at a distance of {:.4g} A", r),
                       fmt::format("{}", function.value(r, {})),
                       fmt::format("it must be finite from {} A, below which no distance counts, "
                                   "to the cutoff",
                                   least));
    }
    result_.functions.coulomb = function.program();
    result_.functions.coulomb_pole = coulomb_pole_of(result_.functions.coulomb);
    result_.functions.grid_as_pairs =
        grid_error_in_single(result_.functions.coulomb,
                             settings_.interaction.coulomb_cutoff_angstrom) <= kLargestGridError;
    CutoffJump jump;
    const double charge = largest_charge();
    jump.see(STARPMC_COULOMB_CONSTANT * charge * charge * function.value(cutoff, {}),
             fmt::format(" between charges of {} e", charge));
    warn_of(jump, options.coulomb_treatment, place("coulomb"), cutoff,
            "potential.coulomb-treatment");
  }

  double largest_charge() const {
    double largest = 0;
    for (const MoleculeType& molecule : system_.molecule_types) {
      for (const Site& site : molecule.sites) largest = std::max(largest, std::abs(site.charge));
    }
    return largest;
  }

  void warn_of(const CutoffJump& jump, CutoffTreatment treatment, const std::string& place,
               double cutoff, const char* option) {
    if (treatment != CutoffTreatment::truncate) return;  // ends at 0, up to rounding
    const auto warning = jump.warning(place, cutoff, option, settings_.sampling);
    if (warning) result_.warnings.push_back(*warning);
  }

  std::unique_ptr<PairFunction> read(const Role& role, std::vector<std::string> names,
                                     const std::vector<std::string>& more = {}) const {
    std::ranges::copy(more, std::back_inserter(names));
    std::vector<PairFunction::Text> texts;
    const auto add = [&](const std::string& text, const char* key) {
      texts.push_back({place(std::string(role.prefix) + key), text});
    };
    if (!role.is_built_in() && role.replacing != kNoPotential) add(role.replacing, "-vdw");
    if (!role.additional.empty()) add(role.additional, "-additional");
    if (texts.empty()) return nullptr;
    return std::make_unique<PairFunction>(
        texts, names,
        Cutoff{settings_.potential.treatment, settings_.interaction.vdw_cutoff_angstrom,
               settings_.potential.switch_distance_angstrom});
  }

  static bool uses_charges(const std::unique_ptr<PairFunction>& function) {
    return function != nullptr &&
           std::ranges::any_of(function->parameters(),
                               [](const std::string& name) { return name.starts_with("charge"); });
  }

  void find_kinds() {
    result_.by_charge = uses_charges(mm_) || uses_charges(qmmm_);
    auto& kinds = result_.kinds;
    if (!result_.by_charge) {
      for (std::size_t type = 0; type < system_.force_field.type_count(); ++type) {
        kinds.push_back({type, 0});
      }
    }
    const auto add = [&](std::size_t type, double charge) {
      const SiteKind kind{type, result_.by_charge ? charge : 0};
      const auto same = [&](const SiteKind& other) {
        return other.type == kind.type && other.charge == kind.charge;
      };
      if (std::ranges::none_of(kinds, same)) kinds.push_back(kind);
      return result_.kind(type, charge);
    };
    for (const MoleculeType& molecule : system_.molecule_types) {
      for (const Site& site : molecule.sites) in_mm_.push_back(add(site.type, site.charge));
    }
    if (!system_.solute) return;
    for (const std::size_t type : system_.solute->types) in_solute_.push_back(add(type, 0));
  }

  static int values_of(const std::unique_ptr<PairFunction>& function) {
    return function == nullptr ? 0 : 1 + static_cast<int>(function->coefficient_count());
  }

  void lay_out(bool two_built_in) {
    PairLayout& layout = result_.layout;
    if (two_built_in) {
      layout.qmmm = 4;
      layout.more = 4;
    }
    layout.mm_function = 4 + layout.more;
    layout.more += values_of(mm_);
    layout.qmmm_function = 4 + layout.more;
    layout.more += values_of(qmmm_);
    if (mm_ == nullptr) layout.mm_function = 0;
    if (qmmm_ == nullptr) layout.qmmm_function = 0;
  }

  double* pair(std::size_t a, std::size_t b) {
    const auto stride = static_cast<std::size_t>(4 + result_.layout.more);
    return &result_.pairs[(a * result_.kinds.size() + b) * stride];
  }

  void fill(bool mm_built_in, bool qmmm_built_in) {
    const std::size_t kinds = result_.kinds.size();
    const PairLayout& layout = result_.layout;
    result_.pairs.assign(kinds * kinds * static_cast<std::size_t>(4 + layout.more), 0.0);
    for (std::size_t a = 0; a < kinds; ++a) {
      for (std::size_t b = 0; b < kinds; ++b) {
        const auto four = lennard_jones_coefficients(
            system_.force_field.pair(result_.kinds[a].type, result_.kinds[b].type),
            settings_.interaction);
        if (mm_built_in) std::ranges::copy(four, pair(a, b));
        if (qmmm_built_in) std::ranges::copy(four, pair(a, b) + layout.qmmm);
      }
    }
    if (mm_ != nullptr) fill_function(*mm_, layout.mm_function, in_mm_, in_mm_, true);
    if (qmmm_ != nullptr) fill_function(*qmmm_, layout.qmmm_function, in_mm_, in_solute_, false);
  }

  PairFunction::Parameters parameters(const PairFunction& function, std::size_t a,
                                      std::size_t b) const {
    PairFunction::Parameters values;
    for (const std::string& name : function.parameters()) {
      const SiteKind& kind = result_.kinds[name.back() == '1' ? a : b];
      values[name] = reader_.value(kind, name.substr(0, name.size() - 1));
    }
    return values;
  }

  std::string names_of(std::size_t a, std::size_t b) const {
    const auto& names = system_.force_field.site_type_names;
    return fmt::format(" between atom types {} and {}", names.at(result_.kinds[a].type),
                       names.at(result_.kinds[b].type));
  }

  void fill_function(PairFunction& function, int at, const std::vector<std::size_t>& firsts,
                     const std::vector<std::size_t>& seconds, bool symmetric) {
    std::vector<bool> done(result_.kinds.size() * result_.kinds.size());
    const double cutoff = settings_.interaction.vdw_cutoff_angstrom;
    CutoffJump jump;
    std::string place;
    for (const std::size_t a : firsts) {
      for (const std::size_t b : seconds) {
        if (done[a * result_.kinds.size() + b]) continue;
        done[a * result_.kinds.size() + b] = true;
        if (symmetric) done[b * result_.kinds.size() + a] = true;
        const auto values = parameters(function, a, b);
        if (symmetric) {
          function.check_symmetry(
              {values, parameters(function, b, a), names_of(a, b), names_of(b, a)});
        }
        if (function.is_zero(values)) continue;
        const std::vector<double> coefficients = function.coefficients(values, names_of(a, b));
        const double last = function.value(cutoff, coefficients);
        if (jump.see(last, names_of(a, b))) place = function.place_of_largest(values, cutoff);
        for (double* const to : {pair(a, b) + at, pair(b, a) + at}) {
          if (to == pair(b, a) + at && !symmetric) continue;
          to[0] = 1;
          std::ranges::copy(coefficients, to + 1);
        }
      }
    }
    warn_of(jump, settings_.potential.treatment, place, cutoff, "potential.treatment");
  }

  /// Shifted force as kernels/scalar/pair_functions.hpp has it, or the user's function.
  Program coulomb_derivative() {
    if (coulomb_ != nullptr) return coulomb_->with_derivative().each;
    const Cutoff cutoff{CutoffTreatment::truncate, settings_.interaction.coulomb_cutoff_angstrom,
                        0};
    PairFunction built_in({{place("coulomb"), "(1 - r/cutoff)^2/r"}}, {}, cutoff);
    return built_in.with_derivative().each;
  }

  PairDerivatives::Function built_in_derivative() {
    const Cutoff cutoff{CutoffTreatment::truncate, settings_.interaction.vdw_cutoff_angstrom, 0};
    PairFunction function({{place("mm-vdw"), "c12/r^12 - c6/r^6 + shift + slope*r"}},
                          {"c12", "c6", "shift", "slope"}, cutoff);
    std::vector<std::size_t> all(result_.kinds.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return with_derivative(function, all, all, true, [this](std::size_t a, std::size_t b) {
      const auto [c12, c6, shift, slope] = lennard_jones_coefficients(
          system_.force_field.pair(result_.kinds[a].type, result_.kinds[b].type),
          settings_.interaction);
      return PairFunction::Parameters{{"c12", c12}, {"c6", c6}, {"shift", shift}, {"slope", slope}};
    });
  }

  /// @param parameters_of of a pair of kinds
  template <class ParametersOf>
  PairDerivatives::Function with_derivative(PairFunction& function,
                                            const std::vector<std::size_t>& firsts,
                                            const std::vector<std::size_t>& seconds, bool symmetric,
                                            const ParametersOf& parameters_of) {
    const PartedProgram parted = function.with_derivative();
    const std::size_t kinds = result_.kinds.size();
    const std::size_t stride = 1 + parted.once.outputs.size();
    PairDerivatives::Function result{parted.each, kinds};
    result.table.assign(kinds * kinds * stride, 0.0);
    for (const std::size_t a : firsts) {
      for (const std::size_t b : seconds) {
        double* const pair = &result.table[(a * kinds + b) * stride];
        double* const mirrored = symmetric ? &result.table[(b * kinds + a) * stride] : pair;
        const PairFunction::Parameters parameters = parameters_of(a, b);
        if (pair[0] != 0 || function.is_zero(parameters)) continue;
        std::vector<double> inputs;
        for (const std::string& name : parted.once.inputs) inputs.push_back(parameters.at(name));
        scalar::evaluate<double>(parted.once, inputs, std::span(pair + 1, stride - 1));
        pair[0] = 1;
        std::copy_n(pair, stride, mirrored);
      }
    }
    return result;
  }

  const System& system_;
  const Settings& settings_;
  const OptionPlaces& places_;
  ParameterTable table_;
  SiteParameterReader reader_;
  PairPotential result_;
  std::unique_ptr<PairFunction> coulomb_;  ///< null: built-in
  std::unique_ptr<PairFunction> mm_;
  std::unique_ptr<PairFunction> qmmm_;
  std::vector<std::size_t> in_mm_;      ///< kinds of sites of MM molecules
  std::vector<std::size_t> in_solute_;  ///< of atoms of the QM molecule
};

}  // namespace

std::size_t PairPotential::kind(std::size_t type, double charge) const {
  const auto found = std::ranges::find_if(kinds, [&](const SiteKind& kind) {
    return kind.type == type && (!by_charge || kind.charge == charge);
  });
  return static_cast<std::size_t>(found - kinds.begin());
}

PairPotential make_pair_potential(const System& system, const Settings& settings,
                                  const OptionPlaces& places) {
  return Maker(system, settings, places).make();
}

bool check_expressions(const System& system, const Settings& settings, const OptionPlaces& places,
                       InputErrors& errors) {
  bool readable = false;
  errors.attempt([&] { readable = Maker(system, settings, places).read_functions(errors); });
  return readable;
}

std::vector<std::string> virial_warnings(const System& system, const Settings& settings,
                                         const OptionPlaces& places) {
  return Maker(system, settings, places).virial_warnings();
}

PairDerivatives make_pair_derivatives(const System& system, const Settings& settings,
                                      const OptionPlaces& places) {
  return Maker(system, settings, places).make_derivatives();
}

}  // namespace starpmc
