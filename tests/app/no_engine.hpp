#pragma once

#include <span>
#include <stdexcept>
#include <string>

#include "qm/engine.hpp"

namespace starpmc::test {

/// Is there, and computes nothing.
class NoEngine : public QmEngine {
 public:
  const DensityGrid& quadrature_points() const override { throw std::logic_error("not asked for"); }
  QmResult update(std::span<const double>, std::span<const double>, const PointCharges&) override {
    throw std::logic_error("not asked for");
  }
  std::string name() const override { return "none"; }
  std::string version() const override { return ""; }
};

}  // namespace starpmc::test
