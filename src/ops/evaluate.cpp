// SPDX-License-Identifier: Apache-2.0
#include "ops/evaluate.h"

#include <algorithm>

#include "ops/operands.h"
#include "support/check.h"

namespace ingot {
namespace {

TensorView view_of(const Graph& graph, ValueId id, const BytesOf& bytes_of) {
  if (!id.present()) return {};
  return {&graph[id].type, bytes_of(id)};
}

}  // namespace

void evaluate(const Graph& graph, const Node& node, const BytesOf& bytes_of,
              std::span<const std::span<uint8_t>> outputs, Rounding rounding) {
  const std::vector<TensorType> types = output_types_of(graph, node);
  std::vector<TensorView> inputs;
  for (const ValueId id : node.inputs) inputs.push_back(view_of(graph, id, bytes_of));
  if (node.epilogue.empty()) {
    std::vector<MutableTensorView> results;
    for (size_t i = 0; i < types.size(); ++i) results.push_back({&types[i], outputs[i]});
    rules_of(node.op).reference.call(node.op, inputs, results, rounding);
    return;
  }
  std::vector<uint8_t> so_far(static_cast<size_t>(types.at(0).size_bytes()));
  const MutableTensorView produced{&types[0], so_far};
  rules_of(node.op).reference.call(node.op, inputs, {&produced, 1}, rounding);
  const TensorType* type = &types[0];
  for (const Step& step : node.epilogue) {
    std::vector<uint8_t> next(static_cast<size_t>(step.type.size_bytes()));
    std::vector<TensorView> operands;
    for (const ValueId id : step.operands) operands.push_back(view_of(graph, id, bytes_of));
    operands.insert(operands.begin() + step.position, TensorView{type, so_far});
    const MutableTensorView result{&step.type, next};
    rules_of(step.op).reference.call(step.op, operands, {&result, 1}, rounding);
    so_far = std::move(next);
    type = &step.type;
  }
  CHECK(so_far.size() == outputs[0].size());
  std::ranges::copy(so_far, outputs[0].begin());
}

}  // namespace ingot
