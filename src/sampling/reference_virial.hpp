#pragma once

#include <cstdint>
#include <span>

#include "io/energy_terms.hpp"
#include "kernels/arguments.hpp"
#include "sampling/reference_tables.hpp"
#include "system/geometry.hpp"

namespace starpmc {

/// -|Y|^2/2, kJ/mol; exact.
/// @param total Y, in units of 1/STARPMC_RESPONSE_UNITS sqrt(kJ/mol)
double polarisation_energy(std::span<const std::int64_t> total);

/// Energies of a fixed reference (qmmm_grid: density and nuclei) and of the solute's response to
/// the MM molecules, and their molecular virials:
///   W = - sum over sites of q (grad phi0 . R),   W = sum over k of Y_k sum over sites of q (grad
///   eta_k . R),
/// R the displacement of the molecule's centre from the solute's centre of mass by the periodic
/// image of the site that the tables take. The tables are functions of the displacement from a
/// rigid solute: when the box and all centres are scaled by x, they stay and the energy changes by
/// -W ln x. The same bits everywhere, as it is computed on the host, in fp64 and in one order.
/// @param lattice       of the chain, POSE_FIELDS arrays of topology.shape.padded_molecules values
/// @param total         Y of that lattice; empty without a response
/// @param solute_centre A
VirialTerms reference_virial(const ReferenceTables& tables, const Topology& topology,
                             std::span<const double> lattice, std::span<const std::int64_t> total,
                             const Vector3& solute_centre);

}  // namespace starpmc
