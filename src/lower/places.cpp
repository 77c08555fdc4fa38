// SPDX-License-Identifier: Apache-2.0
#include "lower/places.h"

#include <algorithm>

#include "ops/checks.h"
#include "support/check.h"

namespace ingot {
namespace {

size_t index_of(ValueId id) { return static_cast<size_t>(id.index); }

class PlaceFinder {
 public:
  explicit PlaceFinder(const Graph& graph) : graph_(graph), same_(same_bytes(graph)) {}

  Places run() {
    home_of_class_.assign(graph_.values.size(), -1);
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      add_home({HomeKind::kInput, graph_.inputs[i], static_cast<int64_t>(i)});
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      CHECK(home_index(graph_.outputs[i]) < 0);
      add_home({HomeKind::kOutput, graph_.outputs[i], static_cast<int64_t>(i)});
    }
    add_other_homes();
    for (const Node& node : graph_.nodes) {
      const bool contiguous = node.as<Concat>() && is_contiguous_concat(graph_, node);
      CHECK(node.epilogue.empty() || (!contiguous && !node.as<Reshape>()));
      if (contiguous) place_pieces(node);
      places_.needs_kernel.push_back(!contiguous && !node.as<Reshape>());
    }
    return std::move(places_);
  }

 private:
  int64_t& home_index(ValueId id) { return home_of_class_[index_of(same_[index_of(id)])]; }

  void add_home(Home home) {
    places_.homes.push_back(home);
    home_index(home.value) = static_cast<int64_t>(places_.homes.size() - 1);
  }

  void add_other_homes() {
    const Uses uses = uses_of(graph_);
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      const ValueId id{static_cast<int32_t>(v)};
      const bool used = uses.producer_of(id).present() || uses.num_uses(id) > 0;
      if (used && home_index(id) < 0) {
        add_home({graph_[id].is_constant() ? HomeKind::kConstant : HomeKind::kArena, id});
      }
      places_.home_of.push_back(home_index(id));
    }
  }

  void place_pieces(const Node& node) {
    const int64_t whole = home_index(node.outputs.at(0));
    int64_t offset = 0;
    for (const ValueId piece : node.inputs) {
      const int64_t index = home_index(piece);
      Home& home = places_.homes.at(static_cast<size_t>(index));
      CHECK(home.kind == HomeKind::kArena && home.parent < 0 && index != whole);
      home.parent = whole;
      home.offset_bytes = offset;
      offset += graph_[piece].type.size_bytes();
    }
  }

  const Graph& graph_;
  std::vector<ValueId> same_;
  std::vector<int64_t> home_of_class_;  // by representative
  Places places_;
};

// Makes copies explicit. Nodes that are added keep the position of what they serve.
class Preparer {
 public:
  explicit Preparer(Graph graph) : graph_(std::move(graph)) {}

  Graph run() {
    for (Node& node : graph_.nodes) {
      if (node.as<Reshape>() && graph_[node.inputs.at(0)].is_constant()) node.op = Copy{};
    }
    same_ = same_bytes(graph_);
    taken_.assign(graph_.values.size(), false);
    for (const ValueId id : graph_.inputs) take(id);
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      if (graph_.values[v].is_constant()) take({static_cast<int32_t>(v)});
    }
    std::vector<Node> copies = separate_outputs();
    separate_pieces();
    std::ranges::move(copies, std::back_inserter(graph_.nodes));
    return std::move(graph_);
  }

 private:
  bool is_taken(ValueId id) const { return taken_.at(index_of(same_.at(index_of(id)))); }
  void take(ValueId id) { taken_.at(index_of(same_.at(index_of(id)))) = true; }

  // A new value of `type`, named after `from`.
  ValueId add_copy_of(ValueId from, const TensorType& type) {
    const std::string name = graph_[from].name + "/copy" + std::to_string(++num_copies_);
    const ValueId id = graph_.add({name, type, std::nullopt});
    same_.push_back(id);
    taken_.push_back(true);
    return id;
  }

  Node copy_node(ValueId from, ValueId to) const {
    Node node;
    node.name = graph_[to].name;
    node.op = Copy{};
    if (!same_quantization(graph_[from].type, graph_[to].type)) node.op = Requantize{};
    node.inputs = {from};
    node.outputs = {to};
    return node;
  }

  std::vector<Node> separate_outputs() {
    std::vector<Node> copies;
    for (ValueId& output : graph_.outputs) {
      if (!is_taken(output)) {
        take(output);
        continue;
      }
      const ValueId copy = add_copy_of(output, graph_[output].type);
      copies.push_back(copy_node(output, copy));
      output = copy;
    }
    return copies;
  }

  void separate_pieces() {
    std::vector<Node> nodes;
    for (Node& node : graph_.nodes) {
      if (node.as<Concat>() && node.epilogue.empty() && is_contiguous_concat(graph_, node)) {
        const TensorType whole = graph_[node.outputs.at(0)].type;
        for (ValueId& piece : node.inputs) {
          TensorType type = graph_[piece].type;
          if (!is_taken(piece) && type.quantization == whole.quantization) {
            take(piece);
            continue;
          }
          type.quantization = whole.quantization;
          const ValueId copy = add_copy_of(piece, type);
          nodes.push_back(copy_node(piece, copy));
          nodes.back().sources = node.sources;
          piece = copy;
        }
      }
      nodes.push_back(std::move(node));
    }
    graph_.nodes = std::move(nodes);
  }

  Graph graph_;
  std::vector<ValueId> same_;
  std::vector<bool>
      taken_;  // by representative: an input, an output, a constant or a piece already
  int64_t num_copies_ = 0;
};

}  // namespace

std::vector<ValueId> same_bytes(const Graph& graph) {
  std::vector<ValueId> same;
  for (size_t v = 0; v < graph.values.size(); ++v) same.push_back({static_cast<int32_t>(v)});
  for (const Node& node : graph.nodes) {
    if (node.as<Reshape>()) same[index_of(node.outputs.at(0))] = same[index_of(node.inputs.at(0))];
  }
  return same;
}

bool is_contiguous_concat(const Graph& graph, const Node& node) {
  const int64_t axis = node.as<Concat>()->axis;
  const Shape& shape = graph[node.outputs.at(0)].type.shape;
  return std::all_of(shape.begin(), shape.begin() + axis,
                     [](int64_t extent) { return extent == 1; });
}

Places find_places(const Graph& graph) { return PlaceFinder(graph).run(); }

Graph prepare(Graph graph) { return Preparer(std::move(graph)).run(); }

}  // namespace ingot
