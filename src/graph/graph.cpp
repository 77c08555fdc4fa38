// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

namespace ingot {
namespace {

struct DisplayName {
  std::string operator()(const Pool2D& op) const {
    return std::string(Pool2D::kinds[static_cast<size_t>(op.kind)]) + "_pool_2d";
  }
  std::string operator()(const auto& op) const {
    if constexpr (requires { op.kinds; }) {
      return std::string(op.kinds[static_cast<size_t>(op.kind)]);
    } else {
      return std::string(op.name);
    }
  }
};

}  // namespace

std::string display_name(const Op& op) { return std::visit(DisplayName(), op); }

Uses uses_of(const Graph& graph) {
  Uses uses;
  uses.producer.resize(graph.values.size());
  uses.readers.resize(graph.values.size());
  uses.num_outputs.resize(graph.values.size());
  const auto read = [&](ValueId value, NodeId node) {
    if (value.present()) uses.readers.at(static_cast<size_t>(value.index)).push_back(node);
  };
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const NodeId id{static_cast<int32_t>(i)};
    for (const ValueId input : node.inputs) read(input, id);
    for (const Step& step : node.epilogue) {
      for (const ValueId operand : step.operands) read(operand, id);
    }
    for (const ValueId output : node.outputs) {
      uses.producer.at(static_cast<size_t>(output.index)) = id;
    }
  }
  for (const ValueId output : graph.outputs) {
    ++uses.num_outputs.at(static_cast<size_t>(output.index));
  }
  return uses;
}

}  // namespace ingot
