// SPDX-License-Identifier: Apache-2.0
// Where each value of a graph lives: which values are the same bytes, and which lie inside others.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace ingot {

// What a value's bytes are.
enum class HomeKind : uint8_t { kInput, kOutput, kConstant, kArena };

// One piece of memory: a value and everything that is the same bytes under another shape.
struct Home {
  HomeKind kind = HomeKind::kArena;
  ValueId value;             // that gives it its name, type and alignment
  int64_t slot = -1;         // kInput, kOutput: index into graph.inputs, graph.outputs
  int64_t parent = -1;       // the home inside which this one lies (concatenation, slice), or -1
  int64_t offset_bytes = 0;  // in the parent
};

struct Places {
  std::vector<Home> homes;
  std::vector<int64_t> home_of;    // by value; -1 for values that no node reads or writes
  std::vector<bool> needs_kernel;  // by node: false where it only gives bytes another name
};

// By value: the value that stands for all that are the same bytes, following reshapes back.
std::vector<ValueId> same_bytes(const Graph& graph);

// True if the pieces of this concatenation lie one behind the other in memory.
bool is_contiguous_concat(const Graph& graph, const Node& node);

// By node: where a slice's elements begin in its input, in bytes, if they lie one behind the other
// there, so that it can be a view; nothing for other nodes. (The pieces of a concatenation in place
// have lifetimes of their own, and nothing says which of them a slice of the whole needs: that is
// copied. So is one of a constant.)
std::vector<std::optional<int64_t>> views_of(const Graph& graph, const std::vector<ValueId>& same);

// `graph` is as `prepare` leaves it.
Places find_places(const Graph& graph);

// The same network with copies made explicit, so that afterwards
//  - every output of the graph is a value of its own, written by a node, no other output and no
//  input;
//  - what a slice takes in place is neither of these, nor a piece of a concatenation;
//  - every piece of a contiguous concatenation is a value written by a node for this concatenation
//    alone, on its scale, so that its producer can write it in place;
//  - no reshape reads a constant.
Graph prepare(Graph graph);

}  // namespace ingot
