// SPDX-License-Identifier: Apache-2.0
// Fully connected layers: each row of the input times the transposed weights.
#include <fmt/format.h>

#include <utility>

#include "ops/nest.h"
#include "ops/weighted_sum.h"

namespace ingot {
namespace {

constexpr int64_t kChannelAxis = 0;

InputRows rows_of(const FullyConnected& op, const Shape& weights) {
  return {weights[1], op.asymmetric_inputs};
}

Fault check(const FullyConnected& op, Operands inputs, std::span<const TensorType> declared) {
  if (Fault fault = check_weighted_sum_arity(inputs, declared)) return fault;
  const TensorType& x = *inputs[0].type;
  const TensorType& weights = *inputs[1].type;
  if (weights.rank() != 2) {
    return shape_fault(
        fmt::format("the weights are {}, 2 dimensions are needed", print(weights.shape)));
  }
  if (Fault fault = check_indexable(x, "the input")) return fault;
  if (Fault fault = check_indexable(weights, "the weight tensor")) return fault;
  const int64_t depth = weights.shape[1];
  if (x.num_elements() % depth != 0) {
    return shape_fault(
        fmt::format("the input {} does not divide into rows of {}, which the "
                    "weights {} need",
                    print(x.shape), depth, print(weights.shape)));
  }
  if (op.keep_dims && (x.rank() < 1 || x.shape.back() != depth)) {
    return shape_fault(fmt::format(
        "the input {} keeps its dimensions, so its last must be the {} of the weights {}",
        print(x.shape), depth, print(weights.shape)));
  }
  return check_weighted_sum(inputs, declared, {"the weight tensor", kChannelAxis, true},
                            op.zero_point_in_bias);
}

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  const auto& fully_connected = std::get<FullyConnected>(op);
  if (Fault fault = check(fully_connected, inputs, declared)) return *fault;
  const TensorType& x = *inputs[0].type;
  const Shape& weights = inputs[1].type->shape;
  TensorType y = declared[0];
  y.shape = {x.num_elements() / weights[1], weights[0]};
  if (fully_connected.keep_dims) {
    y.shape = x.shape;
    y.shape.back() = weights[0];
  }
  if (Fault fault = check_indexable(y, "the output")) return *fault;
  return std::vector<TensorType>{std::move(y)};
}

void reference_rule(const Op& op, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding rounding) {
  const Shape& weights = inputs[1].type->shape;
  const int64_t rows = inputs[0].type->num_elements() / weights[1];
  const auto& dense = std::get<FullyConnected>(op);
  const auto hybrid = reference::rows_if_hybrid(inputs, rows_of(dense, weights));
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t oc = 0; oc < weights[0]; ++oc) {
      const auto for_each_term = [&](auto term) {
        for (int64_t ic = 0; ic < weights[1]; ++ic) {
          term(n * weights[1] + ic, oc * weights[1] + ic);
        }
      };
      reference::weighted_sum(inputs, outputs[0], hybrid, dense.zero_point_in_bias, rounding,
                              n * weights[0] + oc, n, oc, for_each_term);
    }
  }
}

void lower(Lowering& lowering) {
  const auto& op = lowering.op<FullyConnected>();
  const TensorType& x = lowering.input_type(0);
  const Shape& weights = lowering.input_type(1).shape;
  const int64_t outputs = weights[0];
  const int64_t depth = weights[1];

  const WeightedSum sum(lowering, kChannelAxis, op.zero_point_in_bias, rows_of(op, weights));
  const Axis n = axis(lowering, "n", x.num_elements() / depth);
  const Axis oc = axis(lowering, "oc", outputs);
  const Axis ic = axis(lowering, "ic", depth);
  const loop::Expr first = sum.index_of_row(n.index) * depth;
  loop::Block terms = over(ic, sum.add(first + ic.index, oc.index * depth + ic.index));
  loop::Block row = over(oc, sum.around(n.index * outputs + oc.index, oc.index, std::move(terms)));
  lowering.body = over(n, sum.row(n.index, std::move(row)));
  lowering.comment = fmt::format("fully connected {} * {} -> {}", print(x.shape), print(weights),
                                 print(lowering.output_type().shape));
}

int64_t macs(const Op& /*op*/, Operands inputs, std::span<const TensorType> outputs) {
  return outputs[0].num_elements() * inputs[1].type->shape[1];
}

constexpr Limit kLimits[] = {
    {"no extent is 0",
     [](const Op&, Operands inputs, std::span<const TensorType> outputs) {
       return no_extent_is_0(inputs, outputs);
     }},
    {"the zero point of the weights is 0 if the input is float32 or there is one per channel",
     [](const Op&, Operands inputs, std::span<const TensorType>) {
       const TensorType& w = *inputs[1].type;
       const bool may_shift =
           !is_float(inputs[0].type->dtype) && w.quantization && w.quantization->per_tensor();
       return may_shift || zero_points_are_0(w);
     }},
    {"the weights are constant",
     [](const Op&, Operands inputs, std::span<const TensorType>) {
       return weights_are_constant(inputs);
     }},
    {"the bias is constant", [](const Op&, Operands inputs,
                                std::span<const TensorType>) { return bias_is_constant(inputs); }},
    {"the magnitudes of an output's products and of its int32 bias add up to at most 2147483647",
     [](const Op& op, Operands inputs, std::span<const TensorType>) {
       return accumulators_fit(inputs, kChannelAxis,
                               std::get<FullyConnected>(op).zero_point_in_bias);
     }},
};

}  // namespace

constinit const OpRules FullyConnected::rules = {.infer = infer,
                                                 .limits = kLimits,
                                                 .reference = reference_rule,
                                                 .lower = lower,
                                                 .element = nullptr,
                                                 .macs = macs};

}  // namespace ingot
