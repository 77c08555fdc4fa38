// SPDX-License-Identifier: Apache-2.0
// Printing. Parsing is in graph/text_parse.cpp.
#include "graph/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "graph/text_words.h"

namespace ingot {
namespace {

// Constants of at most so many elements print as elements rather than as bytes.
constexpr int64_t kMostElements = 64;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

std::string print_name(std::string_view name) {
  return text_words::is_bare_name(name) ? std::string(name) : quoted(name);
}

std::string print_field(int64_t value) { return fmt::format("{}", value); }
std::string print_field(double value) { return fmt::format("{}", value); }
std::string print_field(bool value) { return value ? "true" : "false"; }
std::string print_field(const std::vector<int64_t>& value) {
  return fmt::format("{{{}}}", fmt::join(value, ","));
}
std::string print_field(const Padding& value) {
  return fmt::format("{{{},{},{},{}}}", value.top, value.bottom, value.left, value.right);
}

// A template of its own: clang looks into generic lambdas for members of O before it discards them.
template <class O, class Kind>
std::string_view kind_name(Kind kind) {
  return O::kinds[static_cast<size_t>(kind)];
}

template <class O>
std::string print_fields(const O& op, bool all_fields) {
  std::vector<std::string> defaults;
  std::vector<std::string> fields;
  const auto collect_into = [](std::vector<std::string>& list) {
    return [&list](std::string_view name, const auto& value) {
      if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>) {
        list.push_back(fmt::format("{}={}", name, kind_name<O>(value)));
      } else {
        list.push_back(fmt::format("{}={}", name, print_field(value)));
      }
    };
  };
  O::fields(op, collect_into(fields));
  if (!all_fields) {
    const O default_op;
    O::fields(default_op, collect_into(defaults));
    for (size_t i = fields.size(); i-- > 0;) {
      const bool is_kind = fields[i].starts_with("kind=");
      if (fields[i] == defaults[i] && !is_kind)
        fields.erase(fields.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  return fields.empty() ? std::string(O::name)
                        : fmt::format("{}({})", O::name, fmt::join(fields, ", "));
}

bool is_all_zero(std::span<const uint8_t> bytes) {
  return std::ranges::all_of(bytes, [](uint8_t byte) { return byte == 0; });
}

std::string print_hex(std::span<const uint8_t> bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "hex ";
  out.reserve(out.size() + 2 * bytes.size());
  for (const uint8_t byte : bytes) out += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  return out;
}

// The elements in braces, or nothing where that would lose bits.
std::string print_elements(const Bytes& bytes, DType dtype) {
  std::string out;
  text_words::visit_element_type(dtype, [&]<class T>() {
    const std::vector<T> elements = bytes.as<T>();
    if constexpr (std::is_floating_point_v<T>) {
      if (std::ranges::any_of(elements, [](T element) { return std::isnan(element); })) return;
    }
    out = fmt::format("{{{}}}", fmt::join(elements, ","));
  });
  return out;
}

std::string print_constant(const Value& value, const PrintOptions& options) {
  const Bytes& bytes = *value.constant;
  const int64_t num_bytes = bytes.size();
  const int64_t element_bytes = size_in_bytes(value.type.dtype);
  if (num_bytes > options.longest_constant_bytes) return "...";
  if (num_bytes % element_bytes == 0 && num_bytes <= kMostElements * element_bytes) {
    const std::string elements = print_elements(bytes, value.type.dtype);
    if (!elements.empty()) return elements;
  }
  if (num_bytes == value.type.size_bytes() && is_all_zero(bytes.view())) return "zeros";
  return print_hex(bytes.view());
}

class Printer {
 public:
  Printer(const Graph& graph, const PrintOptions& options)
      : graph_(graph), options_(options), seen_(graph.values.size()) {}

  // Writes the whole graph; `order` receives the values in the order of their statements.
  std::string print_all(std::vector<ValueId>& order) {
    out_ = fmt::format("graph {}\n", quoted(graph_.name));
    for (const ValueId input : graph_.inputs) {
      line("{} = input\n", declare(input, order));
    }
    for (const Node& node : graph_.nodes) {
      for (const ValueId input : node.inputs) constant(input, order);
      for (const Step& step : node.epilogue) {
        for (const ValueId operand : step.operands) constant(operand, order);
      }
      statement(node, order);
    }
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const ValueId id{static_cast<int32_t>(i)};
      constant(id, order);
      if (!seen_[i]) line("{} = none\n", declare(id, order));
    }
    for (const ValueId output : graph_.outputs) line("output {}\n", name(output));
    return std::move(out_);
  }

 private:
  bool exists(ValueId id) const {
    return id.present() && static_cast<size_t>(id.index) < graph_.values.size();
  }

  template <class... T>
  void line(fmt::format_string<T...> format, T&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(arguments)...);
  }

  std::string name(ValueId id) const {
    if (!id.present()) return "_";
    return exists(id) ? print_name(graph_[id].name) : fmt::format("?{}", id.index);
  }

  std::string names(const std::vector<ValueId>& ids, int64_t position = -1) const {
    std::vector<std::string> texts;
    for (const ValueId id : ids) texts.push_back(name(id));
    if (position >= 0) {
      const auto at = std::min(position, static_cast<int64_t>(texts.size()));
      texts.insert(texts.begin() + at, "%");
    }
    return texts.empty() ? "" : fmt::format(" {}", fmt::join(texts, ", "));
  }

  std::string declare(ValueId id, std::vector<ValueId>& order) {
    if (!exists(id)) return name(id);
    if (!seen_[static_cast<size_t>(id.index)]) order.push_back(id);
    seen_[static_cast<size_t>(id.index)] = true;
    return fmt::format("{}: {}", name(id), print(graph_[id].type));
  }

  void constant(ValueId id, std::vector<ValueId>& order) {
    if (!exists(id) || !graph_[id].is_constant() || seen_[static_cast<size_t>(id.index)]) return;
    line("{} = const {}\n", declare(id, order), print_constant(graph_[id], options_));
  }

  void statement(const Node& node, std::vector<ValueId>& order) {
    std::vector<std::string> declared;
    for (const ValueId output : node.outputs) declared.push_back(declare(output, order));
    line("{} = {}{}", fmt::join(declared, ", "), print(node.op), names(node.inputs));
    if (!node.epilogue.empty()) line(" -> {}", print(node.produced));
    const TensorType* output_type =
        !node.outputs.empty() && exists(node.outputs[0]) ? &graph_[node.outputs[0]].type : nullptr;
    for (const Step& step : node.epilogue) {
      line(" | {}{}", print(step.op), names(step.operands, step.position));
      if (!output_type || !(step.type == *output_type)) line(" -> {}", print(step.type));
    }
    if (node.outputs.empty() || !exists(node.outputs[0]) ||
        node.name != graph_[node.outputs[0]].name) {
      line(" node {}", quoted(node.name));
    }
    if (!node.sources.empty()) line(" sources {}", fmt::join(node.sources, ","));
    out_ += '\n';
  }

  const Graph& graph_;
  const PrintOptions& options_;
  std::vector<bool> seen_;  // by value: it has a statement
  std::string out_;
};

}  // namespace

std::string print(const Op& op, bool all_fields) {
  return std::visit([&](const auto& o) { return print_fields(o, all_fields); }, op);
}

std::string print(const Graph& graph, const PrintOptions& options) {
  std::vector<ValueId> order;
  return Printer(graph, options).print_all(order);
}

Graph renumbered(const Graph& graph) {
  std::vector<ValueId> order;
  Printer(graph, {.longest_constant_bytes = -1}).print_all(order);
  Graph result{graph.name, {}, graph.nodes, graph.inputs, graph.outputs};
  std::vector<ValueId> new_id(graph.values.size());
  for (const ValueId id : order) {
    new_id.at(static_cast<size_t>(id.index)) = result.add(graph[id]);
  }
  const auto rename = [&](std::vector<ValueId>& ids) {
    for (ValueId& id : ids) {
      if (id.present()) id = new_id.at(static_cast<size_t>(id.index));
    }
  };
  rename(result.inputs);
  rename(result.outputs);
  for (Node& node : result.nodes) {
    rename(node.inputs);
    rename(node.outputs);
    for (Step& step : node.epilogue) rename(step.operands);
    if (node.epilogue.empty()) node.produced = {};
  }
  return result;
}

}  // namespace ingot
