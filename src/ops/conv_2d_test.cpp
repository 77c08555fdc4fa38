// SPDX-License-Identifier: Apache-2.0
// 2-D convolution: by hand, against real numbers, and reference against loops. Names with a letter
// and a number are known faults of other compilers.
#include <gmock/gmock.h>

#include <functional>

#include "tests/support/operator_cases.h"
#include "tests/support/triangle.h"
#include "tests/support/weighted_sum_cases.h"

namespace ingot::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Elements = std::vector<int8_t>;

TestInput bias(const std::vector<int32_t>& values) {
  return constant(int32_type({static_cast<int64_t>(values.size())}), values);
}

TEST(Conv2D, ByHand) {
  // (1-1) * 1 + (2-1) * 2 + (3-1) * 3 + (4-1) * -4 = -4; + 10 = 6; * 0.5 * 0.5 / 0.25 = 6; + 3 = 9.
  const OneNode node{Conv2D{},
                     {given(int8_type({1, 2, 2, 1}, 0.5F, 1), Elements{1, 2, 3, 4}),
                      constant(int8_type({1, 2, 2, 1}, 0.5F), Elements{1, 2, 3, -4}), bias({10})},
                     {int8_type({}, 0.25F, 3)}};
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(9));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Conv2D, RoundsAsAsked) {
  // Accumulators of 10 and -10, a quarter of which is 2.5 and -2.5.
  OneNode node{Conv2D{},
               {given(int8_type({1, 1, 2, 1}), Elements{10, -10}),
                constant(int8_type({1, 1, 1, 1}, 0.25F), Elements{1})},
               {int8_type({})}};
  node.rounding = Rounding::kDouble;  // half away from zero after the shift
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(3, -3));
  EXPECT_EQ(disagreement(node), "");
  node.rounding = Rounding::kSingle;  // half up
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(3, -2));
  EXPECT_EQ(disagreement(node), "");
  node.rounding = Rounding::kFloat;  // half to even
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(2, -2));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Conv2D, SaturatesOnBothSides) {
  const OneNode node{Conv2D{},
                     {given(int8_type({1, 1, 3, 1}), Elements{100, -100, 1}),
                      constant(int8_type({1, 1, 1, 1}), Elements{100})},
                     {int8_type({}, 1, -5)}};
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(127, -128, 95));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Conv2D, FloatAddsTheBiasLast) {
  // 2^24 + 1 is not a float: bias first would lose the 1 and give 2^24 - 2^24 + 1.
  const OneNode node{Conv2D{},
                     {given(float_type({1, 1, 1, 2}), std::vector<float>{16777216, -16777216}),
                      constant(float_type({1, 1, 1, 2}), std::vector<float>{1, 1}),
                      constant(float_type({1}), std::vector<float>{1})},
                     {float_type({})}};
  EXPECT_THAT(reference_output<float>(node), ElementsAre(1.0F));
  EXPECT_EQ(disagreement(node), "");
}

// C01: dilation, once as an attribute, once by hand as two interleaved images (the space-to-batch
// form that converters write).
TEST(Conv2D, C01DilationEqualsInterleavedImages) {
  const Elements x = {3, -7, 11, 20, -31, 5, 8, -2};
  const TestInput filter = constant(int8_type({1, 3, 1, 1}, 0.1F), Elements{2, -5, 7});
  const TensorType y = int8_type({}, 0.7F, -3);
  Conv2D dilated;
  dilated.dilation_h = 2;
  dilated.padding = {2, 2, 0, 0};
  const Elements whole = reference_output<int8_t>(
      {dilated, {given(int8_type({1, 8, 1, 1}, 1, 4), x), filter, bias({9})}, {y}});
  Conv2D plain;
  plain.padding = {1, 1, 0, 0};
  const Elements even = reference_output<int8_t>(
      {plain,
       {given(int8_type({1, 4, 1, 1}, 1, 4), Elements{3, 11, -31, 8}), filter, bias({9})},
       {y}});
  const Elements odd = reference_output<int8_t>(
      {plain,
       {given(int8_type({1, 4, 1, 1}, 1, 4), Elements{-7, 20, 5, -2}), filter, bias({9})},
       {y}});
  EXPECT_THAT(whole,
              ElementsAre(even[0], odd[0], even[1], odd[1], even[2], odd[2], even[3], odd[3]));
}

TEST(Conv2D, C03PaddingContributesNothing) {
  Conv2D conv;
  conv.padding = {1, 1, 1, 1};
  const OneNode node{conv,
                     {given(int8_type({1, 5, 5, 1}, 0.3F, 17), Elements(25, 17)),
                      random_constant(int8_type({2, 3, 3, 1}, 0.2F)), bias({0, 0})},
                     {int8_type({}, 0.4F, -9)}};
  EXPECT_THAT(reference_output<int8_t>(node), Each(-9));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Conv2D, C09GroupsFollowFromTheFilter) {
  Conv2D conv;
  conv.groups = 2;
  const auto node = [&](int64_t channels, int64_t outputs) {
    return OneNode{conv,
                   {random_input(int8_type({1, 1, 1, channels})),
                    random_constant(int8_type({outputs, 1, 1, 2}))},
                   {int8_type({})}};
  };
  OneNode whole = node(4, 4);
  whole.inputs[0].bytes = Bytes::of(Elements{1, 2, 3, 4});
  whole.inputs[1].bytes = Bytes::of(Elements{1, 1, 1, -1, 2, 0, 0, 3});
  EXPECT_THAT(reference_output<int8_t>(whole), ElementsAre(3, -1, 6, 12));
  EXPECT_EQ(disagreement(whole), "");
  EXPECT_THAT(refusal(node(5, 4)), HasSubstr("2 groups do not divide 5 input channels"));
  EXPECT_THAT(refusal(node(4, 3)), HasSubstr("4 input channels and 3 output channels"));
  EXPECT_THAT(refusal(node(6, 4)), HasSubstr("has 3 in each of 2 groups"));
}

TEST(Conv2D, C18BiasBelongsToTheOutputChannel) {
  for (const int64_t batch : {1, 2}) {
    const OneNode node{Conv2D{},
                       {random_input(int8_type({batch, 1, 1, 1})),
                        constant(int8_type({2, 1, 1, 1}), Elements{0, 0}), bias({1, 10})},
                       {int8_type({})}};
    const Elements y = reference_output<int8_t>(node);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], i % 2 == 0 ? 1 : 10);
    EXPECT_EQ(disagreement(node), "");
  }
}

TEST(Conv2D, C21PointwiseWithStride) {
  Conv2D conv;
  conv.stride_h = conv.stride_w = 2;
  Elements x(32);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int8_t>(i);
  const OneNode node{
      conv,
      {given(int8_type({1, 4, 4, 2}), x), constant(int8_type({1, 1, 1, 2}), Elements{1, 1})},
      {int8_type({})}};
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(1, 9, 33, 41));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Conv2D, C22AsymmetricPadding) {
  Conv2D conv;
  conv.padding = {0, 2, 1, 3};
  const OneNode node{conv,
                     {given(int8_type({1, 2, 2, 1}), Elements{1, 2, 3, 4}),
                      constant(int8_type({1, 2, 2, 1}), Elements{1, 10, 20, 30})},
                     {int8_type({})}};
  EXPECT_EQ(output_types(node).at(0).shape, (Shape{1, 3, 5, 1}));
  EXPECT_THAT(reference_output<int8_t>(node),
              ElementsAre(100, 127, 82, 0, 0, 30, 43, 4, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Conv2D, M03BiasMayBeAbsent) {
  OneNode node{
      Conv2D{},
      {given(int8_type({1, 1, 1, 1}), Elements{3}), constant(int8_type({1, 1, 1, 1}), Elements{4})},
      {int8_type({})}};
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(12));
  EXPECT_EQ(disagreement(node), "");
  node.inputs.push_back(absent_input());
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(12));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Conv2D, ZeroPointInBias) {
  Conv2D conv;
  OneNode node{conv,
               {random_input(int8_type({2, 3, 4, 2}, 1, 7)),
                constant(int8_type({1, 2, 1, 2}, 0.01F), Elements{5, -3, 8, 1}), bias({20})},
               {int8_type({}, 0.3F, 2)}};
  const Elements plain = reference_output<int8_t>(node);
  conv.zero_point_in_bias = true;
  node.op = conv;
  node.inputs[2] = bias({20 - 7 * (5 - 3 + 8 + 1)});
  EXPECT_EQ(reference_output<int8_t>(node), plain);
  EXPECT_EQ(disagreement(node), "");
  conv.padding.left = 1;
  node.op = conv;
  EXPECT_THAT(refusal(node), HasSubstr("the zero point cannot be in the bias"));
}

TEST(Conv2D, ReferenceIsNearTheExactNumbers) {
  for (OneNode node : conv_2d_cases()) {
    const std::vector<double> exact =
        exact_convolution(node, std::get<Conv2D>(node.op).groups, false);
    for (const Rounding rounding : {Rounding::kDouble, Rounding::kSingle, Rounding::kFloat}) {
      node.rounding = rounding;
      ASSERT_EQ(far_from_exact(node, exact, tolerance_of(node)), "");
    }
  }
}

TEST(Conv2D, ReferenceEqualsLoops) {
  for (const OneNode& node : conv_2d_cases()) ASSERT_EQ(disagreement(node), "");
}

OneNode plain_node() {
  return {Conv2D{},
          {random_input(int8_type({1, 4, 5, 2})), random_constant(int8_type({3, 2, 3, 2})),
           random_constant(int32_type({3}))},
          {int8_type({}, 100)}};
}

TEST(Conv2D, RefusesWhatItCannotMean) {
  struct Case {
    std::string_view part;
    std::function<void(OneNode&, Conv2D&)> change;
  };
  const std::vector<Case> cases = {
      {"the stride is 0x1", [](OneNode&, Conv2D& c) { c.stride_h = 0; }},
      {"the stride is 1x-1", [](OneNode&, Conv2D& c) { c.stride_w = -1; }},
      {"the dilation is 0x1", [](OneNode&, Conv2D& c) { c.dilation_h = 0; }},
      {"the padding is -1 top", [](OneNode&, Conv2D& c) { c.padding.top = -1; }},
      {"the padded image is", [](OneNode&, Conv2D& c) { c.padding.left = (1 << 30) - 1; }},
      {"the kernel covers 2x9 cells, but the padded image has only 4x5",
       [](OneNode&, Conv2D& c) { c.dilation_w = 4; }},
      {"the dilation is 1x1073741824", [](OneNode&, Conv2D& c) { c.dilation_w = 1 << 30; }},
      {"0 groups", [](OneNode&, Conv2D& c) { c.groups = 0; }},
      {"4 dimensions are needed",
       [](OneNode& n, Conv2D&) {
         n.inputs[0].type.shape = {4, 5};
       }},
      {"every extent must be at least 1",
       [](OneNode& n, Conv2D&) { n.inputs[0].type.shape[0] = 0; }},
      {"at most 2147483647 elements",
       [](OneNode& n, Conv2D&) { n.inputs[0].type.shape[0] = int64_t{1} << 62; }},
      {"the output has shape [1,100000003,99999999,3], at most",
       [](OneNode& n, Conv2D& c) {
         n.inputs[0].type.shape = {1, 4, 1, 2};
         c.padding = {100000000, 0, 100000000, 0};
       }},
      {"the filter [3,2,3,1] reads 1 channels",
       [](OneNode& n, Conv2D&) { n.inputs[1].type.shape[3] = 1; }},
      {"the bias has shape [4], [3] is needed",
       [](OneNode& n, Conv2D&) { n.inputs[2].type.shape = {4}; }},
      {"it has 1 inputs", [](OneNode& n, Conv2D&) { n.inputs.resize(1); }},
      {"it has 0 outputs", [](OneNode& n, Conv2D&) { n.outputs.clear(); }},
      {"the input is int8, the filter int8, the bias int32, the output float32",
       [](OneNode& n, Conv2D&) { n.outputs[0] = float_type({}); }},
      {"the input is float32, the filter int8",
       [](OneNode& n, Conv2D&) { n.inputs[0].type.dtype = DType::kFloat32; }},
      {"the input has no quantisation parameters",
       [](OneNode& n, Conv2D&) { n.inputs[0].type.quantization.reset(); }},
      {"the filter has no quantisation parameters",
       [](OneNode& n, Conv2D&) { n.inputs[1].type.quantization.reset(); }},
      {"the output has no quantisation parameters",
       [](OneNode& n, Conv2D&) { n.outputs[0].quantization.reset(); }},
      {"the filter has zero point 3, only 0 is supported",
       [](OneNode& n, Conv2D&) { n.inputs[1].type.quantization->zero_points = {3}; }},
      {"the filter is quantised along dimension 3, the output channels are dimension 0",
       [](OneNode& n, Conv2D&) { n.inputs[1].type.quantization->axis = 3; }},
      {"the filter has 1 scales and 1 zero points, 3 are needed",
       [](OneNode& n, Conv2D&) { n.inputs[1].type.quantization->axis = 0; }},
      {"the filter has scale 0, a finite one above 0",
       [](OneNode& n, Conv2D&) { n.inputs[1].type.quantization->scales = {0}; }},
      {"less than 2^30 is needed",
       [](OneNode& n, Conv2D&) { n.outputs[0].quantization->scales = {1e-30F}; }},
      {"the zero point is said to be in the bias, but there is none",
       [](OneNode& n, Conv2D& c) {
         c.zero_point_in_bias = true;
         n.inputs.resize(2);
       }},
  };
  EXPECT_EQ(refusal(plain_node()), "");
  for (const Case& c : cases) {
    OneNode node = plain_node();
    c.change(node, std::get<Conv2D>(node.op));
    EXPECT_THAT(diagnostic_of(node).what, HasSubstr(std::string(c.part)));
  }
}

TEST(Conv2D, Limits) {
  OneNode node = plain_node();
  node.inputs[1].constant = false;
  EXPECT_EQ(refusal(node), "the filter is constant");
  node = plain_node();
  node.inputs[2].constant = false;
  EXPECT_EQ(refusal(node), "the bias is constant");
  // 128 * 128 + bias: the last bias that fits, and the next.
  node = {Conv2D{},
          {given(int8_type({1, 1, 1, 1}), Elements{-128}),
           constant(int8_type({1, 1, 1, 1}), Elements{-128}), bias({2147483647 - 128 * 128})},
          {int8_type({}, 1e8F)}};
  EXPECT_EQ(refusal(node), "");
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(21));
  EXPECT_EQ(disagreement(node), "");
  node.inputs[2] = bias({2147483647 - 128 * 128 + 1});
  EXPECT_EQ(
      refusal(node),
      "the magnitudes of an output's products and of its int32 bias add up to at most 2147483647");
}

TEST(Conv2D, CountsMultiplyAccumulates) {
  const OneNode node = plain_node();
  const std::vector<Operand> operands = {{&node.inputs[0].type}, {&node.inputs[1].type}};
  EXPECT_EQ(Conv2D::rules.macs(node.op, operands, output_types(node)), 3 * 3 * 3 * 2 * 3 * 2);
}

}  // namespace
}  // namespace ingot::testing
