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

// `producer` stands for the model's operators of `node`, too.
void take_over(Node& producer, const Node& node) {
  std::vector<int64_t>& sources = producer.sources;
  sources.insert(sources.end(), node.sources.begin(), node.sources.end());
  std::ranges::sort(sources);
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
}

}  // namespace

Graph drop_clamps(Graph graph, Rounding rounding) {
  const bool has_clamps = std::ranges::any_of(
      graph.nodes, [](const Node& node) { return node.as<Clamp>() != nullptr; });
  if (!has_clamps || !has_few_channels(graph)) return graph;
  const Intervals intervals = analyse_intervals(graph, rounding);
  const Uses uses = uses_of(graph);
  std::vector<ValueId> instead;  // by value: what readers shall read
  for (size_t v = 0; v < graph.values.size(); ++v) instead.push_back({static_cast<int32_t>(v)});
  const auto redirect = [&](ValueId& id) {
    if (id.present()) id = instead[index_of(id)];
  };
  std::vector<NodeId> producers = uses.producer;  // by value, as tensors find other writers
  std::vector<bool> dropped(graph.nodes.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Node& node = graph.nodes[n];
    std::ranges::for_each(node.inputs, redirect);
    for (Step& step : node.epilogue) std::ranges::for_each(step.operands, redirect);
    const Clamp* clamp = node.as<Clamp>();
    if (!clamp || !node.epilogue.empty()) continue;
    const ValueId x = node.inputs.at(0);
    const ValueId y = node.outputs.at(0);
    if (graph[x].type != graph[y].type || !is_idle(*clamp, intervals.values[index_of(x)])) continue;
    const NodeId writer = producers[index_of(x)];
    if (writer.present() && uses.num_uses(x) == 1) {
      // The producer writes the clamp's tensor, whose name the model gave it.
      Node& producer = graph.nodes[static_cast<size_t>(writer.index)];
      std::ranges::replace(producer.outputs, x, y);
      take_over(producer, node);
      producers[index_of(y)] = writer;
      dropped[n] = true;
    } else if (uses.num_outputs[index_of(y)] == 0) {
      instead[index_of(y)] = x;
    }
  }
  std::vector<Node> kept;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!dropped[n]) kept.push_back(std::move(graph.nodes[n]));
  }
  graph.nodes = std::move(kept);
  return graph;
}

}  // namespace ingot
