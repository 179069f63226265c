#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "app/engine_team.hpp"
#include "qm/solute_response.hpp"

namespace starpmc {

/// Products of a response's equations by the engines of a team other than the one that makes the
/// response: each is a piece.
class TeamProducts : public ProductHelpers {
 public:
  /// @param own that makes the response
  TeamProducts(EngineTeam& team, const QmEngine& own) : team_(team), own_(own) {}
  std::size_t count() const override { return team_.helpers(own_); }
  void take_equations(std::vector<double> equations) override;
  std::optional<std::vector<double>> multiply(std::size_t rows,
                                              std::vector<double> vectors) override;
  /// How many have made products.
  std::size_t engines() const { return batch_ ? batch_->engines() : engines_; }

 private:
  void multiply_row(QmEngine& engine, std::size_t row);

  EngineTeam& team_;
  const QmEngine& own_;
  std::vector<double> equations_;
  std::vector<double> vectors_;
  std::vector<double> products_;
  std::size_t length_ = 0;   ///< of a vector
  std::size_t first_ = 0;    ///< piece of these
  std::size_t engines_ = 0;  ///< of a batch that none was left for
  std::optional<EngineTeam::Batch> batch_;
};

}  // namespace starpmc
