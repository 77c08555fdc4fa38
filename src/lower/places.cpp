// SPDX-License-Identifier: Apache-2.0
#include "lower/places.h"

#include <algorithm>

#include "ops/checks.h"
#include "support/check.h"

namespace ingot {
namespace {

size_t index_of(ValueId id) { return static_cast<size_t>(id.index); }

// The place of a slice's first element among those of x, if all of them lie one behind the other:
// one index of the outer dimensions, a run of the next one, all of the inner ones.
std::optional<int64_t> first_of_run(const Slice& slice, const Shape& x) {
  int64_t first = 0;
  bool is_one_index = true;
  for (size_t d = 0; d < x.size(); ++d) {
    if (slice.size[d] > 1 && slice.strides[d] != 1) return std::nullopt;
    if (!is_one_index && slice.size[d] != x[d]) return std::nullopt;
    is_one_index = is_one_index && slice.size[d] == 1;
    first = first * x[d] + slice.begin[d];
  }
  return first;
}

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
    const std::vector<std::optional<int64_t>> views = views_of(graph_, same_);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      const bool contiguous = node.as<Concat>() && is_contiguous_concat(graph_, node);
      const bool names_bytes = contiguous || views[n] || node.as<Reshape>();
      CHECK(node.epilogue.empty() || !names_bytes);
      if (contiguous) place_pieces(node);
      if (views[n]) place_inside(node.outputs[0], home_index(node.inputs[0]), *views[n]);
      places_.needs_kernel.push_back(!names_bytes);
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
      place_inside(piece, whole, offset);
      offset += graph_[piece].type.size_bytes();
    }
  }

  void place_inside(ValueId piece, int64_t whole, int64_t offset) {
    const int64_t index = home_index(piece);
    Home& home = places_.homes.at(static_cast<size_t>(index));
    CHECK(home.kind == HomeKind::kArena && home.parent < 0 && index != whole);
    home.parent = whole;
    home.offset_bytes = offset;
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
    const std::vector<std::optional<int64_t>> views = views_of(graph_, same_);
    for (size_t n = 0; n < views.size(); ++n) {
      if (views[n]) take(graph_.nodes[n].outputs[0]);
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
      taken_;  // by representative: an input, an output, a constant, a view or a piece already
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

std::vector<std::optional<int64_t>> views_of(const Graph& graph, const std::vector<ValueId>& same) {
  std::vector<bool> is_copied_from(graph.values.size(), false);  // by representative
  const auto mark = [&](ValueId id) { is_copied_from[index_of(same[index_of(id)])] = true; };
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (graph.values[v].is_constant()) mark({static_cast<int32_t>(v)});
  }
  for (const Node& node : graph.nodes) {
    if (node.as<Concat>() && is_contiguous_concat(graph, node)) mark(node.outputs.at(0));
  }
  std::vector<std::optional<int64_t>> views(graph.nodes.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!node.as<Slice>()) continue;
    const ValueId x = node.inputs.at(0);
    if (is_copied_from[index_of(same[index_of(x)])]) continue;
    const std::optional<int64_t> first = first_of_run(*node.as<Slice>(), graph[x].type.shape);
    if (first) views[n] = *first * size_in_bytes(graph[x].type.dtype);
  }
  return views;
}

Places find_places(const Graph& graph) { return PlaceFinder(graph).run(); }

Graph prepare(Graph graph) { return Preparer(std::move(graph)).run(); }

}  // namespace ingot
