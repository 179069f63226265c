#pragma once

#include "codelets/operations.hpp"

/// What the codelets of whole windows share.
namespace starpmc::codelets {

/// The operations of one level that windows are made of.
template <class Real>
struct Operations {
  void (*propose_moves)(const ProposeMovesArguments<Real>&);
  void (*qmmm_coulomb_grid)(const CoulombGridArguments<Real>&);
  void (*reference_field)(const ReferenceFieldArguments&);
  void (*qmmm_nuclei_vdw)(const NucleiVdwArguments<Real>&);
  void (*mm_pair)(const MmPairArguments<Real>&);
  void (*mm_pair_table)(const MmPairTableArguments<Real>&);
  void (*mm_pair_reduce)(const MmPairReduceArguments<Real>&);
  void (*metropolis_decide)(const MetropolisDecideArguments<Real>&);
  void (*qmmm_coulomb_grid_reduce)(const CoulombGridReduceArguments&);
};

template <class Real>
inline constexpr Operations<Real> kSimdOperations{
    simd::propose_moves<Real>,   simd::qmmm_coulomb_grid<Real>, simd::reference_field,
    simd::qmmm_nuclei_vdw<Real>, simd::mm_pair<Real>,           simd::mm_pair_table<Real>,
    simd::mm_pair_reduce<Real>,  simd::metropolis_decide<Real>, simd::qmmm_coulomb_grid_reduce};
template <class Real>
inline constexpr Operations<Real> kScalarOperations{
    scalar::propose_moves<Real>,     scalar::qmmm_coulomb_grid<Real>,
    scalar::reference_field,         scalar::qmmm_nuclei_vdw<Real>,
    scalar::mm_pair<Real>,           scalar::mm_pair_table<Real>,
    scalar::mm_pair_reduce<Real>,    scalar::metropolis_decide<Real>,
    scalar::qmmm_coulomb_grid_reduce};

}  // namespace starpmc::codelets
