// SPDX-License-Identifier: Apache-2.0
// The operator set with its limits, from the operators' own rules: what `ingot ops` prints and
// docs/supported_operators.md holds.
#pragma once
#include <string>
#include <vector>

namespace ingot {

struct OperatorSummary {
  std::string name;                 // as diagnostics and NAME.json spell it: "max_pool_2d"
  std::vector<std::string> types;   // of elements: "int8", "float32 with int8 weights"
  std::vector<std::string> limits;  // each is a condition: "the filter is constant"
};

// Every operator, each member of a family on its own, in the order of graph/ops.h.
std::vector<OperatorSummary> operator_summaries();

// The operators of .tflite files that are read: "CONV_2D".
std::vector<std::string> tflite_operators();

// docs/supported_operators.md.
std::string operators_markdown();

}  // namespace ingot
