// What WorkerEngine asks of a worker for the exact ensemble.

#include "kernels/base/error.hpp"
#include "qm/worker_messages.hpp"

namespace starpmc {
namespace {

constexpr std::size_t kMostPoints = 1000000;

std::vector<Vector3> positions_of(const MessageArray& array) {
  std::vector<Vector3> positions;
  for (std::size_t i = 0; i + 2 < array.values.size(); i += 3) {
    positions.push_back({array.values[i], array.values[i + 1], array.values[i + 2]});
  }
  return positions;
}

}  // namespace

std::vector<double> WorkerEngine::row(const Message& message, const std::string& name,
                                      std::size_t length) {
  const auto found =
      std::ranges::find_if(message.arrays, [&](const auto& a) { return a.name == name; });
  if (found == message.arrays.end()) {
    if (length == 0) return {};
    process().fail(fmt::format("array {} is missing", name));
  }
  if (found->values.size() != length) {
    process().fail(
        fmt::format("array {} has {} numbers, expected {}", name, found->values.size(), length));
  }
  return found->values;
}

/// Of an array in the worker's own form.
std::vector<double> WorkerEngine::take_numbers(Message& message, const std::string& name) {
  const auto found = std::ranges::find(message.arrays, name, &MessageArray::name);
  if (found == message.arrays.end() || found->values.empty()) {
    process().fail(fmt::format("array {} is missing or empty", name));
  }
  return std::move(found->values);
}

Embedding WorkerEngine::embedding(std::span<const double> potential,
                                  std::span<const double> nuclear_potential,
                                  const PointCharges& charges, Quadrature quadrature) {
  const bool coarse = quadrature == Quadrature::coarse && coarse_points_.size() > 0;
  send_potential({{"type", "embed"}, {"coarse", coarse}}, coarse ? coarse_points_ : points_,
                 potential, nuclear_potential, charges);
  Message answer = receive("embedded");
  return {take_numbers(answer, "embedding"),
          std::max(largest_magnitude(potential), largest_magnitude(nuclear_potential))};
}

std::uint64_t WorkerEngine::add_configuration(const Embedding& embedding) {
  send({{{"type", "configuration"}}, {vector_array("embedding", embedding.numbers)}});
  const Message answer = receive("configured");
  const int count = field<int>(answer, "configurations");
  if (count < 1) process().fail(fmt::format("it keeps {} configurations after one more", count));
  largest_potential_ = std::max(largest_potential_, embedding.largest_potential);
  return static_cast<std::uint64_t>(count);
}

void WorkerEngine::forget_configurations() {
  send({{{"type", "forget"}}, {}});
  receive("forgotten");
  largest_potential_ = 0;
}

ReferenceDensity WorkerEngine::reference(int threads) {
  send({{{"type", "reference"}, {"threads", threads}}, {}});
  Message answer = receive("result");
  ReferenceDensity reference{read_scf(answer), field<double>(answer, "solute_energy")};
  std::string problem = check_.problem_without_grid(reference.scf, largest_potential_);
  if (problem.empty()) {
    QmResult alone;
    alone.energy_kj_per_mol = reference.solute_energy_kj_per_mol;
    problem = check_.problem_without_grid(alone, 0);
  }
  if (!problem.empty()) process().fail(problem);
  keep_state(answer);
  components_ = 0;
  return reference;
}

SoluteResponse WorkerEngine::response(const ResponseRequest& request, const WorkProgress& progress,
                                      ProductHelpers* helpers) {
  const std::size_t others = helpers == nullptr ? 0 : helpers->count();
  if (others == 0) helpers = nullptr;  // and the worker must not ask for any
  const nlohmann::json header{{"type", "response"},
                              {"components", request.most_components},
                              {"tolerance", request.tolerance_kj_per_mol},
                              {"threads", request.threads},
                              {"rough", request.rough},
                              {"others", others}};
  const std::vector<double> tests(request.tests.begin(), request.tests.end());
  const Message asked{
      header,
      {vector_array("tests", tests), vector_array("energies", request.energies_kj_per_mol)}};
  send(asked);
  SoluteResponse response =
      read_response(help_with_response(progress, helpers), request.most_components);
  if (const auto problem = check_.problem_of_response(response); !problem.empty()) {
    process().fail(problem);
  }
  components_ = static_cast<std::size_t>(response.components);
  return response;
}

Message WorkerEngine::help_with_response(const WorkProgress& progress, ProductHelpers* helpers) {
  bool has_equations = false;
  while (true) {
    Message message = receive("response", {"progress", "equations", "products"});
    const std::string type = message.type();
    if (type == "response") return message;
    if (type == "progress") {
      tell_progress(message, progress);
    } else if (helpers == nullptr || has_equations != (type == "products")) {
      process().fail(fmt::format("its response says '{}' where that is not due", type));
    } else if (type == "products") {
      share_products(message, *helpers);
    } else {
      helpers->take_equations(take_numbers(message, "equations"));
      has_equations = true;
    }
  }
}

void WorkerEngine::tell_progress(const Message& message, const WorkProgress& progress) {
  const int done = field<int>(message, "done");
  const int total = field<int>(message, "total");
  if (done < 0 || total < 1 || done > total) {
    process().fail(fmt::format("it has done {} of {} parts", done, total));
  }
  const std::string what = message.header.contains("what") ? text(message, "what") : "response";
  if (progress) {
    progress(what, static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(total));
  }
}

void WorkerEngine::share_products(const Message& message, ProductHelpers& helpers) {
  const auto vectors = std::ranges::find(message.arrays, "vectors", &MessageArray::name);
  if (vectors == message.arrays.end() || vectors->shape.size() != 2 || vectors->values.empty()) {
    process().fail("array vectors is missing, empty, or has no rows");
  }
  auto values = helpers.multiply(vectors->shape[0], vectors->values);
  Message answer{{{"type", "products"}}, {}};
  if (values) answer.arrays.push_back({"values", vectors->shape, std::move(*values)});
  send(answer);
}

void WorkerEngine::take_equations(std::span<const double> equations) {
  send({{{"type", "equations"}}, {vector_array("equations", equations)}});
  receive("taken");
}

std::vector<double> WorkerEngine::multiply(std::span<const double> vector) {
  MessageArray row = vector_array("vectors", vector);
  row.shape = {1, vector.size()};
  send({{{"type", "multiply"}}, {std::move(row)}});
  const Message answer = receive("multiplied");
  const MessageArray& values = array(answer, "values", 1);
  if (values.shape[1] != vector.size()) {
    process().fail(
        fmt::format("its product has {} numbers, expected {}", values.shape[1], vector.size()));
  }
  return values.values;
}

SoluteResponse WorkerEngine::read_response(const Message& message, int most_components) {
  SoluteResponse response;
  response.components = field<int>(message, "components");
  if (response.components < 0 || response.components > most_components) {
    process().fail(fmt::format("its response has {} components, at most {} were asked for",
                               response.components, most_components));
  }
  const auto components = static_cast<std::size_t>(response.components);
  if (message.header.contains("widths")) {
    for (const auto& width : field<std::vector<std::vector<double>>>(message, "widths")) {
      if (width.size() != 3) process().fail("field widths of 'response' has not three columns");
      response.widths.push_back({static_cast<int>(width[0]), width[1], width[2]});
    }
  }
  const MessageArray& strengths = array(message, "strengths", 1 + components);
  const std::size_t points = strengths.shape[1];
  if (points > kMostPoints) process().fail(fmt::format("its response has {} points", points));
  const MessageArray& positions = array(message, "points", points);
  if (positions.shape[1] != 3) process().fail("array points of 'response' has not three columns");
  response.points = positions_of(positions);
  response.strengths = strengths.values;
  if (message.header.contains("note")) response.note = text(message, "note");
  response.mean = row(message, "mean", components);
  for (const MessageArray& array : message.arrays) {
    if (array.name == "spectrum") response.spectrum = array.values;
  }
  return response;
}

std::vector<double> WorkerEngine::potentials(std::span<const Vector3> positions) {
  if (positions.empty()) return {};
  const std::vector<Vector3> all(positions.begin(), positions.end());
  send({{{"type", "potentials"}}, {positions_array("positions", all)}});
  const Message answer = receive("potentials");
  const MessageArray& values = array(answer, "values", 1 + components_);
  if (values.shape[1] != positions.size()) {
    process().fail(fmt::format("it tells the potential at {} positions, expected {}",
                               values.shape[1], positions.size()));
  }
  const auto problem = check_.problem_of_potentials(values.values, positions.size());
  if (!problem.empty()) process().fail(problem);
  return values.values;
}

double WorkerEngine::energy(std::uint64_t configuration) {
  send({{{"type", "energy"}, {"configuration", configuration}}, {}});
  QmResult result;
  result.energy_kj_per_mol = field<double>(receive("energy"), "energy");
  const std::string problem = check_.problem_without_grid(result, largest_potential_);
  if (!problem.empty()) process().fail(problem);
  return result.energy_kj_per_mol;
}

SharedDensity WorkerEngine::shared_density() {
  send({{{"type", "share"}}, {}});
  Message answer = receive("shared");
  SharedDensity density;
  density.rows = 1 + components_;
  density.matrices = array(answer, "matrices", density.rows).values;
  for (MessageArray& array : answer.arrays) {
    if (array.name == "cores") density.cores = std::move(array.values);
  }
  return density;
}

void WorkerEngine::adopt(const SharedDensity& density) {
  MessageArray matrices = vector_array("matrices", density.matrices);
  matrices.shape = {density.rows, density.matrices.size() / density.rows};
  const Message request{{{"type", "adopt"}},
                        {std::move(matrices), vector_array("cores", density.cores)}};
  send(request);
  receive("adopted");
  components_ = density.rows - 1;
}

void WorkerEngine::hold_density() {
  send({{{"type", "hold"}}, {}});
  receive("held");
  held_ = true;
}

}  // namespace starpmc
