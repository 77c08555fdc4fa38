// SPDX-License-Identifier: Apache-2.0
#include "assay/range.h"

#include <algorithm>
#include <array>
#include <optional>

namespace ingot::assay {
namespace {

Range type_range(const Expr& e) {
  const Element& element = *e.type.element;
  if (element.is_float) return {find_element("int64")->low, find_element("int64")->high};
  return {element.low, element.high};
}

using Bound = std::optional<int64_t>;

Bound sum(int64_t a, int64_t b) {
  int64_t c = 0;
  return __builtin_add_overflow(a, b, &c) ? Bound() : Bound(c);
}
Bound difference(int64_t a, int64_t b) {
  int64_t c = 0;
  return __builtin_sub_overflow(a, b, &c) ? Bound() : Bound(c);
}
Bound product(int64_t a, int64_t b) {
  int64_t c = 0;
  return __builtin_mul_overflow(a, b, &c) ? Bound() : Bound(c);
}
Bound quotient(int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == find_element("int64")->low)) return std::nullopt;
  return a / b;
}
Bound shift_left(int64_t a, int64_t b) {
  if (b < 0 || b > 62) return std::nullopt;
  return product(a, int64_t{1} << b);
}

// The hull of `f` at the four corners: right for what is monotonic in each operand.
template <class F>
std::optional<Range> corners(Range a, Range b, const F& f) {
  std::array<int64_t, 4> values = {};
  size_t n = 0;
  for (const int64_t x : {a.low, a.high}) {
    for (const int64_t y : {b.low, b.high}) {
      const Bound value = f(x, y);
      if (!value) return std::nullopt;
      values[n++] = *value;
    }
  }
  const auto [low, high] = std::ranges::minmax(values);
  return Range{low, high};
}

std::optional<Range> divided(Op op, Range a, Range b) {
  if (!b.is_known() || b.low == 0) return std::nullopt;
  if (op == Op::kDivide) return corners(a, b, quotient);
  const int64_t d = b.low;
  if (d < 0) return std::nullopt;
  const auto floor = [d](int64_t x) { return x / d - (x % d < 0 ? 1 : 0); };
  if (op == Op::kFloorDivide) return Range{floor(a.low), floor(a.high)};
  if (floor(a.low) != floor(a.high)) return Range{0, d - 1};
  return Range{a.low - d * floor(a.low), a.high - d * floor(a.high)};
}

std::optional<Range> of_bits(Op op, Range a, Range b) {
  if (a.is_known() && b.is_known()) {
    const int64_t bits = op == Op::kAnd  ? a.low & b.low
                         : op == Op::kOr ? a.low | b.low
                                         : a.low ^ b.low;
    return Range{bits, bits};
  }
  // A mask without sign; one operand of a conjunction (disjunction) that is false (true).
  if (op == Op::kAnd && (a.low >= 0 || b.low >= 0)) {
    const int64_t high = a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high);
    return Range{0, high};
  }
  if (op == Op::kOr && a.low >= 0 && b.low >= 0 && a.high <= 1 && b.high <= 1)
    return Range{std::max(a.low, b.low), 1};
  return std::nullopt;
}

Range of_comparison(Op op, Range a, Range b) {
  bool always = false;
  bool never = false;
  if (op == Op::kEqual || op == Op::kUnequal) {
    always = a.is_known() && a == b;
    never = a.high < b.low || b.high < a.low;
    if (op == Op::kUnequal) std::swap(always, never);
  } else {
    always = op == Op::kLess ? a.high < b.low : a.high <= b.low;
    never = op == Op::kLess ? a.low >= b.high : a.low > b.high;
  }
  return {always ? 1 : 0, never ? 0 : 1};
}

std::optional<Range> of_two(Op op, Range a, Range b) {
  switch (op) {
    case Op::kAdd:
      return corners(a, b, sum);
    case Op::kSubtract:
      return corners(a, b, difference);
    case Op::kMultiply:
      return corners(a, b, product);
    case Op::kDivide:
    case Op::kFloorDivide:
    case Op::kFloorModulo:
      return divided(op, a, b);
    case Op::kMin:
      return Range{std::min(a.low, b.low), std::min(a.high, b.high)};
    case Op::kMax:
      return Range{std::max(a.low, b.low), std::max(a.high, b.high)};
    case Op::kShiftLeft:
      return corners(a, b, shift_left);
    case Op::kShiftRight:
      if (b.low < 0 || b.high > 63) return std::nullopt;
      return corners(a, b, [](int64_t x, int64_t y) { return Bound(x >> y); });
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      return of_bits(op, a, b);
    default:
      return of_comparison(op, a, b);
  }
}

std::optional<Range> of_one(const Expr& e, Range a) {
  switch (e.op) {
    case Op::kNegate:
      return corners({0, 0}, a, difference);
    case Op::kNot:
      return e.type.element->name == "bool" ? Range{1 - a.high, 1 - a.low} : Range{~a.high, ~a.low};
    case Op::kAbs:
      if (a.low >= 0) return a;
      if (a.low == find_element("int64")->low) return std::nullopt;
      return a.high <= 0 ? Range{-a.high, -a.low} : Range{0, std::max(-a.low, a.high)};
    default:
      return a;  // a cast of what fits
  }
}

}  // namespace

// Where the result could leave its type nothing is said of it.
Range Values::of(int expr) const {
  const Expr& e = body->exprs[static_cast<size_t>(expr)];
  const Range any = type_range(e);
  if (e.op == Op::kNumber) return {e.number, e.number};
  if (e.op == Op::kVariable) return slots[static_cast<size_t>(e.number)];
  if (e.type.element->is_float || e.type.lanes != 1 || e.op == Op::kOpaque) return any;
  if (e.op == Op::kLoad) return of_load(e);
  std::optional<Range> result;
  const Range a = of(e.args[0]);
  const Expr& operand = body->exprs[static_cast<size_t>(e.args[0])];
  if (e.op == Op::kSelect) {
    if (a.is_known()) return of(e.args[a.low != 0 ? 1 : 2]);
    const Range b = of(e.args[1]);
    const Range c = of(e.args[2]);
    return {std::min(b.low, c.low), std::max(b.high, c.high)};
  }
  if (operand.type.element->is_float || operand.type.lanes != 1) return any;
  result = e.args.size() == 1 ? of_one(e, a) : of_two(e.op, a, of(e.args[1]));
  return result && result->low >= any.low && result->high <= any.high ? *result : any;
}

Range Values::of_load(const Expr& e) const {
  const std::span<const uint8_t> bytes = contents[static_cast<size_t>(e.number)];
  const Range at = of(e.args[0]);
  const int64_t width = e.type.element->bytes;
  if (!at.is_known() || at.low < 0 || at.low >= static_cast<int64_t>(bytes.size()) / width)
    return type_range(e);
  uint64_t bits = 0;
  for (int64_t i = width - 1; i >= 0; --i) {
    bits = bits << 8U | bytes[static_cast<size_t>(at.low * width + i)];
  }
  const int unused = static_cast<int>(64 - 8 * width);
  const auto value = static_cast<int64_t>(bits << static_cast<unsigned>(unused)) >> unused;
  const bool is_signed = e.type.element->low < 0;
  const int64_t number = is_signed ? value : static_cast<int64_t>(bits);
  return {number, number};
}

}  // namespace ingot::assay
