// SPDX-License-Identifier: Apache-2.0
// quantize: float to integer, y = zero_point + round(x / scale), saturated. The division is in
// float32 and ties round away from zero, as in TFLite's reference (AffineQuantize). What is not a
// number becomes the zero point; saturation comes before the conversion to an integer, so that no
// float is out of its range.
#include <cmath>

#include "ops/access.h"
#include "ops/checks.h"
#include "ops/lowering.h"
#include "ops/round.h"

namespace ingot {
namespace {

using loop::BinaryOp;
using loop::Expr;
using loop::float_lit;

Result<std::vector<TensorType>> infer(const Op& /*op*/, Operands inputs,
                                      std::span<const TensorType> declared) {
  if (Fault fault = check_arity(inputs, 1, declared)) return *fault;
  const TensorType& x = *inputs[0].type;
  // Wider integers would need bounds that float32 cannot hold.
  const auto outputs = {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16};
  if (Fault fault = check_dtype(x, "the input", {DType::kFloat32})) return *fault;
  if (Fault fault = check_dtype(declared[0], "the output", outputs)) return *fault;
  if (Fault fault = check_per_tensor(declared[0], "the output")) return *fault;
  return with_shape(declared[0], x.shape);
}

void reference_rule(const Op& /*op*/, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding /*rounding*/) {
  const TensorType& y = *outputs[0].type;
  const auto least = static_cast<float>(lowest(y.dtype) - y.zero_point());
  const auto greatest = static_cast<float>(highest(y.dtype) - y.zero_point());
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    const float rounded = std::round(float_at(inputs[0], i) / y.scale());
    const float safe = std::isnan(rounded) ? 0.0F : std::clamp(rounded, least, greatest);
    set_int(outputs[0], i, y.zero_point() + static_cast<int64_t>(safe));
  }
}

Expr element(Lowering& lowering, const Op& /*op*/, std::span<const TensorType* const> /*types*/,
             const TensorType& y, std::span<const Expr> inputs) {
  lowering.use(round_function(loop::kFloat32));
  const auto bound = [&](int64_t end) {
    return float_lit(static_cast<double>(end - y.zero_point()));
  };
  const Expr q = loop::binary(BinaryOp::kDiv, inputs[0], float_lit(static_cast<double>(y.scale())));
  // The quotient stands first: min and max return it where it is not a number.
  const Expr saturated = loop::min(loop::max(q, bound(lowest(y.dtype))), bound(highest(y.dtype)));
  return loop::call("round_to_int", loop::kInt32, {saturated}) + y.zero_point();
}

}  // namespace

constinit const OpRules Quantize::rules = {.infer = infer,
                                           .limits = {},
                                           .reference = reference_rule,
                                           .lower = lower_elementwise,
                                           .element = element};

}  // namespace ingot
