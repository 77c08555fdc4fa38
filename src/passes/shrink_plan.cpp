// SPDX-License-Identifier: Apache-2.0
#include "passes/shrink_plan.h"

#include <cmath>
#include <numeric>

#include "ops/access.h"

namespace ingot {
namespace {

size_t index_of(ValueId id) { return static_cast<size_t>(id.index); }

// Works backwards from what must stay.
class Needs {
 public:
  Needs(const Graph& graph, ShrinkPlan& plan) : graph_(graph), plan_(plan), uses_(uses_of(graph)) {
    plan_.kept.assign(static_cast<size_t>(plan_.channels.num_slots()), false);
  }

  void run() {
    for (const ValueId id : graph_.inputs) need_all(id);
    for (const ValueId id : graph_.outputs) need_all(id);
    drain();
    // A tensor that is read keeps one channel, because no operator takes a tensor without any.
    for (size_t n = graph_.nodes.size(); n-- > 0;) {
      const Node& node = graph_.nodes[n];
      if (!has_kept(node.outputs.at(0)) || node.as<Concat>()) continue;
      for (const ValueId x : node.inputs) {
        if (x.present() && plan_.channels.count(x) > 0 && !has_kept(x)) need(x, 0);
      }
      drain();
    }
  }

 private:
  void need(ValueId id, int64_t channel) {
    const int64_t c = plan_.channels.class_of(plan_.channels.slot(id, channel));
    if (plan_.kept[static_cast<size_t>(c)]) return;
    plan_.kept[static_cast<size_t>(c)] = true;
    pending_.push_back(c);
  }
  void need_all(ValueId id) {
    for (int64_t c = 0; c < plan_.channels.count(id); ++c) need(id, c);
  }
  bool has_kept(ValueId id) const {
    for (int64_t c = 0; c < plan_.channels.count(id); ++c) {
      if (plan_.is_kept(plan_.channels.slot(id, c))) return true;
    }
    return false;
  }

  void drain() {
    while (!pending_.empty()) {
      const int64_t c = pending_.back();
      pending_.pop_back();
      for (const int64_t slot : plan_.channels.members(c)) {
        const ValueId value = plan_.channels.value_of(slot);
        const NodeId producer = uses_.producer_of(value);
        if (producer.present()) need_inputs_of(producer, slot - plan_.channels.slot(value, 0));
      }
    }
  }

  // What output channel `channel` of a node is made of, as far as ties do not say it.
  void need_inputs_of(NodeId id, int64_t channel) {
    const Node& node = graph_.nodes[static_cast<size_t>(id.index)];
    const bool any_channels = yields_any_channels(graph_, node);
    if (any_channels && node.as<Concat>()) return;  // ties say it all, and inputs may be thousands
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i].present() || graph_[node.inputs[i]].is_constant()) continue;
      const Tie tie = any_channels ? tie_of(graph_, node, i) : Tie::kWhole;
      if (tie == Tie::kWhole) need_all(node.inputs[i]);
      if (tie == Tie::kWeighted && !plan_.is_constant_row(node, channel)) {
        need_columns(id, channel);
      }
    }
  }

  void need_columns(NodeId id, int64_t row) {
    const Node& node = graph_.nodes[static_cast<size_t>(id.index)];
    const Weights& weights = weights_of(id);
    for (int64_t column = 0; column < weights.matrix.columns(); ++column) {
      const int64_t channel = weights.matrix.channel(column);
      if (plan_.is_kept(plan_.channels.slot(node.inputs[0], channel))) continue;
      const bool is_idle = weights.folds[static_cast<size_t>(channel)]
                               ? weights.matrix.is_finite(row, column)
                               : weights.matrix.is_zero(row, column);
      if (!is_idle) need(node.inputs[0], channel);
    }
  }

  struct Weights {
    WeightMatrix matrix;
    std::vector<bool> folds;
  };
  const Weights& weights_of(NodeId id) {
    weights_.resize(graph_.nodes.size());
    std::optional<Weights>& weights = weights_[static_cast<size_t>(id.index)];
    if (!weights) {
      const Node& node = graph_.nodes[static_cast<size_t>(id.index)];
      weights = Weights{WeightMatrix(graph_, node), {}};
      weights->folds = plan_.foldable_channels(graph_, node, weights->matrix);
    }
    return *weights;
  }

  const Graph& graph_;
  ShrinkPlan& plan_;
  Uses uses_;
  std::vector<std::optional<Weights>> weights_;  // by node
  std::vector<int64_t> pending_;                 // classes whose inputs are still to be looked at
};

bool reaches_beyond(int64_t image, int64_t kernel, int64_t stride, int64_t dilation, int64_t before,
                    int64_t positions) {
  return before > 0 || (positions - 1) * stride + (kernel - 1) * dilation >= image;
}

}  // namespace

WeightMatrix::WeightMatrix(const Graph& graph, const Node& node) {
  const Value& weights = graph[node.inputs.at(1)];
  const Shape& shape = weights.type.shape;
  rows_ = shape.front();
  columns_ = shape.back();
  taps_ = shape.size() == 4 ? shape[1] * shape[2] : 1;
  divisor_ = std::gcd(columns_, last_extent(graph[node.inputs[0]].type));
  bytes_ = *weights.constant;
  if (ingot::is_float(weights.type.dtype)) {
    floats_ = bytes_.as<float>();
  } else {
    zero_points_ = weights.type.quantization->zero_points;
  }
}

int64_t WeightMatrix::zero_point(int64_t row) const {
  return zero_points_[zero_points_.size() == 1 ? 0 : static_cast<size_t>(row)];
}

bool WeightMatrix::is_zero(int64_t row, int64_t column) const {
  for (int64_t tap = 0; tap < taps_; ++tap) {
    const auto at = static_cast<size_t>(index(row, tap, column));
    const bool zero =
        is_float() ? floats_[at] == 0 : static_cast<int8_t>(bytes_.view()[at]) == zero_point(row);
    if (!zero) return false;
  }
  return true;
}

bool WeightMatrix::is_finite(int64_t row, int64_t column) const {
  if (!is_float()) return true;
  for (int64_t tap = 0; tap < taps_; ++tap) {
    if (!std::isfinite(floats_[static_cast<size_t>(index(row, tap, column))])) return false;
  }
  return true;
}

int64_t WeightMatrix::sum(int64_t row, int64_t column) const {
  int64_t sum = 0;
  for (int64_t tap = 0; tap < taps_; ++tap) {
    const auto at = static_cast<size_t>(index(row, tap, column));
    sum += static_cast<int8_t>(bytes_.view()[at]) - zero_point(row);
  }
  return sum;
}

bool has_border(const Graph& graph, const Node& node) {
  const auto* conv = node.as<Conv2D>();
  if (!conv) return false;
  const Shape& x = graph[node.inputs.at(0)].type.shape;
  const Shape& filter = graph[node.inputs.at(1)].type.shape;
  const Shape& y = produced_type(graph, node).shape;
  const Padding& p = conv->padding;
  return reaches_beyond(x[1] + p.top, filter[1], conv->stride_h, conv->dilation_h, p.top, y[1]) ||
         reaches_beyond(x[2] + p.left, filter[2], conv->stride_w, conv->dilation_w, p.left, y[2]);
}

std::vector<int64_t> ShrinkPlan::kept_channels(const Graph& graph, ValueId id) const {
  std::vector<int64_t> list;
  const bool is_constant = graph[id].is_constant();
  for (int64_t c = 0; c < last_extent(graph[id].type); ++c) {
    if (is_constant || is_kept(channels.slot(id, c))) list.push_back(c);
  }
  return list;
}

bool ShrinkPlan::is_constant_row(const Node& node, int64_t row) const {
  const ValueId y = node.outputs.at(0);
  const std::vector<Interval>& known = intervals.values.at(index_of(y));
  return !known.empty() && node.epilogue.empty() &&
         known.at(static_cast<size_t>(row)).is_constant();
}

std::vector<bool> ShrinkPlan::foldable_channels(const Graph& graph, const Node& node,
                                                const WeightMatrix& weights) const {
  const ValueId x = node.inputs.at(0);
  const auto divisor = static_cast<size_t>(weights.num_channels());
  if (graph[x].is_constant()) return std::vector<bool>(divisor, false);
  const bool is_borderless = weights.is_float() || !has_border(graph, node);
  std::vector<bool> folds(divisor, true);
  for (int64_t c = 0; c < channels.count(x); ++c) {
    const auto residue = static_cast<size_t>(c) % divisor;
    const auto at = [&](int64_t channel) {
      return constants[static_cast<size_t>(channels.slot(x, channel))];
    };
    const std::optional<int64_t> value = at(c);
    const bool folds_here = value && value == at(static_cast<int64_t>(residue)) &&
                            (is_borderless || *value == graph[x].type.zero_point());
    folds[residue] = folds[residue] && folds_here;
  }
  return folds;
}

ShrinkPlan plan_shrinking(const Graph& graph, Rounding rounding) {
  ShrinkPlan plan{analyse_intervals(graph, rounding), Channels(graph), {}, {}};
  plan.constants = constant_channels(graph, plan.channels, plan.intervals);
  Needs(graph, plan).run();
  return plan;
}

}  // namespace ingot
