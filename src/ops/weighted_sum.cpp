// SPDX-License-Identifier: Apache-2.0
#include "ops/weighted_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <utility>

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;
using loop::lit;

const TensorType* bias_of(Operands inputs) { return inputs.size() > 2 ? inputs[2].type : nullptr; }

bool is_int8(DType dtype) { return dtype == DType::kInt8; }

void append(Block& block, Block more) {
  block.insert(block.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

Fault check_dtypes(Operands inputs, const TensorType& y, std::string_view weights_name) {
  const DType x = inputs[0].type->dtype;
  const DType w = inputs[1].type->dtype;
  const TensorType* bias = bias_of(inputs);
  const DType expected_bias = is_int8(x) ? DType::kInt32 : x;
  const bool supported = is_int8(x) || x == DType::kFloat32;
  const bool weights_fit = x == w || is_hybrid(*inputs[0].type, *inputs[1].type);
  const bool equal = weights_fit && x == y.dtype && (!bias || bias->dtype == expected_bias);
  if (supported && equal) return std::nullopt;
  std::string bias_part;
  if (bias) bias_part = fmt::format(", the bias {}", name_of(bias->dtype));
  Diagnostic fault = type_fault(fmt::format("the input is {}, {} {}{}, the output {}", name_of(x),
                                            weights_name, name_of(w), bias_part, name_of(y.dtype)));
  fault.hint =
      "supported are int8 with an int32 bias, float32 throughout, and float32 with int8 weights";
  return fault;
}

Fault check_weight_quantization(const TensorType& weights, const WeightedSumRules& rules) {
  const std::string_view name = rules.weights;
  if (!weights.quantization) {
    return quantization_fault(fmt::format("{} has no quantisation parameters", name));
  }
  const Quantization& q = *weights.quantization;
  const int64_t channels = weights.shape[static_cast<size_t>(rules.channel_axis)];
  const int64_t count = q.per_tensor() ? 1 : channels;
  if (!q.per_tensor() && q.axis != rules.channel_axis) {
    return quantization_fault(
        fmt::format("{} is quantised along dimension {}, the output channels are dimension {}",
                    name, q.axis, rules.channel_axis));
  }
  if (static_cast<int64_t>(q.scales.size()) != count || q.zero_points.size() != q.scales.size()) {
    return quantization_fault(fmt::format("{} has {} scales and {} zero points, {} are needed",
                                          name, q.scales.size(), q.zero_points.size(), count));
  }
  for (const float scale : q.scales) {
    if (std::isfinite(scale) && scale > 0) continue;
    return quantization_fault(
        fmt::format("{} has scale {}, a finite one above 0 is needed", name, scale));
  }
  const bool may_shift = rules.weights_may_have_zero_point && q.per_tensor();
  for (const int64_t zero_point : q.zero_points) {
    const bool inside = lowest(weights.dtype) <= zero_point && zero_point <= highest(weights.dtype);
    if (zero_point == 0 || (may_shift && inside)) continue;
    return quantization_fault(
        fmt::format("{} has zero point {}, {}", name, zero_point,
                    may_shift ? "which its element type does not hold" : "only 0 is supported"));
  }
  return std::nullopt;
}

Fault check_factors(const TensorType& x, const TensorType& weights, const TensorType& y) {
  constexpr double kLargest = 1 << 30;
  const auto count = static_cast<int64_t>(weights.quantization->scales.size());
  for (int64_t c = 0; c < count; ++c) {
    const double factor = std::max(rescale_factor(x, weights, y, c, Rounding::kDouble),
                                   rescale_factor(x, weights, y, c, Rounding::kFloat));
    if (factor < kLargest) continue;
    return quantization_fault(fmt::format(
        "the product of input and weight scale is {} times the output scale, less than 2^30 is "
        "needed",
        factor));
  }
  return std::nullopt;
}

Fault check_bias(const TensorType& bias, int64_t channels) {
  if (bias.shape == Shape{channels}) return std::nullopt;
  return shape_fault(
      fmt::format("the bias has shape {}, [{}] is needed", print(bias.shape), channels));
}

// The range that the operator's output ends in: that of its type, or of the clamps fused to it.
Interval clamp_of_output(const Lowering& lowering) {
  const DType dtype = lowering.output_type().dtype;
  Interval range{lowest(dtype), highest(dtype)};
  for (const Step& step : lowering.node().epilogue) {
    const auto* clamp = std::get_if<Clamp>(&step.op);
    if (!clamp) break;
    const auto low = static_cast<double>(range.low);
    const auto high = static_cast<double>(range.high);
    range.low = static_cast<int64_t>(std::clamp(std::ceil(clamp->low), low, high));
    range.high = static_cast<int64_t>(std::clamp(std::floor(clamp->high), low, high));
  }
  return range;
}

// Calls f(channel, weights, zero_point) for each run of weights of one channel that lie side by
// side.
template <class F>
void for_each_run(const TensorType& type, const Bytes& bytes, int64_t channel_axis, F f) {
  const int64_t channels = type.shape[static_cast<size_t>(channel_axis)];
  const int64_t zero_point = type.quantization->zero_points.front();  // the others are 0 too
  const std::span<const uint8_t> view = bytes.view();
  const auto count = static_cast<int64_t>(view.size());
  const int64_t inner = channel_axis == 0 ? count / channels : 1;
  int64_t channel = 0;
  for (int64_t i = 0; i < count; i += inner) {
    f(static_cast<size_t>(channel),
      view.subspan(static_cast<size_t>(i), static_cast<size_t>(inner)), zero_point);
    if (++channel == channels) channel = 0;
  }
}

}  // namespace

Fault check_weighted_sum_arity(Operands inputs, std::span<const TensorType> declared) {
  if (inputs.size() < 2 || inputs.size() > 3 || !inputs[0].present() || !inputs[1].present()) {
    return shape_fault(fmt::format("it has {} inputs, 2 or 3 are needed",
                                   std::ranges::count_if(inputs, &Operand::present)));
  }
  if (declared.size() != 1) {
    return shape_fault(fmt::format("it has {} outputs, 1 is needed", declared.size()));
  }
  return std::nullopt;
}

Fault check_weighted_sum(Operands inputs, std::span<const TensorType> declared,
                         const WeightedSumRules& rules, bool zero_point_in_bias) {
  const TensorType& x = *inputs[0].type;
  const TensorType& weights = *inputs[1].type;
  const TensorType& y = declared[0];
  const TensorType* bias = bias_of(inputs);
  const int64_t channels = weights.shape[static_cast<size_t>(rules.channel_axis)];
  if (Fault fault = check_dtypes(inputs, y, rules.weights)) return fault;
  if (bias) {
    if (Fault fault = check_bias(*bias, channels)) return fault;
  }
  if (zero_point_in_bias && (!bias || !is_int8(x.dtype))) {
    return attribute_fault("the zero point is said to be in the bias, but there is none");
  }
  if (is_hybrid(x, weights)) {
    return check_weight_quantization(weights, {rules.weights, rules.channel_axis, false});
  }
  if (!is_int8(x.dtype)) return std::nullopt;
  if (Fault fault = check_per_tensor(x, "the input")) return fault;
  if (Fault fault = check_per_tensor(y, "the output")) return fault;
  if (Fault fault = check_weight_quantization(weights, rules)) return fault;
  return check_factors(x, weights, y);
}

namespace {

// The sums of the weights below 0, and of those above it. In pieces whose sums fit 32 bits, of
// which a processor adds several at once.
Interval sums_by_sign(std::span<const uint8_t> weights, int64_t zero_point) {
  constexpr size_t kPiece = size_t{1} << 20;
  Interval sums;
  while (!weights.empty()) {
    const std::span<const uint8_t> piece = weights.first(std::min(weights.size(), kPiece));
    const auto zero = static_cast<int32_t>(zero_point);
    int32_t below = 0;
    int32_t above = 0;
    for (const uint8_t byte : piece) {
      const int32_t weight = static_cast<int8_t>(byte) - zero;
      below += std::min(weight, 0);
      above += std::max(weight, 0);
    }
    sums = {sums.low + below, sums.high + above};
    weights = weights.subspan(piece.size());
  }
  return sums;
}

// The largest sum of |w - zero_point(w)| * largest_x and the magnitude of the bias.
int64_t largest_sum(const TensorType& weights, const Bytes& weight_bytes, const Bytes* bias,
                    int64_t channel_axis, int64_t largest_x) {
  const auto channels = static_cast<size_t>(weights.shape[static_cast<size_t>(channel_axis)]);
  std::vector<int64_t> bounds(channels, 0);
  for_each_run(weights, weight_bytes, channel_axis,
               [&](size_t channel, std::span<const uint8_t> run, int64_t zero_point) {
                 const auto [below, above] = sums_by_sign(run, zero_point);
                 bounds[channel] += (above - below) * largest_x;
               });
  if (bias) {
    const std::vector<int32_t> values = bias->as<int32_t>();
    for (size_t c = 0; c < channels; ++c) bounds[c] += std::abs(int64_t{values.at(c)});
  }
  return std::ranges::max(bounds);
}

}  // namespace

int64_t accumulator_bound(const TensorType& x, const TensorType& weights, const Bytes& weight_bytes,
                          const Bytes* bias, int64_t channel_axis, bool zero_point_in_bias) {
  const int64_t zero_point = zero_point_in_bias ? 0 : x.zero_point();
  const int64_t largest_x =
      std::max(highest(x.dtype) - zero_point, std::abs(lowest(x.dtype) - zero_point));
  return largest_sum(weights, weight_bytes, bias, channel_axis, largest_x);
}

std::vector<Interval> accumulator_ranges(const TensorType& x, const TensorType& weights,
                                         const Bytes& weight_bytes, const Bytes* bias,
                                         int64_t channel_axis, bool zero_point_in_bias) {
  const int64_t zero_point = zero_point_in_bias ? 0 : x.zero_point();
  const Interval values = {lowest(x.dtype) - zero_point, highest(x.dtype) - zero_point};
  const auto channels = static_cast<size_t>(weights.shape[static_cast<size_t>(channel_axis)]);
  std::vector<Interval> ranges(channels, Interval{0, 0});
  for_each_run(weights, weight_bytes, channel_axis,
               [&](size_t channel, std::span<const uint8_t> run, int64_t weight_zero_point) {
                 // Those above 0 and those below it grow with opposite ends.
                 const auto [below, above] = sums_by_sign(run, weight_zero_point);
                 Interval& range = ranges[channel];
                 range.low += above * values.low + below * values.high;
                 range.high += above * values.high + below * values.low;
               });
  if (bias) {
    const std::vector<int32_t> biases = bias->as<int32_t>();
    for (size_t c = 0; c < channels; ++c) {
      ranges[c].low += biases.at(c);
      ranges[c].high += biases.at(c);
    }
  }
  return ranges;
}

// infer refuses the other cases of these two: as limits they stand where users look for them.
bool no_extent_is_0(Operands inputs, std::span<const TensorType> outputs) {
  return inputs[0].type->num_elements() > 0 && inputs[1].type->num_elements() > 0 &&
         outputs[0].num_elements() > 0;
}

bool zero_points_are_0(const TensorType& weights) {
  return !weights.quantization ||
         std::ranges::all_of(weights.quantization->zero_points,
                             [](int64_t zero_point) { return zero_point == 0; });
}

bool weights_are_constant(Operands inputs) { return inputs[1].is_constant(); }

bool bias_is_constant(Operands inputs) {
  return inputs.size() < 3 || !inputs[2].present() || inputs[2].is_constant();
}

bool accumulators_fit(Operands inputs, int64_t channel_axis, bool zero_point_in_bias) {
  // What is not constant is refused by other limits; floats do not overflow.
  if (!weights_are_constant(inputs) || !bias_is_constant(inputs)) return true;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (is_hybrid(*inputs[0].type, *inputs[1].type)) {
    constexpr int64_t kLargestX = 255;  // with a zero point at an end of int8
    return largest_sum(*inputs[1].type, *inputs[1].constant, nullptr, channel_axis, kLargestX) <=
           kMost;
  }
  if (!is_int8(inputs[0].type->dtype)) return true;
  const Bytes* bias = inputs.size() > 2 ? inputs[2].constant : nullptr;
  return accumulator_bound(*inputs[0].type, *inputs[1].type, *inputs[1].constant, bias,
                           channel_axis, zero_point_in_bias) <= kMost;
}

WeightedSum::WeightedSum(Lowering& lowering, int64_t channel_axis, bool zero_point_in_bias,
                         const InputRows& rows)
    : lowering_(lowering),
      x_(lowering.input(0, "x")),
      weights_(lowering.input(1, "w")),
      accumulator_(lowering.fresh("acc")),
      scaled_(lowering.fresh("scaled")),
      rows_(rows) {
  const TensorType& x = lowering.input_type(0);
  const TensorType& weights = lowering.input_type(1);
  if (is_hybrid(x, weights)) {
    quantized_.emplace(lowering, x_, rows);
    const std::vector<float>& scales = weights.quantization->scales;
    if (!weights.quantization->per_tensor()) {
      weight_scales_ = lowering.constant("scales", DType::kFloat32, Bytes::of(scales));
    }
    if (lowering.has_input(2)) bias_ = lowering.input(2, "bias");
    return;
  }
  if (is_float(x.dtype)) {
    accumulator_dtype_ = x.dtype;
  } else {
    x_offset_ = zero_point_in_bias ? 0 : -x.zero_point();
    weight_offset_ = -weights.quantization->zero_points.front();
    prepare_rescaling(channel_axis, zero_point_in_bias);
  }
  const bool adds_bias = lowering.has_input(2) && !(proved_ && proved_->takes_bias());
  if (adds_bias) bias_ = lowering.input(2, "bias");
}

void WeightedSum::prepare_rescaling(int64_t channel_axis, bool zero_point_in_bias) {
  const TensorType& x = lowering_.input_type(0);
  const TensorType& weights = lowering_.input_type(1);
  const TensorType& y = lowering_.output_type();
  const Bytes* bias = lowering_.has_input(2) ? &lowering_.input_constant(2) : nullptr;
  RescaleTask task;
  const auto count = static_cast<int64_t>(weights.quantization->scales.size());
  for (int64_t c = 0; c < count; ++c) {
    task.factors.push_back(rescale_factor(x, weights, y, c, lowering_.rounding()));
  }
  const Bytes& weight_bytes = lowering_.input_constant(1);
  task.accumulators =
      accumulator_ranges(x, weights, weight_bytes, bias, channel_axis, zero_point_in_bias);
  if (bias) {
    const std::vector<int32_t> biases = bias->as<int32_t>();
    task.biases.assign(biases.begin(), biases.end());
  }
  task.zero_point = y.zero_point();
  task.clamp = clamp_of_output(lowering_);
  task.rounding = lowering_.rounding();
  loop::Requantization record;
  const bool may_search =
      lowering_.forms().rescalings && lowering_.plane_searches().may_find_lines(num_searches(task));
  const std::optional<ProvedRescale> proved = may_search ? prove_rescale(task) : std::nullopt;
  if (proved) {
    proved_.emplace(lowering_, task, *proved);
    record = proved_->record();
  } else {
    if (bias) bias_ = lowering_.input(2, "bias");
    requantizer_.emplace(lowering_, Rescale{task.factors,
                                            accumulator_bound(x, weights, weight_bytes, bias,
                                                              channel_axis, zero_point_in_bias),
                                            task.clamp.low >= task.zero_point});
  }
  record.input_scale = x.scale();
  record.weight_scales = weights.quantization->scales;
  record.output_scale = y.scale();
  record.zero_point = task.zero_point;
  record.lowest = task.clamp.low;
  record.highest = task.clamp.high;
  for (const Interval& range : task.accumulators) {
    record.accumulator_low.push_back(range.low);
    record.accumulator_high.push_back(range.high);
  }
  lowering_.record(std::move(record));
}

Block WeightedSum::row(const Expr& n, Block loops) const {
  if (!quantized_) return loops;
  Block block = quantized_->quantize(n * rows_.num_elements);
  append(block, std::move(loops));
  return block;
}

Expr WeightedSum::index_of_row(const Expr& n) const { return quantized_ ? lit(0) : n; }

Block WeightedSum::start(const Expr& channel) const {
  if (quantized_) return {loop::Let{accumulator_, lit(0)}};
  if (accumulator_dtype_ == DType::kFloat32) {
    return {loop::Let{accumulator_, loop::float_lit(0)}};
  }
  return {loop::Let{accumulator_,
                    bias_.empty() ? lit(0) : Lowering::load(bias_, DType::kInt32, channel)}};
}

Block WeightedSum::add(const Expr& x_index, const Expr& weight_index) const {
  Expr x = quantized_ ? quantized_->centred(x_index)
                      : Lowering::load(x_, lowering_.input_type(0).dtype, x_index);
  Expr weight = Lowering::load(weights_, lowering_.input_type(1).dtype, weight_index);
  if (accumulator_dtype_ != DType::kFloat32) {
    x = x + x_offset_;
    weight = weight + weight_offset_;
  }
  return {loop::Assign{accumulator_, accumulator() + x * weight}};
}

Expr WeightedSum::weight_scale(const Expr& channel) const {
  if (!weight_scales_.empty()) return Lowering::load(weight_scales_, DType::kFloat32, channel);
  const float scale = lowering_.input_type(1).quantization->scales.front();
  return loop::float_lit(static_cast<double>(scale));
}

Block WeightedSum::finish(const Expr& y_index, const Expr& channel) const {
  if (quantized_ || accumulator_dtype_ == DType::kFloat32) {
    Expr sum = accumulator();
    if (quantized_) sum = quantized_->scaled(sum, weight_scale(channel));
    if (bias_.empty()) return lowering_.store(y_index, sum);
    return lowering_.store(y_index, sum + Lowering::load(bias_, DType::kFloat32, channel));
  }
  const Expr scaled = proved_ ? proved_->apply(accumulator(), channel)
                              : requantizer_->apply(accumulator(), channel);
  Block block = {loop::Let{scaled_, scaled}};
  const TensorType& y = lowering_.output_type();
  Expr value = loop::var(scaled_);
  if (!proved_) {
    value = saturate_to(y, value);
  } else if (proved_->clamps()) {
    const int64_t base = proved_->base();
    value = clamp_to(value, lowest(y.dtype) - base, highest(y.dtype) - base) + base;
  }
  append(block, lowering_.store(y_index, value));
  return block;
}

Block WeightedSum::around(const Expr& y_index, const Expr& channel, Block loops) const {
  Block block = start(channel);
  append(block, std::move(loops));
  append(block, finish(y_index, channel));
  return block;
}

}  // namespace ingot
