// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "passes/passes.h"

namespace ingot {

Graph simplify_reshapes(Graph graph) {
  const Uses uses = uses_of(graph);
  // By value: what readers shall read instead.
  std::vector<ValueId> instead;
  for (size_t v = 0; v < graph.values.size(); ++v) instead.push_back({static_cast<int32_t>(v)});
  const auto redirect = [&](ValueId& id) {
    if (id.present()) id = instead[static_cast<size_t>(id.index)];
  };
  // By value: the value before the reshapes that made it.
  std::vector<ValueId> origin = instead;
  for (Node& node : graph.nodes) {
    std::ranges::for_each(node.inputs, redirect);
    for (Step& step : node.epilogue) std::ranges::for_each(step.operands, redirect);
    const bool moves_nothing = (node.as<Reshape>() || node.as<Copy>()) && node.epilogue.empty();
    if (!moves_nothing) continue;
    const ValueId output = node.outputs.at(0);
    ValueId& input = node.inputs.at(0);
    input = node.as<Reshape>() ? origin[static_cast<size_t>(input.index)] : input;
    if (node.as<Reshape>()) origin[static_cast<size_t>(output.index)] = input;
    const bool is_output = uses.num_outputs[static_cast<size_t>(output.index)] > 0;
    if (!is_output && graph[input].type == graph[output].type) {
      instead[static_cast<size_t>(output.index)] = input;
    }
  }
  return graph;
}

}  // namespace ingot
