// SPDX-License-Identifier: Apache-2.0
#include "loop/expr.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "loop/float.h"
#include "loop/typing.h"
#include "support/arithmetic.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

template <class T>
Expr make(Type type, T kind) {
  ExprNode node{type, std::move(kind)};
  const std::string fault = find_type_fault(node);
  if (!fault.empty()) throw InternalError("ill-typed expression: " + fault);
  return std::make_shared<const ExprNode>(std::move(node));
}

std::optional<int64_t> int_of(const Expr& e) {
  const IntLit* literal = as<IntLit>(e);
  return literal ? std::optional(literal->value) : std::nullopt;
}

// -value, if `dtype` holds it.
std::optional<int64_t> negated(int64_t value, DType dtype) {
  if (value == std::numeric_limits<int64_t>::min() || !fits(-value, dtype)) return std::nullopt;
  return -value;
}

// a op b on integers; nullopt where the operation has no value.
std::optional<int64_t> fold(BinaryOp op, int64_t a, int64_t b) {
  switch (op) {
    case BinaryOp::kAdd:
      return checked_add(a, b);
    case BinaryOp::kSub:
      return checked_sub(a, b);
    case BinaryOp::kMul:
      return checked_mul(a, b);
    case BinaryOp::kDiv:
      if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) return std::nullopt;
      return a / b;
    case BinaryOp::kFloorDiv:
      if (b <= 0) return std::nullopt;
      return ingot::floor_div(a, b);
    case BinaryOp::kFloorMod:
      if (b <= 0) return std::nullopt;
      return ingot::floor_mod(a, b);
    case BinaryOp::kMin:
      return std::min(a, b);
    case BinaryOp::kMax:
      return std::max(a, b);
    case BinaryOp::kShl:
      if (b < 0 || b > 62) return std::nullopt;
      return checked_mul(a, int64_t{1} << b);
    case BinaryOp::kShr:
      if (b < 0 || b > 63) return std::nullopt;
      return a >> b;
    case BinaryOp::kAnd:
      return a & b;
    case BinaryOp::kOr:
      return a | b;
    case BinaryOp::kXor:
      return a ^ b;
    case BinaryOp::kEq:
      return a == b ? 1 : 0;
    case BinaryOp::kNe:
      return a != b ? 1 : 0;
    case BinaryOp::kLt:
      return a < b ? 1 : 0;
    case BinaryOp::kLe:
      return a <= b ? 1 : 0;
  }
  return std::nullopt;
}

// Whether a op value is a for every a.
bool is_identity(BinaryOp op, int64_t value) {
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kShl:
    case BinaryOp::kShr:
    case BinaryOp::kOr:
    case BinaryOp::kXor:
      return value == 0;
    case BinaryOp::kMul:
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
      return value == 1;
    default:
      return false;
  }
}

// Folding of integer operations whose operands are not both literals; null if nothing applies.
Expr fold_partly(BinaryOp op, const Expr& a, const Expr& b) {
  const std::optional<int64_t> right = int_of(b);
  if (!right) return nullptr;
  if (is_identity(op, *right)) return a;
  if (*right == 0 && op == BinaryOp::kMul) return b;
  if (*right == 1 && op == BinaryOp::kFloorMod) return lit(0, a->type);
  const BinaryExpr* inner = as<BinaryExpr>(a);
  if (!inner) return nullptr;
  const std::optional<int64_t> middle = int_of(inner->b);
  if (!middle) return nullptr;
  // (x + m) + r -> x + (m + r), (x * m) * r -> x * (m * r), and min and max likewise.
  const bool associative =
      op == BinaryOp::kAdd || op == BinaryOp::kMul || op == BinaryOp::kMin || op == BinaryOp::kMax;
  if (associative && inner->op == op) {
    const std::optional<int64_t> both = fold(op, *middle, *right);
    if (both && fits(*both, a->type.dtype)) return binary(op, inner->a, lit(*both, a->type));
  }
  return nullptr;
}

bool commutes(BinaryOp op) {
  return op == BinaryOp::kAdd || op == BinaryOp::kMul || op == BinaryOp::kMin ||
         op == BinaryOp::kMax || op == BinaryOp::kAnd || op == BinaryOp::kOr ||
         op == BinaryOp::kXor || op == BinaryOp::kEq || op == BinaryOp::kNe;
}

}  // namespace

Expr lit(int64_t value, Type type) { return make(type, IntLit{value}); }

Expr float_lit(double value, Type type) {
  return make(type, FloatLit{round_to_float(value, type.dtype)});
}

Expr var(std::string name, Type type) { return make(type, Var{std::move(name)}); }

Expr load(std::string buffer, Expr index, Type type, int64_t alignment) {
  const int64_t own = size_in_bytes(type.dtype);
  return make(type, Load{std::move(buffer), std::move(index), std::max(alignment, own)});
}

Expr unary(UnaryOp op, Expr a) {
  const std::optional<int64_t> value = int_of(a);
  const Type type = a->type;
  if (value && op == UnaryOp::kNot && type == kBool) return lit(1 - *value, kBool);
  if (value && (op == UnaryOp::kNeg || (op == UnaryOp::kAbs && *value < 0))) {
    if (const std::optional<int64_t> result = negated(*value, type.dtype)) {
      return lit(*result, type);
    }
  }
  return make(type, UnaryExpr{op, std::move(a)});
}

Expr binary(BinaryOp op, Expr a, Expr b) {
  CHECK(a->type == b->type);
  const Type type = is_comparison(op) ? Type{DType::kBool, a->type.lanes} : a->type;
  if (!is_float(a->type.dtype) && a->type.is_scalar()) {
    const std::optional<int64_t> left = int_of(a);
    const std::optional<int64_t> right = int_of(b);
    if (left && right) {
      const std::optional<int64_t> value = fold(op, *left, *right);
      if (value && fits(*value, type.dtype)) return lit(*value, type);
    } else if (left && commutes(op)) {
      std::swap(a, b);  // literals stand on the right
    }
    // x - c -> x + -c, so that sums have one form.
    const std::optional<int64_t> subtrahend = int_of(b);
    if (op == BinaryOp::kSub && subtrahend) {
      if (const std::optional<int64_t> addend = negated(*subtrahend, type.dtype)) {
        return binary(BinaryOp::kAdd, std::move(a), lit(*addend, type));
      }
    }
    if (Expr folded = fold_partly(op, a, b)) return folded;
  }
  return make(type, BinaryExpr{op, std::move(a), std::move(b)});
}

Expr select(Expr condition, Expr if_true, Expr if_false) {
  CHECK(condition->type.dtype == DType::kBool && if_true->type == if_false->type);
  if (const std::optional<int64_t> known = int_of(condition)) return *known ? if_true : if_false;
  const Type type = if_true->type;
  return make(type, Select{std::move(condition), std::move(if_true), std::move(if_false)});
}

Expr cast(Type type, Expr a) {
  if (a->type == type) return a;
  const std::optional<int64_t> value = int_of(a);
  if (value && type.is_scalar() && !is_float(type.dtype) && fits(*value, type.dtype)) {
    return lit(*value, type);
  }
  return make(type, Cast{std::move(a)});
}

Expr lane(Expr a, int64_t lane) {
  CHECK(0 <= lane && lane < a->type.lanes && !a->type.is_scalar());
  const Type type{a->type.dtype};
  return make(type, Lane{std::move(a), lane});
}

Expr pack(Type type, std::vector<Expr> lanes) {
  CHECK(static_cast<int64_t>(lanes.size()) == type.lanes && !type.is_scalar());
  return make(type, Pack{std::move(lanes)});
}

Expr call(std::string function, Type result, std::vector<Expr> args) {
  return make(result, CallExpr{std::move(function), std::move(args)});
}

Expr operator+(Expr a, Expr b) { return binary(BinaryOp::kAdd, std::move(a), std::move(b)); }
Expr operator-(Expr a, Expr b) { return binary(BinaryOp::kSub, std::move(a), std::move(b)); }
Expr operator*(Expr a, Expr b) { return binary(BinaryOp::kMul, std::move(a), std::move(b)); }
Expr operator+(Expr a, int64_t b) {
  const Type type = a->type;
  return std::move(a) + lit(b, type);
}
Expr operator-(Expr a, int64_t b) { return std::move(a) + -b; }
Expr operator*(Expr a, int64_t b) {
  const Type type = a->type;
  return std::move(a) * lit(b, type);
}
Expr min(Expr a, Expr b) { return binary(BinaryOp::kMin, std::move(a), std::move(b)); }
Expr max(Expr a, Expr b) { return binary(BinaryOp::kMax, std::move(a), std::move(b)); }
Expr floor_div(Expr a, int64_t b) {
  const Type type = a->type;
  return binary(BinaryOp::kFloorDiv, std::move(a), lit(b, type));
}
Expr floor_mod(Expr a, int64_t b) {
  const Type type = a->type;
  return binary(BinaryOp::kFloorMod, std::move(a), lit(b, type));
}
Expr shl(Expr a, int64_t bits) {
  const Type type = a->type;
  return binary(BinaryOp::kShl, std::move(a), lit(bits, type));
}
Expr shr(Expr a, int64_t bits) {
  const Type type = a->type;
  return binary(BinaryOp::kShr, std::move(a), lit(bits, type));
}
Expr less(Expr a, Expr b) { return binary(BinaryOp::kLt, std::move(a), std::move(b)); }

bool equal(const Expr& a, const Expr& b) {
  if (a == b) return true;
  if (!a || !b || a->type != b->type || a->kind.index() != b->kind.index()) return false;
  struct Visitor {
    const Expr& other;
    bool operator()(const IntLit& x) const { return x.value == as<IntLit>(other)->value; }
    bool operator()(const FloatLit& x) const {
      const double y = as<FloatLit>(other)->value;
      const bool same = x.value == y && std::signbit(x.value) == std::signbit(y);
      return same || (std::isnan(x.value) && std::isnan(y));
    }
    bool operator()(const Var& x) const { return x.name == as<Var>(other)->name; }
    bool operator()(const Load& x) const {
      const Load& y = *as<Load>(other);
      return x.buffer == y.buffer && x.alignment == y.alignment && equal(x.index, y.index);
    }
    bool operator()(const UnaryExpr& x) const {
      const UnaryExpr& y = *as<UnaryExpr>(other);
      return x.op == y.op && equal(x.a, y.a);
    }
    bool operator()(const BinaryExpr& x) const {
      const BinaryExpr& y = *as<BinaryExpr>(other);
      return x.op == y.op && equal(x.a, y.a) && equal(x.b, y.b);
    }
    bool operator()(const Select& x) const {
      const Select& y = *as<Select>(other);
      return equal(x.condition, y.condition) && equal(x.if_true, y.if_true) &&
             equal(x.if_false, y.if_false);
    }
    bool operator()(const Cast& x) const { return equal(x.a, as<Cast>(other)->a); }
    bool operator()(const Lane& x) const {
      const Lane& y = *as<Lane>(other);
      return x.lane == y.lane && equal(x.a, y.a);
    }
    bool operator()(const Pack& x) const {
      return std::ranges::equal(x.lanes, as<Pack>(other)->lanes,
                                [](const Expr& p, const Expr& q) { return equal(p, q); });
    }
    bool operator()(const CallExpr& x) const {
      const CallExpr& y = *as<CallExpr>(other);
      return x.function == y.function &&
             std::ranges::equal(x.args, y.args,
                                [](const Expr& p, const Expr& q) { return equal(p, q); });
    }
  };
  return std::visit(Visitor{b}, a->kind);
}

}  // namespace ingot::loop
