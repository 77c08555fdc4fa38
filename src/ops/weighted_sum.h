// SPDX-License-Identifier: Apache-2.0
// What convolutions and fully connected layers share: each output element is a sum of inputs times
// weights, plus a bias, brought to the output's scale. They differ only in which terms are summed.
//
// Quantised: acc = bias[c] + sum (x - zero_point(x)) * (w - zero_point(w)) in int32, then
// y = zero_point(y) + round(acc * scale(x) * scale(w)[c] / scale(y)), saturated. Float: the terms
// are summed from 0 in the order in which they stand below, and the bias is added last (as TFLM's
// reference kernels do). Hybrid (float x, int8 weights): ops/hybrid.h.
//
// Inputs are x, weights and, if any, bias. `channel_axis` is the dimension of the weights that
// counts the output channels: the first or the last.
#pragma once
#include <optional>
#include <string>

#include "ops/access.h"
#include "ops/checks.h"
#include "ops/fixed_point.h"
#include "ops/hybrid.h"
#include "ops/lowering.h"
#include "ops/proved_rescale.h"
#include "ops/reference_math.h"

namespace ingot {

struct WeightedSumRules {
  std::string_view weights;  // what they are called in sentences: "the filter"
  int64_t channel_axis = 0;
  bool weights_may_have_zero_point = false;
};

// Two or three inputs and one output, of element types that go together, quantised as they must be;
// the bias has one element per channel. The weights' shape must already have been checked
// (check_indexable, the rank).
Fault check_weighted_sum(Operands inputs, std::span<const TensorType> declared,
                         const WeightedSumRules& rules, bool zero_point_in_bias);
// At least x and the weights are there, and not more than three inputs; one output.
Fault check_weighted_sum_arity(Operands inputs, std::span<const TensorType> declared);

// The factor from accumulators of channel `channel` to the output's scale; for kFloat worked out in
// float32, as XNNPACK does (input scale times kernel scale, divided by output scale).
inline double rescale_factor(const TensorType& x, const TensorType& weights, const TensorType& y,
                             int64_t channel, Rounding rounding) {
  const float weight_scale = weights.quantization->scale(channel);
  if (rounding == Rounding::kFloat) return double{x.scale() * weight_scale / y.scale()};
  return double{x.scale()} * double{weight_scale} / double{y.scale()};
}

// No accumulator's magnitude, nor that of any partial sum, exceeds this: the largest over the
// channels of |bias| + sum |w - zero_point(w)| * max |x - zero_point(x)|. For constant quantised
// weights.
int64_t accumulator_bound(const TensorType& x, const TensorType& weights, const Bytes& weight_bytes,
                          const Bytes* bias, int64_t channel_axis, bool zero_point_in_bias);

// By channel, the sums of bias and (x - zero_point(x)) * (w - zero_point(w)) that inputs of any
// values of x's type can give; where terms are left out at a border, these are within it.
std::vector<Interval> accumulator_ranges(const TensorType& x, const TensorType& weights,
                                         const Bytes& weight_bytes, const Bytes* bias,
                                         int64_t channel_axis, bool zero_point_in_bias);

// For limits.
bool no_extent_is_0(Operands inputs, std::span<const TensorType> outputs);
bool zero_points_are_0(const TensorType& weights);
bool weights_are_constant(Operands inputs);
bool bias_is_constant(Operands inputs);
bool accumulators_fit(Operands inputs, int64_t channel_axis, bool zero_point_in_bias);

// Lowering. Around `finish(y_index, channel)` and what `start` and `add` give, the caller puts the
// loops over the terms.
class WeightedSum {
 public:
  // `rows` are those of a hybrid layer's input.
  WeightedSum(Lowering& lowering, int64_t channel_axis, bool zero_point_in_bias,
              const InputRows& rows);

  // What comes once for row n of the input, around the loops that use it.
  loop::Block row(const loop::Expr& n, loop::Block loops) const;
  // Row n as the terms' indices count it: 0 where each row is quantised before its use.
  loop::Expr index_of_row(const loop::Expr& n) const;

  // The accumulator's first value.
  loop::Block start(const loop::Expr& channel) const;
  // Adds one term.
  loop::Block add(const loop::Expr& x_index, const loop::Expr& weight_index) const;
  // Stores the output element.
  loop::Block finish(const loop::Expr& y_index, const loop::Expr& channel) const;

  // start, the loops, finish.
  loop::Block around(const loop::Expr& y_index, const loop::Expr& channel, loop::Block loops) const;

 private:
  loop::Expr accumulator() const { return loop::var(accumulator_, loop::Type{accumulator_dtype_}); }

  // Decides how accumulators are rescaled.
  void prepare_rescaling(int64_t channel_axis, bool zero_point_in_bias);
  // Of a hybrid layer.
  loop::Expr weight_scale(const loop::Expr& channel) const;

  Lowering& lowering_;
  std::string x_;
  std::string weights_;
  std::string bias_;  // empty: none
  int64_t x_offset_ = 0;
  int64_t weight_offset_ = 0;
  DType accumulator_dtype_ = DType::kInt32;
  std::string accumulator_;
  std::string scaled_;
  // At most one of them; none for floats.
  std::optional<ProvedRescaler> proved_;
  std::optional<Requantizer> requantizer_;
  InputRows rows_;
  std::optional<QuantizedRow> quantized_;  // of hybrid layers
  std::string weight_scales_;              // per channel; empty: per tensor
};

namespace reference {

// The output element of an accumulator of channel `channel`.
inline int64_t output_of_sum(int64_t sum, const TensorType& x, const TensorType& weights,
                             const TensorType& y, int64_t channel, Rounding rounding) {
  const double factor = rescale_factor(x, weights, y, channel, rounding);
  const int64_t scaled = requantize(saturate32(sum), factor, rounding);
  return saturate(y.zero_point() + scaled, y.dtype);
}

// The input's rows, if the layer is hybrid.
inline std::optional<QuantizedRows> rows_if_hybrid(std::span<const TensorView> inputs,
                                                   const InputRows& rows) {
  if (!is_hybrid(*inputs[0].type, *inputs[1].type)) return std::nullopt;
  return quantize_rows(inputs[0], rows);
}

// Writes output element `y_index` of channel `channel`, which reads row `row` of the input.
// `for_each_term(f)` calls f(x_index, weight_index) for each term in order.
template <class ForEachTerm>
void weighted_sum(std::span<const TensorView> inputs, const MutableTensorView& y,
                  const std::optional<QuantizedRows>& hybrid, bool zero_point_in_bias,
                  Rounding rounding, int64_t y_index, int64_t row, int64_t channel,
                  const ForEachTerm& for_each_term) {
  const TensorView& x = inputs[0];
  const TensorView& w = inputs[1];
  const bool has_bias = inputs.size() > 2 && inputs[2].present();
  if (hybrid) {
    int64_t sum = 0;
    for_each_term([&](int64_t xi, int64_t wi) {
      sum += hybrid->centred[static_cast<size_t>(xi)] * int_at(w, wi);
    });
    const float scaled = hybrid->scaled(sum, row, w.type->quantization->scale(channel));
    set_float(y, y_index, has_bias ? scaled + float_at(inputs[2], channel) : scaled);
    return;
  }
  if (y.type->dtype == DType::kFloat32) {
    float sum = 0;
    for_each_term([&](int64_t xi, int64_t wi) { sum += float_at(x, xi) * float_at(w, wi); });
    set_float(y, y_index, has_bias ? sum + float_at(inputs[2], channel) : sum);
    return;
  }
  const int64_t x_zero = zero_point_in_bias ? 0 : x.type->zero_point();
  const int64_t w_zero = w.type->quantization->zero_point(channel);
  int64_t sum = has_bias ? int_at(inputs[2], channel) : 0;
  for_each_term(
      [&](int64_t xi, int64_t wi) { sum += (int_at(x, xi) - x_zero) * (int_at(w, wi) - w_zero); });
  set_int(y, y_index, output_of_sum(sum, *x.type, *w.type, *y.type, channel, rounding));
}

}  // namespace reference
}  // namespace ingot
