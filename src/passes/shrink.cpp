// SPDX-License-Identifier: Apache-2.0
// Rewrites a graph as plan_shrinking decided: tensors without their removed channels, weights
// without the rows and columns of these, biases with what constant channels added to the sums.
#include "passes/shrink.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ops/operands.h"
#include "passes/passes.h"
#include "passes/shrink_plan.h"
#include "support/check.h"

namespace ingot {
namespace {

using Kept = std::vector<int64_t>;

size_t index_of(ValueId id) { return static_cast<size_t>(id.index); }

bool is_all(const Kept& kept, const TensorType& type) {
  return static_cast<int64_t>(kept.size()) == last_extent(type);
}

template <class T>
std::vector<T> selected(const std::vector<T>& elements, const Kept& kept) {
  std::vector<T> result;
  for (const int64_t k : kept) result.push_back(elements.at(static_cast<size_t>(k)));
  return result;
}

// `type` with the kept indices of dimension `axis`.
TensorType sliced(TensorType type, int64_t axis, const Kept& kept) {
  type.shape.at(static_cast<size_t>(axis)) = static_cast<int64_t>(kept.size());
  if (type.quantization && type.quantization->axis == axis) {
    type.quantization->scales = selected(type.quantization->scales, kept);
    type.quantization->zero_points = selected(type.quantization->zero_points, kept);
  }
  return type;
}

// The bytes of the kept indices of dimension `axis`.
Bytes sliced_bytes(const TensorType& type, std::span<const uint8_t> bytes, int64_t axis,
                   const Kept& kept) {
  const auto extent = static_cast<size_t>(type.shape.at(static_cast<size_t>(axis)));
  const auto inner = static_cast<size_t>(row_major_strides(type.shape)[static_cast<size_t>(axis)] *
                                         size_in_bytes(type.dtype));
  std::vector<uint8_t> result;
  for (size_t outer = 0; outer < bytes.size(); outer += extent * inner) {
    for (const int64_t k : kept) {
      const auto part = bytes.subspan(outer + static_cast<size_t>(k) * inner, inner);
      result.insert(result.end(), part.begin(), part.end());
    }
  }
  return Bytes(std::move(result));
}

int64_t macs_of(const Graph& graph) {
  int64_t macs = 0;
  for (const Node& node : graph.nodes) {
    const OpRules& rules = rules_of(node.op);
    if (!rules.macs) continue;
    macs += rules.macs(node.op, operands_of(graph, node.inputs), output_types_of(graph, node));
  }
  return macs;
}

int64_t weights_bytes_of(const Graph& graph) {
  int64_t bytes = 0;
  for (const Node& node : graph.nodes) {
    if (is_weighted_sum(node.op)) bytes += graph[node.inputs.at(1)].type.size_bytes();
  }
  return bytes;
}

class Rewriter {
 public:
  Rewriter(Graph graph, const ShrinkPlan& plan)
      : plan_(plan), before_(std::move(graph)), after_(before_) {
    for (size_t v = 0; v < before_.values.size(); ++v) {
      kept_.push_back(plan.kept_channels(before_, {static_cast<int32_t>(v)}));
    }
  }

  Shrunk run() {
    shrinking_.macs_before = macs_of(before_);
    shrinking_.weights_bytes_before = weights_bytes_of(before_);
    after_.nodes.clear();
    for (size_t n = 0; n < before_.nodes.size(); ++n) {
      const Node& node = before_.nodes[n];
      const bool is_read =
          std::ranges::any_of(node.outputs, [&](ValueId y) { return !kept_[index_of(y)].empty(); });
      for (const ValueId y : node.outputs) record(n, y);
      if (is_read) rewrite(n);
    }
    shrinking_.macs_after = macs_of(after_);
    shrinking_.weights_bytes_after = weights_bytes_of(after_);
    return {std::move(after_), std::move(shrinking_)};
  }

 private:
  const Kept& kept(ValueId id) const { return kept_[index_of(id)]; }
  bool is_whole(ValueId id) const { return is_all(kept(id), before_[id].type); }

  void record(size_t n, ValueId y) {
    if (is_whole(y)) return;
    const std::vector<AccumulatorRange>& ranges = plan_.intervals.accumulators[n];
    ShrunkTensor tensor{before_[y].name, last_extent(before_[y].type), {}};
    size_t next = 0;
    for (int64_t c = 0; c < tensor.channels; ++c) {
      if (next < kept(y).size() && kept(y)[next] == c) {
        ++next;
        continue;
      }
      RemovedChannel removed{c, plan_.constants[static_cast<size_t>(plan_.channels.slot(y, c))],
                             std::nullopt};
      if (removed.value && !ranges.empty()) {
        removed.accumulator = ranges.at(static_cast<size_t>(c)).total;
      }
      tensor.removed.push_back(removed);
    }
    if (is_weighted_sum(before_.nodes[n].op) && before_[y].type.dtype == DType::kFloat32) {
      shrinking_.assumes_finite = true;
    }
    shrinking_.tensors.push_back(std::move(tensor));
  }

  void rewrite(size_t n) {
    Node node = before_.nodes[n];
    for (const ValueId y : node.outputs) {
      if (!is_whole(y))
        after_[y].type = sliced(before_[y].type, before_[y].type.rank() - 1, kept(y));
    }
    if (node.as<Conv2D>() || node.as<FullyConnected>()) {
      if (yields_any_channels(before_, node)) rewrite_sum(n, node);
    } else if (!is_whole(node.outputs.at(0))) {
      rewrite_tied(node);
    }
    after_.nodes.push_back(std::move(node));
  }

  // A constant beside `id` for one reader.
  ValueId add_constant(const Node& node, const char* what, TensorType type, Bytes bytes) {
    return after_.add(
        {before_[node.outputs[0]].name + "/" + what, std::move(type), std::move(bytes)});
  }

  ValueId slice(const Node& node, ValueId id, const char* what, int64_t axis,
                const Kept& channels) {
    const Value& value = before_[id];
    return add_constant(node, what, sliced(value.type, axis, channels),
                        sliced_bytes(value.type, value.constant->view(), axis, channels));
  }

  // Operators that treat channels apart: constants of theirs lose channels like the rest.
  void rewrite_tied(Node& node) {
    const ValueId y = node.outputs[0];
    const TensorType& type = before_[y].type;
    if (auto* reshape = node.as<Reshape>()) reshape->shape = after_[y].type.shape;
    if (node.as<DepthwiseConv2D>()) {
      node.inputs[1] = slice(node, node.inputs[1], "kept_filter", 3, kept(y));
      if (node.inputs.size() > 2 && node.inputs[2].present()) {
        node.inputs[2] = slice(node, node.inputs[2], "kept_bias", 0, kept(y));
      }
    }
    if (node.as<Binary>()) {
      for (ValueId& x : node.inputs) {
        const TensorType& operand = before_[x].type;
        if (!before_[x].is_constant() || last_extent(operand) != type.shape.back()) continue;
        x = slice(node, x, "kept_operand", operand.rank() - 1, kept(y));
      }
    }
    if (const auto* concat = node.as<Concat>()) rewrite_concat(node, *concat);
  }

  void rewrite_concat(Node& node, const Concat& concat) {
    const ValueId y = node.outputs[0];
    const bool along_channels = concat.axis + 1 == before_[y].type.rank();
    int64_t offset = 0;
    size_t next =
        0;  // of kept(y), which ascends, if its channels are the inputs' one after another
    std::vector<ValueId> inputs;
    for (const ValueId x : node.inputs) {
      const TensorType& type = before_[x].type;
      Kept here;
      if (!along_channels) here = kept(y);
      for (const int64_t end = offset + last_extent(type);
           along_channels && next < kept(y).size() && kept(y)[next] < end; ++next) {
        here.push_back(kept(y)[next] - offset);
      }
      offset += last_extent(type);
      if (here.empty()) continue;
      const bool is_cut = before_[x].is_constant() && !is_all(here, type);
      inputs.push_back(is_cut ? slice(node, x, "kept_part", type.rank() - 1, here) : x);
    }
    node.inputs = std::move(inputs);
  }

  Kept kept_columns(const Node& node, const WeightMatrix& weights) const {
    const ValueId x = node.inputs.at(0);
    Kept columns;
    for (int64_t column = 0; column < weights.columns(); ++column) {
      const bool stays = before_[x].is_constant() ||
                         plan_.is_kept(plan_.channels.slot(x, weights.channel(column)));
      if (stays) columns.push_back(column);
    }
    return columns;
  }

  void rewrite_sum(size_t n, Node& node) {
    const WeightMatrix weights(before_, node);
    const Kept& rows = kept(node.outputs[0]);
    const Kept columns = kept_columns(node, weights);
    const bool has_all_columns = std::ssize(columns) == weights.columns();
    if (has_all_columns && is_whole(node.outputs[0])) return;
    const Value& filter = before_[node.inputs[1]];
    const std::span<const uint8_t> old = filter.constant->view();
    std::vector<uint8_t> bytes(old.begin(), old.end());
    if (!weights.is_float()) {
      set_bias(node, has_all_columns ? old_bias(node, weights) : new_bias(n, weights, columns),
               rows);
      if (!has_all_columns) clear_constant_rows(node, weights, bytes);
    } else if (node.inputs.size() > 2 && node.inputs[2].present()) {
      node.inputs[2] = slice(node, node.inputs[2], "kept_bias", 0, rows);
    }
    const TensorType by_rows = sliced(filter.type, 0, rows);
    const Bytes part = sliced_bytes(filter.type, bytes, 0, rows);
    const int64_t last = filter.type.rank() - 1;
    node.inputs[1] = add_constant(node, "kept_filter", sliced(by_rows, last, columns),
                                  sliced_bytes(by_rows, part.view(), last, columns));
  }

  // None where there is none.
  std::vector<int32_t> old_bias(const Node& node, const WeightMatrix& weights) const {
    if (node.inputs.size() < 3 || !node.inputs[2].present()) {
      return std::vector<int32_t>(static_cast<size_t>(weights.rows()), 0);
    }
    return before_[node.inputs[2]].constant->as<int32_t>();
  }

  // By output channel, those that are removed too: the bias and the terms of the columns that are
  // not kept; of an output that is constant, a sum that gives the constant.
  std::vector<int32_t> new_bias(size_t n, const WeightMatrix& weights, const Kept& columns) const {
    const Node& node = before_.nodes[n];
    const ValueId x = node.inputs[0];
    const int64_t zero = has_zero_point_in_bias(node.op) ? 0 : before_[x].type.zero_point();
    const std::vector<int32_t> old = old_bias(node, weights);
    std::vector<int64_t> sums(old.begin(), old.end());
    size_t next = 0;
    for (int64_t column = 0; column < weights.columns(); ++column) {
      if (next < columns.size() && columns[next] == column) {
        ++next;
        continue;
      }
      const auto slot = static_cast<size_t>(plan_.channels.slot(x, weights.channel(column)));
      const int64_t offset = plan_.constants[slot].value_or(zero) - zero;
      if (offset == 0) continue;
      for (int64_t row = 0; row < weights.rows(); ++row) {
        sums[static_cast<size_t>(row)] += offset * weights.sum(row, column);
      }
    }
    std::vector<int32_t> bias;
    for (size_t row = 0; row < sums.size(); ++row) {
      if (plan_.is_constant_row(node, static_cast<int64_t>(row))) {
        sums[row] = plan_.intervals.accumulators[n].at(row).total.low;
      }
      CHECK(sums[row] == static_cast<int32_t>(sums[row]));  // what fits with its terms fits
      bias.push_back(static_cast<int32_t>(sums[row]));
    }
    return bias;
  }

  static bool has_zero_point_in_bias(const Op& op) {
    if (const auto* conv = std::get_if<Conv2D>(&op)) return conv->zero_point_in_bias;
    return std::get<FullyConnected>(op).zero_point_in_bias;
  }

  void set_bias(Node& node, const std::vector<int32_t>& bias, const Kept& rows) {
    const bool has_bias = node.inputs.size() > 2 && node.inputs[2].present();
    const std::vector<int32_t> part = selected(bias, rows);
    if (!has_bias && std::ranges::all_of(part, [](int32_t b) { return b == 0; })) return;
    TensorType type = {DType::kInt32, {static_cast<int64_t>(bias.size())}, std::nullopt};
    if (has_bias) type = before_[node.inputs[2]].type;
    node.inputs.resize(3);
    node.inputs[2] = add_constant(node, "kept_bias", sliced(type, 0, rows), Bytes::of(part));
  }

  // Their sums are the bias alone.
  void clear_constant_rows(const Node& node, const WeightMatrix& weights,
                           std::vector<uint8_t>& bytes) const {
    const auto row_bytes = static_cast<std::ptrdiff_t>(weights.taps() * weights.columns());
    for (int64_t row = 0; row < weights.rows(); ++row) {
      if (!plan_.is_constant_row(node, row)) continue;
      const auto begin = bytes.begin() + row * row_bytes;
      std::fill(begin, begin + row_bytes, static_cast<uint8_t>(weights.zero_point(row)));
    }
  }

  const ShrinkPlan& plan_;
  Graph before_;
  Graph after_;
  std::vector<Kept> kept_;  // by value
  Shrinking shrinking_;
};

bool has_empty_tensor(const Graph& graph) {
  return std::ranges::any_of(graph.values,
                             [](const Value& v) { return v.type.num_elements() == 0; });
}

}  // namespace

int64_t Shrinking::num_removed() const {
  int64_t count = 0;
  for (const ShrunkTensor& tensor : tensors) count += std::ssize(tensor.removed);
  return count;
}

Shrunk shrink(Graph graph, Rounding rounding) {
  if (has_empty_tensor(graph) || !has_few_channels(graph)) {
    const int64_t macs = macs_of(graph);
    const int64_t bytes = weights_bytes_of(graph);
    return {std::move(graph), {macs, macs, bytes, bytes, false, {}}};
  }
  const ShrinkPlan plan = plan_shrinking(graph, rounding);
  Shrunk shrunk = Rewriter(std::move(graph), plan).run();
  shrunk.graph = remove_dead_nodes(std::move(shrunk.graph));
  return shrunk;
}

}  // namespace ingot
