// SPDX-License-Identifier: Apache-2.0
// The reference executor: the graph as it is written, node by node, each by its operator's
// reference (ops/rules.h). It is what `ingot run` executes and what generated C is compared with;
// it shares no code with lowering.
//
// Inner values live in one planned arena, each from the node that writes it to the last that reads
// it. Inputs are read where the caller has them and results are copied out at the end, so that no
// plan can touch a caller's buffer.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/rules.h"

namespace ingot {

// A tensor's bytes, row-major little-endian.
using TensorBytes = std::vector<uint8_t>;

class ReferenceExecutor {
 public:
  // Plans the arena. `graph` is legal (passes::legalize) and outlives the executor.
  ReferenceExecutor(const Graph& graph, Rounding rounding);

  // The graph's outputs for `inputs`: one per input of the graph, each exactly its size.
  std::vector<TensorBytes> run(std::span<const TensorBytes> inputs) const;

  // Every value of the graph, by value; empty where a value has no origin.
  std::vector<TensorBytes> run_all(std::span<const TensorBytes> inputs) const;

  int64_t arena_bytes() const { return arena_bytes_; }

 private:
  const Graph& graph_;
  Rounding rounding_;
  std::vector<int64_t> offsets_;  // by value; -1 for values that are not in the arena
  int64_t arena_bytes_ = 0;
};

}  // namespace ingot
