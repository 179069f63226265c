#include "expression/translate.hpp"

#include <algorithm>

#include "expression/count.hpp"
#include "expression/part.hpp"
#include "expression/rewrite.hpp"
#include "expression/translator.hpp"

namespace starpmc::expression {
namespace {

/// Beyond this many nodes one form is enough.
constexpr std::size_t kMostNodesRewritten = 2000;

TranslationOptions with_inputs(const Pool& pool, std::span<const Node> outputs,
                               TranslationOptions options) {
  const std::vector<std::string> variables = pool.variables(outputs);
  if (options.squared_variable &&
      std::ranges::find(variables, options.square_input) != variables.end()) {
    throw InputError("expression", "this name means the square of " + *options.squared_variable,
                     options.square_input, "choose another name");
  }
  if (!options.inputs.empty()) return options;
  for (const std::string& name : variables) {
    options.inputs.push_back(name == options.squared_variable ? options.square_input : name);
  }
  // What varies is an input even where no expression has it.
  for (const std::string& name : options.varying) {
    if (std::ranges::find(options.inputs, name) == options.inputs.end()) {
      options.inputs.push_back(name);
    }
  }
  return options;
}

RewriteContext context_of(const TranslationOptions& options) {
  RewriteContext context{options.squared_variable, options.varying};
  for (std::string& name : context.varying) {
    if (options.squared_variable && name == options.square_input) name = *options.squared_variable;
  }
  return context;
}

/// A coefficient more to load for each evaluation counts as a quarter of an addition.
double cost(const Program& program, const TranslationOptions& options) {
  if (options.varying.empty()) return estimated_cost(program);
  const PartedProgram parted = part(program, options.varying);
  return estimated_cost(parted.each) + 0.25 * static_cast<double>(parted.once.outputs.size());
}

std::vector<std::vector<Node>> forms(Pool& pool, std::span<const Node> outputs,
                                     const RewriteContext& context) {
  std::vector<std::vector<Node>> all{{outputs.begin(), outputs.end()}};
  if (pool.reachable(outputs).size() > kMostNodesRewritten) return all;
  const auto try_form = [&](auto rewrite, std::size_t from) {
    try {
      all.push_back(rewrite(pool, all[from], context));
    } catch (const InputError&) {
      // Too large, or with numbers beyond the range of double: no form to choose from.
    }
  };
  try_form(square_even_powers, 0);
  if (!context.varying.empty()) try_form(gather_coefficients, 0);
  const std::size_t plain_forms = all.size();
  for (std::size_t i = 0; i < plain_forms; ++i) try_form(take_out_factors, i);
  return all;
}

}  // namespace

Program translate(Pool& pool, std::span<const Node> outputs, const TranslationOptions& options) {
  const TranslationOptions complete = with_inputs(pool, outputs, options);
  Program best;
  double best_cost = 0;
  bool first = true;
  for (const std::vector<Node>& form : forms(pool, outputs, context_of(complete))) {
    Program program = Translator(pool, form, complete).translate();
    const double its_cost = cost(program, complete);
    if (first || its_cost < best_cost) {
      best = std::move(program);
      best_cost = its_cost;
    }
    first = false;
  }
  return best;
}

}  // namespace starpmc::expression
