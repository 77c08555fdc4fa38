// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "passes/passes.h"

namespace ingot {
namespace {

size_t index_of(ValueId id) { return static_cast<size_t>(id.index); }

// By value: whether an output of the graph needs it.
std::vector<bool> needed_values(const Graph& graph) {
  std::vector<bool> needed(graph.values.size(), false);
  const auto need = [&](ValueId id) {
    if (id.present()) needed[index_of(id)] = true;
  };
  std::ranges::for_each(graph.outputs, need);
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    const auto is_needed = [&](ValueId id) { return needed[index_of(id)]; };
    if (!std::ranges::any_of(node.outputs, is_needed)) continue;
    std::ranges::for_each(node.outputs, need);  // a node keeps all its outputs
    std::ranges::for_each(node.inputs, need);
    for (const Step& step : node.epilogue) std::ranges::for_each(step.operands, need);
  }
  std::ranges::for_each(graph.inputs, need);
  return needed;
}

}  // namespace

Graph remove_dead_nodes(Graph graph) {
  const std::vector<bool> needed = needed_values(graph);
  std::erase_if(graph.nodes,
                [&](const Node& node) { return !needed[index_of(node.outputs.at(0))]; });
  std::vector<ValueId> renumbered(graph.values.size());
  std::vector<Value> values;
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (!needed[v]) continue;
    renumbered[v] = {static_cast<int32_t>(values.size())};
    values.push_back(std::move(graph.values[v]));
  }
  graph.values = std::move(values);
  const auto renumber = [&](ValueId& id) {
    if (id.present()) id = renumbered[index_of(id)];
  };
  for (Node& node : graph.nodes) {
    std::ranges::for_each(node.inputs, renumber);
    std::ranges::for_each(node.outputs, renumber);
    for (Step& step : node.epilogue) std::ranges::for_each(step.operands, renumber);
  }
  std::ranges::for_each(graph.inputs, renumber);
  std::ranges::for_each(graph.outputs, renumber);
  return graph;
}

}  // namespace ingot
