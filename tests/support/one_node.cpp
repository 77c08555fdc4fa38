// SPDX-License-Identifier: Apache-2.0
#include "tests/support/one_node.h"

#include "ops/access.h"
#include "support/check.h"
#include "tests/support/random.h"

namespace ingot::testing {
namespace {

std::vector<Operand> operands_of(const OneNode& node) {
  std::vector<Operand> operands;
  for (const TestInput& input : node.inputs) {
    const bool known = !input.absent && input.constant && input.bytes;
    operands.push_back({input.absent ? nullptr : &input.type, known ? &*input.bytes : nullptr});
  }
  return operands;
}

Bytes random_bytes(const TensorType& type, Random& random) {
  std::vector<uint8_t> bytes(static_cast<size_t>(type.size_bytes()));
  const MutableTensorView view{&type, bytes};
  const bool narrow = size_in_bytes(type.dtype) < 4;
  const int64_t low = narrow ? lowest(type.dtype) : -2000;
  const int64_t high = narrow ? highest(type.dtype) : 2000;
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    if (is_float(type.dtype)) {
      CHECK(type.dtype == DType::kFloat32);
      set_float(view, i, random.real(-4, 4));
    } else {
      set_int(view, i, random.integer(low, high));
    }
  }
  return Bytes(std::move(bytes));
}

}  // namespace

OneNode with_data(OneNode node) {
  Random random(node.seed);
  for (TestInput& input : node.inputs) {
    if (!input.absent && !input.bytes) input.bytes = random_bytes(input.type, random);
  }
  return node;
}

std::string refusal(const OneNode& node) {
  const OneNode full = with_data(node);
  const std::vector<Operand> operands = operands_of(full);
  const OpRules& rules = rules_of(full.op);
  const Result<std::vector<TensorType>> types = rules.infer.call(full.op, operands, full.outputs);
  if (!types) return types.error().front().what;
  for (const Limit& limit : rules.limits) {
    if (!limit.holds(full.op, operands, *types)) return std::string(limit.sentence);
  }
  return "";
}

Diagnostic diagnostic_of(const OneNode& node) {
  const Result<std::vector<TensorType>> types =
      rules_of(node.op).infer.call(node.op, operands_of(node), node.outputs);
  CHECK(!types);
  return types.error().front();
}

std::vector<TensorType> output_types(const OneNode& node) {
  Result<std::vector<TensorType>> types =
      rules_of(node.op).infer.call(node.op, operands_of(node), node.outputs);
  if (!types) throw InternalError("refused: " + types.error().front().what);
  return *std::move(types);
}

std::vector<std::vector<uint8_t>> reference_outputs(const OneNode& node) {
  const OneNode full = with_data(node);
  const std::string why = refusal(full);
  if (!why.empty()) throw InternalError("refused: " + why);
  const std::vector<TensorType> types = output_types(full);
  std::vector<TensorView> inputs;
  for (const TestInput& input : full.inputs) {
    inputs.push_back(input.absent ? TensorView{} : TensorView{&input.type, input.bytes->view()});
  }
  std::vector<std::vector<uint8_t>> bytes;
  std::vector<MutableTensorView> outputs;
  for (const TensorType& type : types) {
    bytes.emplace_back(static_cast<size_t>(type.size_bytes()), uint8_t{0xA5});
  }
  for (size_t i = 0; i < types.size(); ++i) outputs.push_back({&types[i], bytes[i]});
  rules_of(full.op).reference.call(full.op, inputs, outputs, full.rounding);
  return bytes;
}

}  // namespace ingot::testing
