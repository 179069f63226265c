#pragma once

#include <cmath>
#include <random>

namespace starpmc {

/// x_{k+1} = phi x_k + noise, stationary with variance 1: its statistical inefficiency is
/// (1 + phi) / (1 - phi), and the variance of the mean of n samples is that over n.
class FirstOrderSeries {
 public:
  FirstOrderSeries(double phi, unsigned seed) : phi_(phi), random_(seed) {
    last_ = normal_(random_);
  }
  double next() { return last_ = phi_ * last_ + std::sqrt(1 - phi_ * phi_) * normal_(random_); }

 private:
  double phi_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  double last_;
};

}  // namespace starpmc
