// SPDX-License-Identifier: Apache-2.0
// Parsing the text form of a graph, in two sweeps over its lines: the first takes what stands left
// of each `=`, so that names may be used before they are declared (in graphs that the verifier then
// refuses); the second takes the rest. Nothing recurses.
#include <fmt/format.h>

#include <unordered_map>

#include "graph/text.h"
#include "graph/text_cursor.h"
#include "support/arithmetic.h"

namespace ingot {
namespace {

// What `const zeros` may ask for, so that a small text cannot make us allocate without measure.
constexpr int64_t kMostZeroBytes = int64_t{1} << 30;

void parse_field(TextCursor& line, int64_t& value) { value = line.number<int64_t>(); }
void parse_field(TextCursor& line, double& value) { value = line.number<double>(); }
void parse_field(TextCursor& line, bool& value) {
  value = line.accept_word("true");
  if (!value && !line.accept_word("false")) line.fail("expected 'true' or 'false'");
}
void parse_field(TextCursor& line, std::vector<int64_t>& value) {
  value = line.numbers<int64_t>("{", "}");
}
void parse_field(TextCursor& line, Padding& value) {
  const std::vector<int64_t> sides = line.numbers<int64_t>("{", "}");
  if (sides.size() != 4) {
    line.fail("expected four numbers: top, bottom, left, right");
    return;
  }
  value = {sides[0], sides[1], sides[2], sides[3]};
}

template <class O, class Kind>
void parse_kind(TextCursor& line, Kind& value) {
  const std::string_view word = line.word();
  for (size_t i = 0; i < std::size(O::kinds); ++i) {
    if (O::kinds[i] == word) {
      value = static_cast<Kind>(i);
      return;
    }
  }
  line.fail(fmt::format("{} has no such kind", O::name));
}

template <class O>
O parse_fields(TextCursor& line) {
  O op;
  if (!line.accept("(") || line.accept(")")) return op;
  do {
    const std::string_view field = line.word();
    bool found = false;
    line.expect("=");
    O::fields(op, [&](std::string_view name, auto& value) {
      if (name != field) return;
      found = true;
      if constexpr (std::is_enum_v<std::remove_reference_t<decltype(value)>>) {
        parse_kind<O>(line, value);
      } else {
        parse_field(line, value);
      }
    });
    if (!found) line.fail(fmt::format("{} has no field {}", O::name, quote(field)));
  } while (!line.failed() && line.accept(","));
  line.expect(")");
  return op;
}

template <size_t... kIndices>
Op parse_op(TextCursor& line, std::string_view name, std::index_sequence<kIndices...>) {
  Op op;
  const bool found = ((std::variant_alternative_t<kIndices, Op>::name == name &&
                       (op = parse_fields<std::variant_alternative_t<kIndices, Op>>(line), true)) ||
                      ...);
  if (!found) line.fail(fmt::format("there is no operator {}", quote(name)));
  return op;
}
Op parse_op(TextCursor& line) {
  const std::string_view name = line.word();
  return parse_op(line, name, std::make_index_sequence<std::variant_size_v<Op>>());
}

Bytes parse_zeros(TextCursor& line, const TensorType& type) {
  const std::optional<int64_t> count = checked_product(type.shape);
  const std::optional<int64_t> bytes =
      count ? checked_mul(*count, size_in_bytes(type.dtype)) : std::nullopt;
  if (!bytes || *bytes < 0 || *bytes > kMostZeroBytes) {
    line.fail("the constant is too large");
    return {};
  }
  return Bytes(std::vector<uint8_t>(static_cast<size_t>(*bytes)));
}

Bytes parse_constant(TextCursor& line, const TensorType& type) {
  if (line.accept_word("zeros")) return parse_zeros(line, type);
  if (line.accept_word("hex")) return Bytes(line.hex());
  Bytes bytes;
  const bool known = text_words::visit_element_type(
      type.dtype, [&]<class T>() { bytes = Bytes::of(line.numbers<T>("{", "}")); });
  if (!known) line.fail("elements of this type are written in hex");
  return bytes;
}

class Parser {
 public:
  // Takes `NAME: TYPE, ... =`, if the line is a statement about values.
  void declare(TextCursor& line, std::vector<ValueId>& declared) {
    do {
      std::string name = line.name();
      line.expect(":");
      TensorType type = line.type();
      if (line.failed()) return;
      const auto [found, is_new] = ids_.try_emplace(name);
      if (is_new) {
        found->second = graph_.add({std::move(name), std::move(type), std::nullopt});
      } else if (!(graph_[found->second].type == type)) {
        line.fail(fmt::format("{} has another type above", quote(name)));
      }
      declared.push_back(found->second);
    } while (!line.failed() && line.accept(","));
    line.expect("=");
  }

  // Takes what follows the `=`.
  void define(TextCursor& line, const std::vector<ValueId>& declared) {
    Value& first = graph_[declared.at(0)];
    if (declared.size() == 1 && line.accept_word("input")) {
      graph_.inputs.push_back(declared[0]);
    } else if (declared.size() == 1 && line.accept_word("const")) {
      first.constant = parse_constant(line, first.type);
    } else if (declared.size() != 1 || !line.accept_word("none")) {
      node(line, declared);
    }
  }

  void output(TextCursor& line) { graph_.outputs.push_back(reference(line)); }
  void name_graph(std::string name) { graph_.name = std::move(name); }
  Graph take() { return std::move(graph_); }

 private:
  ValueId reference(TextCursor& line) {
    const std::string name = line.name();
    const auto found = ids_.find(name);
    if (found != ids_.end()) return found->second;
    line.fail(fmt::format("{} is not declared", quote(name)));
    return {};
  }

  // Operands separated by commas; `position`, if given, receives where % stood.
  std::vector<ValueId> operands(TextCursor& line, int64_t* position) {
    std::vector<ValueId> list;
    do {
      if (position && line.accept("%")) {
        *position = static_cast<int64_t>(list.size());
      } else if (line.accept_word("_")) {
        list.push_back({});
      } else {
        list.push_back(reference(line));
      }
    } while (!line.failed() && line.accept(","));
    return list;
  }

  void node(TextCursor& line, const std::vector<ValueId>& declared) {
    const Value& first = graph_[declared[0]];
    Node node;
    node.name = first.name;
    node.outputs = declared;
    node.op = parse_op(line);
    if (!line.at_end() && !stands_before_tail(line)) node.inputs = operands(line, nullptr);
    if (line.accept("->")) node.produced = line.type();
    while (!line.failed() && line.accept("|")) {
      Step step{parse_op(line), {}, -1, first.type};
      step.operands = operands(line, &step.position);
      if (step.position < 0) line.fail("a step needs '%' among its operands");
      if (line.accept("->")) step.type = line.type();
      node.epilogue.push_back(std::move(step));
    }
    if (line.accept_word("node")) node.name = line.string();
    if (line.accept_word("sources")) {
      do node.sources.push_back(line.number<int64_t>());
      while (!line.failed() && line.accept(","));
    }
    graph_.nodes.push_back(std::move(node));
  }

  // An operator without operands is followed by one of these.
  static bool stands_before_tail(TextCursor& line) {
    TextCursor ahead = line;
    return ahead.accept("->") || ahead.accept("|") || ahead.accept_word("node") ||
           ahead.accept_word("sources");
  }

  Graph graph_;
  std::unordered_map<std::string, ValueId> ids_;
};

struct Statement {
  int64_t line_number;
  TextCursor line;
  std::vector<ValueId> declared;  // empty for `graph` and `output`
};

Diagnostic syntax_error(const Statement& statement) {
  return {Code::kGraphText, fmt::format("line {}", statement.line_number), statement.line.error(),
          ""};
}

}  // namespace

Result<Graph> parse_graph(std::string_view text) {
  Parser parser;
  std::vector<Statement> statements;
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    Statement statement{number, TextCursor(text.substr(0, end)), {}};
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (statement.line.at_end()) continue;
    TextCursor ahead = statement.line;
    if (!ahead.accept_word("graph") && !ahead.accept_word("output")) {
      parser.declare(statement.line, statement.declared);
      if (statement.line.failed()) return syntax_error(statement);
    }
    statements.push_back(std::move(statement));
  }
  for (Statement& statement : statements) {
    TextCursor& line = statement.line;
    if (!statement.declared.empty()) {
      parser.define(line, statement.declared);
    } else if (line.accept_word("graph")) {
      parser.name_graph(line.string());
    } else if (line.accept_word("output")) {
      parser.output(line);
    }
    if (!line.at_end()) line.fail("expected the end of the line");
    if (line.failed()) return syntax_error(statement);
  }
  return parser.take();
}

}  // namespace ingot
