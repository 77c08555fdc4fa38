// SPDX-License-Identifier: Apache-2.0
#include "tests/support/weighted_sum_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/access.h"

namespace ingot::testing {
namespace {

struct Geometry {
  int64_t stride_h;
  int64_t stride_w;
  int64_t dilation_h;
  int64_t dilation_w;
  Padding padding;
};

Geometry geometry_of(const Op& op) {
  return std::visit(
      [](const auto& o) -> Geometry {
        if constexpr (requires { o.dilation_h; }) {
          return {o.stride_h, o.stride_w, o.dilation_h, o.dilation_w, o.padding};
        } else {
          return {};
        }
      },
      op);
}

// A four-dimensional array of doubles, zero where nothing was written.
struct Array {
  explicit Array(Shape s) : shape(std::move(s)) {
    elements.resize(static_cast<size_t>(shape[0] * shape[1] * shape[2] * shape[3]));
  }
  double& at(int64_t a, int64_t b, int64_t c, int64_t d) {
    return elements.at(static_cast<size_t>(((a * shape[1] + b) * shape[2] + c) * shape[3] + d));
  }
  Shape shape;
  std::vector<double> elements;
};

// The image with its padding.
Array padded(const TestInput& x, const Padding& p) {
  const Shape& s = x.type.shape;
  Array result({s[0], s[1] + p.top + p.bottom, s[2] + p.left + p.right, s[3]});
  int64_t index = 0;
  for (int64_t n = 0; n < s[0]; ++n) {
    for (int64_t h = 0; h < s[1]; ++h) {
      for (int64_t w = 0; w < s[2]; ++w) {
        for (int64_t c = 0; c < s[3]; ++c) {
          result.at(n, h + p.top, w + p.left, c) = real_at(x, index++, 0);
        }
      }
    }
  }
  return result;
}

// The filter as [O,KH,KW,C] over all input channels and with the holes of dilation, zero where it
// does not multiply.
Array spread_filter(const TestInput& filter, const Geometry& g, int64_t input_channels,
                    int64_t groups, bool depthwise) {
  const Shape& s = filter.type.shape;
  const int64_t outputs = depthwise ? s[3] : s[0];
  Array result(
      {outputs, (s[1] - 1) * g.dilation_h + 1, (s[2] - 1) * g.dilation_w + 1, input_channels});
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t h = 0; h < s[1]; ++h) {
      for (int64_t w = 0; w < s[2]; ++w) {
        if (depthwise) {
          const int64_t from = o / (outputs / input_channels);
          result.at(o, h * g.dilation_h, w * g.dilation_w, from) =
              real_at(filter, (h * s[2] + w) * s[3] + o, o);
          continue;
        }
        for (int64_t c = 0; c < s[3]; ++c) {
          const int64_t from = o / (outputs / groups) * s[3] + c;
          result.at(o, h * g.dilation_h, w * g.dilation_w, from) =
              real_at(filter, ((o * s[1] + h) * s[2] + w) * s[3] + c, o);
        }
      }
    }
  }
  return result;
}

double bias_at(const OneNode& node, int64_t channel) {
  if (node.inputs.size() < 3 || node.inputs[2].absent) return 0;
  const double value = real_at(node.inputs[2], channel, channel);
  if (node.inputs[0].type.dtype == DType::kFloat32) return value;
  return value * double{node.inputs[0].type.scale()} *
         double{node.inputs[1].type.quantization->scale(channel)};
}

}  // namespace

Style random_style(Random& random) {
  return {.is_float = random.chance(2, 5),
          .is_hybrid = random.chance(1, 2),
          .asymmetric = random.chance(1, 2),
          .per_channel = random.chance(1, 2),
          .has_bias = random.chance(3, 4),
          .saturates = random.chance(1, 4)};
}

OneNode weighted_sum_node(Op op, Shape x, Shape weights, int64_t axis, int64_t num_terms,
                          const Style& style, Random& random) {
  const int64_t channels = weights.at(static_cast<size_t>(axis));
  OneNode node{std::move(op), {}, {}, Rounding::kDouble, random.next()};
  if (style.is_float && style.is_hybrid) {
    std::visit(
        [&](auto& o) {
          if constexpr (requires { o.asymmetric_inputs; }) o.asymmetric_inputs = style.asymmetric;
        },
        node.op);
    std::vector<float> scales;
    for (int64_t c = 0; c < channels; ++c) scales.push_back(random.real(0.001F, 0.02F));
    const float scale = scales.front();
    node.inputs = {random_input(float_type(std::move(x))),
                   random_constant(style.per_channel ? int8_type(std::move(weights), scales, axis)
                                                     : int8_type(std::move(weights), scale))};
    if (style.has_bias) node.inputs.push_back(random_constant(float_type({channels})));
    node.outputs = {float_type({})};
    return node;
  }
  if (style.is_float) {
    node.inputs = {random_input(float_type(std::move(x))),
                   random_constant(float_type(std::move(weights)))};
    if (style.has_bias) node.inputs.push_back(random_constant(float_type({channels})));
    node.outputs = {float_type({})};
    return node;
  }
  const float x_scale = random.real(0.01F, 0.05F);
  const float w_scale = random.real(0.001F, 0.01F);
  std::vector<float> scales;
  for (int64_t c = 0; c < channels; ++c) scales.push_back(random.real(0.2F, 1) * w_scale);
  // Accumulators are about 74 * 74 * sqrt(terms); a quarter of int8's range should stand for that.
  const float spread = 5500 * std::sqrt(static_cast<float>(num_terms)) * x_scale * w_scale;
  const float y_scale = spread / (style.saturates ? 2000.0F : 40.0F);
  node.inputs = {random_input(int8_type(std::move(x), x_scale, random.integer(-128, 127))),
                 random_constant(style.per_channel ? int8_type(std::move(weights), scales, axis)
                                                   : int8_type(std::move(weights), w_scale))};
  if (style.has_bias) node.inputs.push_back(random_constant(int32_type({channels})));
  node.outputs = {int8_type({}, y_scale, random.integer(-128, 127))};
  return node;
}

double real_at(const TestInput& input, int64_t index, int64_t channel) {
  const TensorView view{&input.type, input.bytes->view()};
  if (is_float(input.type.dtype)) return double{float_at(view, index)};
  const auto value = static_cast<double>(int_at(view, index));
  if (!input.type.quantization) return value;
  const Quantization& q = *input.type.quantization;
  return (value - static_cast<double>(q.zero_point(channel))) * double{q.scale(channel)};
}

std::vector<double> exact_convolution(const OneNode& node, int64_t groups, bool depthwise) {
  const Geometry g = geometry_of(node.op);
  Array x = padded(node.inputs[0], g.padding);
  Array filter = spread_filter(node.inputs[1], g, x.shape[3], groups, depthwise);
  const TensorType& y = node.outputs[0];
  const double y_scale = y.quantization ? double{y.scale()} : 1.0;
  std::vector<double> exact;
  for (int64_t n = 0; n < x.shape[0]; ++n) {
    for (int64_t h = 0; h + filter.shape[1] <= x.shape[1]; h += g.stride_h) {
      for (int64_t w = 0; w + filter.shape[2] <= x.shape[2]; w += g.stride_w) {
        for (int64_t o = 0; o < filter.shape[0]; ++o) {
          double sum = bias_at(node, o);
          for (int64_t ky = 0; ky < filter.shape[1]; ++ky) {
            for (int64_t kx = 0; kx < filter.shape[2]; ++kx) {
              for (int64_t c = 0; c < filter.shape[3]; ++c) {
                sum += x.at(n, h + ky, w + kx, c) * filter.at(o, ky, kx, c);
              }
            }
          }
          exact.push_back(sum / y_scale);
        }
      }
    }
  }
  return exact;
}

double tolerance_of(const OneNode& node) {
  const TestInput& weights = node.inputs[1];
  if (node.inputs[0].type.dtype == DType::kFloat32 && weights.type.dtype == DType::kInt8) {
    double greatest_x = 0;
    for (int64_t i = 0; i < node.inputs[0].type.num_elements(); ++i) {
      greatest_x = std::max(greatest_x, std::abs(real_at(node.inputs[0], i, 0)));
    }
    const Quantization& q = *weights.type.quantization;
    const TensorView view{&weights.type, weights.bytes->view()};
    std::vector<double> sums(
        static_cast<size_t>(q.per_tensor() ? 1 : std::ssize(q.scales)));  // of |w|, by channel
    const bool last = std::holds_alternative<DepthwiseConv2D>(node.op);
    const int64_t count = weights.type.num_elements();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t channels = std::ssize(sums);
      const int64_t channel = last ? i % channels : i / (count / channels);
      sums[static_cast<size_t>(channel)] +=
          std::abs(static_cast<double>(int_at(view, i))) * double{q.scale(channel)};
    }
    return *std::ranges::max_element(sums) * 2 * greatest_x / 255 + 1e-3;
  }
  if (!node.outputs[0].quantization) return 1e-3;
  return node.rounding == Rounding::kDouble ? 0.7501 : 0.5001;
}

std::string far_from_exact(const OneNode& node, const std::vector<double>& exact,
                           double tolerance) {
  const TensorType type = output_types(node).at(0);
  const std::vector<uint8_t> bytes = reference_outputs(node).at(0);
  if (type.num_elements() != static_cast<int64_t>(exact.size())) {
    return fmt::format("{} elements, {} expected", print(type.shape), exact.size());
  }
  for (size_t i = 0; i < exact.size(); ++i) {
    const TensorView view{&type, bytes};
    const auto index = static_cast<int64_t>(i);
    const bool real = is_float(type.dtype);
    const double expected =
        real ? exact[i]
             : std::clamp(exact[i] + static_cast<double>(type.zero_point()), -128.0, 127.0);
    const double actual =
        real ? double{float_at(view, index)} : static_cast<double>(int_at(view, index));
    if (std::abs(actual - expected) <= tolerance) continue;
    return fmt::format("element {} of {} is {}, exactly {} (seed {})", i, print(type.shape), actual,
                       expected, node.seed);
  }
  return "";
}

}  // namespace ingot::testing
