// SPDX-License-Identifier: Apache-2.0
#include "loop/parse_expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "loop/float.h"
#include "loop/operators.h"

namespace ingot::loop {
namespace {

std::optional<BinaryOp> find_infix(const Token& token) {
  if (token.kind != TokenKind::kSymbol) return std::nullopt;
  for (size_t i = 0; i < kBinarySpellings.size(); ++i) {
    if (!kBinarySpellings[i].is_call && kBinarySpellings[i].text == token.text) {
      return static_cast<BinaryOp>(i);
    }
  }
  return std::nullopt;
}

// The finite value of `text` in `dtype`.
std::optional<double> parse_float(const std::string& text, DType dtype) {
  const char* end = text.data() + text.size();
  const auto read = [&](auto value) -> std::optional<double> {
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    return static_cast<double>(value);
  };
  if (dtype == DType::kFloat32) return read(float{});
  const std::optional<double> value = read(double{});
  if (dtype == DType::kFloat16 && value && round_to_float(*value, dtype) != *value) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

Expr ExprParser::parse() {
  const Parsed parsed = parse_infix(0);
  if (parsed.depth > kMaxExprDepth) lexer_.fail("an expression that is nested too deeply");
  return lexer_.failed() ? lit(0) : parsed.e;
}

ExprParser::Parsed ExprParser::failed(std::string what) {
  lexer_.fail(std::move(what));
  return {lit(0), 1};
}

template <class T>
ExprParser::Parsed ExprParser::make(Type type, T kind, int64_t depth_below) {
  if (lexer_.failed()) return {lit(0), 1};
  if (depth_below >= kMaxExprDepth) return failed("an expression that is nested too deeply");
  ExprNode node{type, std::move(kind)};
  std::string fault = find_type_fault(node);
  if (!fault.empty()) return failed(std::move(fault));
  return {std::make_shared<const ExprNode>(std::move(node)), depth_below + 1};
}

ExprParser::Parsed ExprParser::parse_infix(int level) {
  if (++nesting_ > kMaxExprDepth) return failed("an expression that is nested too deeply");
  Parsed left = parse_prefix();
  while (const std::optional<BinaryOp> op = find_infix(lexer_.peek())) {
    const int own = spelling_of(*op).level;
    if (own < level) break;
    lexer_.take();
    const bool right_is_number = lexer_.peek().kind == TokenKind::kNumber;
    Parsed right = parse_infix(own + 1);
    left = combine(*op, std::move(left), std::move(right), right_is_number);
  }
  --nesting_;
  return left;
}

ExprParser::Parsed ExprParser::combine(BinaryOp op, Parsed left, Parsed right,
                                       bool right_is_number) {
  const Type type = is_comparison(op) ? Type{DType::kBool, left.e->type.lanes} : left.e->type;
  const IntLit* literal = as<IntLit>(right.e);
  if (op == BinaryOp::kSub && right_is_number && literal &&
      is_signed_integer(right.e->type.dtype)) {
    op = BinaryOp::kAdd;
    right.e = lit(-literal->value, right.e->type);
  }
  const int64_t below = std::max(left.depth, right.depth);
  return make(type, BinaryExpr{op, std::move(left.e), std::move(right.e)}, below);
}

ExprParser::Parsed ExprParser::parse_prefix() {
  if (!lexer_.is("-") && !lexer_.is("!")) return parse_primary();
  const UnaryOp op = lexer_.take().text == "-" ? UnaryOp::kNeg : UnaryOp::kNot;
  const bool number = lexer_.peek().kind == TokenKind::kNumber ||
                      ((lexer_.is("inf") || lexer_.is("nan")) && lexer_.peek_second().text == ":");
  if (op == UnaryOp::kNeg && number) return parse_number(true);
  if (++nesting_ > kMaxExprDepth) return failed("an expression that is nested too deeply");
  Parsed operand = op == UnaryOp::kNeg ? parse_primary() : parse_prefix();
  --nesting_;
  const Type type = operand.e->type;
  return make(type, UnaryExpr{op, std::move(operand.e)}, operand.depth);
}

ExprParser::Parsed ExprParser::parse_primary() {
  if (lexer_.peek().kind == TokenKind::kNumber) return parse_number(false);
  if (lexer_.accept("(")) {
    Parsed inner = parse_infix(0);
    lexer_.expect(")");
    return inner;
  }
  if (lexer_.peek().kind != TokenKind::kWord) return failed("expected an expression");
  const std::string_view after = lexer_.peek_second().text;
  if (after == ":" && (lexer_.is("inf") || lexer_.is("nan"))) return parse_number(false);
  const std::string name(lexer_.take().text);
  if (after == "(") return parse_call(name);
  if (after == "[") return parse_load(name);
  if (name == "true" || name == "false") return make(kBool, IntLit{name == "true"}, 0);
  const std::optional<Type> type = context_.variables.find(name);
  if (!type) return failed(fmt::format("{} is not defined", quote(name)));
  return make(*type, Var{name}, 0);
}

Type ExprParser::parse_literal_type(Type otherwise) {
  if (!lexer_.accept(":")) return otherwise;
  const std::optional<Type> type = find_type(lexer_.expect_word("a type"));
  if (!type) lexer_.fail("expected a type");
  return type.value_or(otherwise);
}

ExprParser::Parsed ExprParser::parse_number(bool negative) {
  const std::string sign = negative ? "-" : "";
  const std::string text(lexer_.take().text);
  if (text == "inf" || text == "nan") {
    const Type type = parse_literal_type(kFloat32);
    using Limits = std::numeric_limits<double>;
    const double value = text == "nan" ? Limits::quiet_NaN() : Limits::infinity();
    return make(type, FloatLit{negative ? -value : value}, 0);
  }
  const bool whole = text.find_first_of(".e") == std::string::npos;
  const Type type = parse_literal_type(whole ? kInt32 : kFloat32);
  if (is_float(type.dtype)) {
    const std::optional<double> value = parse_float(sign + text, type.dtype);
    if (!value) return failed(fmt::format("{} is no value of {}", sign + text, print(type)));
    return make(type, FloatLit{*value}, 0);
  }
  const std::optional<int64_t> value = parse_integer(sign + text);
  if (!value) return failed(fmt::format("{} is no value of {}", sign + text, print(type)));
  return make(type, IntLit{*value}, 0);
}

std::pair<Type, int64_t> ExprParser::parse_access(DType dtype) {
  Type type{dtype};
  int64_t alignment = size_in_bytes(dtype);
  if (lexer_.accept(":")) {
    type = find_type(lexer_.expect_word("a type")).value_or(Type{dtype, 0});
    if (type.lanes == 0) lexer_.fail("expected a type");
    lexer_.expect("align");
    alignment = lexer_.expect_integer();
  }
  return {type, alignment};
}

ExprParser::Parsed ExprParser::parse_load(const std::string& name) {
  const std::optional<Type> element = context_.buffers.find(name);
  if (!element) return failed(fmt::format("{} is no buffer", quote(name)));
  lexer_.expect("[");
  Parsed index = parse_infix(0);
  lexer_.expect("]");
  const auto [type, alignment] = parse_access(element->dtype);
  return make(type, Load{name, std::move(index.e), alignment}, index.depth);
}

ExprParser::Parsed ExprParser::parse_call(const std::string& name) {
  lexer_.expect("(");
  std::vector<Parsed> args;
  while (!lexer_.is(")") && !lexer_.at_end()) {
    if (!args.empty()) lexer_.expect(",");
    args.push_back(parse_infix(0));
  }
  lexer_.expect(")");
  if (lexer_.failed()) return {lit(0), 1};
  return call_named(name, std::move(args));
}

ExprParser::Parsed ExprParser::call_named(const std::string& name, std::vector<Parsed> args) {
  int64_t depth = 0;
  for (const Parsed& arg : args) depth = std::max(depth, arg.depth);
  if (args.size() == 1) {
    if (const std::optional<Type> type = find_type(name)) {
      return make(*type, Cast{args[0].e}, depth);
    }
    const auto* unary = std::ranges::find(kUnarySpellings, name);
    if (unary != kUnarySpellings.end()) {
      const auto op = static_cast<UnaryOp>(unary - kUnarySpellings.begin());
      return make(args[0].e->type, UnaryExpr{op, args[0].e}, depth);
    }
  }
  const std::optional<Type> vector = find_type(name);
  if (vector && args.size() > 1) {
    Pack pack;
    for (Parsed& arg : args) pack.lanes.push_back(std::move(arg.e));
    return make(*vector, std::move(pack), depth);
  }
  if (args.size() == 2 && name == "lane") {
    const auto* number = as<IntLit>(args[1].e);
    if (!number) return failed("expected the number of a lane");
    return make(Type{args[0].e->type.dtype}, Lane{args[0].e, number->value}, depth);
  }
  if (args.size() == 2) {
    const auto* binary = std::ranges::find(kBinarySpellings, name, &OperatorSpelling::text);
    if (binary != kBinarySpellings.end()) {
      const auto op = static_cast<BinaryOp>(binary - kBinarySpellings.begin());
      return combine(op, std::move(args[0]), std::move(args[1]), false);
    }
  }
  if (args.size() == 3 && name == "select") {
    return make(args[1].e->type, Select{args[0].e, args[1].e, args[2].e}, depth);
  }
  const auto function = context_.function_types.find(name);
  if (function == context_.function_types.end()) {
    return failed(fmt::format("no function {} of {} arguments", quote(name), args.size()));
  }
  CallExpr call{name, {}};
  for (Parsed& arg : args) call.args.push_back(std::move(arg.e));
  return make(function->second, std::move(call), depth);
}

}  // namespace ingot::loop
