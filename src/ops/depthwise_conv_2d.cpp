// SPDX-License-Identifier: Apache-2.0
// Depthwise 2-D convolution: each input channel is convolved with filters of its own. The channel
// is the loop outside the window, so that each output cell is one short sum.
#include <fmt/format.h>

#include <utility>

#include "ops/weighted_sum.h"
#include "ops/window.h"

namespace ingot {
namespace {

constexpr int64_t kChannelAxis = 3;

Windows windows_of(const DepthwiseConv2D& conv, const TensorType& x, const TensorType& filter) {
  const Padding& p = conv.padding;
  return {{x.shape[1], filter.shape[1], conv.stride_h, conv.dilation_h, p.top, p.bottom},
          {x.shape[2], filter.shape[2], conv.stride_w, conv.dilation_w, p.left, p.right}};
}

// Each image of the batch.
InputRows rows_of(const DepthwiseConv2D& conv, const Shape& x) {
  return {x[1] * x[2] * x[3], conv.asymmetric_inputs, ScaleOrder::kInputFirst};
}

Fault check(const DepthwiseConv2D& conv, Operands inputs, std::span<const TensorType> declared) {
  if (Fault fault = check_weighted_sum_arity(inputs, declared)) return fault;
  const TensorType& x = *inputs[0].type;
  const TensorType& filter = *inputs[1].type;
  if (x.rank() != 4 || filter.rank() != 4) {
    return shape_fault(fmt::format("the input is {} and the filter {}, 4 dimensions are needed",
                                   print(x.shape), print(filter.shape)));
  }
  if (Fault fault = check_indexable(x, "the input")) return fault;
  if (Fault fault = check_indexable(filter, "the filter")) return fault;
  if (Fault fault = check_windows(windows_of(conv, x, filter))) return fault;
  if (filter.shape[0] != 1 || filter.shape[3] % x.shape[3] != 0) {
    return shape_fault(fmt::format(
        "the filter is {}, but the input's {} channels need [1,height,width,multiple of {}]",
        print(filter.shape), x.shape[3], x.shape[3]));
  }
  if (conv.zero_point_in_bias && conv.padding != Padding{}) {
    return attribute_fault("the zero point cannot be in the bias where there is padding");
  }
  return check_weighted_sum(inputs, declared, {"the filter", kChannelAxis},
                            conv.zero_point_in_bias);
}

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  const auto& conv = std::get<DepthwiseConv2D>(op);
  if (Fault fault = check(conv, inputs, declared)) return *fault;
  const Shape& x = inputs[0].type->shape;
  const Windows windows = windows_of(conv, *inputs[0].type, *inputs[1].type);
  TensorType y = declared[0];
  y.shape = {x[0], windows.y.num_positions(), windows.x.num_positions(),
             inputs[1].type->shape[kChannelAxis]};
  if (Fault fault = check_indexable(y, "the output")) return *fault;
  return std::vector<TensorType>{std::move(y)};
}

void reference_rule(const Op& op, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding rounding) {
  const auto& conv = std::get<DepthwiseConv2D>(op);
  const Shape& x = inputs[0].type->shape;
  const Shape& filter = inputs[1].type->shape;
  const Shape& y = outputs[0].type->shape;
  const int64_t multiplier = y[3] / x[3];
  const auto hybrid = reference::rows_if_hybrid(inputs, rows_of(conv, x));
  int64_t y_index = 0;
  for (int64_t n = 0; n < y[0]; ++n) {
    for (int64_t oy = 0; oy < y[1]; ++oy) {
      for (int64_t ox = 0; ox < y[2]; ++ox) {
        for (int64_t oc = 0; oc < y[3]; ++oc, ++y_index) {
          const auto for_each_term = [&](auto term) {
            for (int64_t ky = 0; ky < filter[1]; ++ky) {
              const int64_t iy = oy * conv.stride_h + ky * conv.dilation_h - conv.padding.top;
              for (int64_t kx = 0; kx < filter[2]; ++kx) {
                const int64_t ix = ox * conv.stride_w + kx * conv.dilation_w - conv.padding.left;
                if (iy < 0 || iy >= x[1] || ix < 0 || ix >= x[2]) continue;
                term(((n * x[1] + iy) * x[2] + ix) * x[3] + oc / multiplier,
                     (ky * filter[2] + kx) * filter[3] + oc);
              }
            }
          };
          reference::weighted_sum(inputs, outputs[0], hybrid, conv.zero_point_in_bias, rounding,
                                  y_index, n, oc, for_each_term);
        }
      }
    }
  }
}

void lower(Lowering& lowering) {
  const auto& conv = lowering.op<DepthwiseConv2D>();
  const TensorType& x_type = lowering.input_type(0);
  const Shape& x = x_type.shape;
  const Shape& filter = lowering.input_type(1).shape;
  const Shape& y = lowering.output_type().shape;
  const Windows windows = windows_of(conv, x_type, lowering.input_type(1));
  const int64_t multiplier = y[3] / x[3];

  const WeightedSum sum(lowering, kChannelAxis, conv.zero_point_in_bias, rows_of(conv, x));
  const Axis n = axis(lowering, "n", y[0]);
  const Axis oy = axis(lowering, "oy", y[1]);
  const Axis ox = axis(lowering, "ox", y[2]);
  const Axis c = axis(lowering, "c", x[3]);
  const Axis m = axis(lowering, "m", multiplier);
  const Axis ky = taps(lowering, "ky", windows.y, oy.index);
  const Axis kx = taps(lowering, "kx", windows.x, ox.index);

  const loop::Expr channel = c.index * multiplier + m.index;
  const loop::Expr row = sum.index_of_row(n.index) * x[1] + cell_of(windows.y, oy.index, ky.index);
  const loop::Expr cell = row * x[2] + cell_of(windows.x, ox.index, kx.index);
  const loop::Expr tap = ky.index * filter[2] + kx.index;
  const loop::Expr y_index = ((n.index * y[1] + oy.index) * y[2] + ox.index) * y[3] + channel;

  loop::Block terms = over(ky, over(kx, sum.add(cell * x[3] + c.index, tap * y[3] + channel)));
  loop::Block pixel = over(c, over(m, sum.around(y_index, channel, std::move(terms))));
  loop::Block image = over(oy, over(ox, std::move(pixel)));
  lowering.body = over(n, sum.row(n.index, std::move(image)));
  lowering.comment =
      fmt::format("depthwise 2-D convolution {} * {} -> {}", print(x), print(filter), print(y));
}

int64_t macs(const Op& /*op*/, Operands inputs, std::span<const TensorType> outputs) {
  const Shape& filter = inputs[1].type->shape;
  return outputs[0].num_elements() * filter[1] * filter[2];
}

constexpr Limit kLimits[] = {
    {"no extent is 0",
     [](const Op&, Operands inputs, std::span<const TensorType> outputs) {
       return no_extent_is_0(inputs, outputs);
     }},
    {"the zero points of the filter are 0",
     [](const Op&, Operands inputs, std::span<const TensorType>) {
       return zero_points_are_0(*inputs[1].type);
     }},
    {"the filter is constant",
     [](const Op&, Operands inputs, std::span<const TensorType>) {
       return weights_are_constant(inputs);
     }},
    {"the bias is constant", [](const Op&, Operands inputs,
                                std::span<const TensorType>) { return bias_is_constant(inputs); }},
    {"the magnitudes of an output's products and of its int32 bias add up to at most 2147483647",
     [](const Op& op, Operands inputs, std::span<const TensorType>) {
       return accumulators_fit(inputs, kChannelAxis,
                               std::get<DepthwiseConv2D>(op).zero_point_in_bias);
     }},
};

}  // namespace

constinit const OpRules DepthwiseConv2D::rules = {.infer = infer,
                                                  .limits = kLimits,
                                                  .reference = reference_rule,
                                                  .lower = lower,
                                                  .element = nullptr,
                                                  .macs = macs};

}  // namespace ingot
