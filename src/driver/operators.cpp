// SPDX-License-Identifier: Apache-2.0
#include "driver/operators.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "driver/element_types.h"
#include "graph/ops.h"
#include "import/tflite/import.h"
#include "ops/rules.h"

namespace ingot {
namespace {

void add(std::vector<OperatorSummary>& list, const Op& op) {
  OperatorSummary summary{display_name(op), element_types(op), {}};
  for (const Limit& limit : rules_of(op).limits) summary.limits.emplace_back(limit.sentence);
  list.push_back(std::move(summary));
}

// One operator, or each member of a family.
template <class T>
void add_operator(std::vector<OperatorSummary>& list) {
  if constexpr (requires { T::kinds; }) {
    for (size_t kind = 0; kind < std::size(T::kinds); ++kind) {
      T op;
      op.kind = static_cast<typename T::Kind>(kind);
      add(list, op);
    }
  } else {
    add(list, T());
  }
}

template <size_t... Indices>
std::vector<OperatorSummary> all_operators(std::index_sequence<Indices...>) {
  std::vector<OperatorSummary> list;
  (add_operator<std::variant_alternative_t<Indices, Op>>(list), ...);
  return list;
}

}  // namespace

std::vector<OperatorSummary> operator_summaries() {
  return all_operators(std::make_index_sequence<std::variant_size_v<Op>>());
}

std::vector<std::string> tflite_operators() { return supported_tflite_operators(); }

std::string operators_markdown() {
  std::string text =
      "# Supported operators\n\n"
      "This page is written by `ingot ops --markdown` from the operators' own rules; a test keeps\n"
      "it current.\n\n"
      "## Operators and their limits\n\n"
      "Models in any format become these. An operator is compiled for the element types listed "
      "(of\n"
      "its input, and `->` its output if that is of another), where all of its limits hold. "
      "Integers\n"
      "that an operator computes with have one scale and one zero point for the whole tensor, but\n"
      "for filters and weights, which may have one for each output channel.\n\n"
      "| operator | element types | limits |\n|---|---|---|\n";
  for (const OperatorSummary& op : operator_summaries()) {
    std::string limits;
    for (const std::string& limit : op.limits) limits += (limits.empty() ? "" : "; ") + limit;
    text += fmt::format("| `{}` | {} | {} |\n", op.name, fmt::join(op.types, ", "), limits);
  }
  text += "\n## Operators of .tflite files\n\n";
  for (const std::string& name : tflite_operators()) text += fmt::format("- `{}`\n", name);
  return text;
}

}  // namespace ingot
