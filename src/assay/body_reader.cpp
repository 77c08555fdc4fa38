// SPDX-License-Identifier: Apache-2.0
#include "assay/body_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace ingot::assay {
namespace {

constexpr int kDeepestExpression = 1000;
constexpr int kDeepestBlock = 100;
constexpr int64_t kMostElements = int64_t{1} << 40;
constexpr size_t kMostNodes = 50'000'000;

struct Infix {
  std::string_view sign;
  int level;
  Op op;
};
constexpr auto kInfix = std::to_array<Infix>({{"<=", 1, Op::kLessEqual},
                                              {"<", 1, Op::kLess},
                                              {"==", 1, Op::kEqual},
                                              {"!=", 1, Op::kUnequal},
                                              {"|", 2, Op::kOr},
                                              {"^", 3, Op::kXor},
                                              {"&", 4, Op::kAnd},
                                              {"<<", 5, Op::kShiftLeft},
                                              {">>", 5, Op::kShiftRight},
                                              {"+", 6, Op::kAdd},
                                              {"-", 6, Op::kSubtract},
                                              {"*", 7, Op::kMultiply}});
struct Named {
  std::string_view name;
  size_t num_args;
  Op op;
};
constexpr auto kNamed = std::to_array<Named>({{"div", 2, Op::kDivide},
                                              {"floordiv", 2, Op::kFloorDivide},
                                              {"floormod", 2, Op::kFloorModulo},
                                              {"min", 2, Op::kMin},
                                              {"max", 2, Op::kMax},
                                              {"select", 3, Op::kSelect},
                                              {"abs", 1, Op::kAbs},
                                              {"sqrt", 1, Op::kOpaque},
                                              {"exp", 1, Op::kOpaque},
                                              {"log", 1, Op::kOpaque},
                                              {"tanh", 1, Op::kOpaque},
                                              {"floor", 1, Op::kOpaque},
                                              {"ceil", 1, Op::kOpaque},
                                              {"round", 1, Op::kOpaque}});

bool is_comparison(Op op) { return op >= Op::kEqual && op <= Op::kLessEqual; }

const Element* const kBool = find_element("bool");
const Element* const kInt32 = find_element("int32");
const Element* const kFloat32 = find_element("float32");

std::optional<Type> find_type(std::string_view word) {
  if (const Element* element = find_element(word)) return Type{element, 1};
  const size_t split = word.find_last_of("px");
  if (split == std::string_view::npos) return std::nullopt;
  Type type{find_element(word.substr(0, split)), 0};
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + split + 1, end, type.lanes);
  const bool right = error == std::errc() && stop == end && type.lanes >= 2 && type.lanes <= 256;
  return type.element != nullptr && right ? std::optional(type) : std::nullopt;
}

}  // namespace

const Element* find_element(std::string_view name) {
  using Limits = std::numeric_limits<int64_t>;
  static constexpr auto kElements = std::to_array<Element>({
      {"bool", 1, false, 0, 1},
      {"int8", 1, false, -128, 127},
      {"uint8", 1, false, 0, 255},
      {"int16", 2, false, -32768, 32767},
      {"uint16", 2, false, 0, 65535},
      {"int32", 4, false, -2147483648LL, 2147483647},
      {"uint32", 4, false, 0, 4294967295},
      {"int64", 8, false, Limits::min(), Limits::max()},
      {"uint64", 8, false, 0, Limits::max()},
      {"float16", 2, true},
      {"float32", 4, true},
      {"float64", 8, true},
  });
  const auto* found = std::ranges::find(kElements, name, &Element::name);
  return found == kElements.end() ? nullptr : found;
}

Type read_type(Lexer& lexer) {
  const std::optional<Type> type = find_type(lexer.word());
  if (!type) lexer.fail("expected a type");
  lexer.name();
  return *type;
}

std::pair<const Element*, int64_t> read_array_type(Lexer& lexer) {
  const Element* element = find_element(lexer.word());
  if (element == nullptr) lexer.fail("expected a type of elements");
  lexer.name();
  lexer.expect("[");
  const int64_t count = lexer.integer();
  if (count < 0 || count > kMostElements) lexer.fail("an impossible number of elements");
  lexer.expect("]");
  return {element, count};
}

int64_t read_alignment(Lexer& lexer) {
  lexer.expect("align");
  const int64_t alignment = lexer.integer();
  if (alignment < 1 || (alignment & (alignment - 1)) != 0) lexer.fail("an impossible alignment");
  return alignment;
}

void BodyReader::declare(const std::string& key, int index) {
  names_[key].push_back(index);
  declared_.push_back(key);
}

int BodyReader::find(const std::string& key) const {
  const auto found = names_.find(key);
  return found == names_.end() || found->second.empty() ? -1 : found->second.back();
}

void BodyReader::leave(size_t mark) {
  for (; declared_.size() > mark; declared_.pop_back()) names_[declared_.back()].pop_back();
}

int BodyReader::declare_slot(const std::string& name, Type type) {
  const auto slot = static_cast<int>(body_.slots.size());
  body_.slots.push_back(type);
  declare(name, slot);
  return slot;
}

void BodyReader::declare_place(Place place) {
  declare(place.name + "[", static_cast<int>(body_.places.size()));
  body_.places.push_back(std::move(place));
}

Type BodyReader::type_of(int expr) const { return body_.exprs[static_cast<size_t>(expr)].type; }

std::vector<Stmt> BodyReader::block(int depth) {
  if (depth > kDeepestBlock) lexer_.fail("statements are nested too deeply");
  const size_t mark = declared_.size();
  lexer_.expect("{");
  std::vector<Stmt> stmts = statements_until("}", depth);
  leave(mark);
  return stmts;
}

std::vector<Stmt> BodyReader::statements_until(std::string_view end, int depth) {
  std::vector<Stmt> stmts;
  const auto names_something = [&] {
    return lexer_.kind() == Word::kName &&
           (lexer_.sign_after() == "=" || lexer_.sign_after() == "[");
  };
  while (names_something() || !lexer_.is(end)) {
    if (names_something()) {
      stmts.push_back(assignment());
    } else if (lexer_.accept("comment")) {
      lexer_.text();
    } else if (lexer_.accept("array")) {
      Place array{.name = lexer_.name()};
      std::tie(array.element, array.count) = read_array_type(lexer_);
      declare_place(std::move(array));
    } else {
      stmts.push_back(statement(depth));
    }
  }
  lexer_.expect(end);
  return stmts;
}

Stmt BodyReader::statement(int depth) {
  if (lexer_.accept("for")) return for_statement(depth);
  if (lexer_.accept("if")) return if_statement(depth);
  if (lexer_.accept("let")) return let_statement();
  if (calls_ != nullptr && lexer_.accept("call")) return call_statement();
  lexer_.fail("expected a statement");
}

Stmt BodyReader::for_statement(int depth) {
  Stmt stmt{.kind = Stmt::Kind::kFor};
  const std::string variable = lexer_.name();
  lexer_.expect("=");
  stmt.a = expression();
  lexer_.expect("to");
  stmt.b = expression();
  if (type_of(stmt.a) != Type{kInt32} || type_of(stmt.b) != Type{kInt32})
    lexer_.fail("bounds of a loop that are not int32");
  if (lexer_.accept("step")) stmt.step = lexer_.integer();
  if (stmt.step < 1) lexer_.fail("expected a step above 0");
  stmt.reverse = lexer_.accept("reverse");
  const size_t mark = declared_.size();
  stmt.target = declare_slot(variable, Type{kInt32});
  stmt.body = block(depth + 1);
  leave(mark);
  return stmt;
}

Stmt BodyReader::if_statement(int depth) {
  Stmt stmt{.kind = Stmt::Kind::kIf, .a = expression()};
  if (type_of(stmt.a) != Type{kBool}) lexer_.fail("a condition that is not bool");
  stmt.body = block(depth + 1);
  if (lexer_.accept("else")) stmt.otherwise = block(depth + 1);
  return stmt;
}

Stmt BodyReader::let_statement() {
  Stmt stmt{.kind = Stmt::Kind::kLet};
  const std::string name = lexer_.name();
  lexer_.expect(":");
  const Type type = read_type(lexer_);
  if (lexer_.accept("in")) lexer_.text();
  lexer_.expect("=");
  stmt.a = expression();
  if (type_of(stmt.a) != type) lexer_.fail("a value of another type than stated");
  stmt.target = declare_slot(name, type);
  return stmt;
}

Stmt BodyReader::assignment() {
  const std::string name = lexer_.name();
  if (lexer_.accept("=")) {
    Stmt stmt{.kind = Stmt::Kind::kAssign, .target = find(name), .a = expression()};
    if (stmt.target < 0) lexer_.fail(name + " is not defined");
    if (body_.slots[static_cast<size_t>(stmt.target)] != type_of(stmt.a))
      lexer_.fail("a value of another type than " + name + " has");
    return stmt;
  }
  Stmt stmt{.kind = Stmt::Kind::kStore, .target = find(name + "[")};
  if (stmt.target < 0) lexer_.fail(name + " is not defined");
  lexer_.expect("[");
  stmt.b = expression();
  lexer_.expect("]");
  const Type type = access_type(body_.places[static_cast<size_t>(stmt.target)], stmt.alignment);
  lexer_.expect("=");
  stmt.a = expression();
  if (type_of(stmt.a) != type) lexer_.fail("a value of another type than the place stored to");
  return stmt;
}

// Of an element of `place`, or as said behind the access: ":int8x16 align 4".
Type BodyReader::access_type(const Place& place, int64_t& alignment) {
  Type type{place.element, 1};
  alignment = place.element->bytes;
  if (!lexer_.accept(":")) return type;
  type = read_type(lexer_);
  alignment = read_alignment(lexer_);
  if (type.element->bytes != place.element->bytes)
    lexer_.fail("an access of another width than the elements of " + place.name);
  return type;
}

Stmt BodyReader::call_statement() {
  Call call;
  call.kernel = lexer_.name();
  lexer_.expect("(");
  while (!lexer_.is(")") && !lexer_.is(";")) {
    if (!call.args.empty()) lexer_.expect(",");
    Call::Arg arg{lexer_.name()};
    if (lexer_.accept("+")) arg.offset_elements = lexer_.integer();
    call.args.push_back(std::move(arg));
  }
  if (lexer_.accept(";")) {
    do {
      call.scalars.push_back(scalar_argument());
    } while (lexer_.accept(","));
  }
  lexer_.expect(")");
  if (lexer_.accept("note")) {
    call.has_note = true;
    call.name = lexer_.text();
    call.kind = lexer_.name_or_text();
    lexer_.expect("macs");
    call.macs = lexer_.integer();
    lexer_.expect("operators");
    lexer_.expect("[");
    while (!lexer_.accept("]")) {
      if (!call.operators.empty()) lexer_.expect(",");
      call.operators.push_back(lexer_.integer());
    }
  }
  calls_->push_back(std::move(call));
  return {.kind = Stmt::Kind::kCall, .target = static_cast<int>(calls_->size()) - 1};
}

Call::Scalar BodyReader::scalar_argument() {
  const Expr& e = body_.exprs[static_cast<size_t>(expression())];
  if (e.op == Op::kNumber) return {e.type, e.number};
  if (!e.type.element->is_float) lexer_.fail("expected a literal");
  return {e.type, std::nullopt};
}

int BodyReader::expression() { return infix(0); }

int BodyReader::make(Op op, Type type, std::vector<int> args, int64_t number) {
  Expr e{.op = op, .type = type, .number = number};
  for (const int arg : args) {
    e.depth = std::max(e.depth, body_.exprs[static_cast<size_t>(arg)].depth + 1);
  }
  if (e.depth > kDeepestExpression) lexer_.fail("an expression is nested too deeply");
  if (body_.exprs.size() >= kMostNodes) lexer_.fail("the program is too long");
  e.args = std::move(args);
  body_.exprs.push_back(std::move(e));
  return static_cast<int>(body_.exprs.size()) - 1;
}

int BodyReader::infix(int level) {
  if (++nesting_ > kDeepestExpression) lexer_.fail("an expression is nested too deeply");
  int left = prefix();
  while (true) {
    const auto* found = std::ranges::find_if(
        kInfix, [&](const Infix& i) { return lexer_.kind() == Word::kSign && lexer_.is(i.sign); });
    if (found == kInfix.end() || found->level < level) break;
    lexer_.accept(found->sign);
    left = binary(found->op, left, infix(found->level + 1));
  }
  --nesting_;
  return left;
}

int BodyReader::binary(Op op, int left, int right) {
  const Type type = type_of(left);
  if (type != type_of(right)) lexer_.fail("operands of two types");
  return make(op, is_comparison(op) ? Type{kBool, type.lanes} : type, {left, right});
}

int BodyReader::prefix() {
  if (++nesting_ > kDeepestExpression) lexer_.fail("an expression is nested too deeply");
  int result = -1;
  if (lexer_.accept("!")) {
    const int operand = prefix();
    result = make(Op::kNot, type_of(operand), {operand});
  } else if (lexer_.accept("-")) {
    const bool names = (lexer_.is("inf") || lexer_.is("nan")) && lexer_.sign_after() == ":";
    if (lexer_.kind() == Word::kNumber || names) {
      result = literal(true);
    } else {
      const int operand = primary();
      result = make(Op::kNegate, type_of(operand), {operand});
    }
  } else {
    result = primary();
  }
  --nesting_;
  return result;
}

int BodyReader::primary() {
  if (lexer_.kind() == Word::kNumber) return literal(false);
  if (lexer_.accept("(")) {
    const int inside = infix(0);
    lexer_.expect(")");
    return inside;
  }
  const std::string_view after = lexer_.sign_after();
  if (after == ":" && (lexer_.is("inf") || lexer_.is("nan"))) return literal(false);
  const std::string name = lexer_.name();
  if (after == "(") return call(name);
  if (after == "[") return load(name);
  if (name == "true" || name == "false") return make(Op::kNumber, {kBool}, {}, name == "true");
  const int slot = find(name);
  if (slot < 0) lexer_.fail(name + " is not defined");
  return make(Op::kVariable, body_.slots[static_cast<size_t>(slot)], {}, slot);
}

int BodyReader::literal(bool negative) {
  const bool is_number = lexer_.kind() == Word::kNumber;
  const std::string text = (negative ? "-" : "") + std::string(lexer_.word());
  is_number ? void(lexer_.number()) : void(lexer_.name());
  const bool whole = is_number && text.find_first_of(".e") == std::string::npos;
  const Type type = lexer_.accept(":") ? read_type(lexer_) : Type{whole ? kInt32 : kFloat32};
  if (type.element->is_float) return make(Op::kOpaque, type, {});
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < type.element->low ||
      value > type.element->high)
    lexer_.fail(text + " is no number of its type");
  return make(Op::kNumber, type, {}, value);
}

int BodyReader::load(const std::string& name) {
  const int place = find(name + "[");
  if (place < 0) lexer_.fail(name + " is not defined");
  lexer_.expect("[");
  const int index = infix(0);
  lexer_.expect("]");
  if (type_of(index) != Type{kInt32}) lexer_.fail("an index that is not int32");
  int64_t alignment = 1;
  const Type type = access_type(body_.places[static_cast<size_t>(place)], alignment);
  const int e = make(Op::kLoad, type, {index}, place);
  body_.exprs.back().alignment = alignment;
  return e;
}

int BodyReader::call(const std::string& name) {
  lexer_.expect("(");
  std::vector<int> args;
  while (!lexer_.accept(")")) {
    if (!args.empty()) lexer_.expect(",");
    args.push_back(infix(0));
  }
  return named(name, std::move(args));
}

int BodyReader::named(const std::string& name, std::vector<int> args) {
  const std::optional<Type> type = find_type(name);
  if (type && args.size() == 1) return make(Op::kCast, *type, std::move(args));
  // A vector of so many values, a lane of one: no address depends on these.
  if (type && args.size() == static_cast<size_t>(type->lanes))
    return make(Op::kOpaque, *type, std::move(args));
  if (name == "lane" && args.size() == 2) {
    const Type scalar{type_of(args[0]).element, 1};
    return make(Op::kOpaque, scalar, std::move(args));
  }
  const auto* found = std::ranges::find(kNamed, name, &Named::name);
  if (found != kNamed.end() && args.size() == found->num_args) {
    if (found->num_args == 2) return binary(found->op, args[0], args[1]);
    const Type own = type_of(args[found->num_args == 3 ? 1 : 0]);
    return make(found->op, own, std::move(args));
  }
  const auto function = functions_.find(name);
  if (function == functions_.end()) lexer_.fail("there is no function " + name);
  return make(Op::kOpaque, function->second, std::move(args));
}

}  // namespace ingot::assay
