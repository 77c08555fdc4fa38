// SPDX-License-Identifier: Apache-2.0
// From graph to loop program: every node becomes a kernel and a call of the runner, every value a
// buffer or a place inside one.
//
// Copies that would only move bytes do not happen. A reshape is another name for its input. A
// concatenation whose pieces lie one behind the other is written in place by their producers: the
// pieces and the whole become a tied group of buffers at fixed relative offsets. Where a value must
// stand in two of the caller's buffers (an output that is an input, a constant, or another output
// too), an explicit copy is made; the caller's buffers themselves are never anything else.
#pragma once
#include <string>

#include "graph/graph.h"
#include "loop/loop.h"
#include "ops/lowering.h"

namespace ingot {

struct LowerOptions {
  std::string name;  // the model's C prefix
  Rounding rounding = Rounding::kDouble;
  // Proved equal where they are used; else values are rounded as the reference does.
  ProvedForms forms = {};
  int64_t buffer_alignment = 4;  // bytes; at least this for arena and constant buffers
};

// `graph` is legal (passes::legalize): every node has a `lower` rule that takes it. Throws
// LimitError if the program would be too large.
loop::Program lower(const Graph& graph, const LowerOptions& options);

}  // namespace ingot
