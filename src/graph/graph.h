// SPDX-License-Identifier: Apache-2.0
// The graph: what a network means. Values (tensors) and the nodes that compute them, in execution
// order. A Graph is a value: copyable, comparable, printable, parsable (graph/text.h).
#pragma once
#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "graph/ops.h"
#include "tensor/bytes.h"
#include "tensor/type.h"

namespace ingot {

// An index that cannot be mistaken for an index into something else. -1: none (an optional input
// that is absent).
template <class Tag>
struct Id {
  int32_t index = -1;
  bool present() const { return index >= 0; }
  auto operator<=>(const Id&) const = default;
};

// A tensor. Written by one node, or an input of the graph, or a constant.
struct Value {
  std::string name;  // unique within the graph, not empty
  TensorType type;
  std::optional<Bytes>
      constant;  // its bytes, row-major little-endian, if it is known at compile time

  bool is_constant() const { return constant.has_value(); }
  bool operator==(const Value&) const = default;
};
using ValueId = Id<Value>;

// An elementwise operator fused into the store of a producer. `op` has an `element` rule
// (ops/rules.h); of its inputs, the one at `position` is the value so far and the others are
// `operands`, in order.
struct Step {
  Op op;
  std::vector<ValueId> operands;
  int64_t position = 0;
  TensorType type;  // of the step's result
  bool operator==(const Step&) const = default;
};

// One operator of the network. Where `epilogue` is not empty, `op` yields a tensor of type
// `produced` that is never stored, and the output holds the result of the last step.
struct Node {
  std::string name;  // as in the model, or made from its output's name; for people
  Op op;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<Step> epilogue;  // only for nodes with one output
  TensorType produced;         // meaningful only where there is an epilogue
  // Indices of the model file's operators that this node computes, ascending; empty for nodes that
  // Ingot added.
  std::vector<int64_t> sources;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&op);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&op);
  }
  bool operator==(const Node&) const = default;
};
using NodeId = Id<Node>;

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;       // in execution order: a node reads only what stands before it
  std::vector<ValueId> inputs;   // in model order, distinct
  std::vector<ValueId> outputs;  // in model order; may name inputs, constants, and one value twice

  const Value& operator[](ValueId id) const { return values.at(static_cast<size_t>(id.index)); }
  Value& operator[](ValueId id) { return values.at(static_cast<size_t>(id.index)); }
  ValueId add(Value value) {
    values.push_back(std::move(value));
    return {static_cast<int32_t>(values.size() - 1)};
  }
  bool operator==(const Graph&) const = default;
};

// The type of what `node.op` itself yields, before its epilogue (one-output nodes).
inline const TensorType& produced_type(const Graph& graph, const Node& node) {
  return node.epilogue.empty() ? graph[node.outputs.at(0)].type : node.produced;
}

// Who writes and reads each value; indices into graph.nodes. Epilogue operands count as reads.
// One pass over the graph, so passes build it once rather than search.
struct Uses {
  std::vector<NodeId> producer;              // by value; absent for inputs and constants
  std::vector<std::vector<NodeId>> readers;  // by value; a node that reads twice stands twice
  std::vector<int64_t> num_outputs;          // by value: how often it is an output of the graph

  NodeId producer_of(ValueId id) const { return producer.at(static_cast<size_t>(id.index)); }
  const std::vector<NodeId>& readers_of(ValueId id) const {
    return readers.at(static_cast<size_t>(id.index));
  }
  // Readers and appearances as an output of the graph.
  int64_t num_uses(ValueId id) const {
    return static_cast<int64_t>(readers_of(id).size()) +
           num_outputs.at(static_cast<size_t>(id.index));
  }
};
Uses uses_of(const Graph& graph);

}  // namespace ingot
