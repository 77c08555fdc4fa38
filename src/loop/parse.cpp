// SPDX-License-Identifier: Apache-2.0
// Parsing of loop programs: the inverse of print.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "loop/lexer.h"
#include "loop/memory.h"
#include "loop/parse_expr.h"
#include "loop/text.h"

namespace ingot::loop {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Result<Program> parse() {
    lexer_.expect("program");
    program_.name = lexer_.expect_word_or_string("the name of the program");
    while (!lexer_.is("run") && !lexer_.at_end()) {
      if (lexer_.accept("buffer")) {
        parse_buffer();
      } else if (lexer_.accept("function")) {
        parse_function();
      } else if (lexer_.accept("kernel")) {
        parse_kernel();
      } else {
        lexer_.fail("expected a buffer, function, kernel or run");
      }
    }
    lexer_.expect("run");
    in_runner_ = true;
    program_.runner = parse_braced();
    if (!lexer_.at_end()) lexer_.fail("text after the end of the program");
    if (lexer_.failed()) return lexer_.fault();
    return std::move(program_);
  }

 private:
  // "int8[490]"
  std::pair<DType, int64_t> parse_array_type() {
    const std::optional<DType> dtype = find_dtype(lexer_.expect_word("an element type"));
    if (!dtype) lexer_.fail("expected an element type");
    lexer_.expect("[");
    const int64_t count = lexer_.expect_integer();
    if (count < 0 || count > kMaxElements) lexer_.fail("expected a number of elements");
    lexer_.expect("]");
    return {dtype.value_or(DType::kInt8), count};
  }

  template <size_t N>
  size_t parse_choice(const std::array<std::string_view, N>& words, std::string_view what) {
    for (size_t i = 0; i < N; ++i) {
      if (lexer_.accept(words[i])) return i;
    }
    lexer_.fail(fmt::format("expected {}", what));
    return 0;
  }

  int64_t parse_alignment() {
    lexer_.expect("align");
    return lexer_.expect_integer();
  }

  void parse_buffer() {
    static constexpr std::array<std::string_view, 4> kKinds = {"input", "output", "arena",
                                                               "constant"};
    Buffer b;
    b.name = lexer_.expect_word("the name of a buffer");
    std::tie(b.dtype, b.num_elements) = parse_array_type();
    b.kind = static_cast<BufferKind>(parse_choice(kKinds, "the kind of a buffer"));
    b.alignment = parse_alignment();
    if (lexer_.accept("offset")) b.offset_bytes = lexer_.expect_integer();
    if (lexer_.accept("pool")) b.pool = lexer_.expect_word("the name of a pool");
    if (lexer_.accept("in")) b.pool = memory_of_port(lexer_.expect_word("an input or output"));
    if (lexer_.accept("tie")) {
      b.tie_group = lexer_.expect_integer();
      b.tie_offset_bytes = lexer_.expect_integer();
    }
    if (lexer_.accept("tensor")) b.tensor = lexer_.expect_string();
    if (lexer_.accept("type")) b.type = parse_tensor_type();
    if (lexer_.is("data")) {
      b.data = lexer_.take_hex();
      if (b.data->size() != b.size_bytes()) lexer_.fail("data of another size than its buffer");
    }
    program_.buffers.push_back(std::move(b));
  }

  template <class T>
  std::vector<T> parse_items(std::string_view close, T (Parser::*item)()) {
    std::vector<T> items;
    while (!lexer_.is(close) && !lexer_.is(";") && !lexer_.at_end()) {
      if (!items.empty()) lexer_.expect(",");
      items.push_back((this->*item)());
    }
    return items;
  }

  template <class T>
  std::vector<T> parse_list(std::string_view open, std::string_view close, T (Parser::*item)()) {
    lexer_.expect(open);
    std::vector<T> items = parse_items(close, item);
    lexer_.expect(close);
    return items;
  }

  int64_t parse_integer_item() { return lexer_.expect_integer(); }

  float parse_scale() {
    const std::string text(lexer_.peek().text);
    float value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (lexer_.peek().kind != TokenKind::kNumber || error != std::errc() || stop != end) {
      lexer_.fail("expected a scale");
    }
    lexer_.take();
    return value;
  }

  TensorType parse_tensor_type() {
    TensorType type;
    const std::optional<DType> dtype = find_dtype(lexer_.expect_word("an element type"));
    if (!dtype) lexer_.fail("expected an element type");
    type.dtype = dtype.value_or(DType::kInt8);
    type.shape = parse_list("[", "]", &Parser::parse_integer_item);
    if (lexer_.accept("scale")) {
      const float scale = parse_scale();
      lexer_.expect("zero_point");
      type.quantization = per_tensor(scale, lexer_.expect_integer());
    } else if (lexer_.accept("scales")) {
      Quantization q;
      q.scales = parse_list("{", "}", &Parser::parse_scale);
      lexer_.expect("zero_points");
      q.zero_points = parse_list("{", "}", &Parser::parse_integer_item);
      lexer_.expect("axis");
      q.axis = lexer_.expect_integer();
      type.quantization = std::move(q);
    }
    return type;
  }

  Type parse_type() {
    const std::optional<Type> type = find_type(lexer_.expect_word("a type"));
    if (!type) lexer_.fail("expected a type");
    return type.value_or(kInt32);
  }

  Function::Parameter parse_function_parameter() {
    Function::Parameter p;
    p.name = lexer_.expect_word("the name of a parameter");
    lexer_.expect(":");
    p.type = parse_type();
    context_.variables.declare(p.name, p.type);
    return p;
  }

  void parse_function() {
    Function f;
    f.name = lexer_.expect_word("the name of a function");
    f.params = parse_list("(", ")", &Parser::parse_function_parameter);
    lexer_.expect("->");
    const Type type = parse_type();
    f.comment = lexer_.expect_string();
    f.movable = lexer_.accept("movable");
    if (lexer_.accept("spelling")) f.spelling = lexer_.expect_string();
    if (lexer_.accept("assembly")) f.assembly = lexer_.expect_string();
    if (lexer_.accept("constraints")) f.constraints = lexer_.expect_string();
    if (lexer_.accept("expression")) f.expression = lexer_.expect_string();
    if (lexer_.accept("if")) f.condition = lexer_.expect_string();
    lexer_.expect("{");
    const auto is_return = [&] { return lexer_.is("return") && !names_something(); };
    while (!is_return() && !lexer_.at_end()) parse_stmt(f.body, 1);
    lexer_.expect("return");
    f.result = parse_expr();
    if (f.result->type != type) lexer_.fail("a result of another type than stated");
    lexer_.expect("}");
    leave_all();
    context_.function_types[f.name] = type;
    program_.functions.push_back(std::move(f));
  }

  Param parse_param() {
    static constexpr std::array<std::string_view, 4> kAccess = {"read", "write", "update",
                                                                "constant"};
    Param p;
    p.name = lexer_.expect_word("the name of a parameter");
    lexer_.expect(":");
    std::tie(p.dtype, p.num_elements) = parse_array_type();
    size_t access = parse_choice(kAccess, "read, write, update or constant");
    p.constant = access == 3;
    if (p.constant) access = lexer_.accept("write") ? 1 : lexer_.accept("update") ? 2 : 0;
    p.access = static_cast<Access>(access);
    p.alignment = parse_alignment();
    context_.buffers.declare(p.name, Type{p.dtype});
    return p;
  }

  void parse_kernel() {
    Kernel k;
    k.name = lexer_.expect_word("the name of a kernel");
    lexer_.expect("(");
    k.params = parse_items(")", &Parser::parse_param);
    if (lexer_.accept(";")) k.scalars = parse_items(")", &Parser::parse_function_parameter);
    lexer_.expect(")");
    k.comment = lexer_.expect_string();
    k.body = parse_braced();
    leave_all();
    program_.kernels.push_back(std::move(k));
  }

  void leave_all() {
    context_.variables.leave(0);
    context_.buffers.leave(0);
  }

  Block parse_braced(int64_t depth = 1) {
    Block block;
    const size_t variables = context_.variables.mark();
    const size_t buffers = context_.buffers.mark();
    lexer_.expect("{");
    if (depth > kMaxBlockDepth) lexer_.fail("statements that are nested too deeply");
    while (!lexer_.is("}") && !lexer_.at_end()) parse_stmt(block, depth);
    lexer_.expect("}");
    context_.variables.leave(variables);
    context_.buffers.leave(buffers);
    return block;
  }

  Expr parse_expr() { return ExprParser(lexer_, context_).parse(); }

  Expr parse_expr_of(Type type) {
    Expr e = parse_expr();
    if (e->type != type) lexer_.fail("expected an expression of type " + print(type));
    return lexer_.failed() ? (type == kBool ? lit(0, kBool) : lit(0)) : e;
  }

  // Whether the word here is the name of what is assigned to, though it be a keyword.
  bool names_something() const {
    const std::string_view after = lexer_.peek_second().text;
    return after == "=" || after == "[";
  }

  void parse_stmt(Block& block, int64_t depth) {
    if (lexer_.peek().kind == TokenKind::kWord && names_something()) {
      block.push_back(parse_assignment());
    } else if (lexer_.accept("for")) {
      block.push_back(parse_for(depth));
    } else if (lexer_.accept("if")) {
      block.push_back(parse_if(depth));
    } else if (lexer_.accept("let")) {
      block.push_back(parse_let());
    } else if (lexer_.accept("array")) {
      block.push_back(parse_array());
    } else if (lexer_.accept("comment")) {
      block.push_back(Comment{lexer_.expect_string()});
    } else if (in_runner_ && lexer_.accept("call")) {
      block.push_back(parse_call());
    } else {
      lexer_.fail("expected a statement");
    }
  }

  Stmt parse_for(int64_t depth) {
    For f;
    f.variable = lexer_.expect_word("a loop variable");
    lexer_.expect("=");
    f.begin = parse_expr_of(kInt32);
    lexer_.expect("to");
    f.end = parse_expr_of(kInt32);
    if (lexer_.accept("step")) f.step = lexer_.expect_integer();
    if (f.step < 1) lexer_.fail("expected a step above 0");
    f.reverse = lexer_.accept("reverse");
    const size_t mark = context_.variables.mark();
    context_.variables.declare(f.variable, kInt32);
    f.body = parse_braced(depth + 1);
    context_.variables.leave(mark);
    return f;
  }

  Stmt parse_if(int64_t depth) {
    If i;
    i.condition = parse_expr_of(kBool);
    i.then_body = parse_braced(depth + 1);
    if (lexer_.accept("else")) i.else_body = parse_braced(depth + 1);
    return i;
  }

  Stmt parse_let() {
    Let l;
    l.name = lexer_.expect_word("a name");
    lexer_.expect(":");
    const Type type = parse_type();
    lexer_.expect("=");
    l.value = parse_expr();
    if (l.value->type != type) lexer_.fail("a value of another type than stated");
    context_.variables.declare(l.name, type);
    return l;
  }

  Stmt parse_array() {
    LocalArray a;
    a.name = lexer_.expect_word("a name");
    std::tie(a.dtype, a.num_elements) = parse_array_type();
    context_.buffers.declare(a.name, Type{a.dtype});
    return a;
  }

  Stmt parse_assignment() {
    const std::string name = lexer_.expect_word("a name");
    if (lexer_.accept("=")) return Assign{name, parse_expr()};
    const std::optional<Type> element = context_.buffers.find(name);
    if (!element) lexer_.fail(fmt::format("{} is no buffer", quote(name)));
    lexer_.expect("[");
    Store store{name, parse_expr_of(kInt32), nullptr};
    lexer_.expect("]");
    Type type;
    std::tie(type, store.alignment) =
        ExprParser(lexer_, context_).parse_access(element.value_or(kInt8).dtype);
    lexer_.expect("=");
    store.value = parse_expr();
    if (store.value->type != type) lexer_.fail("a value of another type than the place stored to");
    return store;
  }

  BufferRef parse_buffer_ref() {
    BufferRef ref{lexer_.expect_word("a buffer"), 0};
    if (lexer_.accept("+")) ref.offset_elements = lexer_.expect_integer();
    return ref;
  }

  Stmt parse_call() {
    CallKernel call;
    call.kernel = lexer_.expect_word("the name of a kernel");
    lexer_.expect("(");
    call.args = parse_items(")", &Parser::parse_buffer_ref);
    if (lexer_.accept(";")) call.scalars = parse_items(")", &Parser::parse_expr);
    lexer_.expect(")");
    if (lexer_.accept("note")) {
      CallNote note;
      note.name = lexer_.expect_string();
      note.kind = lexer_.expect_word_or_string("the kind of an operator");
      lexer_.expect("macs");
      note.macs = lexer_.expect_integer();
      lexer_.expect("operators");
      note.operators = parse_list("[", "]", &Parser::parse_integer_item);
      if (program_.notes.size() != num_calls_) lexer_.fail("a note, but none at an earlier call");
      program_.notes.push_back(std::move(note));
    }
    ++num_calls_;
    return call;
  }

  // More would not fit the address space of any target, and products of sizes cannot overflow.
  static constexpr int64_t kMaxElements = int64_t{1} << 40;

  Lexer lexer_;
  ParseContext context_;
  Program program_;
  bool in_runner_ = false;
  size_t num_calls_ = 0;
};

}  // namespace

Result<Program> parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace ingot::loop
