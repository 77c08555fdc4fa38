// SPDX-License-Identifier: Apache-2.0
// How the channels of a graph's tensors hang together: slots, and classes of slots that can only be
// removed together.
#pragma once
#include <span>
#include <vector>

#include "graph/graph.h"
#include "ops/intervals.h"

namespace ingot {

int64_t last_extent(const TensorType& type);

// Whether a node can be made to yield any subset of its output's channels (those that ties leave).
// What cannot yields all of them or is not computed at all.
bool yields_any_channels(const Graph& graph, const Node& node);

// How one input of a node, of those that can yield any channels, relates to the channels of the
// node's output.
enum class Tie : uint8_t {
  kTied,      // a channel of the output is made of tied channels of the input alone
  kWeighted,  // the input of a weighted sum: which channels matter is up to the weights
  kWhole,     // every channel is needed
};
Tie tie_of(const Graph& graph, const Node& node, size_t input);

// One slot per channel of each value that is not constant.
class Channels {
 public:
  explicit Channels(const Graph& graph);

  int64_t count(ValueId id) const { return first(id.index + 1) - first(id.index); }
  int64_t slot(ValueId id, int64_t channel) const { return first(id.index) + channel; }
  int64_t num_slots() const { return static_cast<int64_t>(classes_.size()); }
  int64_t class_of(int64_t slot) const { return classes_[static_cast<size_t>(slot)]; }
  // The slots of a class, ascending.
  std::span<const int64_t> members(int64_t class_index) const;
  ValueId value_of(int64_t slot) const;
  int64_t channel_of(int64_t slot) const { return slot - first(value_of(slot).index); }

 private:
  int64_t first(int32_t value) const { return first_[static_cast<size_t>(value)]; }
  void tie_node(const Graph& graph, const Node& node);
  void tie_input(const Graph& graph, const Node& node, size_t input, int64_t offset);
  void tie_residues(ValueId id, int64_t divisor);
  int64_t root(int64_t slot);
  void unite(int64_t a, int64_t b);
  void number_classes();

  std::vector<int64_t> first_;    // by value, and one more: the first slot
  std::vector<int64_t> parents_;  // while ties are made; by slot
  std::vector<int64_t> classes_;  // by slot
  std::vector<int64_t> members_;  // slots, sorted by class
  std::vector<int64_t> begins_;   // by class, and one more: where its members begin
};

}  // namespace ingot
