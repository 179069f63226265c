#include "system/superposition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "system/system.hpp"

namespace starpmc {
namespace {

using Matrix4 = std::array<std::array<double, 4>, 4>;

/// Cyclic Jacobi: turns `a` diagonal, returns the eigenvectors as columns.
Matrix4 diagonalise(Matrix4& a) {
  Matrix4 vectors{};
  for (std::size_t i = 0; i < 4; ++i) {
    vectors[i][i] = 1;
  }
  constexpr int most_sweeps = 50;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double rotated = 0;
    for (std::size_t p = 0; p < 3; ++p) {
      for (std::size_t q = p + 1; q < 4; ++q) {
        if (a[p][q] == 0) {
          continue;
        }
        rotated += std::abs(a[p][q]);
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t =
            std::copysign(1.0, theta) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1);
        const double s = t * c;
        for (std::size_t k = 0; k < 4; ++k) {
          const double kp = a[k][p];
          const double kq = a[k][q];
          a[k][p] = c * kp - s * kq;
          a[k][q] = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < 4; ++k) {
          const double pk = a[p][k];
          const double qk = a[q][k];
          a[p][k] = c * pk - s * qk;
          a[q][k] = s * pk + c * qk;
          const double vp = vectors[k][p];
          const double vq = vectors[k][q];
          vectors[k][p] = c * vp - s * vq;
          vectors[k][q] = s * vp + c * vq;
        }
        a[p][q] = a[q][p] = 0;
      }
    }
    if (rotated == 0) {
      break;
    }
  }
  return vectors;
}

/// Weights of points, all 1 where none are given.
class Weights {
 public:
  explicit Weights(std::span<const double> weights) : weights_(weights) {}
  double operator[](std::size_t i) const { return weights_.empty() ? 1.0 : weights_[i]; }
  double sum(std::size_t count) const {
    return weights_.empty() ? static_cast<double>(count)
                            : std::accumulate(weights_.begin(), weights_.end(), 0.0);
  }

 private:
  std::span<const double> weights_;
};

Vector3 mean(std::span<const Vector3> points, const Weights& weights) {
  Vector3 sum;
  for (std::size_t i = 0; i < points.size(); ++i) {
    sum = sum + weights[i] * points[i];
  }
  return (1.0 / weights.sum(points.size())) * sum;
}

/// Horn's matrix N, eq. in section 4.A of the paper.
Matrix4 horn_matrix(std::span<const Vector3> reference, const Vector3& reference_mean,
                    std::span<const Vector3> target, const Vector3& target_mean,
                    const Weights& weights) {
  std::array<std::array<double, 3>, 3> s{};
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const Vector3 a = weights[i] * (reference[i] - reference_mean);
    const Vector3 b = target[i] - target_mean;
    const std::array<double, 3> from{a.x, a.y, a.z};
    const std::array<double, 3> to{b.x, b.y, b.z};
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) {
        s[j][k] += from[j] * to[k];
      }
    }
  }
  const double yz = s[1][2] - s[2][1];
  const double zx = s[2][0] - s[0][2];
  const double xy = s[0][1] - s[1][0];
  const double xy_sum = s[0][1] + s[1][0];
  const double zx_sum = s[2][0] + s[0][2];
  const double yz_sum = s[1][2] + s[2][1];
  return {{{s[0][0] + s[1][1] + s[2][2], yz, zx, xy},
           {yz, s[0][0] - s[1][1] - s[2][2], xy_sum, zx_sum},
           {zx, xy_sum, -s[0][0] + s[1][1] - s[2][2], yz_sum},
           {xy, zx_sum, yz_sum, -s[0][0] - s[1][1] + s[2][2]}}};
}

Quaternion best_rotation(Matrix4 n) {
  const Matrix4 vectors = diagonalise(n);
  std::size_t largest = 0;
  for (std::size_t i = 1; i < 4; ++i) {
    if (n[i][i] > n[largest][largest]) {
      largest = i;
    }
  }
  std::array<double, 4> q{};
  double square = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    q[k] = vectors[k][largest];
    square += q[k] * q[k];
  }
  const double scale = (q[0] < 0 ? -1.0 : 1.0) / std::sqrt(square);
  return {scale * q[0], scale * q[1], scale * q[2], scale * q[3]};
}

}  // namespace

Superposition superpose(std::span<const Vector3> reference, std::span<const Vector3> target,
                        std::span<const double> weights) {
  const Weights weight(weights);
  const Vector3 reference_mean = mean(reference, weight);
  const Vector3 target_mean = mean(target, weight);
  Superposition fit;
  if (reference.size() > 1) {
    fit.orientation =
        best_rotation(horn_matrix(reference, reference_mean, target, target_mean, weight));
  }
  fit.centre = target_mean - rotate(fit.orientation, reference_mean);
  double square = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const Vector3 d = fit.centre + rotate(fit.orientation, reference[i]) - target[i];
    square += weight[i] * dot(d, d);
  }
  fit.rmsd = std::sqrt(square / weight.sum(reference.size()));
  return fit;
}

}  // namespace starpmc
