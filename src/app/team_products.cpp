#include "app/team_products.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "qm/errors.hpp"

namespace starpmc {
namespace {

/// What a helper fails at, for want of memory, say, the others can do, and at last the engine that
/// makes the response.
template <typename Work>
auto or_lost(const Work& work) {
  try {
    return work();
  } catch (const Cancelled&) {
    throw;
  } catch (const RunError& failure) {
    throw WorkersLost(failure.what());
  }
}

}  // namespace

/// Again where the engine that makes the response was lost, and begins anew.
void TeamProducts::take_equations(std::vector<double> equations) {
  batch_.reset();
  equations_ = std::move(equations);
  first_ = 0;
  EngineTeam::Work work;
  work.size = static_cast<double>(equations_.size());
  work.prepare = [this](QmEngine& engine) { or_lost([&] { engine.take_equations(equations_); }); };
  work.piece = [this](QmEngine& engine, std::size_t piece) {
    multiply_row(engine, piece - first_);
  };
  batch_.emplace(team_, nullptr, std::move(work));
}

void TeamProducts::multiply_row(QmEngine& engine, std::size_t row) {
  const std::span<const double> vector =
      std::span<const double>(vectors_).subspan(row * length_, length_);
  std::ranges::copy(or_lost([&] { return engine.multiply(vector); }),
                    products_.begin() + static_cast<std::ptrdiff_t>(row * length_));
}

std::optional<std::vector<double>> TeamProducts::multiply(std::size_t rows,
                                                          std::vector<double> vectors) {
  if (!batch_) return std::nullopt;
  vectors_ = std::move(vectors);
  length_ = vectors_.size() / rows;
  products_.assign(vectors_.size(), 0);
  for (std::size_t row = 0; row < rows; ++row) batch_->add();
  if (!batch_->wait()) {
    // An engine that comes later would go on with these pieces.
    engines_ = batch_->engines();
    batch_.reset();
    return std::nullopt;
  }
  first_ += rows;
  return std::move(products_);
}

}  // namespace starpmc
