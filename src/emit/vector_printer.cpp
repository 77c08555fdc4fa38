// SPDX-License-Identifier: Apache-2.0
// Expressions over wide vectors as C.
#include "emit/expr_printer.h"
#include "emit/literals.h"
#include "loop/limited.h"
#include "support/check.h"

namespace ingot {

using loop::BinaryOp;
using loop::Expr;
using loop::Type;

std::string ExprPrinter::type_of(Type type) {
  return is_wide(type) ? needs_.vectors.type(type) : c_type_of(type);
}

ExprPrinter::Text ExprPrinter::vector_text(const Expr& e) {
  const Type type = e->type;
  if (is_float(type.dtype)) needs_.floats = true;
  if (const auto* x = loop::as<loop::Var>(e)) return text_of(*x, type);
  if (const auto* x = loop::as<loop::CallExpr>(e)) return text_of(*x, type);
  if (const auto* x = loop::as<loop::Load>(e)) return vector_text_of(*x, type);
  if (const auto* x = loop::as<loop::UnaryExpr>(e)) return vector_text_of(*x, type);
  if (const auto* x = loop::as<loop::BinaryExpr>(e)) return vector_text_of(*x, type);
  if (const auto* x = loop::as<loop::Select>(e)) return vector_text_of(*x, type);
  if (const auto* x = loop::as<loop::Cast>(e)) return vector_text_of(*x, type);
  const auto* x = loop::as<loop::Pack>(e);
  CHECK(x != nullptr);
  return vector_text_of(*x, type);
}

ExprPrinter::Text ExprPrinter::vector_text_of(const loop::Load& e, Type type) {
  needs_.string = true;
  const std::string function = needs_.vectors.load(type, e.alignment);
  return {vector_load(function, names_.arrays.at(e.buffer), e.index), kPrimary, type.dtype};
}

std::string ExprPrinter::vector_load(const std::string& function, const std::string& array,
                                     const Expr& index) {
  const int64_t reach = needs_.vectors.reach_of(function);
  if (reach == 0) return function + "(&" + array + "[" + print(index) + "])";
  // Loads side by side get one address.
  const auto* sum = loop::as<loop::BinaryExpr>(index);
  const bool is_sum = sum != nullptr && sum->op == BinaryOp::kAdd;
  const auto* rest = loop::as<loop::IntLit>(is_sum ? sum->b : index);
  if (rest == nullptr) return function + "(&" + array + "[" + print(index) + "], 0)";
  const int64_t distance = (rest->value % reach + reach) % reach;
  const int64_t before = rest->value - distance;
  const Expr from = is_sum ? sum->a + before : loop::lit(before);
  return function + "(&" + array + "[" + print(from) + "], " + std::to_string(distance) + ")";
}

ExprPrinter::Text ExprPrinter::vector_text_of(const loop::UnaryExpr& e, Type type) {
  CHECK(e.op == loop::UnaryOp::kNeg || e.op == loop::UnaryOp::kNot);
  const std::string sign = e.op == loop::UnaryOp::kNeg ? "-" : "~";
  return {sign + in_parentheses(text(e.a), kPrimary), kPrefix, type.dtype};
}

ExprPrinter::Text ExprPrinter::vector_text_of(const loop::BinaryExpr& e, Type type) {
  CHECK(type.dtype != DType::kBool && type.dtype != DType::kFloat16);
  const auto operation = [&](const char* op, Precedence precedence) {
    return infix(text(e.a), op, precedence, text(e.b), type.dtype);
  };
  switch (e.op) {
    case BinaryOp::kAdd:
      if (const auto* spread = loop::as<loop::Cast>(e.b); spread && spread->a->type.is_scalar()) {
        const std::string function = needs_.vectors.add_to_all(type);
        const std::string x = converted(text(spread->a), type.dtype).code;
        if (!function.empty()) {
          return {function + "(" + text(e.a).code + ", " + x + ")", kPrimary, type.dtype};
        }
      }
      return operation("+", kSum);
    case BinaryOp::kSub:
      return operation("-", kSum);
    case BinaryOp::kMul:
      return operation("*", kProduct);
    case BinaryOp::kDiv:
      CHECK(is_float(type.dtype));
      return operation("/", kProduct);
    case BinaryOp::kAnd:
      return operation("&", kBitAnd);
    case BinaryOp::kOr:
      return operation("|", kBitOr);
    case BinaryOp::kXor:
      return operation("^", kBitXor);
    case BinaryOp::kShl:
      return operation("<<", kShift);
    case BinaryOp::kShr:
      needs_.shifts = true;
      return operation(">>", kShift);
    default:
      break;
  }
  CHECK(e.op == BinaryOp::kMin || e.op == BinaryOp::kMax);
  const std::string function = needs_.vectors.min_or_max(type, e.op == BinaryOp::kMin);
  return {function + "(" + text(e.a).code + ", " + text(e.b).code + ")", kPrimary, type.dtype};
}

ExprPrinter::Text ExprPrinter::vector_text_of(const loop::Select& e, Type type) {
  if (e.condition->type.is_scalar()) {
    return {in_parentheses(text(e.condition), kLogicalOr) + " ? " +
                in_parentheses(text(e.if_true), kLogicalOr) + " : " +
                in_parentheses(text(e.if_false), kLogicalOr),
            kTernary, type.dtype};
  }
  // Truth by lanes exists only here, between a comparison and what it chooses.
  const auto* comparison = loop::as<loop::BinaryExpr>(e.condition);
  CHECK(comparison != nullptr);
  const std::string op = comparison->op == BinaryOp::kEq   ? "=="
                         : comparison->op == BinaryOp::kNe ? "!="
                         : comparison->op == BinaryOp::kLt ? "<"
                                                           : "<=";
  const Text mask =
      infix(text(comparison->a), op, kRelation, text(comparison->b), comparison->a->type.dtype);
  const std::string function = needs_.vectors.select(comparison->a->type, type);
  return {
      function + "(" + mask.code + ", " + text(e.if_true).code + ", " + text(e.if_false).code + ")",
      kPrimary, type.dtype};
}

ExprPrinter::Text ExprPrinter::vector_text_of(const loop::Cast& e, Type type) {
  const Type from = e.a->type;
  if (from.is_scalar()) {
    return {needs_.vectors.splat(type) + "(" + converted(text(e.a), type.dtype).code + ")",
            kPrimary, type.dtype};
  }
  if (const auto* load = loop::as<loop::Load>(e.a)) {
    needs_.string = true;
    const std::string function = needs_.vectors.load_as(from, type);
    return {vector_load(function, names_.arrays.at(load->buffer), load->index), kPrimary,
            type.dtype};
  }
  return {needs_.vectors.convert(from, type) + "(" + text(e.a).code + ")", kPrimary, type.dtype};
}

ExprPrinter::Text ExprPrinter::vector_text_of(const loop::Pack& e, Type type) {
  std::string code = needs_.vectors.pack(type) + "(";
  for (size_t i = 0; i < e.lanes.size(); ++i) {
    code += (i > 0 ? ", " : "") + converted(text(e.lanes[i]), type.dtype).code;
  }
  return {code + ")", kPrimary, type.dtype};
}

std::string ExprPrinter::print_vector_store(const std::string& element, const Expr& value) {
  needs_.string = true;
  const auto* narrowed = loop::as<loop::Cast>(value);
  if (narrowed && is_wide(narrowed->a->type)) {
    if (const Expr v = is_integer(value->type.dtype)
                           ? loop::limited_to(narrowed->a, value->type.dtype)
                           : nullptr) {
      return needs_.vectors.store_saturated(v->type, value->type) + "(&" + element + ", " +
             print(v) + ");";
    }
    return needs_.vectors.store_as(narrowed->a->type, value->type) + "(&" + element + ", " +
           print(narrowed->a) + ");";
  }
  return needs_.vectors.store(value->type) + "(&" + element + ", " + print(value) + ");";
}

}  // namespace ingot
