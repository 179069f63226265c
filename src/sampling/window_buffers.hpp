#pragma once

#include <vector>

#include "codelets/operations.hpp"
#include "runtime/data_handle.hpp"
#include "sampling/topology_buffers.hpp"

namespace starpmc {

/// The handles of a window's plan, candidates and energies. They are written anew by every window.
template <class Real>
struct WindowBuffers {
  WindowLayout layout;
  DataHandle plan;
  DataHandle entries;
  DataHandle outside;
  DataHandle grid_energies;
  DataHandle nuclei_energies;
  DataHandle mm_energies;
  DataHandle table;
  DataHandle responses;  ///< where the solute responds
  std::vector<DataHandle> grid_partials;
  std::vector<DataHandle> mm_partials;

  WindowBuffers(const WindowLayout& window_layout, std::size_t mm_parts)
      : layout(window_layout),
        plan(DataHandle::temporary<int>(static_cast<std::size_t>(plan_size(layout)))),
        entries(DataHandle::temporary<double>(static_cast<std::size_t>(entries_size(layout)))),
        outside(DataHandle::temporary<PairReal<Real>>(static_cast<std::size_t>(layout.molecules))),
        grid_energies(DataHandle::temporary<double>(candidates())),
        nuclei_energies(DataHandle::temporary<double>(STATIC_TERMS * candidates())),
        mm_energies(DataHandle::temporary<double>(MM_TERMS * rows())),
        table(DataHandle::temporary<PairReal<Real>>(MM_TERMS * rows() * rows())) {
    set_mm_parts(mm_parts);
  }

  std::size_t candidates() const { return static_cast<std::size_t>(layout.candidates); }
  std::size_t rows() const { return static_cast<std::size_t>(entry_capacity(layout)); }
  void set_components(int components) {
    responses =
        components == 0
            ? DataHandle()
            : DataHandle::temporary<int>(static_cast<std::size_t>(components) * candidates());
  }
  void set_mm_parts(std::size_t parts) {
    while (mm_partials.size() > parts) mm_partials.pop_back();
    while (mm_partials.size() < parts) {
      mm_partials.push_back(DataHandle::temporary<double>(MM_TERMS * rows()));
    }
  }
  void set_grid_parts(std::size_t parts) {
    while (grid_partials.size() > parts) grid_partials.pop_back();
    while (grid_partials.size() < parts) {
      grid_partials.push_back(DataHandle::temporary<double>(candidates()));
    }
  }
};

inline std::vector<starpu_data_handle_t> raw_handles(const std::vector<DataHandle>& handles) {
  std::vector<starpu_data_handle_t> raw;
  for (const DataHandle& handle : handles) raw.push_back(handle.get());
  return raw;
}

}  // namespace starpmc
