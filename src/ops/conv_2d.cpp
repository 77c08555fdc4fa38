// SPDX-License-Identifier: Apache-2.0
// 2-D convolution, grouped or not. No patch of the image is ever copied: the loops read the input
// in place, and the ones over the kernel are shorter at the border (ops/window.h).
#include <fmt/format.h>

#include <utility>

#include "ops/weighted_sum.h"
#include "ops/window.h"

namespace ingot {
namespace {

constexpr int64_t kChannelAxis = 0;

Windows windows_of(const Conv2D& conv, const TensorType& x, const TensorType& filter) {
  const Padding& p = conv.padding;
  return {{x.shape[1], filter.shape[1], conv.stride_h, conv.dilation_h, p.top, p.bottom},
          {x.shape[2], filter.shape[2], conv.stride_w, conv.dilation_w, p.left, p.right}};
}

// Each image of the batch.
InputRows rows_of(const Conv2D& conv, const Shape& x) {
  return {x[1] * x[2] * x[3], conv.asymmetric_inputs,
          conv.groups > 1 ? ScaleOrder::kWeightsFirst : ScaleOrder::kProduct};
}

Fault check_channels(const Conv2D& conv, const TensorType& x, const TensorType& filter) {
  const int64_t channels = x.shape[3];
  const int64_t outputs = filter.shape[0];
  if (conv.groups < 1 || channels % conv.groups != 0 || outputs % conv.groups != 0) {
    return attribute_fault(
        fmt::format("{} groups do not divide {} input channels and {} output channels evenly",
                    conv.groups, channels, outputs));
  }
  if (filter.shape[3] != channels / conv.groups) {
    return shape_fault(fmt::format(
        "the filter {} reads {} channels, but the input {} has {} in each of {} groups",
        print(filter.shape), filter.shape[3], print(x.shape), channels / conv.groups, conv.groups));
  }
  return std::nullopt;
}

Fault check(const Conv2D& conv, Operands inputs, std::span<const TensorType> declared) {
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
  if (Fault fault = check_channels(conv, x, filter)) return fault;
  if (conv.zero_point_in_bias && conv.padding != Padding{}) {
    return attribute_fault("the zero point cannot be in the bias where there is padding");
  }
  return check_weighted_sum(inputs, declared, {"the filter", kChannelAxis},
                            conv.zero_point_in_bias);
}

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  const auto& conv = std::get<Conv2D>(op);
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
  const auto& conv = std::get<Conv2D>(op);
  const Shape& x = inputs[0].type->shape;
  const Shape& filter = inputs[1].type->shape;
  const Shape& y = outputs[0].type->shape;
  const int64_t channels_per_group = filter[3];
  const int64_t outputs_per_group = y[3] / conv.groups;
  const auto hybrid = reference::rows_if_hybrid(inputs, rows_of(conv, x));
  int64_t y_index = 0;
  for (int64_t n = 0; n < y[0]; ++n) {
    for (int64_t oy = 0; oy < y[1]; ++oy) {
      for (int64_t ox = 0; ox < y[2]; ++ox) {
        for (int64_t oc = 0; oc < y[3]; ++oc, ++y_index) {
          const int64_t first_channel = oc / outputs_per_group * channels_per_group;
          const auto for_each_term = [&](auto term) {
            for (int64_t ky = 0; ky < filter[1]; ++ky) {
              const int64_t iy = oy * conv.stride_h + ky * conv.dilation_h - conv.padding.top;
              for (int64_t kx = 0; kx < filter[2]; ++kx) {
                const int64_t ix = ox * conv.stride_w + kx * conv.dilation_w - conv.padding.left;
                if (iy < 0 || iy >= x[1] || ix < 0 || ix >= x[2]) continue;
                for (int64_t ic = 0; ic < channels_per_group; ++ic) {
                  term(((n * x[1] + iy) * x[2] + ix) * x[3] + first_channel + ic,
                       ((oc * filter[1] + ky) * filter[2] + kx) * filter[3] + ic);
                }
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
  const auto& conv = lowering.op<Conv2D>();
  const TensorType& x_type = lowering.input_type(0);
  const Shape& x = x_type.shape;
  const Shape& filter = lowering.input_type(1).shape;
  const Shape& y = lowering.output_type().shape;
  const Windows windows = windows_of(conv, x_type, lowering.input_type(1));

  const WeightedSum sum(lowering, kChannelAxis, conv.zero_point_in_bias, rows_of(conv, x));
  const Axis n = axis(lowering, "n", y[0]);
  const Axis oy = axis(lowering, "oy", y[1]);
  const Axis ox = axis(lowering, "ox", y[2]);
  const Axis group = axis(lowering, "group", conv.groups);
  const Axis oc = axis(lowering, "oc", y[3] / conv.groups);
  const Axis ky = taps(lowering, "ky", windows.y, oy.index);
  const Axis kx = taps(lowering, "kx", windows.x, ox.index);
  const Axis ic = axis(lowering, "ic", filter[3]);

  const loop::Expr channel = group.index * (y[3] / conv.groups) + oc.index;
  const loop::Expr row = sum.index_of_row(n.index) * x[1] + cell_of(windows.y, oy.index, ky.index);
  const loop::Expr cell = row * x[2] + cell_of(windows.x, ox.index, kx.index);
  const loop::Expr x_index = cell * x[3] + group.index * filter[3] + ic.index;
  const loop::Expr tap = (channel * filter[1] + ky.index) * filter[2] + kx.index;
  const loop::Expr y_index = ((n.index * y[1] + oy.index) * y[2] + ox.index) * y[3] + channel;

  loop::Block terms = over(ky, over(kx, over(ic, sum.add(x_index, tap * filter[3] + ic.index))));
  loop::Block pixel = over(group, over(oc, sum.around(y_index, channel, std::move(terms))));
  loop::Block image = over(oy, over(ox, std::move(pixel)));
  lowering.body = over(n, sum.row(n.index, std::move(image)));
  lowering.comment =
      fmt::format("2-D convolution {} * {} -> {}", print(x), print(filter), print(y));
}

int64_t macs(const Op& /*op*/, Operands inputs, std::span<const TensorType> outputs) {
  const Shape& filter = inputs[1].type->shape;
  return outputs[0].num_elements() * filter[1] * filter[2] * filter[3];
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
       return accumulators_fit(inputs, kChannelAxis, std::get<Conv2D>(op).zero_point_in_bias);
     }},
};

}  // namespace

constinit const OpRules Conv2D::rules = {.infer = infer,
                                         .limits = kLimits,
                                         .reference = reference_rule,
                                         .lower = lower,
                                         .element = nullptr,
                                         .macs = macs};

}  // namespace ingot
