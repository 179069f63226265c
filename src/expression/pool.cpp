#include "expression/pool.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

namespace starpmc::expression {
namespace {

/// Numbers within expressions are finite and never -0, so that this is a total order.
std::strong_ordering order(double a, double b) {
  if (a < b) return std::strong_ordering::less;
  if (a > b) return std::strong_ordering::greater;
  return std::strong_ordering::equal;
}

void mix(std::uint64_t& hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  hash ^= hash >> 29;
}

}  // namespace

std::size_t Pool::Hash::operator()(const Record& record) const {
  std::uint64_t hash = 0x243F6A8885A308D3u;
  mix(hash,
      static_cast<std::uint64_t>(record.kind) << 8 | static_cast<std::uint64_t>(record.operation));
  mix(hash, record.name);
  mix(hash, std::bit_cast<std::uint64_t>(record.value));
  for (const Operand& operand : record.operands) {
    mix(hash, operand.node.index);
    mix(hash, std::bit_cast<std::uint64_t>(operand.factor));
  }
  return hash;
}

std::uint64_t Pool::content_hash(const Record& record) const {
  std::uint64_t hash = 0x13198A2E03707344u;
  mix(hash,
      static_cast<std::uint64_t>(record.kind) << 8 | static_cast<std::uint64_t>(record.operation));
  mix(hash, std::bit_cast<std::uint64_t>(record.value));
  if (record.kind == Kind::variable) {
    for (const char c : names_[record.name]) mix(hash, static_cast<unsigned char>(c));
  }
  for (const Operand& operand : record.operands) {
    mix(hash, records_[operand.node.index].content);
    mix(hash, std::bit_cast<std::uint64_t>(operand.factor));
  }
  return hash;
}

bool Pool::Equal::operator()(const Record& a, std::uint32_t b) const {
  const Record& known = pool->records_[b];
  return a.kind == known.kind && a.operation == known.operation && a.name == known.name &&
         a.value == known.value && std::ranges::equal(a.operands, known.operands);
}

Node Pool::intern(const Record& record) {
  const auto found = known_.find(record);
  if (found != known_.end()) return {*found};
  operand_count_ += record.operands.size() + 1;
  if (operand_count_ > kMostOperands) {
    throw InputError("expression",
                     "becomes too large (limit: " + std::to_string(kMostOperands) + " operands)",
                     "", "write a simpler one");
  }
  Record kept = record;
  kept.content = content_hash(record);
  if (!record.operands.empty()) {
    auto* const copy = static_cast<Operand*>(
        memory_.allocate(record.operands.size() * sizeof(Operand), alignof(Operand)));
    std::uninitialized_copy(record.operands.begin(), record.operands.end(), copy);
    kept.operands = {copy, record.operands.size()};
  }
  records_.push_back(kept);
  const auto index = static_cast<std::uint32_t>(records_.size() - 1);
  known_.insert(index);
  return {index};
}

Node Pool::number(double value) {
  if (!std::isfinite(value)) {
    throw ConstantError("expression", "a constant part is no finite number", "",
                        "the parts that are numbers must stay within the range of double, "
                        "1.8e308, and be real");
  }
  return intern({.kind = Kind::number, .value = value + 0.0});
}

Node Pool::variable(std::string_view name) {
  auto found = name_numbers_.find(name);
  if (found == name_numbers_.end()) {
    const auto& kept = names_.emplace_back(name);
    found = name_numbers_.emplace(kept, static_cast<std::uint32_t>(names_.size() - 1)).first;
  }
  return intern({.kind = Kind::variable, .name = found->second});
}

std::strong_ordering Pool::compare_shallow(const Record& a, const Record& b) const {
  if (a.kind != b.kind) return a.kind <=> b.kind;
  if (a.kind == Kind::variable) return names_[a.name].compare(names_[b.name]) <=> 0;
  if (a.operation != b.operation) return a.operation <=> b.operation;
  if (a.operands.size() != b.operands.size()) return a.operands.size() <=> b.operands.size();
  for (std::size_t i = 0; i < a.operands.size(); ++i) {
    const double left = a.operands[i].factor;
    const double right = b.operands[i].factor;
    const auto sizes = order(std::abs(right), std::abs(left));  // x^12 before x^6, as written
    if (sizes != 0) return sizes;
    const auto signs = order(right, left);
    if (signs != 0) return signs;
  }
  return order(a.value, b.value);
}

std::strong_ordering Pool::compare(Node a, Node b) const {
  // The first levels are ordered as people would; below, by hashes, for an operand may be deep.
  constexpr int kLevels = 3;
  for (int level = 0; a != b; ++level) {
    const Record& left = records_[a.index];
    const Record& right = records_[b.index];
    const auto shallow = compare_shallow(left, right);
    if (shallow != 0) return shallow;
    if (level >= kLevels && left.content != right.content) return left.content <=> right.content;
    // Nodes that look the same and are not differ in an operand: the first such pair decides.
    const auto [i, j] = std::ranges::mismatch(left.operands, right.operands);
    a = i->node;
    b = j->node;
  }
  return std::strong_ordering::equal;
}

Node Pool::with_operands(Node node, std::span<const Operand> operands) {
  switch (kind(node)) {
    case Kind::sum:
      return sum(operands, value(node));
    case Kind::product:
      return product(operands, value(node));
    case Kind::function: {
      std::vector<Node> arguments;
      for (const Operand& operand : operands) arguments.push_back(operand.node);
      return apply(operation(node), arguments);
    }
    default:
      return node;
  }
}

bool Pool::leads_with_minus(Node node) const {
  if (kind(node) == Kind::product) return value(node) < 0;
  return kind(node) == Kind::sum && operands(node)[0].factor < 0;
}

std::vector<Node> Pool::reachable(std::span<const Node> roots) const {
  std::vector<bool> reached(records_.size());
  std::vector<Node> waiting(roots.begin(), roots.end());
  std::vector<Node> nodes;
  while (!waiting.empty()) {
    const Node node = waiting.back();
    waiting.pop_back();
    if (reached[node.index]) continue;
    reached[node.index] = true;
    nodes.push_back(node);
    for (const Operand& operand : operands(node)) waiting.push_back(operand.node);
  }
  std::ranges::sort(nodes, {}, &Node::index);
  return nodes;
}

std::vector<std::string> Pool::variables(std::span<const Node> roots) const {
  std::vector<std::string> found;
  for (const Node node : reachable(roots)) {
    if (kind(node) == Kind::variable) found.emplace_back(name(node));
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace starpmc::expression
