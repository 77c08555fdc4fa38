// SPDX-License-Identifier: Apache-2.0
#include "ops/operands.h"

namespace ingot {

std::vector<Operand> operands_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<Operand> operands;
  for (const ValueId id : ids) {
    Operand operand;
    if (id.present()) {
      const Value& value = graph[id];
      operand.type = &value.type;
      operand.constant = value.is_constant() ? &*value.constant : nullptr;
    }
    operands.push_back(operand);
  }
  return operands;
}

std::vector<TensorType> output_types_of(const Graph& graph, const Node& node) {
  std::vector<TensorType> types;
  for (const ValueId id : node.outputs) types.push_back(graph[id].type);
  if (!node.epilogue.empty()) types.at(0) = node.produced;
  return types;
}

}  // namespace ingot
