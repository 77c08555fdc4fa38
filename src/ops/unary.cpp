// SPDX-License-Identifier: Apache-2.0
// unary: logistic and tanh, on float32 and on int8.
//
// Int8 is what TFLM's reference kernels compute (reference/integer_ops/logistic.h and tanh.h,
// prepared in micro/kernels/logistic_common.cc and tanh_common.cc): the centred input becomes Q4.27
// by a MultiplyByQuantizedMultiplier in double rounding, gemmlowp's function gives Q0.31, which is
// rounded to 8 bits; inputs from the range's radius on give the ends of int8. It does not
// requantise, so the rounding mode has no part in it. The kernel is a table.
#include <cmath>

#include "ops/access.h"
#include "ops/checks.h"
#include "ops/gemmlowp.h"
#include "ops/reference_math.h"
#include "ops/table.h"

namespace ingot {
namespace {

using loop::Expr;
using loop::float_lit;
using Kind = Unary::Kind;

Result<std::vector<TensorType>> infer(const Op& /*op*/, Operands inputs,
                                      std::span<const TensorType> declared) {
  if (Fault fault = check_arity(inputs, 1, declared)) return *fault;
  const TensorType& x = *inputs[0].type;
  if (Fault fault = check_dtype(x, "the input", {DType::kInt8, DType::kFloat32})) return *fault;
  if (Fault fault = check_same_dtype(x, declared[0])) return *fault;
  if (x.dtype == DType::kInt8) {
    if (Fault fault = check_per_tensor(x, "the input")) return *fault;
    if (Fault fault = check_per_tensor(declared[0], "the output")) return *fault;
  }
  return with_shape(declared[0], x.shape);
}

constexpr Limit kLimits[] = {
    {"the int8 output of logistic has scale 1/256 and zero point -128, that of tanh 1/128 and 0",
     [](const Op& op, Operands /*inputs*/, std::span<const TensorType> outputs) {
       if (outputs[0].dtype != DType::kInt8) return true;
       const bool is_tanh = std::get<Unary>(op).kind == Kind::kTanh;
       return outputs[0].scale() == (is_tanh ? 1.0F / 128 : 1.0F / 256) &&
              outputs[0].zero_point() == (is_tanh ? 0 : -128);
     }}};

// How an int8 input becomes Q4.27, and from which magnitude on it has no place there.
struct Preparation {
  QuantizedMultiplier multiplier;
  int64_t radius = 0;
};

Preparation prepare(const TensorType& x) {
  const double factor = std::ldexp(static_cast<double>(x.scale()), 27);
  int left_shift = 0;
  std::frexp(factor, &left_shift);
  const double radius = std::floor(std::ldexp(15.0, 27 - left_shift));
  return {quantize_multiplier(factor), static_cast<int64_t>(std::min(radius, 65536.0))};
}

int64_t reference_int8(Kind kind, const Preparation& preparation, int32_t centred) {
  if (centred <= -preparation.radius) return -128;
  if (centred >= preparation.radius) return 127;
  const int32_t x = reference::multiply_by_quantized_multiplier(centred, preparation.multiplier,
                                                                Rounding::kDouble);
  if (kind == Kind::kTanh) {
    const int32_t y = reference::rounding_divide_by_pot(reference::tanh(x), 31 - 7);
    return reference::saturate(y, DType::kInt8);
  }
  const int32_t y = reference::rounding_divide_by_pot(reference::logistic(x), 31 - 8);
  return reference::saturate(y - 128, DType::kInt8);
}

float reference_float(Kind kind, float x) {
  return kind == Kind::kTanh ? std::tanh(x) : 1.0F / (1.0F + std::exp(-x));
}

void reference_rule(const Op& op, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding /*rounding*/) {
  const Kind kind = std::get<Unary>(op).kind;
  const TensorType& x = *inputs[0].type;
  const int64_t count = outputs[0].type->num_elements();
  if (is_float(x.dtype)) {
    for (int64_t i = 0; i < count; ++i) {
      set_float(outputs[0], i, reference_float(kind, float_at(inputs[0], i)));
    }
    return;
  }
  const Preparation preparation = prepare(x);
  for (int64_t i = 0; i < count; ++i) {
    const auto centred = static_cast<int32_t>(int_at(inputs[0], i) - x.zero_point());
    set_int(outputs[0], i, reference_int8(kind, preparation, centred));
  }
}

Expr element(Lowering& lowering, const Op& op, std::span<const TensorType* const> types,
             const TensorType& y, std::span<const Expr> inputs) {
  if (!is_float(y.dtype)) {
    return look_up(lowering, table_of(op, *types[0], y), inputs[0], *types[0], y);
  }
  if (std::get<Unary>(op).kind == Kind::kTanh) {
    return loop::unary(loop::UnaryOp::kTanh, inputs[0]);
  }
  const Expr exp = loop::unary(loop::UnaryOp::kExp, loop::unary(loop::UnaryOp::kNeg, inputs[0]));
  return loop::binary(loop::BinaryOp::kDiv, float_lit(1), float_lit(1) + exp);
}

}  // namespace

constinit const OpRules Unary::rules = {.infer = infer,
                                        .limits = kLimits,
                                        .reference = reference_rule,
                                        .lower = lower_elementwise,
                                        .element = element};

}  // namespace ingot
