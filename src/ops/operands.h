// SPDX-License-Identifier: Apache-2.0
// A node's inputs and outputs as the rules see them.
#pragma once
#include <vector>

#include "ops/rules.h"

namespace ingot {

// One per id; absent ones have no type. Points into `graph`.
std::vector<Operand> operands_of(const Graph& graph, const std::vector<ValueId>& ids);

// What the operator itself yields: the type before the epilogue, or the types of all outputs.
std::vector<TensorType> output_types_of(const Graph& graph, const Node& node);

}  // namespace ingot
