// SPDX-License-Identifier: Apache-2.0
#include "ops/intervals.h"

#include <numeric>

#include "ops/access.h"
#include "ops/operands.h"
#include "support/check.h"

namespace ingot {
namespace {

using Channels = std::vector<Interval>;

int64_t last_extent(const TensorType& type) { return type.shape.empty() ? 1 : type.shape.back(); }

bool is_tracked(const TensorType& type) { return is_integer(type.dtype); }

Channels whole_range(const TensorType& type) {
  return Channels(static_cast<size_t>(last_extent(type)),
                  {lowest(type.dtype), highest(type.dtype)});
}

// The least and greatest element of each index of the last dimension.
Channels of_constant(const TensorType& type, const Bytes& bytes) {
  const TensorView view = {&type, bytes.view()};
  const int64_t extent = last_extent(type);
  Channels channels;
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    const int64_t element = int_at(view, i);
    if (i < extent) channels.push_back({element, element});
    Interval& channel = channels[static_cast<size_t>(i % extent)];
    channel = hull(channel, {element, element});
  }
  return channels;
}

// An operand of an operator as the walk sees it.
struct Known {
  TensorType type;
  Channels channels;
};

// What the reference of `op` makes of `inputs`, whose bytes are given element by element.
std::vector<int64_t> run_reference(const Op& op, const std::vector<TensorType>& types,
                                   const std::vector<std::vector<int64_t>>& inputs,
                                   const TensorType& result, Rounding rounding) {
  std::vector<std::vector<uint8_t>> bytes;
  std::vector<TensorView> views;
  for (size_t i = 0; i < inputs.size(); ++i) {
    bytes.emplace_back(static_cast<size_t>(types[i].size_bytes()));
    const MutableTensorView view = {&types[i], bytes.back()};
    CHECK(static_cast<int64_t>(inputs[i].size()) == types[i].num_elements());
    for (size_t e = 0; e < inputs[i].size(); ++e) {
      set_int(view, static_cast<int64_t>(e), inputs[i][e]);
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) views.push_back({&types[i], bytes[i]});
  std::vector<uint8_t> out(static_cast<size_t>(result.size_bytes()));
  const MutableTensorView view = {&result, out};
  rules_of(op).reference.call(op, views, {&view, 1}, rounding);
  std::vector<int64_t> elements;
  for (int64_t e = 0; e < result.num_elements(); ++e) {
    elements.push_back(int_at({&result, out}, e));
  }
  return elements;
}

TensorType with_extents(TensorType type, Shape shape) {
  type.shape = std::move(shape);
  return type;
}

// An elementwise function of one tensor: looked at in every value of a byte, else in the ends
// (clamp and requantize are monotone).
Channels of_unary(const Op& op, const Known& x, const TensorType& y, Rounding rounding) {
  std::vector<int64_t> points;
  const bool is_byte = size_in_bytes(x.type.dtype) == 1;
  if (is_byte) {
    for (int64_t v = lowest(x.type.dtype); v <= highest(x.type.dtype); ++v) points.push_back(v);
  } else {
    for (const Interval& channel : x.channels) points.push_back(channel.low);
    for (const Interval& channel : x.channels) points.push_back(channel.high);
  }
  const Shape shape = {static_cast<int64_t>(points.size())};
  const std::vector<int64_t> results =
      run_reference(op, {with_extents(x.type, shape)}, {points}, with_extents(y, shape), rounding);
  const auto at = [&](size_t i) { return Interval{results[i], results[i]}; };
  Channels channels;
  for (size_t c = 0; c < x.channels.size(); ++c) {
    if (!is_byte) {
      channels.push_back(hull(at(c), at(c + x.channels.size())));
      continue;
    }
    const auto first = static_cast<size_t>(x.channels[c].low - points.front());
    const auto last = static_cast<size_t>(x.channels[c].high - points.front());
    Interval range = at(first);
    for (size_t i = first; i <= last; ++i) range = hull(range, at(i));
    channels.push_back(range);
  }
  return channels;
}

// add and sub are monotone in each operand, mul too while the other is fixed: the four corners.
Channels of_binary(const Op& op, const Known& x, const Known& z, const TensorType& y,
                   Rounding rounding) {
  const auto extent = static_cast<size_t>(last_extent(y));
  std::vector<int64_t> xs;
  std::vector<int64_t> zs;
  for (size_t c = 0; c < extent; ++c) {
    const Interval& a = x.channels.at(x.channels.size() == 1 ? 0 : c);
    const Interval& b = z.channels.at(z.channels.size() == 1 ? 0 : c);
    xs.insert(xs.end(), {a.low, a.low, a.high, a.high});
    zs.insert(zs.end(), {b.low, b.high, b.low, b.high});
  }
  const Shape shape = {static_cast<int64_t>(4 * extent)};
  const std::vector<int64_t> results =
      run_reference(op, {with_extents(x.type, shape), with_extents(z.type, shape)}, {xs, zs},
                    with_extents(y, shape), rounding);
  Channels channels;
  for (size_t c = 0; c < extent; ++c) {
    const auto [low, high] =
        std::minmax_element(results.begin() + static_cast<std::ptrdiff_t>(4 * c),
                            results.begin() + static_cast<std::ptrdiff_t>(4 * c + 4));
    channels.push_back({*low, *high});
  }
  return channels;
}

// A mean grows with each of its elements: all of them at their least, then at their greatest.
Channels of_reduce(const Reduce& reduce, const Known& x, const TensorType& y, Rounding rounding) {
  Shape shape = x.type.shape;
  Shape result;
  bool last_is_reduced = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool is_last = d + 1 == shape.size();
    const bool is_reduced =
        std::ranges::find(reduce.axes, static_cast<int64_t>(d)) != reduce.axes.end();
    if (!is_reduced && !is_last) shape[d] = 1;
    if (!is_reduced || reduce.keep_dims) result.push_back(is_reduced ? 1 : shape[d]);
    last_is_reduced = is_last && is_reduced;
  }
  const TensorType small = with_extents(x.type, shape);
  const TensorType out = with_extents(y, result);
  std::vector<int64_t> lows;
  std::vector<int64_t> highs;
  for (int64_t i = 0; i < small.num_elements(); ++i) {
    const Interval& channel = x.channels[static_cast<size_t>(i) % x.channels.size()];
    lows.push_back(channel.low);
    highs.push_back(channel.high);
  }
  const std::vector<int64_t> low = run_reference(reduce, {small}, {lows}, out, rounding);
  const std::vector<int64_t> high = run_reference(reduce, {small}, {highs}, out, rounding);
  Channels channels;
  for (int64_t c = 0; c < last_extent(y); ++c) {
    const size_t at = last_is_reduced ? 0 : static_cast<size_t>(c);
    channels.push_back({low.at(at), high.at(at)});
  }
  return channels;
}

Channels of_pad(const Pad& pad, const Known& x, const TensorType& y) {
  const auto value = static_cast<int64_t>(pad.value);
  const Interval fill = {value, value};
  Channels channels(static_cast<size_t>(last_extent(y)), fill);
  if (pad.before.empty()) return x.channels;
  bool is_surrounded = false;
  for (size_t d = 0; d + 1 < pad.before.size(); ++d) {
    is_surrounded = is_surrounded || pad.before[d] > 0 || pad.after[d] > 0;
  }
  const auto first = static_cast<size_t>(pad.before.back());
  for (size_t c = 0; c < x.channels.size(); ++c) {
    channels[first + c] = is_surrounded ? hull(x.channels[c], fill) : x.channels[c];
  }
  return channels;
}

Channels of_concat(const Concat& concat, const std::vector<Known>& inputs, const TensorType& y,
                   Rounding rounding) {
  const bool along_channels = concat.axis + 1 == y.rank();
  Channels channels;
  for (const Known& x : inputs) {
    if (x.type.num_elements() == 0) continue;
    // A concatenation of one tensor rescales it, if need be.
    const Channels part = of_unary(Concat{0}, x, y, rounding);
    if (along_channels) {
      channels.insert(channels.end(), part.begin(), part.end());
      continue;
    }
    if (channels.empty()) channels = part;
    for (size_t c = 0; c < part.size(); ++c) channels[c] = hull(channels[c], part[c]);
  }
  return channels;
}

// What `op` makes of its inputs, except for weighted sums.
Channels of_op(const Op& op, const std::vector<Known>& inputs, const TensorType& y,
               Rounding rounding) {
  const bool all_tracked =
      std::ranges::all_of(inputs, [](const Known& x) { return !x.channels.empty(); });
  if (!all_tracked || y.num_elements() == 0) return whole_range(y);
  const Known& x = inputs.at(0);
  if (std::holds_alternative<Clamp>(op) || std::holds_alternative<Requantize>(op) ||
      (std::holds_alternative<Unary>(op) && size_in_bytes(x.type.dtype) == 1)) {
    return of_unary(op, x, y, rounding);
  }
  if (std::holds_alternative<Binary>(op)) return of_binary(op, x, inputs.at(1), y, rounding);
  if (const auto* reduce = std::get_if<Reduce>(&op)) return of_reduce(*reduce, x, y, rounding);
  if (const auto* pad = std::get_if<Pad>(&op)) return of_pad(*pad, x, y);
  if (const auto* concat = std::get_if<Concat>(&op)) return of_concat(*concat, inputs, y, rounding);
  if (std::holds_alternative<Reshape>(op)) return regroup(x.channels, last_extent(y));
  // The maximum of elements of an interval, and their rounded average, lie in it.
  if (std::holds_alternative<Copy>(op) || std::holds_alternative<Pool2D>(op) ||
      std::holds_alternative<ResizeNearest>(op)) {
    return x.channels;
  }
  return whole_range(y);
}

class Walk {
 public:
  Walk(const Graph& graph, Rounding rounding) : graph_(graph), rounding_(rounding) {
    result_.values.resize(graph.values.size());
    result_.accumulators.resize(graph.nodes.size());
    for (const ValueId id : graph.inputs) {
      if (is_tracked(graph[id].type)) of(id) = whole_range(graph[id].type);
    }
  }

  Intervals run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) visit(n);
    return std::move(result_);
  }

 private:
  Channels& of(ValueId id) { return result_.values.at(static_cast<size_t>(id.index)); }

  Known known(ValueId id) {
    const Value& value = graph_[id];
    if (!is_tracked(value.type)) return {value.type, {}};
    if (value.is_constant()) return {value.type, of_constant(value.type, *value.constant)};
    return {value.type, of(id)};
  }

  void visit(size_t n) {
    const Node& node = graph_.nodes[n];
    const std::vector<TensorType> types = output_types_of(graph_, node);
    if (types.size() != 1) {
      for (const ValueId id : node.outputs) {
        if (is_tracked(graph_[id].type)) of(id) = whole_range(graph_[id].type);
      }
      return;
    }
    Known so_far = {types[0], {}};
    if (is_tracked(types[0])) so_far.channels = of_node(n, types[0]);
    for (const Step& step : node.epilogue) {
      std::vector<Known> inputs;
      for (const ValueId id : step.operands) inputs.push_back(known(id));
      inputs.insert(inputs.begin() + step.position, so_far);
      so_far = {step.type, {}};
      if (is_tracked(step.type)) so_far.channels = of_op(step.op, inputs, step.type, rounding_);
    }
    of(node.outputs[0]) = std::move(so_far.channels);
  }

  // The operator itself, without its epilogue.
  Channels of_node(size_t n, const TensorType& y) {
    const Node& node = graph_.nodes[n];
    if (is_weighted_sum(node.op)) return of_weighted_sum(n, y);
    std::vector<Known> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(known(id));
    return of_op(node.op, inputs, y, rounding_);
  }

  Channels of_weighted_sum(size_t n, const TensorType& y) {
    const Node& node = graph_.nodes[n];
    const std::vector<Operand> inputs = operands_of(graph_, node.inputs);
    const Known x = known(node.inputs[0]);
    const bool has_unknown_bias =
        inputs.size() > 2 && inputs[2].present() && !inputs[2].is_constant();
    if (!inputs[1].is_constant() || has_unknown_bias || x.channels.empty()) return whole_range(y);
    result_.accumulators[n] = weighted_sum_ranges(node.op, inputs, y, x.channels, rounding_);
    Channels channels;
    for (const AccumulatorRange& range : result_.accumulators[n]) channels.push_back(range.output);
    return regroup(channels, last_extent(y));
  }

  const Graph& graph_;
  Rounding rounding_;
  Intervals result_;
};

}  // namespace

bool is_weighted_sum(const Op& op) {
  return std::holds_alternative<Conv2D>(op) || std::holds_alternative<DepthwiseConv2D>(op) ||
         std::holds_alternative<FullyConnected>(op);
}

std::vector<Interval> regroup(const std::vector<Interval>& channels, int64_t extent) {
  const auto old_extent = static_cast<int64_t>(channels.size());
  if (old_extent == extent || old_extent == 0) return channels;
  const auto divisor = static_cast<size_t>(std::gcd(old_extent, extent));
  Channels residues(channels.begin(), channels.begin() + static_cast<std::ptrdiff_t>(divisor));
  for (size_t i = divisor; i < channels.size(); ++i) {
    residues[i % divisor] = hull(residues[i % divisor], channels[i]);
  }
  Channels result;
  for (size_t j = 0; j < static_cast<size_t>(extent); ++j) result.push_back(residues[j % divisor]);
  return result;
}

bool has_few_channels(const Graph& graph) {
  constexpr int64_t kMostChannels = int64_t{1} << 20;
  int64_t channels = 0;
  for (const Value& value : graph.values) {
    channels += value.type.shape.empty() ? 1 : value.type.shape.back();
    if (channels > kMostChannels) return false;
  }
  return true;
}

Intervals analyse_intervals(const Graph& graph, Rounding rounding) {
  return Walk(graph, rounding).run();
}

std::vector<AccumulatorRange> accumulator_ranges(const Graph& graph, NodeId node,
                                                 Rounding rounding) {
  return analyse_intervals(graph, rounding).accumulators.at(static_cast<size_t>(node.index));
}

}  // namespace ingot
