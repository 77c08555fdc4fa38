// SPDX-License-Identifier: Apache-2.0
// The operators of .tflite models that Ingot reads: a table with a row for each.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "import/tflite/builder.h"

namespace ingot::tflite {

struct OperatorRow {
  format::BuiltinOperator code;
  int64_t num_required_inputs;  // the first ones; they must be there
  int64_t most_inputs;
  // Reads the attributes and emits what computes the output; false after a diagnostic.
  bool (*read)(OperatorReader& reader);
  bool has_many_outputs = false;  // any number; else one
};

// By code, ascending.
std::span<const OperatorRow> operator_rows();

// Whether the table has a row for `op`; a diagnostic if not.
bool is_supported(GraphBuilder& builder, const Operator& op);

// Adds what a supported operator computes to the graph, or reports why that cannot be. Operators
// with unusable tensors are passed over: what is wrong with those has been said.
void read_operator(GraphBuilder& builder, const Operator& op);

}  // namespace ingot::tflite
