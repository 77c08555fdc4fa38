// SPDX-License-Identifier: Apache-2.0
#include "bench/xnnpack_layer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <random>

namespace ingot::bench {
namespace {

struct Geometry {
  Padding padding;
  uint32_t kernel_h = 1, kernel_w = 1;
  uint32_t stride_h = 1, stride_w = 1;
  uint32_t dilation_h = 1, dilation_w = 1;
  uint32_t groups = 1;
  size_t channels_in = 1;   // per group
  size_t channels_out = 1;  // per group
  uint32_t flags = 0;
};

uint32_t u32(int64_t i) { return static_cast<uint32_t>(i); }
size_t size(int64_t i) { return static_cast<size_t>(i); }

template <class Convolution>
Geometry window_of(const Convolution& conv, const Shape& filter) {
  return {conv.padding,       u32(filter[1]),       u32(filter[2]),      u32(conv.stride_h),
          u32(conv.stride_w), u32(conv.dilation_h), u32(conv.dilation_w)};
}

std::optional<Geometry> geometry_of(const Node& node, const Shape& x, const Shape& weights) {
  if (const auto* conv = node.as<Conv2D>()) {
    Geometry g = window_of(*conv, weights);
    g.groups = u32(conv->groups);
    g.channels_in = size(weights[3]);
    g.channels_out = size(weights[0] / conv->groups);
    return g;
  }
  if (const auto* depthwise = node.as<DepthwiseConv2D>()) {
    Geometry g = window_of(*depthwise, weights);
    g.groups = u32(x[3]);
    g.channels_out = size(weights[3] / x[3]);
    g.flags = XNN_FLAG_DEPTHWISE_CONVOLUTION;
    return g;
  }
  return std::nullopt;
}

// What XNNPACK takes of a layer: the constants, converted where a convolution of a model may have
// no bias or one scale for all channels.
struct Constants {
  std::vector<float> scales;
  std::vector<int32_t> bias;
  std::vector<float> float_bias;
};

Constants constants_of(const Graph& graph, const Node& node, int64_t channels) {
  Constants c;
  const TensorType& weights = graph[node.inputs[1]].type;
  const bool is_float = weights.dtype == DType::kFloat32;
  c.bias.assign(size(channels), 0);
  c.float_bias.assign(size(channels), 0);
  if (node.inputs.size() > 2 && node.inputs[2].index >= 0 && graph[node.inputs[2]].is_constant()) {
    if (is_float) {
      c.float_bias = graph[node.inputs[2]].constant->as<float>();
    } else {
      c.bias = graph[node.inputs[2]].constant->as<int32_t>();
    }
  }
  if (is_float) return c;
  for (int64_t o = 0; o < channels; ++o) {
    c.scales.push_back(static_cast<float>(weights.quantization->scale(o)));
  }
  return c;
}

xnn_operator_t convolution(const Geometry& g, const TensorType& x, const TensorType& y,
                           const Bytes& weights, const Constants& constants) {
  const size_t in = g.groups * g.channels_in;
  const size_t out = g.groups * g.channels_out;
  const auto [top, bottom, left, right] = std::array{u32(g.padding.top), u32(g.padding.bottom),
                                                     u32(g.padding.left), u32(g.padding.right)};
  xnn_operator_t op = nullptr;
  if (x.dtype == DType::kFloat32) {
    const std::vector<float> kernel = weights.as<float>();
    xnn_create_convolution2d_nhwc_f32(
        top, right, bottom, left, g.kernel_h, g.kernel_w, g.stride_h, g.stride_w, g.dilation_h,
        g.dilation_w, g.groups, g.channels_in, g.channels_out, in, out, kernel.data(),
        constants.float_bias.data(), -INFINITY, INFINITY, g.flags, &op);
  } else {
    const std::vector<int8_t> kernel = weights.as<int8_t>();
    xnn_create_convolution2d_nhwc_qc8(
        top, right, bottom, left, g.kernel_h, g.kernel_w, g.stride_h, g.stride_w, g.dilation_h,
        g.dilation_w, g.groups, g.channels_in, g.channels_out, in, out,
        static_cast<int8_t>(x.zero_point()), static_cast<float>(x.quantization->scale(0)),
        constants.scales.data(), kernel.data(), constants.bias.data(),
        static_cast<int8_t>(y.zero_point()), static_cast<float>(y.quantization->scale(0)), -128,
        127, g.flags, &op);
  }
  return op;
}

xnn_operator_t dense(const TensorType& x, const TensorType& y, const TensorType& weights_type,
                     const Bytes& weights, const Constants& constants) {
  const size_t in = size(weights_type.shape[1]);
  const size_t out = size(weights_type.shape[0]);
  xnn_operator_t op = nullptr;
  if (x.dtype == DType::kFloat32) {
    const std::vector<float> kernel = weights.as<float>();
    xnn_create_fully_connected_nc_f32(in, out, in, out, kernel.data(), constants.float_bias.data(),
                                      -INFINITY, INFINITY, 0, &op);
  } else {
    const std::vector<int8_t> kernel = weights.as<int8_t>();
    xnn_create_fully_connected_nc_qs8(
        in, out, in, out, static_cast<int8_t>(x.zero_point()),
        static_cast<float>(x.quantization->scale(0)), constants.scales.front(), kernel.data(),
        constants.bias.data(), static_cast<int8_t>(y.zero_point()),
        static_cast<float>(y.quantization->scale(0)), -128, 127, 0, &op);
  }
  return op;
}

xnn_status set_up(xnn_operator_t op, const Node& node, const Shape& x, int64_t batch, bool is_float,
                  const void* in, void* out) {
  if (node.as<FullyConnected>() != nullptr) {
    return is_float
               ? xnn_setup_fully_connected_nc_f32(op, size(batch), static_cast<const float*>(in),
                                                  static_cast<float*>(out), nullptr)
               : xnn_setup_fully_connected_nc_qs8(op, size(batch), static_cast<const int8_t*>(in),
                                                  static_cast<int8_t*>(out), nullptr);
  }
  return is_float ? xnn_setup_convolution2d_nhwc_f32(op, size(x[0]), size(x[1]), size(x[2]),
                                                     static_cast<const float*>(in),
                                                     static_cast<float*>(out), nullptr)
                  : xnn_setup_convolution2d_nhwc_qc8(op, size(x[0]), size(x[1]), size(x[2]),
                                                     static_cast<const int8_t*>(in),
                                                     static_cast<int8_t*>(out), nullptr);
}

// Numbers of ordinary size: bytes at random, floats between -1 and 1.
std::vector<uint8_t> random_bytes(const TensorType& type) {
  std::mt19937 random(1);
  std::vector<uint8_t> bytes(size(type.size_bytes()) + XNN_EXTRA_BYTES);
  if (type.dtype == DType::kFloat32) {
    auto* floats = reinterpret_cast<float*>(bytes.data());
    for (int64_t i = 0; i < type.num_elements(); ++i) {
      floats[i] = static_cast<float>(random() % 2001) / 1000.0F - 1.0F;
    }
  } else {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  }
  return bytes;
}

bool is_supported(const Graph& graph, const Node& node) {
  const bool is_layer = node.as<Conv2D>() != nullptr || node.as<DepthwiseConv2D>() != nullptr ||
                        node.as<FullyConnected>() != nullptr;
  if (!is_layer || !graph[node.inputs[1]].is_constant()) return false;
  const DType dtype = graph[node.inputs[0]].type.dtype;
  return (dtype == DType::kFloat32 || dtype == DType::kInt8) &&
         graph[node.inputs[1]].type.dtype == dtype && graph[node.outputs[0]].type.dtype == dtype;
}

}  // namespace

std::optional<XnnpackLayer> XnnpackLayer::make(const Graph& graph, const Node& node) {
  if (!is_supported(graph, node)) return std::nullopt;
  const TensorType& x = graph[node.inputs[0]].type;
  const Value& weights = graph[node.inputs[1]];
  const TensorType& y = graph[node.outputs[0]].type;
  const bool is_depthwise = node.as<DepthwiseConv2D>() != nullptr;
  const int64_t channels = is_depthwise ? weights.type.shape[3] : weights.type.shape[0];
  const Constants constants = constants_of(graph, node, channels);
  XnnpackLayer layer;
  layer.name_ = node.name;
  layer.source_ = node.sources.empty() ? -1 : node.sources.front();
  layer.shape_ = fmt::format("{} {} -> {}", name_of(node.op), fmt::join(x.shape, "x"),
                             fmt::join(y.shape, "x"));
  layer.input_ = random_bytes(x);
  layer.output_.resize(size(y.size_bytes()) + XNN_EXTRA_BYTES);
  const std::optional<Geometry> geometry = geometry_of(node, x.shape, weights.type.shape);
  layer.op_.reset(geometry ? convolution(*geometry, x, y, *weights.constant, constants)
                           : dense(x, y, weights.type, *weights.constant, constants));
  if (layer.op_ == nullptr) return std::nullopt;
  const int64_t batch = y.num_elements() / channels;
  const xnn_status status = set_up(layer.op_.get(), node, x.shape, batch, is_float(x.dtype),
                                   layer.input_.data(), layer.output_.data());
  if (status != xnn_status_success) return std::nullopt;
  return layer;
}

std::vector<int64_t> XnnpackLayer::times(int64_t runs) const {
  std::vector<int64_t> times;
  xnn_run_operator(op_.get(), nullptr);
  for (int64_t run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    xnn_run_operator(op_.get(), nullptr);
    const auto stop = std::chrono::steady_clock::now();
    times.push_back(std::chrono::nanoseconds(stop - start).count());
  }
  return times;
}

}  // namespace ingot::bench
