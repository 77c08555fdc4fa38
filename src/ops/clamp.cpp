// SPDX-License-Identifier: Apache-2.0
// clamp: min(max(x, low), high), on any type that travels as int32, int64 or float32. A float that
// is not a number stays what it is.
#include <cmath>
#include <limits>

#include "ops/access.h"
#include "ops/checks.h"
#include "ops/fixed_point.h"
#include "ops/lowering.h"

namespace ingot {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  const Clamp& clamp = std::get<Clamp>(op);
  if (Fault fault = check_arity(inputs, 1, declared)) return *fault;
  const TensorType& x = *inputs[0].type;
  if (Fault fault = check_same_dtype(x, declared[0])) return *fault;
  if (!is_integer(x.dtype) && x.dtype != DType::kFloat32) {
    return type_fault("the input is " + std::string(name_of(x.dtype)) +
                      ", supported: integers, float32");
  }
  if (!(clamp.low <= clamp.high)) return attribute_fault("its lower bound is above the upper one");
  if (x.dtype == DType::kFloat32 &&
      (to_float(clamp.low) == kInfinity || to_float(clamp.high) == -kInfinity)) {
    return attribute_fault("there is no finite number between its bounds");
  }
  if (is_integer(x.dtype) && std::ceil(clamp.low) > std::floor(clamp.high)) {
    return attribute_fault("there is no integer between its bounds");
  }
  return with_shape(declared[0], x.shape);
}

constexpr Limit kLimits[] = {
    {"input and output have the same scale and zero point",
     [](const Op& /*op*/, Operands inputs, std::span<const TensorType> outputs) {
       return same_quantization(*inputs[0].type, outputs[0]);
     }}};

// `bound` as an integer of the type. Beyond the type's range it is the end of the range.
int64_t integer_bound(double bound, DType dtype) {
  if (bound <= static_cast<double>(lowest(dtype))) return lowest(dtype);
  if (bound >= static_cast<double>(highest(dtype))) return highest(dtype);
  return static_cast<int64_t>(bound);
}

void reference_rule(const Op& op, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding /*rounding*/) {
  const Clamp& clamp = std::get<Clamp>(op);
  const DType dtype = inputs[0].type->dtype;
  const int64_t count = outputs[0].type->num_elements();
  if (is_float(dtype)) {
    const float low = to_float(clamp.low);
    const float high = to_float(clamp.high);
    for (int64_t i = 0; i < count; ++i) {
      const float x = float_at(inputs[0], i);
      const float at_least_low = x < low ? low : x;
      set_float(outputs[0], i, at_least_low > high ? high : at_least_low);
    }
    return;
  }
  const int64_t low = integer_bound(std::ceil(clamp.low), dtype);
  const int64_t high = integer_bound(std::floor(clamp.high), dtype);
  for (int64_t i = 0; i < count; ++i) {
    set_int(outputs[0], i, std::min(std::max(int_at(inputs[0], i), low), high));
  }
}

loop::Expr element(Lowering& /*lowering*/, const Op& op, std::span<const TensorType* const> types,
                   const TensorType& /*output*/, std::span<const loop::Expr> inputs) {
  const Clamp& clamp = std::get<Clamp>(op);
  const DType dtype = types[0]->dtype;
  loop::Expr x = inputs[0];
  if (is_float(dtype)) {
    const float low = to_float(clamp.low);
    const float high = to_float(clamp.high);
    if (std::isfinite(low)) x = loop::max(x, loop::float_lit(static_cast<double>(low)));
    if (std::isfinite(high)) x = loop::min(x, loop::float_lit(static_cast<double>(high)));
    return x;
  }
  const int64_t low = integer_bound(std::ceil(clamp.low), dtype);
  const int64_t high = integer_bound(std::floor(clamp.high), dtype);
  if (low == lowest(dtype) && high == highest(dtype)) return x;
  // An element is in its type's range already; a clamp before this one takes both bounds for free.
  if (!is_clamped(x) && low == lowest(dtype)) return loop::min(x, loop::lit(high, x->type));
  if (!is_clamped(x) && high == highest(dtype)) return loop::max(x, loop::lit(low, x->type));
  return clamp_to(x, low, high);
}

}  // namespace

constinit const OpRules Clamp::rules = {.infer = infer,
                                        .limits = kLimits,
                                        .reference = reference_rule,
                                        .lower = lower_elementwise,
                                        .element = element};

}  // namespace ingot
