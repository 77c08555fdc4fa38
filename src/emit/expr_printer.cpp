// SPDX-License-Identifier: Apache-2.0
#include "emit/expr_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "emit/literals.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::BinaryOp;
using loop::Expr;
using loop::Type;
using loop::UnaryOp;

bool is_narrow(DType dtype) { return is_integer(dtype) && size_in_bytes(dtype) < 4; }

// What C's integer promotions make of a value of this type.
DType promoted(DType dtype) { return is_narrow(dtype) ? DType::kInt32 : dtype; }

// Whether C converts `from` to `to` without a cast, a change of value, or a warning.
bool converts_silently(DType from, DType to) {
  if (from == to) return true;
  if (!is_integer(from) || !is_integer(to)) return false;
  const bool wider = size_in_bytes(from) < size_in_bytes(to);
  if (is_signed_integer(from)) return is_signed_integer(to) && wider;
  return wider;
}

bool is_power_of_two(int64_t value) {
  return value > 0 && std::has_single_bit(static_cast<uint64_t>(value));
}

bool is_zero(const Expr& e) {
  const auto* literal = loop::as<loop::IntLit>(e);
  return literal && literal->value == 0;
}

// The dtype in whose name there are helpers for values of `dtype`.
DType helper_type(DType dtype) { return promoted(dtype); }

}  // namespace

bool is_wide(Type type) { return !type.is_scalar() && !type.packed; }

std::string c_type_of(Type type) {
  if (type.packed) return "uint32_t";
  CHECK(type.is_scalar());
  return c_scalar_type(type.dtype);
}

std::string ExprPrinter::in_parentheses(const Text& a, Precedence at_least) {
  return a.precedence >= at_least ? a.code : "(" + a.code + ")";
}

ExprPrinter::Text ExprPrinter::converted(Text a, DType to) {
  if (converts_silently(a.type, to)) return a;
  if (a.literal && is_integer(to) && a.type != DType::kUInt32 && a.type != DType::kInt64 &&
      to != DType::kUInt32 && to != DType::kUInt64) {
    return a;
  }
  return {"(" + c_scalar_type(to) + ")" + in_parentheses(a, kPrefix), kPrefix, to};
}

std::string ExprPrinter::print_for_scalar(const Expr& e) {
  const Text value = text(e);
  return !e->type.is_scalar() ? value.code : converted(value, e->type.dtype).code;
}

std::string ExprPrinter::print_for_store(const Expr& e) {
  const Text value = text(e);
  if (e->type.dtype != DType::kBool) return converted(value, e->type.dtype).code;
  return in_parentheses(value, kLogicalOr) + " ? 1 : 0";
}

std::string ExprPrinter::print_operand(const Expr& e) { return in_parentheses(text(e), kPrimary); }

ExprPrinter::Text ExprPrinter::text(const Expr& e) {
  if (is_wide(e->type)) return vector_text(e);
  return std::visit([&](const auto& kind) { return text_of(kind, e->type); }, e->kind);
}

ExprPrinter::Text ExprPrinter::text_of(const loop::IntLit& e, Type type) {
  if (type.dtype == DType::kBool) {
    needs_.boolean = true;
    return {e.value != 0 ? "true" : "false", kPrimary, DType::kBool, true};
  }
  // Small literals of int64 are printed as int: C converts them where they meet an int64.
  const bool is_int =
      is_narrow(type.dtype) || (type.dtype == DType::kInt64 && e.value >= lowest(DType::kInt32) &&
                                e.value <= highest(DType::kInt32));
  const DType dtype = is_int ? DType::kInt32 : type.dtype;
  const std::string code = int_literal(e.value, dtype);
  return {code, code.front() == '-' ? kPrefix : kPrimary, dtype, true};
}

ExprPrinter::Text ExprPrinter::text_of(const loop::FloatLit& e, Type type) {
  const std::optional<std::string> code = float_literal(e.value, type.dtype);
  if (code) return {*code, code->front() == '-' ? kPrefix : kPrimary, type.dtype, true};
  needs_.string = true;
  if (type.dtype == DType::kFloat32) {
    needs_.helpers.insert("float32_from_bits");
    const uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(e.value));
    return {fmt::format("float32_from_bits(0x{:08x}u)", bits), kPrimary, type.dtype};
  }
  needs_.helpers.insert("float64_from_bits");
  const uint64_t bits = std::bit_cast<uint64_t>(e.value);
  return {fmt::format("float64_from_bits(UINT64_C(0x{:016x}))", bits), kPrimary, type.dtype};
}

ExprPrinter::Text ExprPrinter::text_of(const loop::Var& e, Type type) {
  const auto name = names_.scalars.find(e.name);
  CHECK(name != names_.scalars.end());
  return {name->second, kPrimary, type.packed ? DType::kUInt32 : type.dtype};
}

ExprPrinter::Text ExprPrinter::text_of(const loop::Load& e, Type type) {
  const auto array = names_.arrays.find(e.buffer);
  CHECK(array != names_.arrays.end());
  const std::string element = array->second + "[" + print(e.index) + "]";
  if (type.packed) {
    needs_.helpers.insert("load_word");
    needs_.string = true;
    return {"load_word(&" + element + ")", kPrimary, DType::kUInt32};
  }
  CHECK(type.is_scalar());
  if (type.dtype == DType::kBool) return {element + " != 0", kEquality, DType::kBool};
  return {element, kPrimary, type.dtype};
}

ExprPrinter::Text ExprPrinter::text_of(const loop::UnaryExpr& e, Type type) {
  CHECK(type.is_scalar() && type.dtype != DType::kFloat16);
  Text a = text(e.a);
  switch (e.op) {
    case UnaryOp::kNeg:
      // "- -x" never becomes "--x": a second minus is in parentheses.
      a = widened(e.a, a, type.dtype);
      return {"-" + in_parentheses(a, a.code.front() == '-' ? kPrimary : kPrefix), kPrefix,
              promoted(a.type)};
    case UnaryOp::kNot:
      if (type.dtype == DType::kBool) {
        return {"!" + in_parentheses(a, kPrefix), kPrefix, DType::kBool};
      }
      if (is_signed_integer(type.dtype)) {
        return {"~" + in_parentheses(a, kPrefix), kPrefix, promoted(a.type)};
      }
      return {"(" + c_scalar_type(type.dtype) + ")~" + in_parentheses(a, kPrefix), kPrefix,
              type.dtype};
    default:
      break;
  }
  if (e.op == UnaryOp::kAbs && !is_float(type.dtype)) {
    if (!is_signed_integer(type.dtype)) return a;
    const std::string helper = "abs_" + std::string(name_of(helper_type(type.dtype)));
    needs_.helpers.insert(helper);
    return {helper + "(" + a.code + ")", kPrimary, helper_type(type.dtype)};
  }
  CHECK(is_float(type.dtype));
  static const std::map<UnaryOp, std::string> kFunctions = {
      {UnaryOp::kAbs, "fabs"},  {UnaryOp::kSqrt, "sqrt"},   {UnaryOp::kExp, "exp"},
      {UnaryOp::kLog, "log"},   {UnaryOp::kTanh, "tanh"},   {UnaryOp::kFloor, "floor"},
      {UnaryOp::kCeil, "ceil"}, {UnaryOp::kRound, "round"},
  };
  needs_.math = true;
  const std::string function = kFunctions.at(e.op) + (type.dtype == DType::kFloat32 ? "f" : "");
  return {function + "(" + a.code + ")", kPrimary, type.dtype};
}

ExprPrinter::Text ExprPrinter::infix(Text a, const std::string& op, Precedence precedence, Text b,
                                     DType type) {
  // Compilers warn of mixtures whose precedence people forget; those get parentheses too.
  const bool bitwise = precedence == kBitOr || precedence == kBitXor || precedence == kBitAnd;
  const auto operand_precedence = [&](const Text& operand, bool left) {
    if (bitwise) return operand.precedence == precedence && left ? precedence : kProduct;
    if (precedence == kLogicalOr && operand.precedence == kLogicalAnd) return kPrefix;
    if (precedence == kShift) return kProduct;
    if (precedence == kEquality || precedence == kRelation) return kShift;
    return left ? precedence : static_cast<Precedence>(precedence + 1);
  };
  // x + -3 reads better as x - 3.
  std::string sign = op;
  if (precedence == kSum && b.literal && b.code.front() == '-' && is_integer(b.type)) {
    sign = op == "+" ? "-" : "+";
    b.code.erase(0, 1);
    b.precedence = kPrimary;
  }
  return {in_parentheses(a, operand_precedence(a, true)) + " " + sign + " " +
              in_parentheses(b, operand_precedence(b, false)),
          precedence, type};
}

ExprPrinter::Text ExprPrinter::widened(const Expr& e, Text a, DType dtype) {
  if (promoted(a.type) == promoted(dtype)) return a;
  if (a.literal && dtype == DType::kInt64) {
    const std::string code = int_literal(loop::as<loop::IntLit>(e)->value, dtype);
    return {code, code.front() == '-' ? kPrefix : kPrimary, dtype, true};
  }
  return {"(" + c_scalar_type(dtype) + ")" + in_parentheses(a, kPrefix), kPrefix, dtype};
}

ExprPrinter::Text ExprPrinter::helper_call(const std::string& stem, const loop::BinaryExpr& e,
                                           DType dtype) {
  const DType type = helper_type(dtype);
  const std::string helper = stem + "_" + std::string(name_of(type));
  needs_.helpers.insert(helper);
  return {
      helper + "(" + converted(text(e.a), type).code + ", " + converted(text(e.b), type).code + ")",
      kPrimary, type};
}

ExprPrinter::Text ExprPrinter::logical(const loop::BinaryExpr& e) {
  switch (e.op) {
    case BinaryOp::kAnd:
      return infix(text(e.a), "&&", kLogicalAnd, text(e.b), DType::kBool);
    case BinaryOp::kOr:
      return infix(text(e.a), "||", kLogicalOr, text(e.b), DType::kBool);
    default:
      CHECK(e.op == BinaryOp::kXor);
      return infix(text(e.a), "!=", kEquality, text(e.b), DType::kBool);
  }
}

ExprPrinter::Text ExprPrinter::comparison(const loop::BinaryExpr& e) {
  if (!is_float(e.a->type.dtype) && loop::equal(e.a, e.b)) {
    const bool holds = e.op == BinaryOp::kEq || e.op == BinaryOp::kLe;
    return text_of(loop::IntLit{holds ? 1 : 0}, loop::kBool);
  }
  if (e.a->type.dtype == DType::kUInt64) {  // of which ranges know the lower bound only
    if (e.op == BinaryOp::kLe && is_zero(e.a)) return text_of(loop::IntLit{1}, loop::kBool);
    if (e.op == BinaryOp::kLt && is_zero(e.b)) return text_of(loop::IntLit{0}, loop::kBool);
  } else if (!is_float(e.a->type.dtype)) {
    // What the operands' ranges decide is printed as decided: compilers warn of such comparisons.
    const ValueRange a = ranges_.of(e.a);
    const ValueRange b = ranges_.of(e.b);
    const bool orders = e.op == BinaryOp::kLt || e.op == BinaryOp::kLe;
    const bool always = orders && (e.op == BinaryOp::kLt ? a.high < b.low : a.high <= b.low);
    const bool never = orders && (e.op == BinaryOp::kLt ? a.low >= b.high : a.low > b.high);
    const bool apart = !orders && (a.high < b.low || b.high < a.low);
    if (always || (apart && e.op == BinaryOp::kNe)) return text_of(loop::IntLit{1}, loop::kBool);
    if (never || (apart && e.op == BinaryOp::kEq)) return text_of(loop::IntLit{0}, loop::kBool);
  }
  switch (e.op) {
    case BinaryOp::kEq:
      return infix(text(e.a), "==", kEquality, text(e.b), DType::kBool);
    case BinaryOp::kNe:
      return infix(text(e.a), "!=", kEquality, text(e.b), DType::kBool);
    case BinaryOp::kLt:
      return infix(text(e.a), "<", kRelation, text(e.b), DType::kBool);
    default:
      return infix(text(e.a), "<=", kRelation, text(e.b), DType::kBool);
  }
}

ExprPrinter::Text ExprPrinter::division(const loop::BinaryExpr& e, DType dtype) {
  const auto* divisor = loop::as<loop::IntLit>(e.b);
  CHECK(divisor && divisor->value > 0);
  const bool is_division = e.op == BinaryOp::kFloorDiv;
  if (ranges_.of(e.a).low >= 0) {
    return infix(text(e.a), is_division ? "/" : "%", kProduct, text(e.b), promoted(dtype));
  }
  if (!is_power_of_two(divisor->value)) {
    return helper_call(is_division ? "floor_div" : "floor_mod", e, dtype);
  }
  if (is_division) {
    needs_.shifts = true;
    const int bits = std::countr_zero(static_cast<uint64_t>(divisor->value));
    const Text a = widened(e.a, text(e.a), dtype);
    return infix(a, ">>", kShift, {std::to_string(bits), kPrimary, DType::kInt32, true}, a.type);
  }
  const Text a = widened(e.a, text(e.a), dtype);
  const Text mask = text_of(loop::IntLit{divisor->value - 1}, e.b->type);
  return infix(a, "&", kBitAnd, mask, promoted(dtype));
}

ExprPrinter::Text ExprPrinter::shift(const loop::BinaryExpr& e, DType dtype) {
  const auto* bits = loop::as<loop::IntLit>(e.b);
  const bool negative = ranges_.of(e.a).low < 0;
  if (e.op == BinaryOp::kShr) {
    if (negative) needs_.shifts = true;
    Text a = text(e.a);
    if (!bits || bits->value > 31) a = widened(e.a, a, dtype);
    const DType type = promoted(a.type);
    return infix(std::move(a), ">>", kShift, text(e.b), type);
  }
  const Text a = widened(e.a, text(e.a), dtype);
  const DType type = promoted(dtype);
  if (!negative) return infix(a, "<<", kShift, text(e.b), type);
  // C leaves left shifts of negative values undefined.
  const int64_t value_bits = 8 * size_in_bytes(type) - 1;
  if (bits && bits->value < value_bits) {
    const Text factor = text_of(loop::IntLit{int64_t{1} << bits->value}, Type{type});
    return infix(a, "*", kProduct, factor, type);
  }
  const std::string bits_type = type == DType::kInt64 ? "uint64_t" : "uint32_t";
  return {"(" + c_scalar_type(type) + ")((" + bits_type + ")" + in_parentheses(a, kPrefix) +
              " << " + in_parentheses(text(e.b), kProduct) + ")",
          kPrefix, type};
}

ExprPrinter::Text ExprPrinter::arithmetic(const loop::BinaryExpr& e, DType dtype) {
  Text a = text(e.a);
  const Text b = text(e.b);
  // One operand as wide as the operation makes C do it that wide.
  if (promoted(b.type) != promoted(dtype)) a = widened(e.a, a, dtype);
  const DType type = promoted(dtype);
  switch (e.op) {
    case BinaryOp::kAdd:
      return infix(std::move(a), "+", kSum, b, type);
    case BinaryOp::kSub:
      return infix(std::move(a), "-", kSum, b, type);
    case BinaryOp::kMul:
      return infix(std::move(a), "*", kProduct, b, type);
    case BinaryOp::kDiv:
      return infix(std::move(a), "/", kProduct, b, type);
    case BinaryOp::kAnd:
      return infix(std::move(a), "&", kBitAnd, b, type);
    case BinaryOp::kOr:
      return infix(std::move(a), "|", kBitOr, b, type);
    default:
      CHECK(e.op == BinaryOp::kXor);
      return infix(std::move(a), "^", kBitXor, b, type);
  }
}

ExprPrinter::Text ExprPrinter::text_of(const loop::BinaryExpr& e, Type type) {
  const DType dtype = e.a->type.dtype;
  CHECK(e.a->type.is_scalar() && dtype != DType::kFloat16);
  if (is_float(dtype)) needs_.floats = true;
  switch (e.op) {
    case BinaryOp::kEq:
    case BinaryOp::kNe:
    case BinaryOp::kLt:
    case BinaryOp::kLe:
      return comparison(e);
    case BinaryOp::kMin:
      return helper_call("min", e, dtype);
    case BinaryOp::kMax:
      return helper_call("max", e, dtype);
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod:
      return division(e, dtype);
    case BinaryOp::kShl:
    case BinaryOp::kShr:
      return shift(e, dtype);
    default:
      return type.dtype == DType::kBool ? logical(e) : arithmetic(e, dtype);
  }
}

ExprPrinter::Text ExprPrinter::text_of(const loop::Select& e, Type type) {
  const Text condition = text(e.condition);
  const Text a = text(e.if_true);
  const Text b = text(e.if_false);
  if (condition.literal) return condition.code == "true" ? a : b;
  DType result = promoted(type.packed ? DType::kUInt32 : type.dtype);
  // Two ints chosen for an int64 are an int.
  if (is_integer(result) && promoted(a.type) == promoted(b.type)) result = promoted(a.type);
  return {in_parentheses(condition, kLogicalOr) + " ? " + in_parentheses(a, kLogicalOr) + " : " +
              in_parentheses(b, kLogicalOr),
          kTernary, result};
}

ExprPrinter::Text ExprPrinter::text_of(const loop::Cast& e, Type type) {
  CHECK(type.is_scalar() && e.a->type.is_scalar());
  const DType from = e.a->type.dtype;
  const DType to = type.dtype;
  const Text a = text(e.a);
  if (to == DType::kFloat16 || from == DType::kFloat16) {
    CHECK(to == DType::kFloat32 || from == DType::kFloat32);
    needs_.string = true;
    const std::string helper =
        to == DType::kFloat32 ? "float32_from_float16" : "float16_from_float32";
    needs_.helpers.insert(helper);
    return {helper + "(" + a.code + ")", kPrimary, to};
  }
  if (to == DType::kBool) {
    const std::string zero = from == DType::kFloat32                      ? "0.0f"
                             : from == DType::kFloat64                    ? "0.0"
                             : is_signed_integer(from) || is_narrow(from) ? "0"
                                                                          : "0u";
    return infix(a, "!=", kEquality, {zero, kPrimary, a.type, true}, DType::kBool);
  }
  if (from == DType::kBool) {
    const std::string values = to == DType::kFloat32                          ? " ? 1.0f : 0.0f"
                               : to == DType::kFloat64                        ? " ? 1.0 : 0.0"
                               : to == DType::kUInt32 || to == DType::kUInt64 ? " ? 1u : 0u"
                                                                              : " ? 1 : 0";
    const DType type_in_c = is_float(to) || to == DType::kUInt32 ? to
                            : to == DType::kUInt64               ? DType::kUInt32
                                                                 : DType::kInt32;
    return {in_parentheses(a, kLogicalOr) + values, kTernary, type_in_c};
  }
  // Left to C: widening to a signed type.
  const bool widens = converts_silently(from, to) && is_signed_integer(to);
  if (widens && a.type != DType::kUInt32) return a;
  if (a.type == to) return a;
  return {"(" + c_scalar_type(to) + ")" + in_parentheses(a, kPrefix), kPrefix, to};
}

// A lane of a word: lane 0 is the lowest.
ExprPrinter::Text ExprPrinter::text_of(const loop::Lane& e, Type type) {
  if (is_wide(e.a->type)) {
    return {fmt::format("{}[{}]", in_parentheses(text(e.a), kPrimary), e.lane), kPrimary,
            type.dtype};
  }
  const int64_t bits = 8 * size_in_bytes(type.dtype) * e.lane;
  const std::string word = in_parentheses(text(e.a), kShift);
  const std::string shifted = bits == 0 ? word : fmt::format("({} >> {})", word, bits);
  return {"(" + c_scalar_type(type.dtype) + ")" + shifted, kPrefix, type.dtype};
}

namespace {

// The word whose lanes, of so many bits, are all literals.
std::optional<uint32_t> constant_word(const loop::Pack& e, int64_t bits) {
  uint64_t word = 0;
  for (size_t i = e.lanes.size(); i-- > 0;) {
    const auto* lane = loop::as<loop::IntLit>(e.lanes[i]);
    if (!lane) return std::nullopt;
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    word = word << bits | (static_cast<uint64_t>(lane->value) & mask);
  }
  return static_cast<uint32_t>(word);
}

}  // namespace

ExprPrinter::Text ExprPrinter::text_of(const loop::Pack& e, Type type) {
  CHECK(type.packed);
  const int64_t bits = 8 * size_in_bytes(type.dtype);
  if (const std::optional<uint32_t> word = constant_word(e, bits)) {
    return {fmt::format("UINT32_C(0x{:08x})", *word), kPrimary, DType::kUInt32};
  }
  const std::string narrow = fmt::format("(uint32_t)(uint{}_t)", bits);
  std::string code;
  for (size_t i = 0; i < e.lanes.size(); ++i) {
    const std::string part = narrow + in_parentheses(text(e.lanes[i]), kPrefix);
    code += i == 0 ? part : fmt::format(" | {} << {}", part, bits * static_cast<int64_t>(i));
  }
  return {code, kBitOr, DType::kUInt32};
}

ExprPrinter::Text ExprPrinter::text_of(const loop::CallExpr& e, Type type) {
  const auto name = names_.functions.find(e.function);
  const auto parameters = names_.parameters.find(e.function);
  CHECK(name != names_.functions.end() && parameters != names_.parameters.end());
  CHECK(parameters->second.size() == e.args.size());
  needs_.functions.insert(e.function);
  std::string code = name->second + "(";
  for (size_t i = 0; i < e.args.size(); ++i) {
    const Type parameter = parameters->second[i];
    const Text argument = text(e.args[i]);
    if (i > 0) code += ", ";
    code += !parameter.is_scalar() ? argument.code : converted(argument, parameter.dtype).code;
  }
  return {code + ")", kPrimary, type.packed ? DType::kUInt32 : type.dtype};
}

}  // namespace ingot
