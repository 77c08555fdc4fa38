// SPDX-License-Identifier: Apache-2.0
#include "ops/fixed_point.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/check.h"

namespace ingot {
namespace {

using loop::BinaryOp;
using loop::Block;
using loop::Expr;
using loop::Function;
using loop::Let;
using loop::lit;
using loop::var;

constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();
constexpr int64_t kInt32Min = std::numeric_limits<int32_t>::min();
constexpr int64_t kShortFormBound = int64_t{1} << 30;

Expr i64(const Expr& e) { return loop::cast(loop::kInt64, e); }
Expr i32(const Expr& e) { return loop::cast(loop::kInt32, e); }
Expr lit64(int64_t value) { return lit(value, loop::kInt64); }
Expr saturate32(const Expr& e) {
  return i32(loop::min(loop::max(e, lit64(kInt32Min)), lit64(kInt32Max)));
}
// 1 for a negative x, else 0.
Expr is_negative(const Expr& x) { return loop::select(loop::less(x, lit(0)), lit(1), lit(0)); }

Function high_mul_function() {
  const Expr product = i64(var("a")) * i64(var("b"));
  return {"rounding_doubling_high_mul",
          {{"a", loop::kInt32}, {"b", loop::kInt32}},
          {},
          saturate32(loop::shr(product + lit64(int64_t{1} << 30), 31)),
          "round(a * b / 2^31), half up, saturated",
          ""};
}

Function shift_right_function() {
  const Expr x = var("x");
  const Expr right = var("right");
  Block body;
  body.push_back(Let{"mask", i32(loop::binary(BinaryOp::kShl, lit64(1), i64(right)) - lit64(1))});
  body.push_back(Let{"rest", loop::binary(BinaryOp::kAnd, x, var("mask"))});
  body.push_back(Let{"half", loop::shr(var("mask"), 1) + is_negative(x)});
  return {"rounding_shift_right",
          {{"x", loop::kInt32}, {"right", loop::kInt32}},
          std::move(body),
          loop::binary(BinaryOp::kShr, x, right) +
              loop::select(loop::less(var("half"), var("rest")), lit(1), lit(0)),
          "round(x / 2^right), half away from zero",
          ""};
}

Function shift_left_function() {
  return {"saturating_shift_left",
          {{"x", loop::kInt32}, {"left", loop::kInt32}},
          {},
          saturate32(loop::binary(BinaryOp::kShl, i64(var("x")), i64(var("left")))),
          "x * 2^left, saturated",
          ""};
}

// Double rounding without a left shift, for |x| <= 2^30 and -31 <= shift <= -1: no step can
// overflow. `up`: negative halves are rounded up, too.
Function requantize_short_function(bool up) {
  Block body;
  body.push_back(
      Let{"high",
          i32(loop::shr(i64(var("x")) * i64(var("multiplier")) + lit64(int64_t{1} << 30), 31))});
  const Expr half = loop::binary(BinaryOp::kShl, lit(1), lit(-1) - var("shift"));
  const Expr high = var("high");
  const Expr raised = high + half;
  return {
      up ? "requantize_up" : "requantize",
      {{"x", loop::kInt32}, {"multiplier", loop::kInt32}, {"shift", loop::kInt32}},
      std::move(body),
      loop::binary(BinaryOp::kShr, up ? raised : raised - is_negative(high), lit(0) - var("shift")),
      up ? "x * multiplier * 2^(shift - 31), rounded twice, half up"
         : "x * multiplier * 2^(shift - 31), rounded twice: half up, then half away from zero",
      ""};
}

// Double rounding for any shift; shift > 0 is to the left.
Function requantize_function() {
  Block body;
  body.push_back(Let{"left", loop::max(var("shift"), lit(0))});
  body.push_back(Let{"right", loop::max(lit(0) - var("shift"), lit(0))});
  body.push_back(
      Let{"shifted", loop::call("saturating_shift_left", loop::kInt32, {var("x"), var("left")})});
  body.push_back(Let{"high", loop::call("rounding_doubling_high_mul", loop::kInt32,
                                        {var("shifted"), var("multiplier")})});
  return {"requantize_any",
          {{"x", loop::kInt32}, {"multiplier", loop::kInt32}, {"shift", loop::kInt32}},
          std::move(body),
          loop::call("rounding_shift_right", loop::kInt32, {var("high"), var("right")}),
          "x * multiplier * 2^(shift - 31), rounded twice: half up, then half away from zero",
          ""};
}

// Single rounding, ties up, for any shift of -31 .. 30.
Function requantize_single_function() {
  Block body;
  body.push_back(Let{"total", lit(31) - var("shift")});
  body.push_back(Let{"half", loop::binary(BinaryOp::kShl, lit64(1), i64(var("total") - 1))});
  const Expr sum = i64(var("x")) * i64(var("multiplier")) + var("half", loop::kInt64);
  return {"requantize_single",
          {{"x", loop::kInt32}, {"multiplier", loop::kInt32}, {"shift", loop::kInt32}},
          std::move(body),
          saturate32(loop::binary(BinaryOp::kShr, sum, i64(var("total")))),
          "x * multiplier * 2^(shift - 31), rounded once, half up",
          ""};
}

// x * factor in float, clamped to what an int32 holds with room for the trick of adding 1.5 * 2^23,
// which rounds half to even. Outside +-2^22 the output saturates whatever the digit.
Function requantize_float_function() {
  const auto f = [](double v) { return loop::float_lit(v); };
  const Expr x = loop::cast(loop::kFloat32, var("x")) * var("factor", loop::kFloat32);
  Block body;
  body.push_back(Let{"scaled", loop::min(loop::max(x, f(-4194304)), f(4194303))});
  body.push_back(Let{"shifted", var("scaled", loop::kFloat32) + f(12582912)});
  return {"requantize_float",
          {{"x", loop::kInt32}, {"factor", loop::kFloat32}},
          std::move(body),
          i32(var("shifted", loop::kFloat32) - f(12582912)),
          "x * factor in float, rounded half to even",
          ""};
}

bool fits_short_form(const std::vector<QuantizedMultiplier>& ms, int64_t bound) {
  return bound < kShortFormBound &&
         std::ranges::all_of(ms, [](QuantizedMultiplier m) { return m.shift <= -1; });
}

}  // namespace

Requantizer::Requantizer(Lowering& lowering, const Rescale& rescale)
    : rounding_(lowering.rounding()) {
  CHECK(!rescale.factors.empty());
  const bool one =
      std::ranges::all_of(rescale.factors, [&](double f) { return f == rescale.factors.front(); });
  if (rounding_ == Rounding::kFloat) {
    lowering.use(requantize_float_function());
    single_factor_ = static_cast<float>(rescale.factors.front());
    if (one) return;
    const std::vector<float> factors(rescale.factors.begin(), rescale.factors.end());
    multipliers_ = lowering.constant("factors", DType::kFloat32, Bytes::of(factors));
    return;
  }
  std::vector<QuantizedMultiplier> ms;
  for (const double factor : rescale.factors) ms.push_back(quantize_multiplier(factor));
  // A zero multiplier gives zero with any shift; give it one that the short form takes.
  for (QuantizedMultiplier& m : ms) {
    if (m.multiplier == 0) m.shift = -1;
  }
  short_form_ = rounding_ == Rounding::kDouble && fits_short_form(ms, rescale.accumulator_bound);
  if (rounding_ == Rounding::kSingle) {
    lowering.use(requantize_single_function());
  } else if (short_form_) {
    rounds_up_ = rescale.clamps_to_positive;
    lowering.use(requantize_short_function(rounds_up_));
  } else {
    lowering.use(shift_left_function());
    lowering.use(high_mul_function());
    lowering.use(shift_right_function());
    lowering.use(requantize_function());
  }
  single_ = ms.front();
  if (one) return;
  std::vector<int32_t> multipliers;
  std::vector<int8_t> shifts;
  for (const QuantizedMultiplier m : ms) {
    multipliers.push_back(m.multiplier);
    shifts.push_back(static_cast<int8_t>(m.shift));
  }
  multipliers_ = lowering.constant("multipliers", DType::kInt32, Bytes::of(multipliers));
  shifts_ = lowering.constant("shifts", DType::kInt8, Bytes::of(shifts));
}

Expr Requantizer::apply_float(const Expr& accumulator, const Expr& channel) const {
  const Expr factor = multipliers_.empty() ? loop::float_lit(static_cast<double>(single_factor_))
                                           : loop::load(multipliers_, channel, loop::kFloat32);
  return loop::call("requantize_float", loop::kInt32, {accumulator, factor});
}

Expr Requantizer::apply(const Expr& accumulator, const Expr& channel) const {
  if (rounding_ == Rounding::kFloat) return apply_float(accumulator, channel);
  Expr multiplier = lit(single_.multiplier);
  Expr shift = lit(single_.shift);
  if (!multipliers_.empty()) {
    multiplier = Lowering::load(multipliers_, DType::kInt32, channel);
    shift = Lowering::load(shifts_, DType::kInt8, channel);
  }
  const char* function = rounding_ == Rounding::kSingle ? "requantize_single"
                         : rounds_up_                   ? "requantize_up"
                         : short_form_                  ? "requantize"
                                                        : "requantize_any";
  return loop::call(function, loop::kInt32, {accumulator, multiplier, shift});
}

Expr clamp_to(const Expr& x, int64_t low, int64_t high) {
  const loop::Type t = x->type;
  const auto* outer = loop::as<loop::BinaryExpr>(x);
  const auto* literal = outer ? loop::as<loop::IntLit>(outer->b) : nullptr;
  if (literal && outer->op == BinaryOp::kAdd) {
    return clamp_to(outer->a, low - literal->value, high - literal->value) + outer->b;
  }
  const auto* inner =
      literal && outer->op == BinaryOp::kMin ? loop::as<loop::BinaryExpr>(outer->a) : nullptr;
  const auto* bottom =
      inner && inner->op == BinaryOp::kMax ? loop::as<loop::IntLit>(inner->b) : nullptr;
  if (bottom && std::max(bottom->value, low) <= std::min(literal->value, high)) {
    return clamp_to(inner->a, std::max(bottom->value, low), std::min(literal->value, high));
  }
  return loop::min(loop::max(x, lit(low, t)), lit(high, t));
}

Expr saturate_to(const TensorType& type, const Expr& value) {
  const int64_t zero_point = type.zero_point();
  return clamp_to(value, lowest(type.dtype) - zero_point, highest(type.dtype) - zero_point) +
         lit(zero_point, value->type);
}

Expr saturate_to(const TensorType& type, const Expr& value, int64_t low, int64_t high) {
  const int64_t zero_point = type.zero_point();
  const bool may_be_low = low + zero_point < lowest(type.dtype);
  const bool may_be_high = high + zero_point > highest(type.dtype);
  if (may_be_low && may_be_high) return saturate_to(type, value);
  const loop::Type t = value->type;
  Expr result = value;
  if (may_be_low) result = loop::max(value, lit(lowest(type.dtype) - zero_point, t));
  if (may_be_high) result = loop::min(value, lit(highest(type.dtype) - zero_point, t));
  return result + lit(zero_point, t);
}

bool is_clamped(const Expr& x) {
  const auto* outer = loop::as<loop::BinaryExpr>(x);
  if (!outer || !loop::as<loop::IntLit>(outer->b)) return false;
  if (outer->op == BinaryOp::kAdd) return is_clamped(outer->a);
  const auto* inner = outer->op == BinaryOp::kMin ? loop::as<loop::BinaryExpr>(outer->a) : nullptr;
  return inner && inner->op == BinaryOp::kMax && loop::as<loop::IntLit>(inner->b);
}

Expr multiply_by_quantized_multiplier(Lowering& lowering, const Expr& x, QuantizedMultiplier m,
                                      int64_t bound_of_x) {
  if (m.multiplier == 0) return lit(0);
  const Expr multiplier = lit(m.multiplier);
  if (lowering.rounding() != Rounding::kDouble) {
    lowering.use(requantize_single_function());
    return loop::call("requantize_single", loop::kInt32, {x, multiplier, lit(m.shift)});
  }
  if (fits_short_form({m}, bound_of_x)) {
    lowering.use(requantize_short_function(false));
    return loop::call("requantize", loop::kInt32, {x, multiplier, lit(m.shift)});
  }
  const Expr shifted = m.shift > 0 ? saturating_shift_left(lowering, x, lit(m.shift)) : x;
  const Expr high = rounding_doubling_high_mul(lowering, shifted, multiplier);
  return m.shift < 0 ? rounding_shift_right(lowering, high, lit(-m.shift)) : high;
}

Expr rounding_doubling_high_mul(Lowering& lowering, Expr a, Expr b) {
  lowering.use(high_mul_function());
  return loop::call("rounding_doubling_high_mul", loop::kInt32, {std::move(a), std::move(b)});
}

Expr rounding_shift_right(Lowering& lowering, Expr x, Expr right) {
  lowering.use(shift_right_function());
  return loop::call("rounding_shift_right", loop::kInt32, {std::move(x), std::move(right)});
}

Expr saturating_shift_left(Lowering& lowering, Expr x, Expr left) {
  lowering.use(shift_left_function());
  return loop::call("saturating_shift_left", loop::kInt32, {std::move(x), std::move(left)});
}

}  // namespace ingot
