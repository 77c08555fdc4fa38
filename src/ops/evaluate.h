// SPDX-License-Identifier: Apache-2.0
// The value of a node by the operators' references: the operator itself, then each step of its
// epilogue. Used by the reference executor, by constant folding and by tests.
#pragma once
#include <functional>
#include <vector>

#include "ops/rules.h"

namespace ingot {

// The bytes of an input, by value; asked only for inputs and operands that are present.
using BytesOf = std::function<std::span<const uint8_t>(ValueId)>;

// Fills `outputs`, one per output of the node and each exactly its size.
void evaluate(const Graph& graph, const Node& node, const BytesOf& bytes_of,
              std::span<const std::span<uint8_t>> outputs, Rounding rounding);

}  // namespace ingot
