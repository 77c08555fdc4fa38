// SPDX-License-Identifier: Apache-2.0
// What every graph must satisfy between any two steps of the compiler, whatever made it. Operators'
// own rules (shapes, attributes) are not looked at here: those are ops/rules.h's infer.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"

namespace ingot {

// One sentence for each way in which `graph` is ill-formed; empty for a good graph. Takes any
// graph, also one with indices out of range. Near-linear in the size of the graph.
//
// - Indices name existing values; names of values are not empty and unique.
// - Types: extents are not negative and their product fits; quantised types have finite scales
//   above 0, one zero point per scale within the element type, one pair or one per index of `axis`.
// - A constant has the bytes that its type says.
// - A value has exactly one origin: an input, a constant, or one node that writes it.
// - Inputs are distinct. A node reads only what stands before it, so there are no cycles.
// - A node has an output; one with an epilogue has exactly one, the same number of elements all
//   along, and the type of the last step as its output's.
// - `sources` are ascending and not negative.
std::vector<std::string> find_faults(const Graph& graph);

// The faults of a type alone, as the ends of sentences ("has an extent below 0").
std::vector<std::string> find_faults(const TensorType& type);

}  // namespace ingot
