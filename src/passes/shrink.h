// SPDX-License-Identifier: Apache-2.0
// Lossless shrinking: channels that no output of the network depends on, or that hold the same
// value for every input, are not computed (docs/shrinking.md has the argument).
//
// A channel is an index of a tensor's last dimension. Operators that treat channels apart tie the
// channels of their inputs to those of their outputs: tied channels go together or stay together.
// Weighted sums tie nothing: they can do without an input channel that is constant (its part of the
// sum moves into the bias) or that has only zero weights, and yield any subset of output channels.
// So what must stay is found backwards from the outputs, each weight looked at once.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/intervals.h"
#include "ops/rules.h"

namespace ingot {

// A channel that is no longer computed.
struct RemovedChannel {
  int64_t channel = 0;                  // in the tensor as the model has it
  std::optional<int64_t> value;         // what it always holds; none: nothing reads it
  std::optional<Interval> accumulator;  // from which the value follows (weighted sums)

  bool operator==(const RemovedChannel&) const = default;
};

// A tensor that lost channels.
struct ShrunkTensor {
  std::string name;
  int64_t channels = 0;                 // before; index of the last dimension
  std::vector<RemovedChannel> removed;  // ascending

  bool operator==(const ShrunkTensor&) const = default;
};

// What shrinking did and what it relied on.
struct Shrinking {
  int64_t macs_before = 0;
  int64_t macs_after = 0;
  int64_t weights_bytes_before = 0;  // of filters and weights, without biases
  int64_t weights_bytes_after = 0;
  // Of a float network something was removed because 0 * x = 0, which holds if x is finite.
  bool assumes_finite = false;
  std::vector<ShrunkTensor> tensors;  // in the order of the nodes

  int64_t macs_removed() const { return macs_before - macs_after; }
  int64_t num_removed() const;
  bool operator==(const Shrinking&) const = default;
};

struct Shrunk {
  Graph graph;
  Shrinking shrinking;
};

// Inputs and outputs of the graph keep their types. Nodes must have no epilogues yet (what has one
// is left alone).
Shrunk shrink(Graph graph, Rounding rounding);

}  // namespace ingot
