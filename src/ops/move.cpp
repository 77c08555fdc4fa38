// SPDX-License-Identifier: Apache-2.0
// reshape and copy: the same elements in the same order. One flat loop; passes and the planner
// remove most of them.
#include "ops/checks.h"
#include "ops/lowering.h"

namespace ingot {
namespace {

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  if (Fault fault = check_arity(inputs, 1, declared)) return *fault;
  const TensorType& x = *inputs[0].type;
  if (Fault fault = check_same_dtype(x, declared[0])) return *fault;
  const Reshape* reshape = std::get_if<Reshape>(&op);
  if (!reshape) return with_shape(declared[0], x.shape);
  for (const int64_t extent : reshape->shape) {
    if (extent < 0)
      return attribute_fault("the new shape " + print(reshape->shape) + " has a negative extent");
  }
  Result<std::vector<TensorType>> types = with_shape(declared[0], reshape->shape);
  if (types && types->at(0).num_elements() != x.num_elements()) {
    return shape_fault("the input " + print(x.shape) + " has " + std::to_string(x.num_elements()) +
                       " elements, the new shape " + print(reshape->shape) + " has " +
                       std::to_string(types->at(0).num_elements()));
  }
  return types;
}

constexpr Limit kLimits[] = {
    {"input and output have the same scale and zero point",
     [](const Op& /*op*/, Operands inputs, std::span<const TensorType> outputs) {
       return same_quantization(*inputs[0].type, outputs[0]);
     }}};

void reference_rule(const Op& /*op*/, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding /*rounding*/) {
  if (!inputs[0].bytes.empty()) {
    std::memcpy(outputs[0].bytes.data(), inputs[0].bytes.data(), inputs[0].bytes.size());
  }
}

void lower(Lowering& lowering) {
  const TensorType& x = lowering.input_type(0);
  const std::string param = lowering.input(0, "x");
  const std::string i = lowering.fresh("i");
  lowering.body.push_back(
      loop::For{i, loop::lit(0), loop::lit(x.num_elements()), 1, false,
                lowering.store(loop::var(i), Lowering::load(param, x.dtype, loop::var(i)))});
}

}  // namespace

constinit const OpRules Reshape::rules = {
    .infer = infer, .limits = kLimits, .reference = reference_rule, .lower = lower};
constinit const OpRules Copy::rules = {
    .infer = infer, .limits = kLimits, .reference = reference_rule, .lower = lower};

}  // namespace ingot
