// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/evaluate.h"
#include "ops/operands.h"
#include "passes/constant_nodes.h"
#include "passes/passes.h"
#include "support/arithmetic.h"

namespace ingot {
namespace {

// What the operator's reference has to do; nullopt: more than can be counted.
std::optional<int64_t> work_of(const Graph& graph, const Node& node) {
  int64_t work = 0;
  for (const ValueId id : node.inputs) {
    if (id.present()) work += graph[id].type.num_elements();
  }
  for (const ValueId id : node.outputs) work += graph[id].type.num_elements();
  const std::vector<TensorType> types = output_types_of(graph, node);
  std::optional<int64_t> windows = 0;
  if (const auto* pool = node.as<Pool2D>()) {
    const int64_t factors[] = {types.at(0).num_elements(), pool->kernel_h, pool->kernel_w};
    windows = checked_product(factors);
  } else if (rules_of(node.op).macs) {
    windows = rules_of(node.op).macs(node.op, operands_of(graph, node.inputs), types);
  }
  return windows ? checked_add(work, *windows) : std::nullopt;
}

// Whether the node can be folded; takes it from the budget then.
bool can_fold(const Graph& graph, const Node& node, FoldBudget& budget) {
  const auto is_constant = [&](ValueId id) { return !id.present() || graph[id].is_constant(); };
  const bool steps_constant = std::ranges::all_of(node.epilogue, [&](const Step& step) {
    return std::ranges::all_of(step.operands, is_constant);
  });
  if (!steps_constant || node.inputs.empty() || !std::ranges::all_of(node.inputs, is_constant)) {
    return false;
  }
  int64_t bytes = 0;
  for (const ValueId id : node.outputs) {
    if (graph[id].type.size_bytes() > budget.largest_bytes) return false;
    bytes += graph[id].type.size_bytes();
  }
  const std::optional<int64_t> work = work_of(graph, node);
  if (bytes > budget.bytes || !work || *work > budget.work) return false;
  budget.bytes -= bytes;
  budget.work -= *work;
  return true;
}

}  // namespace

bool compute_if_constant(Graph& graph, const Node& node, Rounding rounding, FoldBudget& budget) {
  if (!can_fold(graph, node, budget)) return false;
  std::vector<std::vector<uint8_t>> results;
  std::vector<std::span<uint8_t>> spans;
  for (const ValueId id : node.outputs) {
    results.emplace_back(static_cast<size_t>(graph[id].type.size_bytes()));
  }
  for (std::vector<uint8_t>& result : results) spans.emplace_back(result);
  const auto bytes_of = [&](ValueId id) { return graph[id].constant->view(); };
  evaluate(graph, node, bytes_of, spans, rounding);
  for (size_t i = 0; i < results.size(); ++i) {
    graph[node.outputs[i]].constant = Bytes(std::move(results[i]));
  }
  return true;
}

Graph fold_constants(Graph graph, Rounding rounding, FoldBudget budget) {
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    if (!compute_if_constant(graph, node, rounding, budget)) kept.push_back(std::move(node));
  }
  graph.nodes = std::move(kept);
  return graph;
}

}  // namespace ingot
