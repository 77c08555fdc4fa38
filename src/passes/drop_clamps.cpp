// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/intervals.h"
#include "passes/passes.h"

namespace ingot {
namespace {

size_t index_of(ValueId id) { return static_cast<size_t>(id.index); }

// Whether no element that x can hold is changed.
bool is_idle(const Clamp& clamp, const std::vector<Interval>& x) {
  return !x.empty() && std::ranges::all_of(x, [&](const Interval& channel) {
    return static_cast<double>(channel.low) >= std::ceil(clamp.low) &&
           static_cast<double>(channel.high) <= std::floor(clamp.high);
  });
}

}  // namespace

Graph drop_clamps(Graph graph, Rounding rounding) {
  const bool has_clamps = std::ranges::any_of(
      graph.nodes, [](const Node& node) { return node.as<Clamp>() != nullptr; });
  if (!has_clamps) return graph;
  const Intervals intervals = analyse_intervals(graph, rounding);
  const Uses uses = uses_of(graph);
  std::vector<ValueId> instead;  // by value: what readers shall read
  for (size_t v = 0; v < graph.values.size(); ++v) instead.push_back({static_cast<int32_t>(v)});
  const auto redirect = [&](ValueId& id) {
    if (id.present()) id = instead[index_of(id)];
  };
  for (Node& node : graph.nodes) {
    std::ranges::for_each(node.inputs, redirect);
    for (Step& step : node.epilogue) std::ranges::for_each(step.operands, redirect);
    const Clamp* clamp = node.as<Clamp>();
    if (!clamp || !node.epilogue.empty()) continue;
    const ValueId x = node.inputs.at(0);
    const ValueId y = node.outputs.at(0);
    const bool is_output = uses.num_outputs[index_of(y)] > 0;
    if (is_output || graph[x].type != graph[y].type) continue;
    if (is_idle(*clamp, intervals.values[index_of(x)])) instead[index_of(y)] = x;
  }
  return graph;
}

}  // namespace ingot
