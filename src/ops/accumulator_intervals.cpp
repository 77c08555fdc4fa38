// SPDX-License-Identifier: Apache-2.0
// The accumulators of weighted sums. A border is no special case: which taps of a window lie inside
// the image depends on the position, along each axis they are consecutive, and there are at most
// about twice as many such runs as taps. Prefix sums over the taps give the sum of each.
#include <iterator>

#include "ops/intervals.h"
#include "ops/weighted_sum.h"
#include "ops/window.h"
#include "support/arithmetic.h"

namespace ingot {
namespace {

// Taps first .. end-1 of an axis lie inside the image.
struct Run {
  int64_t first = 0;
  int64_t end = 0;
  bool operator==(const Run&) const = default;
};

// The distinct runs over all positions. Both ends only fall as the position grows, so equal runs
// are neighbours, and there are at most two for each cell of the window, however large the image.
std::vector<Run> runs_of(const Window& window) {
  std::vector<Run> runs;
  const int64_t dilation = window.dilation;
  for (int64_t position = 0; position < window.num_positions();) {
    const int64_t start = position * window.stride - window.before;
    // Of all cells of the window, those from `first` on lie behind the image's begin, and those
    // before `end` before its end.
    const int64_t first = start >= 0 ? 0 : std::min(ceil_div(-start, dilation), window.kernel);
    const int64_t end = start >= window.image
                            ? 0
                            : std::min((window.image - 1 - start) / dilation + 1, window.kernel);
    const Run run = first < end ? Run{first, end} : Run{0, 0};
    if (runs.empty() || runs.back() != run) runs.push_back(run);
    // The next position at which either falls.
    int64_t next = window.num_positions();
    const auto falls_at = [&](int64_t later_start) {
      next = std::min(next, ceil_div(later_start + window.before, window.stride));
    };
    if (first > 0) falls_at(-(first - 1) * dilation);
    if (end > 0) falls_at(window.image - (end - 1) * dilation);
    position = next;
  }
  return runs;
}

// How an operator's weights and inputs go together.
struct Geometry {
  int64_t outputs = 1;
  int64_t terms = 1;  // per tap
  Windows windows;
  bool zero_point_in_bias = false;
  // Indices into the weights and into the channels of x.
  int64_t tap_stride = 1;
  int64_t output_stride = 1;
  int64_t outputs_per_group = 1;  // outputs o of a group read the same channels
  int64_t channels_per_group = 1;

  int64_t num_taps() const { return windows.y.kernel * windows.x.kernel; }
  int64_t weight(int64_t output, int64_t tap, int64_t term) const {
    return output * output_stride + tap * tap_stride + term;
  }
  int64_t channel(int64_t output, int64_t term) const {
    return output / outputs_per_group * channels_per_group + term;
  }
};

template <class Convolution>
Windows windows_of(const Convolution& conv, const Shape& x, const Shape& filter) {
  const Padding& p = conv.padding;
  return {{x[1], filter[1], conv.stride_h, conv.dilation_h, p.top, p.bottom},
          {x[2], filter[2], conv.stride_w, conv.dilation_w, p.left, p.right}};
}

Geometry geometry_of(const Op& op, const Shape& x, const Shape& weights) {
  Geometry g;
  if (const auto* conv = std::get_if<Conv2D>(&op)) {
    g.outputs = weights[0];
    g.terms = weights[3];
    g.windows = windows_of(*conv, x, weights);
    g.zero_point_in_bias = conv->zero_point_in_bias;
    g.tap_stride = weights[3];
    g.output_stride = g.num_taps() * weights[3];
    g.outputs_per_group = weights[0] / conv->groups;
    g.channels_per_group = weights[3];
  } else if (const auto* depthwise = std::get_if<DepthwiseConv2D>(&op)) {
    g.outputs = weights[3];
    g.windows = windows_of(*depthwise, x, weights);
    g.zero_point_in_bias = depthwise->zero_point_in_bias;
    g.tap_stride = weights[3];
    g.outputs_per_group = weights[3] / x[3];
  } else {
    g.outputs = weights[0];
    g.terms = weights[1];
    g.zero_point_in_bias = std::get<FullyConnected>(op).zero_point_in_bias;
    g.output_stride = weights[1];
    g.outputs_per_group = weights[0];
    g.channels_per_group = weights[1];
  }
  return g;
}

// Sums over rectangles of taps, of one output channel.
class TapSums {
 public:
  TapSums(int64_t rows, int64_t columns)
      : columns_(columns), sums_(static_cast<size_t>((rows + 1) * (columns + 1))) {}

  // To be called for each tap, row by row.
  void set(int64_t row, int64_t column, Interval sum) {
    const Interval up = at(row, column + 1);
    const Interval left = at(row + 1, column);
    const Interval corner = at(row, column);
    at(row + 1, column + 1) = {up.low + left.low - corner.low + sum.low,
                               up.high + left.high - corner.high + sum.high};
  }
  Interval over(Run rows, Run columns) const {
    const auto part = [&](auto end) {
      return at(rows.end, columns.end).*end - at(rows.first, columns.end).*end -
             at(rows.end, columns.first).*end + at(rows.first, columns.first).*end;
    };
    return {part(&Interval::low), part(&Interval::high)};
  }

 private:
  const Interval& at(int64_t row, int64_t column) const {
    return sums_[static_cast<size_t>(row * (columns_ + 1) + column)];
  }
  Interval& at(int64_t row, int64_t column) {
    return sums_[static_cast<size_t>(row * (columns_ + 1) + column)];
  }

  int64_t columns_;
  std::vector<Interval> sums_;
};

class RangesOfSums {
 public:
  RangesOfSums(const Op& op, Operands inputs, const std::vector<Interval>& x)
      : x_type_(*inputs[0].type),
        weights_type_(*inputs[1].type),
        weights_(inputs[1].constant->view()),
        geometry_(geometry_of(op, x_type_.shape, weights_type_.shape)),
        rows_(runs_of(geometry_.windows.y)),
        columns_(runs_of(geometry_.windows.x)) {
    const bool dense = std::holds_alternative<FullyConnected>(op);
    const int64_t zero = geometry_.zero_point_in_bias ? 0 : x_type_.zero_point();
    for (const Interval& channel : dense ? regroup(x, geometry_.terms) : x) {
      x_low_.push_back(static_cast<int16_t>(channel.low - zero));
      x_high_.push_back(static_cast<int16_t>(channel.high - zero));
    }
    if (inputs.size() > 2 && inputs[2].present()) bias_ = inputs[2].constant->as<int32_t>();
  }

  int64_t num_outputs() const { return geometry_.outputs; }

  AccumulatorRange of_output(int64_t output) const {
    const int64_t bias = bias_.empty() ? 0 : bias_.at(static_cast<size_t>(output));
    const int64_t rows = geometry_.windows.y.kernel;
    const int64_t columns = geometry_.windows.x.kernel;
    AccumulatorRange range;
    range.partial = {std::min<int64_t>(bias, 0), std::max<int64_t>(bias, 0)};
    TapSums sums(rows, columns);
    for (int64_t ky = 0; ky < rows; ++ky) {
      for (int64_t kx = 0; kx < columns; ++kx) {
        sums.set(ky, kx, tap(output, ky * columns + kx, range.partial));
      }
    }
    std::optional<Interval> total;
    for (const Run& row : rows_) {
      for (const Run& column : columns_) {
        const Interval sum = sums.over(row, column);
        total = total ? hull(*total, sum) : sum;
      }
    }
    range.total = {total->low + bias, total->high + bias};
    return range;
  }

 private:
  // The terms of one tap, which also widen the range of partial sums.
  Interval tap(int64_t output, int64_t index, Interval& partial) const {
    const auto zero = static_cast<int16_t>(weights_type_.quantization->zero_point(output));
    const auto terms = static_cast<size_t>(geometry_.terms);
    const auto first = static_cast<size_t>(geometry_.channel(output, 0));
    const uint8_t* weights = &weights_[static_cast<size_t>(geometry_.weight(output, index, 0))];
    // In pieces whose sums fit 32 bits, of which a processor adds several at once.
    constexpr size_t kPiece = 4096;
    Interval sum;
    for (size_t t = 0; t < terms; t += kPiece) {
      const PieceSums piece = piece_of(weights + t, &x_low_[first + t], &x_high_[first + t],
                                       std::min(kPiece, terms - t), zero);
      sum = {sum.low + piece.low, sum.high + piece.high};
      partial.low += piece.low - piece.low_above_0;
      partial.high += piece.high - piece.high_below_0;
    }
    return sum;
  }

  // The sums of the least and of the greatest products, and what of them lies beyond 0.
  struct PieceSums {
    int32_t low = 0;
    int32_t high = 0;
    int32_t low_above_0 = 0;
    int32_t high_below_0 = 0;
  };
  static PieceSums piece_of(const uint8_t* weights, const int16_t* x_low, const int16_t* x_high,
                            size_t count, int16_t zero) {
    PieceSums sums;
    for (size_t i = 0; i < count; ++i) {
      const auto w = static_cast<int16_t>(static_cast<int8_t>(weights[i]) - zero);
      const int16_t at_low = w < 0 ? x_high[i] : x_low[i];
      const int16_t at_high = w < 0 ? x_low[i] : x_high[i];
      const int32_t low = w * at_low;
      const int32_t high = w * at_high;
      sums.low += low;
      sums.high += high;
      sums.low_above_0 += std::max(low, 0);
      sums.high_below_0 += std::min(high, 0);
    }
    return sums;
  }

  const TensorType& x_type_;
  const TensorType& weights_type_;
  std::span<const uint8_t> weights_;  // int8
  Geometry geometry_;
  std::vector<Run> rows_;
  std::vector<Run> columns_;
  std::vector<int16_t> x_low_;  // by channel, of int8, less the zero point
  std::vector<int16_t> x_high_;
  std::vector<int32_t> bias_;
};

}  // namespace

std::vector<AccumulatorRange> weighted_sum_ranges(const Op& op, Operands inputs,
                                                  const TensorType& output,
                                                  const std::vector<Interval>& x,
                                                  Rounding rounding) {
  const RangesOfSums sums(op, inputs, x);
  std::vector<AccumulatorRange> ranges;
  for (int64_t o = 0; o < sums.num_outputs(); ++o) {
    AccumulatorRange range = sums.of_output(o);
    const auto finish = [&](int64_t sum) {
      return reference::output_of_sum(sum, *inputs[0].type, *inputs[1].type, output, o, rounding);
    };
    range.output = {finish(range.total.low), finish(range.total.high)};
    ranges.push_back(range);
  }
  return ranges;
}

}  // namespace ingot
