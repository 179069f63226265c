#include "app/added_images.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

using Pairs = std::vector<Neighbours>;

TEST(AddedImages, ChoosesThoseThatOverlapLeast) {
  const Pairs pairs{{0.02, 0.1, true}, {0.03, 0.1, true}, {0.001, 0.1, true}, {0.01, 0.1, true}};
  EXPECT_EQ(choose_neighbours(pairs, 0.03, 4).chosen, (std::vector<std::size_t>{0, 2, 3}))
      << "one that overlaps by as much as is wanted has enough";
  const ChosenNeighbours two = choose_neighbours(pairs, 0.03, 2);
  EXPECT_EQ(two.chosen, (std::vector<std::size_t>{2, 3}));
  EXPECT_NE(two.reasons[0].find("profile.most-added-images"), std::string::npos);
  EXPECT_EQ(two.reasons[1], "");
  EXPECT_EQ(two.reasons[2], "");
  EXPECT_TRUE(choose_neighbours(pairs, 0.03, 0).chosen.empty());
  EXPECT_TRUE(choose_neighbours(pairs, 0, 4).chosen.empty());
}

TEST(AddedImages, SaysWhyThereIsNone) {
  const Pairs pairs{{0, 0.0199, true}, {0, 0.02, true}, {0, 0.1, false}, {0.5, 0.001, false}};
  const ChosenNeighbours found = choose_neighbours(pairs, 0.03, 4);
  EXPECT_EQ(found.chosen, (std::vector<std::size_t>{1}));
  EXPECT_NE(found.reasons[0].find("0.0199 angstrom"), std::string::npos);
  EXPECT_NE(found.reasons[2].find("profile.topologies"), std::string::npos);
  EXPECT_EQ(found.reasons[3], "");
}

TEST(AddedImages, LieInTheMiddle) {
  SolutePath::Image before;
  before.positions = {{0, 0, 1}, {1, 2, 3}};
  before.coordinate = 2;
  before.largest_step = 0.7;
  before.energy_hartree = -1;
  before.charge = -1;
  SolutePath::Image after;
  after.positions = {{0, 0, 2}, {1, 3, 1}};
  after.coordinate = 5;
  after.largest_step = 0.5;
  const SolutePath::Image middle = image_between(before, after);
  EXPECT_DOUBLE_EQ(middle.positions[0].z, 1.5);
  EXPECT_DOUBLE_EQ(middle.positions[1].y, 2.5);
  EXPECT_DOUBLE_EQ(middle.positions[1].z, 2);
  EXPECT_DOUBLE_EQ(middle.coordinate, 3.5);
  EXPECT_DOUBLE_EQ(middle.largest_step, 0.25);
  EXPECT_FALSE(middle.energy_hartree.has_value());
  EXPECT_EQ(middle.charge, -1);
}

TEST(AddedImages, AreReadAsTheyWereWritten) {
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / "starpmc-added-images.json";
  std::filesystem::remove(file);
  EXPECT_TRUE(read_added_images(file).empty());
  const std::vector<AddedImage> added{{4, 0, 1, 0.1 / 3}, {5, 0, 4, 1e-17}};
  std::ofstream(file) << text_of(added);
  EXPECT_EQ(read_added_images(file), added);
  for (const char* damage : {"", "[]", R"({"images": [{"image": 0, "between": [1, 2]}]})",
                             R"({"images": [{"image": 3, "between": [1], "overlap": 0}]})"}) {
    std::ofstream(file) << damage;
    EXPECT_THROW(read_added_images(file), InputError) << damage;
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace starpmc
