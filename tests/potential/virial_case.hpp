#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/scalar/evaluate.hpp"
#include "potential/pair_function.hpp"
#include "tests/kernels/mm_case.hpp"

/// Systems for tests of the virial, and the virial as plain loops over closed formulas.
namespace starpmc::test {

/// The built-in energies of a test system as expressions, and one of the user's where asked for.
class Derivatives {
 public:
  explicit Derivatives(const TestSystem& system, const std::string& more = "") : system_(system) {
    const Interaction& at = system.interaction;
    PairFunction coulomb({{"coulomb", "(1 - r/cutoff)^2/r"}}, {}, truncated(at.coulomb_cutoff));
    all_.coulomb = coulomb.with_derivative().each;
    const PairDerivatives::Function lennard_jones = function("c12/r^12 - c6/r^6 + shift + slope*r");
    all_.mm.push_back(lennard_jones);
    all_.qmmm.push_back(lennard_jones);
    if (!more.empty()) all_.mm.push_back(function(more));
  }
  const PairDerivatives& get() const { return all_; }

 private:
  static Cutoff truncated(double cutoff) { return {CutoffTreatment::truncate, cutoff, 0}; }

  PairDerivatives::Function function(const std::string& text) const {
    PairFunction function({{"vdw", text}}, {"c12", "c6", "shift", "slope"},
                          truncated(system_.interaction.vdw_cutoff));
    const PartedProgram parted = function.with_derivative();
    const auto kinds = static_cast<std::size_t>(system_.shape.site_types);
    PairDerivatives::Function result{parted.each, kinds};
    for (int a = 0; a < system_.shape.site_types; ++a) {
      for (int b = 0; b < system_.shape.site_types; ++b) {
        const double* const c = system_.topology().pair(a, b);
        const std::map<std::string, double> parameters{
            {"c12", c[0]}, {"c6", c[1]}, {"shift", c[2]}, {"slope", c[3]}};
        std::vector<double> inputs;
        for (const std::string& name : parted.once.inputs) inputs.push_back(parameters.at(name));
        std::vector<double> coefficients(parted.once.outputs.size());
        scalar::evaluate<double>(parted.once, inputs, coefficients);
        result.table.push_back(c[0] == 0 ? 0 : 1);
        result.table.insert(result.table.end(), coefficients.begin(), coefficients.end());
      }
    }
    return result;
  }

  const TestSystem& system_;
  PairDerivatives all_;
};

inline constexpr double kSoluteCentre[3] = {0.3, -0.2, 0.4};

/// The points of a test system with positions of their own.
inline std::vector<double> exact_points(const TestSystem& system) {
  std::vector<double> points = system.points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t k = i / STARPMC_BLOCK_POINTS % 5;
    if (k < 3) points[i] += system.blocks[i / STARPMC_BLOCK_VALUES * BLOCK_FIELDS + k];
  }
  return points;
}

using VirialSums = std::array<double, VIRIAL_SUMS>;
using VirialKernel = void (*)(const PairVirialArguments&);

inline VirialSums virial_sums(VirialKernel kernel, const TestSystem& system,
                              const PairDerivatives& functions, const double* centre, int first,
                              int last) {
  const std::vector<double> points = exact_points(system);
  VirialSums sums{};
  kernel({system.interaction,
          system.topology(),
          &functions,
          system.lattice,
          first,
          last,
          system.solute,
          system.nuclei,
          {centre[0], centre[1], centre[2]},
          system.blocks,
          points,
          sums});
  return sums;
}

inline VirialSums virial_sums(VirialKernel kernel, const TestSystem& system,
                              const PairDerivatives& functions,
                              const double* centre = kSoluteCentre) {
  return virial_sums(kernel, system, functions, centre, 0, system.shape.molecules);
}

/// Every pair by the formulas of the textbook.
class NaiveVirial {
 public:
  VirialSums sums{};
  VirialSums magnitudes{};

  explicit NaiveVirial(const TestSystem& system) : system_(system) {
    for (int m = 0; m < system.shape.molecules; ++m) {
      for (const Body& site : bodies(m)) {
        for (int other = m + 1; other < system.shape.molecules; ++other) {
          for (const Body& partner : bodies(other))
            add(TERM_MM_COULOMB, TERM_MM_VDW, site, partner);
        }
        add_solute(site);
      }
    }
  }

 private:
  struct Body {
    double position[3];
    double centre[3];
    double charge;
    int type;  ///< -1: no van der Waals energy
    double extent = 0;
  };

  std::vector<Body> bodies(int molecule) const {
    const Topology topology = system_.topology();
    const int type = topology.type_of(molecule);
    double pose[POSE_FIELDS];
    for (int field = 0; field < POSE_FIELDS; ++field) {
      pose[field] = system_.lattice[static_cast<std::size_t>(field * system_.padded + molecule)];
    }
    std::vector<Body> found;
    for (int site = 0; site < topology.site_count(type); ++site) {
      double arm[3];
      scalar::rotate_site(pose, topology.site(type, site), arm);
      found.push_back({{pose[0] + arm[0], pose[1] + arm[1], pose[2] + arm[2]},
                       {pose[0], pose[1], pose[2]},
                       topology.site(type, site)[3],
                       topology.site_type(type, site)});
    }
    return found;
  }

  void add_solute(const Body& site) {
    const auto nuclei = static_cast<std::size_t>(system_.nuclei);
    const auto& s = system_.solute;
    const auto solute_body = [](double x, double y, double z, double charge, int type,
                                double extent = 0) {
      return Body{
          {x, y, z}, {kSoluteCentre[0], kSoluteCentre[1], kSoluteCentre[2]}, charge, type, extent};
    };
    for (std::size_t i = 0; i < nuclei; ++i) {
      add(TERM_QMMM_NUCLEI, TERM_QMMM_VDW, site,
          solute_body(s[i], s[nuclei + i], s[2 * nuclei + i], s[3 * nuclei + i],
                      static_cast<int>(s[4 * nuclei + i])));
    }
    const auto& p = system_.point_position;
    for (std::size_t i = 0; i < p.size(); i += 4) {
      add(TERM_QMMM_GRID, TERM_QMMM_VDW, site,
          solute_body(p[i], p[i + 1], p[i + 2], p[i + 3], -1, point_extent(&p[i])));
    }
  }

  void add(std::size_t coulomb, std::size_t vdw, const Body& a, const Body& b) {
    double squared = 0;
    double product = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double edge = system_.interaction.box[k];
      const double plain = a.position[k] - b.position[k];
      const double d = std::remainder(plain, edge);
      squared += d * d;
      product += d * (a.centre[k] - b.centre[k] + (d - plain));
    }
    const double r = std::max(std::sqrt(squared), 0.01);
    const double rc = system_.interaction.coulomb_cutoff;
    if (r < rc) {
      const double factor = 1389.35457644 * a.charge * b.charge;
      const auto [energy, slope] = cloud_coulomb(r, b.extent, rc);
      sum(coulomb, factor * energy, factor * slope / r * product);
    }
    if (b.type < 0 || r >= system_.interaction.vdw_cutoff) return;
    const double* const c = system_.topology().pair(a.type, b.type);
    sum(vdw, c[0] / std::pow(r, 12) - c[1] / std::pow(r, 6) + c[2] + c[3] * r,
        (-12 * c[0] / std::pow(r, 13) + 6 * c[1] / std::pow(r, 7) + c[3]) / r * product);
  }

  void sum(std::size_t term, double energy, double derivative) {
    const double largest = std::pow(2.0, 40);
    const double energy_kept = std::clamp(energy, -largest, largest);
    const double virial_kept = std::clamp(-derivative, -largest, largest);
    sums[term] += energy_kept;
    sums[TERMS + term] += virial_kept;
    magnitudes[term] += std::abs(energy_kept);
    magnitudes[TERMS + term] += std::abs(virial_kept);
  }

  const TestSystem& system_;
};

}  // namespace starpmc::test
