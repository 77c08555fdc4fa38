// SPDX-License-Identifier: Apache-2.0
// Layers of float activations and int8 weights: numbers worked out by hand. Random ones, against
// real numbers and against the loops, are among the cases of each operator's own test.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/support/triangle.h"
#include "tests/support/types.h"

namespace ingot::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Reals = std::vector<float>;
using Weights = std::vector<int8_t>;

// The output, on which reference and loops must agree.
Reals output_of(const OneNode& node) {
  EXPECT_EQ(disagreement(node), "");
  return reference_output<float>(node);
}

// A dense layer with weights of scale 0.5.
OneNode dense(bool asymmetric, const Shape& x_shape, const Reals& x, const Shape& w_shape,
              const Weights& w, const Reals& bias) {
  FullyConnected op;
  op.asymmetric_inputs = asymmetric;
  OneNode node{
      op, {given(float_type(x_shape), x), constant(int8_type(w_shape, 0.5F), w)}, {float_type({})}};
  if (!bias.empty()) node.inputs.push_back(constant(float_type({w_shape[0]}), bias));
  return node;
}

TEST(Hybrid, Q16SymmetricInputs) {
  // 127 / 2 = 63.5, so x is 63.5 (a tie, away from zero), -127 and 31.75 on its scale.
  const Reals y =
      output_of(dense(false, {1, 3}, {1, -2, 0.5F}, {2, 3}, {1, 2, 3, -1, 0, 1}, {1, -1}));
  const float scale = 2.0F / 127.0F * 0.5F;
  EXPECT_THAT(y, ElementsAre((64 - 2 * 127 + 3 * 32) * scale + 1, (-64 + 32) * scale - 1));
  // The tie below zero.
  EXPECT_THAT(output_of(dense(false, {1, 2}, {-1, 2}, {1, 2}, {1, 0}, {})),
              ElementsAre(-64 * scale));
}

TEST(Hybrid, Q16AsymmetricInputs) {
  // From 0 to 255/64: a step is 1/64, the zero point -128.
  EXPECT_THAT(output_of(dense(true, {1, 3}, {0, 3.984375F, 1}, {1, 3}, {1, 2, 3}, {0.25F})),
              ElementsAre((2 * 255 + 3 * 64) / 128.0F + 0.25F));
  // From -2 to 127/64: the zero point is 0.
  EXPECT_THAT(output_of(dense(true, {1, 3}, {-2, 1.984375F, 0.5F}, {1, 3}, {1, 2, 3}, {})),
              ElementsAre((-128 + 2 * 127 + 3 * 32) / 128.0F));
  // Zero is always in the range, also of numbers that are all below it: the zero point is 127.
  EXPECT_THAT(output_of(dense(true, {1, 2}, {-3.984375F, -1}, {1, 2}, {1, 1}, {})),
              ElementsAre((-255 - 64) / 128.0F));
}

TEST(Hybrid, EveryRowHasItsOwnScale) {
  for (const bool asymmetric : {false, true}) {
    const Reals x = {255, 1, 0, 0, 0.25F, 0};
    const Reals y = output_of(dense(asymmetric, {3, 2}, x, {1, 2}, {1, 0}, {3}));
    EXPECT_FLOAT_EQ(y[0], 255 * 0.5F + 3) << asymmetric;
    EXPECT_EQ(y[1], 3);
    EXPECT_FLOAT_EQ(y[2], 0.25F * 0.5F + 3);
  }
}

TEST(Hybrid, WeightsMayHaveAScalePerChannel) {
  OneNode node = dense(false, {1, 2}, {127, -1}, {2, 2}, {1, 3, 2, -5}, {1, 2});
  node.inputs[1].type = int8_type({2, 2}, {0.5F, 0.25F}, 0);
  EXPECT_THAT(output_of(node), ElementsAre((127 - 3) * 0.5F + 1, (254 + 5) * 0.25F + 2));
  node.inputs[1].type = {DType::kInt8, {2, 2}, per_tensor(1, 3)};
  EXPECT_THAT(refusal(node), HasSubstr("zero point 3, only 0 is supported"));
}

TEST(Hybrid, ConvolutionsQuantiseEachImage) {
  Conv2D op;
  op.padding = {0, 0, 1, 1};
  // Two images of three cells; taps outside contribute nothing, whatever the zero point is.
  OneNode node{op,
               {given(float_type({2, 1, 3, 1}), Reals{0, 255, 5, 51, 0, 10.2F}),
                constant(int8_type({1, 1, 3, 1}), Weights{1, 1, -1})},
               {float_type({})}};
  op.asymmetric_inputs = true;
  node.op = op;
  const float step = 51.0F / 255.0F;
  EXPECT_THAT(output_of(node), ElementsAre(-255, 250, 260, 255 * step, 204 * step, 51 * step));
  op.asymmetric_inputs = false;
  node.op = op;
  const float coarse = 255.0F / 127.0F;
  const float fine = 51.0F / 127.0F;
  // 5 is 2.49 on the first image's scale, 10.2 is 25.4 on the second's.
  EXPECT_THAT(output_of(node), ElementsAre(-127 * coarse, 125 * coarse, 129 * coarse, 127 * fine,
                                           102 * fine, 25 * fine));
}

// Sums times two scales, in the order that TFLite has for each kind of layer; 3 and 7 steps are
// such that all three differ.
TEST(Hybrid, OrderOfTheScales) {
  const float s = 0.7F;  // of x: its greatest magnitude is 127 * s
  const Reals x = {127 * s, 1, 2, 3};
  const float input_scale = x[0] / 127.0F;
  const float weight_scale = 0.003F;
  const auto sum = static_cast<float>(113 * 127);
  OneNode node{DepthwiseConv2D{},
               {given(float_type({1, 1, 2, 2}), x),
                constant(int8_type({1, 1, 1, 2}, weight_scale), Weights{113, 1})},
               {float_type({})}};
  EXPECT_EQ(output_of(node)[0], sum * input_scale * weight_scale);
  node.inputs[1] = constant(int8_type({2, 1, 1, 2}, weight_scale), Weights{113, 0, 1, 1});
  node.op = Conv2D{};
  EXPECT_EQ(output_of(node)[0], sum * (input_scale * weight_scale));
  node.inputs[1] = constant(int8_type({2, 1, 1, 1}, weight_scale), Weights{113, 1});
  Conv2D grouped;
  grouped.groups = 2;
  node.op = grouped;
  EXPECT_EQ(output_of(node)[0], sum * weight_scale * input_scale);
}

TEST(Hybrid, NumbersAtTheEndsOfFloat) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  const float huge = std::numeric_limits<float>::max();
  const float infinite = std::numeric_limits<float>::infinity();
  const float none = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Reals> rows = {{tiny, -tiny, 0, 0},    {huge, -huge, 1, 0},
                                   {huge, huge, huge, 0},  {-tiny, 1, huge, 0},
                                   {none, 1, -1, 0},       {none, none, none, none},
                                   {infinite, 1, none, 0}, {infinite, -infinite, none, 0}};
  for (const Reals& row : rows) {
    for (const bool asymmetric : {false, true}) {
      const OneNode node = dense(asymmetric, {1, 4}, row, {1, 4}, {0, 1, 0, 0}, {});
      EXPECT_EQ(disagreement(node), "");
      const float y = reference_output<float>(node).at(0);
      // Only an infinite range has no scale.
      EXPECT_EQ(std::isnan(y), row[0] == infinite) << row[0] << " " << row[1] << " " << asymmetric;
    }
  }
  // A number that is none counts for nothing.
  EXPECT_THAT(output_of(dense(false, {1, 2}, {none, 127}, {1, 2}, {1, 2}, {})), ElementsAre(127));
}

TEST(Hybrid, SumsMustFit) {
  // 255 * 128 * 65793 is the last below 2^31.
  const int64_t depth = 65793;
  OneNode node{FullyConnected{},
               {random_input(float_type({1, depth})),
                constant(int8_type({1, depth}), Weights(static_cast<size_t>(depth), -128))},
               {float_type({})}};
  EXPECT_EQ(refusal(node), "");
  node.inputs = {
      random_input(float_type({1, depth + 1})),
      constant(int8_type({1, depth + 1}), Weights(static_cast<size_t>(depth + 1), -128))};
  EXPECT_EQ(
      refusal(node),
      "the magnitudes of an output's products and of its int32 bias add up to at most 2147483647");
}

TEST(Hybrid, OtherTypesAreRefused) {
  OneNode node = dense(false, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1});
  node.inputs[2] = constant(int32_type({1}), std::vector<int32_t>{1});
  EXPECT_THAT(refusal(node), HasSubstr("the bias int32"));
  node = dense(false, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {});
  node.outputs[0].dtype = DType::kInt8;
  EXPECT_THAT(refusal(node), HasSubstr("the output int8"));
  node = dense(false, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {});
  node.inputs[1].type.quantization.reset();
  EXPECT_THAT(refusal(node), HasSubstr("the weight tensor has no quantisation parameters"));
}

}  // namespace
}  // namespace ingot::testing
