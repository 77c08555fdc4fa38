// SPDX-License-Identifier: Apache-2.0
// A small model of the memory planner whose fault Ingot must be unable to have: storage tokens with
// reference counts, as graph executors plan them. It exists for tests only.
//
// Every value gets a token, a block of memory. When the last reader of a value is done, its token
// goes to a free list ordered by size. A request for `size` bytes takes the first free token of
// [size, 16 * size], else the largest of [size / 16, size), which is then grown; else a new one.
// Types of elements are never compared. A reshape has its input's token. Inputs and constants have
// tokens of their own that are never freed; a value that is an output of the graph is never freed
// either, but what it gets may be a token that other values had before.
//
// That is sound as long as tokens are memory of the planner's own. The fault came with
// ahead-of-time compilation, which bound the tokens of outputs to the caller's buffers: these have
// the size and type of the output, and not those of whatever else had the token. Where two outputs
// have one token, only the first buffer was bound to it, and the other was never written.
#pragma once
#include <cstdint>
#include <set>
#include <vector>

#include "graph/graph.h"

namespace ingot::legacy {

// What the caller's buffer of one output goes through.
struct OutputUse {
  int64_t overrun_bytes = 0;     // written behind the end of the buffer
  std::set<DType> other_dtypes;  // that are stored in it beside the output's own
  bool is_written = true;

  bool operator==(const OutputUse&) const = default;
};

struct TokenPlan {
  std::vector<int64_t> token_of;     // by value; -1: the graph does not touch it
  std::vector<int64_t> token_bytes;  // by token
  std::vector<OutputUse> outputs;    // by output of the graph
};

// `graph` is in execution order.
TokenPlan plan_tokens(const Graph& graph);

}  // namespace ingot::legacy
