// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution: by hand, against real numbers, and reference against loops. Names with a
// letter and a number are known faults of other compilers.
#include <gmock/gmock.h>

#include <functional>

#include "tests/support/operator_cases.h"
#include "tests/support/triangle.h"
#include "tests/support/weighted_sum_cases.h"

namespace ingot::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Elements = std::vector<int8_t>;

// C08: output channel = input channel * multiplier + m.
TEST(DepthwiseConv2D, C08ChannelOrderWithMultiplier) {
  const OneNode node{DepthwiseConv2D{},
                     {given(int8_type({1, 2, 2, 3}), Elements{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1}),
                      constant(int8_type({1, 1, 1, 6}), Elements{1, 2, 3, 4, 5, 6})},
                     {int8_type({})}};
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(1, 2, 6, 8, 15, 18, 4, 8, 15, 20, 30, 36,
                                                          7, 14, 24, 32, 45, 54, 1, 2, 3, 4, 5, 6));
  EXPECT_EQ(disagreement(node), "");
}

// C06: an image of 8 and a 3x1 kernel with stride 2 need a row of padding at the bottom and none at
// the sides (not -1).
TEST(DepthwiseConv2D, C06TallKernelWithStride) {
  DepthwiseConv2D conv;
  conv.stride_h = conv.stride_w = 2;
  conv.padding.bottom = 1;
  Elements x(128, 0);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int8_t>(i / 16 * 4 + i % 16 / 2);
  const OneNode node{conv,
                     {given(int8_type({1, 8, 8, 2}), x),
                      constant(int8_type({1, 3, 1, 2}), Elements{1, 0, 1, 0, 1, 1})},
                     {int8_type({})}};
  EXPECT_EQ(output_types(node).at(0).shape, (Shape{1, 4, 4, 2}));
  // Cell (row, column) holds 4 * row + column: three rows, then the last alone; in the last row of
  // outputs the third tap lies in the padding.
  EXPECT_THAT(reference_output<int8_t>(node),
              ElementsAre(12, 8, 18, 10, 24, 12, 30, 14, 36, 16, 42, 18, 48, 20, 54, 22, 60, 24, 66,
                          26, 72, 28, 78, 30, 52, 0, 56, 0, 60, 0, 64, 0));
  EXPECT_EQ(disagreement(node), "");
}

// C04: no scratch, whatever the shape; so it cannot be too small.
TEST(DepthwiseConv2D, C04NeedsNoScratch) {
  for (int64_t stride = 1; stride <= 3; ++stride) {
    for (int64_t channels = 1; channels <= 17; ++channels) {
      DepthwiseConv2D conv;
      conv.stride_h = conv.stride_w = stride;
      conv.padding = {0, 1, 0, 1};
      const OneNode node{conv,
                         {random_input(int8_type({1, 8, 8, channels}, 1, -7)),
                          random_constant(int8_type({1, 3, 3, channels}))},
                         {int8_type({}, 200)}};
      for (const loop::Buffer& buffer : program_of(node).buffers) {
        EXPECT_NE(buffer.kind, loop::BufferKind::kArena);
      }
      EXPECT_EQ(disagreement(node), "");
    }
  }
}

TEST(DepthwiseConv2D, C24ImagesOfOneRowOrColumn) {
  const std::vector<int32_t> biases = {1, 2, 3, 4, 5, 6, 7, 8};
  DepthwiseConv2D wide;
  wide.padding = {0, 0, 1, 1};
  const TestInput x = random_input(int8_type({1, 1, 16, 8}, 1, 3));
  OneNode node{wide,
               {x, random_constant(int8_type({1, 1, 3, 8})), constant(int32_type({8}), biases)},
               {int8_type({}, 100)}};
  EXPECT_EQ(output_types(node).at(0).shape, (Shape{1, 1, 16, 8}));
  EXPECT_EQ(disagreement(node), "");
  const Elements row = reference_output<int8_t>(node);

  DepthwiseConv2D tall;
  tall.padding = {1, 1, 0, 0};
  node.op = tall;
  node.inputs[0].type.shape = {1, 16, 1, 8};
  node.inputs[1].type.shape = {1, 3, 1, 8};
  EXPECT_EQ(output_types(node).at(0).shape, (Shape{1, 16, 1, 8}));
  EXPECT_EQ(disagreement(node), "");
  EXPECT_EQ(reference_output<int8_t>(node), row);
}

TEST(DepthwiseConv2D, M03BiasMayBeAbsent) {
  OneNode node{DepthwiseConv2D{},
               {given(int8_type({1, 1, 1, 2}), Elements{3, 4}),
                constant(int8_type({1, 1, 1, 2}), Elements{4, 5})},
               {int8_type({})}};
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(12, 20));
  EXPECT_EQ(disagreement(node), "");
  node.inputs.push_back(absent_input());
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(12, 20));
  EXPECT_EQ(disagreement(node), "");
}

TEST(DepthwiseConv2D, ZeroPointInBias) {
  DepthwiseConv2D conv;
  OneNode node{conv,
               {random_input(int8_type({2, 3, 4, 1}, 1, -7)),
                constant(int8_type({1, 2, 1, 2}, 0.01F), Elements{5, -3, 8, 1}),
                constant(int32_type({2}), std::vector<int32_t>{20, 30})},
               {int8_type({}, 0.3F, 2)}};
  const Elements plain = reference_output<int8_t>(node);
  conv.zero_point_in_bias = true;
  node.op = conv;
  node.inputs[2].bytes = Bytes::of(std::vector<int32_t>{20 + 7 * (5 + 8), 30 + 7 * (-3 + 1)});
  EXPECT_EQ(reference_output<int8_t>(node), plain);
  EXPECT_EQ(disagreement(node), "");
  conv.padding.top = 1;
  node.op = conv;
  EXPECT_THAT(refusal(node), HasSubstr("the zero point cannot be in the bias"));
}

TEST(DepthwiseConv2D, ReferenceIsNearTheExactNumbers) {
  for (OneNode node : depthwise_conv_2d_cases()) {
    const std::vector<double> exact = exact_convolution(node, 1, true);
    for (const Rounding rounding : {Rounding::kDouble, Rounding::kSingle, Rounding::kFloat}) {
      node.rounding = rounding;
      ASSERT_EQ(far_from_exact(node, exact, tolerance_of(node)), "");
    }
  }
}

TEST(DepthwiseConv2D, ReferenceEqualsLoops) {
  for (const OneNode& node : depthwise_conv_2d_cases()) ASSERT_EQ(disagreement(node), "");
}

OneNode plain_node() {
  return {DepthwiseConv2D{},
          {random_input(int8_type({1, 4, 5, 2})), random_constant(int8_type({1, 2, 3, 4})),
           random_constant(int32_type({4}))},
          {int8_type({}, 100)}};
}

TEST(DepthwiseConv2D, RefusesWhatItCannotMean) {
  struct Case {
    std::string_view part;
    std::function<void(OneNode&, DepthwiseConv2D&)> change;
  };
  const std::vector<Case> cases = {
      {"the stride is 1x0", [](OneNode&, DepthwiseConv2D& c) { c.stride_w = 0; }},
      {"the dilation is 1x-2", [](OneNode&, DepthwiseConv2D& c) { c.dilation_w = -2; }},
      {"0 left, -1 right", [](OneNode&, DepthwiseConv2D& c) { c.padding.right = -1; }},
      {"the kernel covers 5x3 cells, but the padded image has only 4x5",
       [](OneNode&, DepthwiseConv2D& c) { c.dilation_h = 4; }},
      {"the input's 3 channels need [1,height,width,multiple of 3]",
       [](OneNode& n, DepthwiseConv2D&) { n.inputs[0].type.shape[3] = 3; }},
      {"the filter is [2,2,3,4]",
       [](OneNode& n, DepthwiseConv2D&) { n.inputs[1].type.shape[0] = 2; }},
      {"4 dimensions are needed",
       [](OneNode& n, DepthwiseConv2D&) { n.inputs[1].type.shape = {4}; }},
      {"the bias has shape [3], [4] is needed",
       [](OneNode& n, DepthwiseConv2D&) { n.inputs[2].type.shape = {3}; }},
      {"the bias float32",
       [](OneNode& n, DepthwiseConv2D&) { n.inputs[2].type.dtype = DType::kFloat32; }},
      {"it has 4 inputs", [](OneNode& n, DepthwiseConv2D&) { n.inputs.push_back(n.inputs[2]); }},
      {"the filter is quantised along dimension 0, the output channels are dimension 3",
       [](OneNode& n, DepthwiseConv2D&) { n.inputs[1].type.quantization->axis = 0; }},
  };
  EXPECT_EQ(refusal(plain_node()), "");
  for (const Case& c : cases) {
    OneNode node = plain_node();
    c.change(node, std::get<DepthwiseConv2D>(node.op));
    EXPECT_THAT(diagnostic_of(node).what, HasSubstr(std::string(c.part)));
  }
}

TEST(DepthwiseConv2D, Limits) {
  OneNode node = plain_node();
  node.inputs[1].constant = false;
  EXPECT_EQ(refusal(node), "the filter is constant");
  node = plain_node();
  node.inputs[2].constant = false;
  EXPECT_EQ(refusal(node), "the bias is constant");
  // The second channel's sum can reach 2 * 255 * 127 + bias.
  node = {DepthwiseConv2D{},
          {random_input(int8_type({1, 1, 2, 2}, 1, 127)),
           constant(int8_type({1, 1, 2, 2}), Elements{1, 127, 1, -127}),
           constant(int32_type({2}), std::vector<int32_t>{0, 2147483647 - 2 * 255 * 127})},
          {int8_type({}, 1e8F)}};
  EXPECT_EQ(refusal(node), "");
  EXPECT_EQ(disagreement(node), "");
  node.inputs[2].bytes = Bytes::of(std::vector<int32_t>{0, -2147483647 + 2 * 255 * 127 - 1});
  EXPECT_EQ(
      refusal(node),
      "the magnitudes of an output's products and of its int32 bias add up to at most 2147483647");
}

TEST(DepthwiseConv2D, CountsMultiplyAccumulates) {
  const OneNode node = plain_node();
  const std::vector<Operand> operands = {{&node.inputs[0].type}, {&node.inputs[1].type}};
  EXPECT_EQ(DepthwiseConv2D::rules.macs(node.op, operands, output_types(node)), 3 * 3 * 4 * 2 * 3);
}

}  // namespace
}  // namespace ingot::testing
