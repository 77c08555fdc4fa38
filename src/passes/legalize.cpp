// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ops/operands.h"
#include "passes/constant_nodes.h"
#include "passes/passes.h"

namespace ingot {
namespace {

// As in the import's reports: more than that nobody reads.
constexpr int64_t kMostRefusals = 100;
constexpr size_t kMostTensors = 8;

std::string where(const Node& node) {
  std::string text = display_name(node.op) + " " + quote(node.name);
  if (!node.sources.empty()) text += fmt::format(" (operator {})", node.sources.front());
  return text;
}

std::vector<std::string> tensors_of(const Graph& graph, const Node& node) {
  std::vector<std::string> notes;
  for (const ValueId id : node.inputs) {
    if (notes.size() == kMostTensors) return notes;
    if (id.present()) {
      notes.push_back(
          fmt::format("input {}: {}", quote(graph[id].name), print_plain(graph[id].type)));
    }
  }
  for (const ValueId id : node.outputs) {
    notes.push_back(
        fmt::format("output {}: {}", quote(graph[id].name), print_plain(graph[id].type)));
  }
  return notes;
}

}  // namespace

Diagnostics legalize(const Graph& graph) {
  Diagnostics diagnostics;
  int64_t num_refusals = 0;
  // Limits ask for constants: those too that only follow from others, as weights do that are stored
  // as float16.
  Graph known = graph;
  FoldBudget budget;
  for (const Node& node : graph.nodes) {
    const OpRules& rules = rules_of(node.op);
    const std::vector<Operand> inputs = operands_of(known, node.inputs);
    const std::vector<TensorType> outputs = output_types_of(graph, node);
    for (const Limit& limit : rules.limits) {
      if (limit.holds(node.op, inputs, outputs)) continue;
      if (++num_refusals > kMostRefusals) continue;
      diagnostics.push_back({Code::kOperatorUnsupported, where(node),
                             fmt::format("not supported: it must hold that {}", limit.sentence), "",
                             tensors_of(graph, node)});
    }
    // After a refusal nothing will be compiled; it only must not be computed what is not legal.
    if (diagnostics.empty()) {
      compute_if_constant(known, node, Rounding::kDouble, budget);
    }
  }
  if (num_refusals > kMostRefusals) {
    diagnostics.push_back({Code::kOperatorUnsupported, "",
                           fmt::format("{} more such messages", num_refusals - kMostRefusals), ""});
  }
  return diagnostics;
}

}  // namespace ingot
