#include "system/solute_path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kernels/base/error.hpp"
#include "system/superposition.hpp"
#include "system/system.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

class SolutePathTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* const info = testing::UnitTest::GetInstance()->current_test_info();
    file_ = fs::temp_directory_path() / (std::string("starpmc-path-") + info->name() + ".xyz");
  }
  void TearDown() override { fs::remove(file_); }

  SolutePath read(const std::string& text) const {
    std::ofstream(file_) << text;
    return read_solute_path(file_);
  }

  std::string message(const std::string& text) const {
    try {
      read(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing refused";
  }

 private:
  fs::path file_;
};

/// HCl, the hydrogen `apart` from the chlorine; the whole molecule turned and moved by `k`.
std::string frame(double apart, double k, const std::string& title = "") {
  const double x = 3 * k + apart * std::cos(k);
  const double y = -k + apart * std::sin(k);
  return "2\n" + title + "\nH " + std::to_string(x) + " " + std::to_string(y) + " 1\nCl " +
         std::to_string(3 * k) + " " + std::to_string(-k) + " 1\n";
}

TEST_F(SolutePathTest, LengthIsThatOfTheInternalMotion) {
  const SolutePath path = read(frame(1.3, 0, "energy_hartree=-460.5") +
                               frame(1.4, 0.7, "image=2 energy_hartree=-460.4") + frame(1.6, -2.0));
  ASSERT_EQ(path.images.size(), 3U);
  EXPECT_THAT(path.elements, testing::ElementsAre("H", "Cl"));
  // Two masses that part by d: sqrt(mu) d.
  const double root = std::sqrt(1.008 * 35.45 / (1.008 + 35.45));
  EXPECT_NEAR(path.images[1].coordinate, root * 0.1, 1e-5);
  EXPECT_NEAR(path.images[2].coordinate, root * 0.3, 1e-5);
  EXPECT_NEAR(path.images[2].largest_step, 0.2 * 35.45 / (1.008 + 35.45), 1e-5);
  EXPECT_EQ(path.images[1].energy_hartree, -460.4);
  EXPECT_FALSE(path.images[2].energy_hartree.has_value());
  EXPECT_FALSE(path.images[0].charge.has_value());
}

TEST_F(SolutePathTest, TitlesTellTheElectronicState) {
  const SolutePath path = read(frame(1.3, 0, "charge=-1 multiplicity=2") + frame(1.4, 0));
  EXPECT_EQ(path.images[0].charge, -1);
  EXPECT_EQ(path.images[0].multiplicity, 2);
  EXPECT_FALSE(path.images[1].charge.has_value());
  EXPECT_FALSE(path.images[1].multiplicity.has_value());
}

TEST_F(SolutePathTest, WhatTitlesQuoteIsOneValue) {
  const std::string title = R"(name="ion, charge=3 multiplicity=4" charge="-1" note="charge=2")";
  const SolutePath path = read(frame(1.3, 0, title) + frame(1.4, 0));
  EXPECT_EQ(path.images[0].charge, -1);
  EXPECT_FALSE(path.images[0].multiplicity.has_value());
}

TEST_F(SolutePathTest, RefusesOtherAtomsAndJumpsNamingTheImage) {
  const std::string good = frame(1.3, 0) + frame(1.4, 0);
  EXPECT_THAT(message(frame(1.3, 0)), testing::HasSubstr("at least two images"));
  EXPECT_THAT(message(good + frame(3.6, 0)),
              testing::AllOf(testing::HasSubstr("from image 2 to image 3"),
                             testing::HasSubstr("more images between 2 and 3")));
  EXPECT_THAT(message(good + "2\n\nCl 0 0 0\nH 0 0 1.3\n"),
              testing::AllOf(testing::HasSubstr("atom 1 of image 3"),
                             testing::HasSubstr("same order"), testing::HasSubstr(".xyz:11")));
  EXPECT_THAT(message(good + "2\n\nH 0 0 0\nBr 0 0 1.3\n"),
              testing::HasSubstr("atom 2 of image 3"));
  EXPECT_THAT(message(good + "3\n\nH 0 0 0\nCl 0 0 1.3\nH 0 0 2\n"),
              testing::HasSubstr("3 instead of 2"));
  EXPECT_THAT(message(good + "2\n\nH 0 0 0\n"), testing::HasSubstr("ends before 2 atoms"));
  EXPECT_THAT(message(frame(1.3, 0) + frame(1.4, 0, "energy_hartree=low")),
              testing::HasSubstr("the energy (Hartree)"));
}

TEST_F(SolutePathTest, RefusesAtomsThatLieOnEachOther) {
  EXPECT_THAT(message(frame(1.3, 0) + frame(0.13, 0)),
              testing::AllOf(testing::HasSubstr(".xyz:8: atoms 1 and 2"),
                             testing::HasSubstr("0.130 angstrom apart")));
}

TEST_F(SolutePathTest, SaysWhereImagesSeemOutOfOrder) {
  const auto path_of = [&](const std::vector<double>& lengths) {
    std::string text;
    for (const double length : lengths) text += frame(length, 10 * length);
    return read(text).warnings;
  };
  EXPECT_THAT(path_of({1.3, 1.4, 1.45, 1.6, 1.7}), testing::IsEmpty());
  EXPECT_THAT(path_of({1.7, 1.6, 1.5, 1.4, 1.3}), testing::IsEmpty());
  // The third and the fourth are exchanged: it turns back at both.
  EXPECT_THAT(path_of({1.3, 1.4, 1.6, 1.5, 1.7}),
              testing::ElementsAre(testing::AllOf(testing::HasSubstr(".xyz:9: the path turns back "
                                                                     "at image 3: images 2 and 4"),
                                                  testing::HasSubstr("in order")),
                                   testing::HasSubstr("at image 4: images 3 and 5")));
  EXPECT_THAT(path_of({1.3, 1.4, 1.4, 1.5}),
              testing::ElementsAre(testing::HasSubstr(".xyz:9: image 3 is the same as image 2")));
}

TEST_F(SolutePathTest, BlankLinesBetweenImagesAreReadOver) {
  EXPECT_EQ(read(frame(1.3, 0) + "\n\n" + frame(1.4, 0) + "\n").images.size(), 2U);
}

TEST(WeightedSuperposition, LeastDistanceIsWeighted) {
  const std::vector<Vector3> body{{0, 0, 0}, {1, 0, 0}, {0, 1.5, 0}, {0.3, 0.2, 1}};
  const std::vector<Vector3> other{{0.1, 0, 0.2}, {1.2, 0.1, 0}, {-0.3, 1.4, 0}, {0, 0.4, 1.3}};
  const std::vector<double> masses{35.45, 1.008, 12.011, 15.999};
  const Superposition fit = superpose(body, other, masses);
  const auto distance = [&](const Quaternion& q, const Vector3& centre) {
    double square = 0;
    for (std::size_t i = 0; i < body.size(); ++i) {
      const Vector3 d = centre + rotate(q, body[i]) - other[i];
      square += masses[i] * dot(d, d);
    }
    return std::sqrt(square / (35.45 + 1.008 + 12.011 + 15.999));
  };
  const double least = distance(fit.orientation, fit.centre);
  EXPECT_NEAR(fit.rmsd, least, 1e-12);
  // Whatever is turned or moved a little lies farther.
  for (const double h : {-1e-3, 1e-3}) {
    for (const Vector3& axis : std::array<Vector3, 3>{{{h, 0, 0}, {0, h, 0}, {0, 0, h}}}) {
      EXPECT_GT(distance(fit.orientation, fit.centre + axis), least);
      const Quaternion& q = fit.orientation;
      Quaternion turned{q.w - 0.5 * dot(axis, {q.x, q.y, q.z}),
                        q.x + 0.5 * (axis.x * q.w + axis.y * q.z - axis.z * q.y),
                        q.y + 0.5 * (axis.y * q.w + axis.z * q.x - axis.x * q.z),
                        q.z + 0.5 * (axis.z * q.w + axis.x * q.y - axis.y * q.x)};
      const double n = std::sqrt(turned.w * turned.w + turned.x * turned.x + turned.y * turned.y +
                                 turned.z * turned.z);
      turned = {turned.w / n, turned.x / n, turned.y / n, turned.z / n};
      Vector3 centre;
      for (std::size_t i = 0; i < body.size(); ++i) {
        centre = centre + (masses[i] / (35.45 + 1.008 + 12.011 + 15.999)) *
                              (other[i] - rotate(turned, body[i]));
      }
      EXPECT_GT(distance(turned, centre), least);
    }
  }
}

}  // namespace
}  // namespace starpmc
