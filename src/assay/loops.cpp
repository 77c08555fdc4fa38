// SPDX-License-Identifier: Apache-2.0
#include "assay/loops.h"

#include <charconv>
#include <utility>

#include "assay/body_reader.h"
#include "assay/lexer.h"

namespace ingot::assay {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : lexer_(text) {}

  Loops read() {
    lexer_.expect("program");
    loops_.name = lexer_.name_or_text();
    while (!lexer_.accept("run")) {
      if (lexer_.accept("buffer")) {
        buffer();
      } else if (lexer_.accept("function")) {
        function();
      } else if (lexer_.accept("kernel")) {
        kernel();
      } else {
        lexer_.fail("expected a buffer, function, kernel or run");
      }
    }
    BodyReader reader(lexer_, functions_, &loops_.calls);
    std::vector<Stmt> stmts = reader.block();
    loops_.runner = std::move(reader).take();
    loops_.runner.stmts = std::move(stmts);
    if (lexer_.kind() != Word::kEnd) lexer_.fail("expected the end");
    return std::move(loops_);
  }

 private:
  void buffer() {
    Buffer b;
    b.name = lexer_.name();
    int64_t count = 0;
    std::tie(b.element, count) = read_array_type(lexer_);
    b.size_bytes = count * b.element->bytes;
    b.kind = lexer_.name();
    if (b.kind != "input" && b.kind != "output" && b.kind != "arena" && b.kind != "constant")
      lexer_.fail("expected the kind of a buffer");
    b.alignment = read_alignment(lexer_);
    if (lexer_.accept("offset")) b.offset_bytes = lexer_.integer();
    if (lexer_.accept("pool")) b.pool = lexer_.name();
    if (lexer_.accept("in")) b.lender = lexer_.name();
    if (lexer_.accept("tie")) {
      b.tie_group = lexer_.integer();
      b.tie_offset_bytes = lexer_.integer();
    }
    if (lexer_.accept("tensor")) b.tensor = lexer_.text();
    if (lexer_.accept("type")) b.type = tensor_type();
    if (lexer_.is("data")) {
      b.data = lexer_.hex();
      if (static_cast<int64_t>(b.data.size()) != b.size_bytes)
        lexer_.fail("data of another size than its buffer");
    }
    loops_.buffers.push_back(std::move(b));
  }

  std::vector<int64_t> integers(std::string_view open, std::string_view close) {
    std::vector<int64_t> numbers;
    lexer_.expect(open);
    while (!lexer_.accept(close)) {
      if (!numbers.empty()) lexer_.expect(",");
      numbers.push_back(lexer_.integer());
    }
    return numbers;
  }

  float scale() {
    const std::string_view text = lexer_.number();
    float value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || stop != text.data() + text.size()) lexer_.fail("expected a scale");
    return value;
  }

  TensorType tensor_type() {
    TensorType type;
    type.element = find_element(lexer_.name());
    if (type.element == nullptr) lexer_.fail("expected a type of elements");
    type.shape = integers("[", "]");
    if (lexer_.accept("scale")) {
      type.scales.push_back(scale());
      lexer_.expect("zero_point");
      type.zero_points.push_back(lexer_.integer());
    } else if (lexer_.accept("scales")) {
      lexer_.expect("{");
      while (!lexer_.accept("}")) {
        if (!type.scales.empty()) lexer_.expect(",");
        type.scales.push_back(scale());
      }
      lexer_.expect("zero_points");
      type.zero_points = integers("{", "}");
      lexer_.expect("axis");
      lexer_.integer();
    }
    return type;
  }

  // name: type
  void scalar(BodyReader& reader) {
    const std::string name = lexer_.name();
    lexer_.expect(":");
    reader.declare_slot(name, read_type(lexer_));
  }

  // Functions have no memory: only their results' types matter.
  void function() {
    BodyReader reader(lexer_, functions_);
    const std::string name = lexer_.name();
    lexer_.expect("(");
    for (bool first = true; !lexer_.accept(")"); first = false) {
      if (!first) lexer_.expect(",");
      scalar(reader);
    }
    lexer_.expect("->");
    const Type type = read_type(lexer_);
    lexer_.text();
    lexer_.accept("movable");
    for (const char* word : {"spelling", "assembly", "constraints", "expression", "if"}) {
      if (lexer_.accept(word)) lexer_.text();
    }
    lexer_.expect("{");
    reader.statements_until("return", 1);
    if (reader.type_of(reader.expression()) != type)
      lexer_.fail("a result of another type than stated");
    lexer_.expect("}");
    functions_[name] = type;
  }

  Place param() {
    Place p{.name = lexer_.name()};
    lexer_.expect(":");
    std::tie(p.element, p.count) = read_array_type(lexer_);
    p.constant = lexer_.accept("constant");
    const bool update = lexer_.accept("update");
    const bool write = !update && lexer_.accept("write");
    if (!update && !write && !p.constant) lexer_.expect("read");
    p.reads = !write;
    p.writes = update || write;
    p.alignment = read_alignment(lexer_);
    return p;
  }

  void kernel() {
    Kernel k;
    BodyReader reader(lexer_, functions_);
    const std::string name = lexer_.name();
    lexer_.expect("(");
    for (; !lexer_.is(")") && !lexer_.is(";"); ++k.num_params) {
      if (k.num_params > 0) lexer_.expect(",");
      reader.declare_place(param());
    }
    if (lexer_.accept(";")) {
      do {
        scalar(reader);
        ++k.num_scalars;
      } while (lexer_.accept(","));
    }
    lexer_.expect(")");
    lexer_.text();
    std::vector<Stmt> stmts = reader.block();
    k.body = std::move(reader).take();
    k.body.stmts = std::move(stmts);
    if (!loops_.kernels.emplace(name, std::move(k)).second) lexer_.fail("two kernels of a name");
  }

  Lexer lexer_;
  FunctionTypes functions_;
  Loops loops_;
};

}  // namespace

Loops read_loops(std::string_view text) { return Reader(text).read(); }

}  // namespace ingot::assay
