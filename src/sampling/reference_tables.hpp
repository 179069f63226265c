#pragma once

#include <cmath>
#include <cstdint>
#include <mutex>
#include <vector>

#include "codelets/operations.hpp"
#include "kernels/response_coefficients.hpp"
#include "qm/solute_reference.hpp"
#include "runtime/data_handle.hpp"

namespace starpmc {

/// The tables of a reference in StarPU handles, for all chains of a process.
class ReferenceTables {
 public:
  explicit ReferenceTables(const SoluteReference& reference)
      : potential_host_(reference.potential.values),
        response_host_(response_coefficients(reference.response.values)),
        lattices_{reference.potential.lattice, reference.response.lattice},
        potential_(DataHandle::of(std::span(potential_host_))) {
    potential_.bring_to_devices();
    if (!lattices_.has_response()) return;
    response_ = DataHandle::of(std::span(response_host_));
    response_.bring_to_devices();
    mean_.assign(static_cast<std::size_t>(components()), 0);
    for (std::size_t k = 0; k < reference.mean_response.size(); ++k) {
      mean_[k] = std::llrint(STARPMC_RESPONSE_UNITS * reference.mean_response[k]);
    }
  }
  // The handles point into the arrays.
  ReferenceTables(const ReferenceTables&) = delete;
  ReferenceTables& operator=(const ReferenceTables&) = delete;

  /// Numbers that the response of a molecule takes; 0: no response.
  int components() const { return lattices_.response.components; }
  const codelets::ReferenceLattices& lattices() const { return lattices_; }
  codelets::ReferenceHandles handles() const { return {potential_.get(), response_.get()}; }
  const DataHandle& potential() const { return potential_; }
  /// The coefficients of the response as numbers of the host, made when they are first asked for.
  std::span<const float> response_values() const {
    std::call_once(values_made_, [this] { response_values_ = values_of(response_host_); });
    return response_values_;
  }
  /// Y0, in whole units: `components` numbers.
  const std::vector<std::int64_t>& mean_response() const { return mean_; }

 private:
  std::vector<float> potential_host_;
  std::vector<ResponseCoefficient> response_host_;
  codelets::ReferenceLattices lattices_;
  std::vector<std::int64_t> mean_;
  mutable std::once_flag values_made_;
  mutable std::vector<float> response_values_;
  DataHandle potential_;  // destroyed before the arrays
  DataHandle response_;
};

}  // namespace starpmc
