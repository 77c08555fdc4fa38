// SPDX-License-Identifier: Apache-2.0
#include "emit/ranges.h"

#include <algorithm>

#include "support/arithmetic.h"

namespace ingot {
namespace {

using loop::as;
using loop::BinaryOp;
using loop::Expr;

ValueRange range_of_type(DType dtype) { return {lowest(dtype), highest(dtype)}; }

ValueRange clip(ValueRange range, ValueRange whole) {
  return {std::clamp(range.low, whole.low, whole.high),
          std::clamp(range.high, whole.low, whole.high)};
}

// The hull of four optional values; `whole` if one is missing.
ValueRange hull(std::initializer_list<std::optional<int64_t>> values, ValueRange whole) {
  ValueRange result = {INT64_MAX, INT64_MIN};
  for (const std::optional<int64_t>& value : values) {
    if (!value) return whole;
    result = {std::min(result.low, *value), std::max(result.high, *value)};
  }
  return result;
}

std::optional<int64_t> negated(int64_t a) { return checked_mul(a, -1); }

std::optional<int64_t> minus(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}

std::optional<int64_t> shifted_left(int64_t a, int64_t bits) {
  if (bits < 0 || bits > 62) return std::nullopt;
  return checked_mul(a, int64_t{1} << bits);
}

// Of a / b with b a positive constant.
ValueRange divided(ValueRange a, ValueRange b, bool floor, ValueRange whole) {
  if (b.low != b.high || b.low <= 0) return whole;
  if (floor) return {floor_div(a.low, b.low), floor_div(a.high, b.low)};
  return {a.low / b.low, a.high / b.low};
}

ValueRange modulo(ValueRange a, ValueRange b, ValueRange whole) {
  if (b.low != b.high || b.low <= 0) return whole;
  if (a.low >= 0 && a.high < b.low) return a;
  return {0, b.low - 1};
}

ValueRange shifted_right(ValueRange a, ValueRange b, ValueRange whole) {
  if (b.low < 0 || b.high > 63) return whole;
  return {std::min(a.low >> b.low, a.low >> b.high), std::max(a.high >> b.low, a.high >> b.high)};
}

}  // namespace

void Ranges::set_loop(const loop::For& loop) {
  const int64_t begin = of(loop.begin).low;
  set(loop.variable, {begin, std::max(begin, of(loop.end).high - 1)});
}

ValueRange Ranges::of_binary(const loop::BinaryExpr& e, ValueRange whole) const {
  const ValueRange a = of(e.a);
  const ValueRange b = of(e.b);
  switch (e.op) {
    case BinaryOp::kAdd:
      return hull({checked_add(a.low, b.low), checked_add(a.high, b.high)}, whole);
    case BinaryOp::kSub:
      return hull({minus(a.low, b.high), minus(a.high, b.low)}, whole);
    case BinaryOp::kMul:
      return hull({checked_mul(a.low, b.low), checked_mul(a.low, b.high),
                   checked_mul(a.high, b.low), checked_mul(a.high, b.high)},
                  whole);
    case BinaryOp::kDiv:
      return divided(a, b, false, whole);
    case BinaryOp::kFloorDiv:
      return divided(a, b, true, whole);
    case BinaryOp::kFloorMod:
      return modulo(a, b, whole);
    case BinaryOp::kMin:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case BinaryOp::kMax:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case BinaryOp::kShl:
      return hull({shifted_left(a.low, b.low), shifted_left(a.low, b.high),
                   shifted_left(a.high, b.low), shifted_left(a.high, b.high)},
                  whole);
    case BinaryOp::kShr:
      return shifted_right(a, b, whole);
    case BinaryOp::kAnd:
      if (b.low >= 0) return {0, b.high};
      if (a.low >= 0) return {0, a.high};
      return whole;
    default:
      return whole;
  }
}

ValueRange Ranges::of(const Expr& e) const {
  const DType dtype = e->type.dtype;
  if (is_float(dtype)) return {INT64_MIN, INT64_MAX};
  const ValueRange whole = range_of_type(dtype);
  if (const auto* literal = as<loop::IntLit>(e)) return {literal->value, literal->value};
  if (const auto* variable = as<loop::Var>(e)) {
    const auto known = variables_.find(variable->name);
    return known == variables_.end() ? whole : clip(known->second, whole);
  }
  if (const auto* operation = as<loop::BinaryExpr>(e)) {
    return clip(of_binary(*operation, whole), whole);
  }
  if (const auto* conversion = as<loop::Cast>(e)) {
    if (is_float(conversion->a->type.dtype)) return whole;
    return clip(of(conversion->a), whole);
  }
  if (const auto* choice = as<loop::Select>(e)) {
    const ValueRange a = of(choice->if_true);
    const ValueRange b = of(choice->if_false);
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
  }
  if (const auto* operation = as<loop::UnaryExpr>(e)) {
    const ValueRange a = of(operation->a);
    if (operation->op == loop::UnaryOp::kNeg) {
      return clip(hull({negated(a.low), negated(a.high)}, whole), whole);
    }
    if (operation->op == loop::UnaryOp::kAbs) return {0, whole.high};
  }
  return whole;
}

}  // namespace ingot
