// SPDX-License-Identifier: Apache-2.0
#include "loop/typing.h"

#include <fmt/format.h>

#include <bit>

namespace ingot::loop {
namespace {

std::string fault_of(Type type, const IntLit& x) {
  if (!type.is_scalar() || is_float(type.dtype)) return "an integer literal of type " + print(type);
  if (!fits(x.value, type.dtype)) return fmt::format("{} is no value of {}", x.value, print(type));
  return "";
}

std::string fault_of(Type type, const FloatLit&) {
  const bool right = type.is_scalar() && is_float(type.dtype);
  return right ? "" : "a float literal of type " + print(type);
}

std::string fault_of(Type, const Var& x) { return x.name.empty() ? "a variable without name" : ""; }

std::string fault_of(Type type, const Load& x) {
  if (x.index->type != kInt32) {
    return fmt::format("the index of {} is {}, not int32", x.buffer, print(x.index->type));
  }
  const bool power = x.alignment > 0 && std::has_single_bit(static_cast<uint64_t>(x.alignment));
  if (!power || x.alignment < size_in_bytes(type.dtype)) {
    return fmt::format("an alignment of {} bytes for {}", x.alignment, print(type));
  }
  return "";
}

std::string fault_of(Type type, const UnaryExpr& x) {
  if (x.a->type != type) return "an operation that changes its operand's type";
  const bool needs_float = x.op >= UnaryOp::kSqrt;
  const bool right = needs_float             ? is_float(type.dtype)
                     : x.op == UnaryOp::kNot ? !is_float(type.dtype)
                                             : type.dtype != DType::kBool;
  return right ? "" : "an operation that does not exist for " + print(type);
}

bool takes(BinaryOp op, DType dtype) {
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul:
    case BinaryOp::kDiv:
      return dtype != DType::kBool;
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod:
    case BinaryOp::kShl:
    case BinaryOp::kShr:
      return is_integer(dtype);
    case BinaryOp::kAnd:
    case BinaryOp::kOr:
    case BinaryOp::kXor:
      return !is_float(dtype);
    default:
      return true;
  }
}

std::string fault_of(Type type, const BinaryExpr& x) {
  const Type a = x.a->type;
  if (a != x.b->type) {
    return fmt::format("operands of types {} and {}", print(a), print(x.b->type));
  }
  if (!takes(x.op, a.dtype)) return "an operation that does not exist for " + print(a);
  const Type result = is_comparison(x.op) ? Type{DType::kBool, a.lanes} : a;
  if (type != result) return fmt::format("{} where {} results", print(type), print(result));
  if (x.op == BinaryOp::kFloorDiv || x.op == BinaryOp::kFloorMod) {
    const IntLit* divisor = as<IntLit>(x.b);
    if (!divisor || divisor->value <= 0) return "floor division by what is no literal above 0";
  }
  return "";
}

std::string fault_of(Type type, const Select& x) {
  const Type condition = x.condition->type;
  if (condition.dtype != DType::kBool || (condition.lanes != 1 && condition.lanes != type.lanes)) {
    return "a condition of type " + print(condition);
  }
  if (x.if_true->type != type || x.if_false->type != type) {
    return fmt::format("alternatives of types {} and {}", print(x.if_true->type),
                       print(x.if_false->type));
  }
  return "";
}

std::string fault_of(Type type, const Cast& x) {
  const Type from = x.a->type;
  const bool right = from.is_scalar() || from.lanes == type.lanes;
  return right ? "" : fmt::format("a cast of {} to {}", print(from), print(type));
}

std::string fault_of(Type type, const Lane& x) {
  const Type from = x.a->type;
  const bool right =
      !from.is_scalar() && 0 <= x.lane && x.lane < from.lanes && type == Type{from.dtype};
  return right ? "" : fmt::format("lane {} of {}", x.lane, print(from));
}

std::string fault_of(Type type, const Pack& x) {
  bool right = !type.is_scalar() && static_cast<int64_t>(x.lanes.size()) == type.lanes;
  for (const Expr& e : x.lanes) right = right && e->type == Type{type.dtype};
  return right ? "" : "a vector of other values than " + print(type) + " holds";
}

std::string fault_of(Type, const CallExpr& x) {
  return x.function.empty() ? "a call without a function" : "";
}

}  // namespace

bool is_valid(Type type) {
  if (type.lanes < 1 || type.lanes > 256) return false;
  return !type.packed || (type.lanes > 1 && type.size_bytes() == 4);
}

bool is_comparison(BinaryOp op) {
  return op == BinaryOp::kEq || op == BinaryOp::kNe || op == BinaryOp::kLt || op == BinaryOp::kLe;
}

bool fits(int64_t value, DType dtype) { return lowest(dtype) <= value && value <= highest(dtype); }

std::string find_type_fault(const ExprNode& node) {
  if (!is_valid(node.type)) return "a type that does not exist";
  return std::visit([&](const auto& kind) { return fault_of(node.type, kind); }, node.kind);
}

}  // namespace ingot::loop
