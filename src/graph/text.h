// SPDX-License-Identifier: Apache-2.0
// The text form of a graph: what --print-after shows, what tests of passes are written in, what a
// fuzzer can feed. One statement per line; `#` starts a comment.
//
//   graph "net"
//   x: int8[1,4] scale 0.5 zero_point 3 = input
//   w: int8[2,4] scales {0.1,0.2} zero_points {0,0} axis 0 = const {1,2,3,4,5,6,7,8}
//   y: int8[1,2] scale 0.2 zero_point -1 = fully_connected(keep_dims=true) x, w, _
//   z: int8[1,2] scale 0.3 zero_point 0 = binary() y, y -> int8[1,2] scale 0.1 zero_point 0
//       | clamp(low=-128, high=10) % | binary(kind=mul) %, y -> ... node "add" sources 0,1
//   output z
//
// (The statement of z is one line; it is broken here for the page.)
//
// - A value is `NAME: TYPE`, and stands at the left of where it comes from: `input`, a constant, an
//   operator, or `none` for a value that has no origin (which the verifier refuses). An operator
//   with several outputs has them separated by commas: `a: T, b: T = ...`.
// - A constant is `const {1,2,3}` (elements), `const hex 00ff...` (bytes), or `const zeros`.
// - An operator is `name(field=value, ...) inputs`; a field at its default may be left out; `_` is
//   an optional input that is absent. Lists and paddings (top,bottom,left,right) are in braces.
// - After `->` stands the type that the operator itself yields, where steps follow it. A step is
//   `| operator(...) operands -> TYPE`, with `%` for the value so far; without a type it yields the
//   type of the output.
// - `node "..."` is the node's name where it is not its first output's; `sources` its sources.
// - Names stand bare if they match [A-Za-z_][A-Za-z0-9_./:;-]*, end in neither `:` nor `-` and are
//   no word of the format; else in quotes, with \" \\ and \xNN.
//
// Printing and parsing are inverses up to the numbering of values: parse_graph(print(g)) equals
// renumbered(g), and both print alike.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "support/result.h"

namespace ingot {

struct PrintOptions {
  // Longer constants print as `const ...`, which people read better, but which does not parse.
  int64_t longest_constant_bytes = std::numeric_limits<int64_t>::max();
};

std::string print(const Graph& graph, const PrintOptions& options = {});
// "clamp(low=0, high=6)": the fields that differ from their defaults, or all of them.
std::string print(const Op& op, bool all_fields = false);

// The graph that `text` describes, or a diagnostic that names the line. The graph may be
// ill-formed in every way that find_faults (graph/verify.h) finds: only the syntax is checked.
Result<Graph> parse_graph(std::string_view text);

// The same graph with its values numbered in the order in which `print` writes them: inputs; then
// for each node the constants it is the first to read and its outputs; then all others.
Graph renumbered(const Graph& graph);

}  // namespace ingot
