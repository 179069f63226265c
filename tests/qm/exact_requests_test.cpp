#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/error.hpp"
#include "qm/restarting_engine.hpp"
#include "qm/worker_engine.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

using testing::HasSubstr;

WorkerCommand command(const std::vector<std::string>& arguments,
                      const std::string& script = "exact_worker.py") {
  WorkerCommand made{{"/usr/bin/python3", source_folder().string() + "/tests/qm/workers/" + script},
                     20};
  made.command.insert(made.command.end(), arguments.begin(), arguments.end());
  return made;
}

QmRequest hydrogen() {
  QmRequest request;
  request.elements = {"H", "H"};
  request.positions = {{0, 0, 0}, {0.74, 0, 0}};
  return request;
}

const std::vector<double> kNuclear{1.0, 1.5};

std::vector<double> potential(double value) { return std::vector<double>(5, value); }

/// The only other engine, as long as it is there.
class OneHelper : public ProductHelpers {
 public:
  explicit OneHelper(QmEngine* engine) : engine_(engine) {}
  std::size_t count() const override { return others; }
  void take_equations(std::vector<double> equations) override {
    if (engine_ != nullptr) engine_->take_equations(equations);
  }
  std::optional<std::vector<double>> multiply(std::size_t rows,
                                              std::vector<double> vectors) override {
    EXPECT_EQ(vectors.size(), 2 * rows);
    if (engine_ == nullptr) return std::nullopt;
    std::vector<double> products;
    for (std::size_t row = 0; row < rows; ++row) {
      const auto product = engine_->multiply(std::span(vectors).subspan(2 * row, 2));
      products.insert(products.end(), product.begin(), product.end());
    }
    made += rows;
    return products;
  }
  std::size_t made = 0;
  std::size_t others = 1;

 private:
  QmEngine* engine_;
};

/// All that a preparation and two updates tell, as one row of numbers.
std::vector<double> conversation(QmEngine& engine, ProductHelpers* helpers = nullptr) {
  std::vector<double> told;
  engine.update(potential(1), kNuclear, {});
  engine.forget_configurations();
  for (const double value : {2.0, 4.0}) {
    const Embedding embedding = engine.embedding(potential(value), kNuclear, {}, Quadrature::fine);
    EXPECT_EQ(embedding.largest_potential, value);
    told.push_back(static_cast<double>(engine.add_configuration(embedding)));
  }
  told.push_back(engine.reference(2).solute_energy_kj_per_mol);
  std::vector<double> values = engine.potentials(std::vector<Vector3>(3));
  EXPECT_EQ(values.size(), 3U);
  told.insert(told.end(), values.begin(), values.end());
  int parts = 0;
  const auto progress = [&](const std::string& what, auto done, auto total) {
    EXPECT_EQ(what, "response");
    EXPECT_LE(done, total);
    ++parts;
  };
  const SoluteResponse response = engine.response({2, 0.5, 1, {1}, {3.5}}, progress, helpers);
  EXPECT_GE(parts, 2);
  EXPECT_EQ(response.components, 2);
  EXPECT_EQ(response.note, "as asked");
  EXPECT_EQ(response.widths.back().width, 0.25);
  EXPECT_EQ(response.spectrum, std::vector<double>{1 + 3.5});
  EXPECT_EQ(response.points.at(1).z, 0.3);
  EXPECT_EQ(response.mean, (std::vector<double>{1.5, 1.5}));
  told.insert(told.end(), response.strengths.begin(), response.strengths.end());
  values = engine.potentials(std::vector<Vector3>(2));
  told.insert(told.end(), values.begin(), values.end());
  const SharedDensity density = engine.shared_density();
  EXPECT_EQ(density.rows, 3U);
  EXPECT_EQ(density.matrices, (std::vector<double>{2, 2, 2}));
  engine.hold_density();
  told.push_back(engine.energy(0));
  told.push_back(engine.energy(1));
  engine.forget_configurations();
  engine.adopt({2, {7, 7}, {8.5}});
  values = engine.potentials(std::vector<Vector3>(1));
  EXPECT_EQ(values, (std::vector<double>{8.5, 1}));
  const std::vector<double> state = engine.state();
  engine.restore(state);
  engine.hold_density();
  for (const double value : {1.0, 7.0, 1.0}) {
    told.push_back(engine.update(potential(value), kNuclear, {}).energy_kj_per_mol);
  }
  EXPECT_EQ(engine.state(), state);
  return told;
}

TEST(ExactRequests, AreUnderstood) {
  WorkerEngine engine(command({}), hydrogen());
  EXPECT_TRUE(engine.serves_exact_ensemble());
  const double after_update = 5;  // sum of the potential
  const double d0 = 15 + after_update / 2;
  EXPECT_EQ(conversation(engine),
            (std::vector<double>{1,           2,           d0 - 15,    d0,          d0,        d0,
                                 0.5,         -0.5,        d0,         0,           d0,        1,
                                 d0,          d0,          2,          2,           2,         2,
                                 10 + d0 / 2, 20 + d0 / 2, 5 + d0 / 2, 35 + d0 / 2, 5 + d0 / 2}));
}

TEST(ExactRequests, ACoarseQuadratureIsUsedWhereThereIsOne) {
  WorkerEngine with(command({"coarse"}), hydrogen());
  EXPECT_EQ(with.quadrature_points().size(), 5U);
  EXPECT_EQ(with.coarse_points().size(), 2U);
  const std::vector<double> two(2, 3.0);
  EXPECT_EQ(with.embedding(two, kNuclear, {}, Quadrature::coarse).numbers, std::vector<double>{6});
  EXPECT_EQ(with.embedding(potential(3), kNuclear, {}, Quadrature::fine).numbers,
            std::vector<double>{15});
  EXPECT_THROW(with.embedding(two, kNuclear, {}, Quadrature::fine), RunError);
  EXPECT_THROW(with.embedding(potential(3), kNuclear, {}, Quadrature::coarse), RunError);
  WorkerEngine without(command({}), hydrogen());
  EXPECT_EQ(without.coarse_points().size(), 5U);
  EXPECT_EQ(without.embedding(potential(3), kNuclear, {}, Quadrature::coarse).numbers,
            std::vector<double>{15});
}

/// Whose worker is killed once, at this request.
class KilledOnce {
 public:
  explicit KilledOnce(const std::string& request)
      : file_(std::filesystem::temp_directory_path() /
              ("starpmc-killed-" + std::to_string(getpid()))) {
    std::filesystem::remove(file_);
    engine.emplace([request, this](const std::shared_ptr<CancelSignal>& signal) {
      WorkerCommand made = command({"killed", request, file_.string()});
      made.cancel_signal = signal;
      return std::make_unique<WorkerEngine>(made, hydrogen());
    });
  }
  ~KilledOnce() { std::filesystem::remove(file_); }
  KilledOnce(const KilledOnce&) = delete;
  KilledOnce& operator=(const KilledOnce&) = delete;

  std::optional<RestartingEngine> engine;

 private:
  std::filesystem::path file_;
};

TEST(ExactRequests, ALostWorkerIsToldAllAgain) {
  WorkerEngine undisturbed(command({}), hydrogen());
  const std::vector<double> expected = conversation(undisturbed);
  for (const std::string request : {"embed", "configuration", "forget", "reference", "potentials",
                                    "response", "share", "energy", "adopt", "hold", "update"}) {
    KilledOnce killed(request);
    EXPECT_TRUE(killed.engine->serves_exact_ensemble());
    EXPECT_EQ(conversation(*killed.engine), expected) << request;
    EXPECT_EQ(killed.engine->restarts(), 1U) << request;
  }
}

TEST(ExactRequests, OthersMakeProductsOfAResponse) {
  WorkerEngine alone(command({}), hydrogen());
  const std::vector<double> expected = conversation(alone);
  WorkerEngine engine(command({}), hydrogen());
  OneHelper helper(&alone);
  EXPECT_EQ(conversation(engine, &helper), expected);
  EXPECT_EQ(helper.made, 3U);
  WorkerEngine without(command({}), hydrogen());
  OneHelper nobody(nullptr);
  EXPECT_EQ(conversation(without, &nobody), expected);
}

TEST(ExactRequests, LostWorkersMakeTheirProductsAgain) {
  WorkerEngine other(command({}), hydrogen());
  const std::vector<double> expected = conversation(other);
  for (const std::string request : {"equations", "multiply"}) {
    KilledOnce killed(request);
    OneHelper helper(&*killed.engine);
    WorkerEngine engine(command({}), hydrogen());
    EXPECT_EQ(conversation(engine, &helper), expected) << request;
    EXPECT_EQ(killed.engine->restarts(), 1U) << request;
  }
  KilledOnce leader("products");
  OneHelper helper(&other);
  EXPECT_EQ(conversation(*leader.engine, &helper), expected);
  EXPECT_EQ(leader.engine->restarts(), 1U);
  EXPECT_EQ(helper.made, 2U + 3U);
}

/// That a worker which says nonsense is lost for it.
template <class Talk>
void expect_lost(const char* what, const char* expected, const Talk& talk) {
  try {
    talk();
    ADD_FAILURE() << what << ": no error";
  } catch (const WorkerLost& error) {
    EXPECT_THAT(error.what(), HasSubstr(expected)) << what;
  }
}

TEST(ExactRequests, NonsenseIsNoAnswer) {
  const std::pair<const char*, const char*> nonsense[] = {
      {"embedding", "array embedding is missing or empty"},
      {"configurations", "keeps 0 configurations"},
      {"solute_energy", "energy is 1e+300"},
      {"progress", "2 of 1 parts"},
      {"charge", "have a charge of 1 e"},
      {"point", "30 A from the nearest nucleus"},
      {"components", "3 components, at most 2"},
      {"width", "width of -1"},
      {"mean", "array mean has 1 numbers, expected 2"},
      {"energy", "its energy is 1e+300"},
      {"potential", "1e+09 kJ/mol per e"},
      {"rows", "wrong shape"}};
  for (const auto& [what, expected] : nonsense) {
    WorkerEngine engine(command({"nonsense", what}), hydrogen());
    expect_lost(what, expected, [&] { conversation(engine); });
  }
}

TEST(ExactRequests, NonsensicalProductsAreNone) {
  const std::pair<const char*, const char*> nonsense[] = {
      {"unasked", "says 'equations' where that is not due"},
      {"products first", "says 'products' where that is not due"},
      {"equations", "array equations is missing or empty"},
      {"vectors", "array vectors is missing, empty, or has no rows"},
      {"product", "its product has 3 numbers, expected 2"}};
  for (const auto& [what, expected] : nonsense) {
    WorkerEngine engine(command({"nonsense", what}), hydrogen());
    WorkerEngine other(command({"nonsense", what}), hydrogen());
    OneHelper helper(&other);
    if (std::string(what) == "unasked") helper.others = 0;
    expect_lost(what, expected, [&] { conversation(engine, &helper); });
  }
}

TEST(ExactRequests, WorkersThatCannotAreNotAsked) {
  WorkerEngine engine(command({}, "stateful_worker.py"), hydrogen());
  EXPECT_FALSE(engine.serves_exact_ensemble());
}

}  // namespace
}  // namespace starpmc
