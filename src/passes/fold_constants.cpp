// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/evaluate.h"
#include "passes/constant_nodes.h"
#include "passes/passes.h"

namespace ingot {
namespace {

bool can_fold(const Graph& graph, const Node& node, int64_t largest_bytes) {
  const auto is_constant = [&](ValueId id) { return !id.present() || graph[id].is_constant(); };
  const auto is_small = [&](ValueId id) { return graph[id].type.size_bytes() <= largest_bytes; };
  const bool steps_constant = std::ranges::all_of(node.epilogue, [&](const Step& step) {
    return std::ranges::all_of(step.operands, is_constant);
  });
  return steps_constant && !node.inputs.empty() && std::ranges::all_of(node.inputs, is_constant) &&
         std::ranges::all_of(node.outputs, is_small);
}

}  // namespace

bool compute_if_constant(Graph& graph, const Node& node, Rounding rounding, int64_t largest_bytes) {
  if (!can_fold(graph, node, largest_bytes)) return false;
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

Graph fold_constants(Graph graph, Rounding rounding, int64_t largest_bytes) {
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    if (!compute_if_constant(graph, node, rounding, largest_bytes)) kept.push_back(std::move(node));
  }
  graph.nodes = std::move(kept);
  return graph;
}

}  // namespace ingot
