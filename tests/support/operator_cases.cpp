// SPDX-License-Identifier: Apache-2.0
#include "tests/support/operator_cases.h"

#include <algorithm>

#include "tests/support/weighted_sum_cases.h"

namespace ingot::testing {
namespace {

Rounding random_rounding(Random& random) {
  return random.pick<Rounding>(
      {Rounding::kDouble, Rounding::kDouble, Rounding::kSingle, Rounding::kFloat});
}

// A convolution whose horizontal geometry is drawn, and a width that fits the kernel's.
struct Horizontal {
  int64_t kernel = 1;
  int64_t width = 1;
};
template <class Convolution>
Horizontal draw_horizontal(Convolution& conv, Random& random) {
  const int64_t kernel = random.integer(1, 3);
  conv.stride_w = random.integer(1, 3);
  conv.dilation_w = random.integer(1, 2);
  conv.padding.left = random.integer(0, 2);
  conv.padding.right = random.integer(0, 2);
  const int64_t reach = (kernel - 1) * conv.dilation_w + 1;
  const int64_t least = std::max<int64_t>(1, reach - conv.padding.left - conv.padding.right);
  return {kernel, random.integer(least, least + 3)};
}

// Calls f(convolution, height, kernel height) for every small vertical geometry.
template <class Convolution, class F>
void for_each_vertical(F f) {
  for (int64_t height = 1; height <= 5; ++height) {
    for (int64_t kernel = 1; kernel <= 3; ++kernel) {
      for (int64_t stride = 1; stride <= 3; ++stride) {
        for (int64_t dilation = 1; dilation <= 3; ++dilation) {
          for (int64_t padding = 0; padding < 9; ++padding) {
            Convolution conv;
            conv.stride_h = stride;
            conv.dilation_h = dilation;
            conv.padding.top = padding / 3;
            conv.padding.bottom = padding % 3;
            const int64_t padded = height + conv.padding.top + conv.padding.bottom;
            if ((kernel - 1) * dilation + 1 <= padded) f(conv, height, kernel);
          }
        }
      }
    }
  }
}

}  // namespace

std::vector<OneNode> conv_2d_cases() {
  Random random(20);
  std::vector<OneNode> cases;
  for_each_vertical<Conv2D>([&](Conv2D conv, int64_t height, int64_t kernel_h) {
    const Style style = random_style(random);
    const Horizontal horizontal = draw_horizontal(conv, random);
    conv.groups = random.pick<int64_t>({1, 1, 2, 3});
    const int64_t depth = random.integer(1, 5);
    const int64_t outputs = conv.groups * random.integer(1, 5);
    const Shape x = {random.integer(1, 3), height, horizontal.width, conv.groups * depth};
    const Shape filter = {outputs, kernel_h, horizontal.kernel, depth};
    OneNode node =
        weighted_sum_node(conv, x, filter, 0, kernel_h * horizontal.kernel * depth, style, random);
    node.rounding = random_rounding(random);
    cases.push_back(with_data(std::move(node)));
  });
  return cases;
}

std::vector<OneNode> depthwise_conv_2d_cases() {
  Random random(30);
  std::vector<OneNode> cases;
  for_each_vertical<DepthwiseConv2D>([&](DepthwiseConv2D conv, int64_t height, int64_t kernel_h) {
    const Style style = random_style(random);
    const Horizontal horizontal = draw_horizontal(conv, random);
    const int64_t channels = random.integer(1, 5);
    const int64_t multiplier = random.pick<int64_t>({1, 1, 2, 3});
    const Shape x = {random.integer(1, 3), height, horizontal.width, channels};
    const Shape filter = {1, kernel_h, horizontal.kernel, channels * multiplier};
    OneNode node =
        weighted_sum_node(conv, x, filter, 3, kernel_h * horizontal.kernel, style, random);
    node.rounding = random_rounding(random);
    cases.push_back(with_data(std::move(node)));
  });
  return cases;
}

std::vector<OneNode> fully_connected_cases() {
  Random random(40);
  std::vector<OneNode> cases;
  for (int64_t depth = 1; depth <= 9; ++depth) {
    for (int64_t outputs = 1; outputs <= 9; ++outputs) {
      for (int64_t rows = 1; rows <= 3; ++rows) {
        OneNode node = weighted_sum_node(FullyConnected{}, {rows, depth}, {outputs, depth}, 0,
                                         depth, random_style(random), random);
        Quantization* q =
            node.inputs[1].type.quantization ? &*node.inputs[1].type.quantization : nullptr;
        const bool is_int8 = node.inputs[0].type.dtype == DType::kInt8;
        if (is_int8 && q->per_tensor())
          q->zero_points[0] = random.pick<int64_t>({0, 0, -128, 5, 127});
        node.rounding = random_rounding(random);
        cases.push_back(with_data(std::move(node)));
      }
    }
  }
  return cases;
}

std::vector<OneNode> pool_2d_cases() {
  Random random(50);
  const std::vector<TensorType> types = {int8_type({}, 0.5F, 3), int8_type({}, 2, -11),
                                         float_type({}),
                                         TensorType{DType::kUInt8, {}, per_tensor(1, 9)},
                                         TensorType{DType::kInt16, {}, per_tensor(1, 0)}};
  std::vector<OneNode> cases;
  for (int64_t height = 1; height <= 5; ++height) {
    for (int64_t kernel = 1; kernel <= 4; ++kernel) {
      for (int64_t stride = 1; stride <= 3; ++stride) {
        for (int64_t padding = 0; padding < kernel * kernel; ++padding) {
          Pool2D op;
          op.kind = random.pick<Pool2D::Kind>({Pool2D::Kind::kAverage, Pool2D::Kind::kMax});
          op.kernel_h = kernel;
          op.kernel_w = random.integer(1, 3);
          op.stride_h = stride;
          op.stride_w = random.integer(1, 3);
          op.padding = {padding / kernel, padding % kernel, random.integer(0, op.kernel_w - 1),
                        random.integer(0, op.kernel_w - 1)};
          if (kernel > height + op.padding.top + op.padding.bottom) continue;
          TensorType type = random.pick(types);
          type.shape = {random.integer(1, 3), height, random.integer(op.kernel_w, 5),
                        random.integer(1, 5)};
          cases.push_back(
              with_data({op, {random_input(type)}, {type}, Rounding::kDouble, random.next()}));
        }
      }
    }
  }
  return cases;
}

}  // namespace ingot::testing
