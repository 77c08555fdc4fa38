// SPDX-License-Identifier: Apache-2.0
// Fully connected layers: by hand, against real numbers, and reference against loops. Names with a
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

TEST(FullyConnected, M01EveryRowHasItsOwnOutput) {
  const OneNode node{FullyConnected{},
                     {given(int8_type({3, 4}, 1, 1), Elements{1, 2, 3, 4, 2, 2, 2, 2, -1, 1, 1, 1}),
                      constant(int8_type({2, 4}), Elements{1, 2, 3, 4, -1, 0, 0, 1}),
                      constant(int32_type({2}), std::vector<int32_t>{10, -10})},
                     {int8_type({}, 1, 5)}};
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(35, -2, 25, -5, 13, -3));
  EXPECT_EQ(disagreement(node), "");
}

TEST(FullyConnected, M03BiasMayBeAbsent) {
  OneNode node{
      FullyConnected{},
      {given(int8_type({1, 2}), Elements{3, 4}), constant(int8_type({1, 2}), Elements{4, 5})},
      {int8_type({})}};
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(32));
  EXPECT_EQ(disagreement(node), "");
  node.inputs.push_back(absent_input());
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(32));
  EXPECT_EQ(disagreement(node), "");
}

// M11: the weights' zero point counts; 8-bit unsigned weights are refused rather than misread.
TEST(FullyConnected, M11WeightsWithZeroPoint) {
  OneNode node{
      FullyConnected{},
      {given(int8_type({1, 3}, 1, 2), Elements{1, 2, 4}),
       constant(TensorType{DType::kInt8, {2, 3}, per_tensor(1, 3)}, Elements{3, 7, 5, 0, 0, 4}),
       constant(int32_type({2}), std::vector<int32_t>{1, 0})},
      {int8_type({})}};
  // (1-2)(3-3) + (2-2)(7-3) + (4-2)(5-3) + 1 and (1-2)(0-3) + 0 + (4-2)(4-3)
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(5, 5));
  EXPECT_EQ(disagreement(node), "");
  node.inputs[1].type = {DType::kUInt8, {2, 3}, per_tensor(1, 128)};
  EXPECT_THAT(refusal(node), HasSubstr("the weight tensor uint8"));
  node.inputs[1].type = {DType::kInt8, {2, 3}, Quantization{{1, 1}, {0, 3}, 0}};
  EXPECT_THAT(refusal(node), HasSubstr("the weight tensor has zero point 3, only 0 is supported"));
  node.inputs[1].type = {DType::kInt8, {2, 3}, per_tensor(1, 128)};
  EXPECT_THAT(refusal(node), HasSubstr("zero point 128, which its element type does not hold"));
}

TEST(FullyConnected, ShapesOfTheResult) {
  struct Case {
    Shape x;
    bool keep_dims;
    Shape y;
  };
  const std::vector<Case> cases = {
      {{6}, false, {1, 5}},          {{2, 6}, false, {2, 5}},      {{2, 3, 4}, false, {4, 5}},
      {{1, 1, 2, 3}, false, {1, 5}}, {{2, 1, 6}, true, {2, 1, 5}}, {{6}, true, {5}},
  };
  for (const Case& c : cases) {
    FullyConnected op;
    op.keep_dims = c.keep_dims;
    const OneNode node{op,
                       {random_input(int8_type(c.x)), random_constant(int8_type({5, 6}))},
                       {int8_type({}, 300)}};
    EXPECT_EQ(output_types(node).at(0).shape, c.y);
    EXPECT_EQ(disagreement(node), "");
  }
}

TEST(FullyConnected, ZeroPointInBias) {
  FullyConnected op;
  OneNode node{
      op,
      {random_input(int8_type({3, 2}, 1, 7)),
       constant(TensorType{DType::kInt8, {2, 2}, per_tensor(0.01F, 1)}, Elements{5, -3, 8, 1}),
       constant(int32_type({2}), std::vector<int32_t>{20, 30})},
      {int8_type({}, 0.3F, 2)}};
  const Elements plain = reference_output<int8_t>(node);
  op.zero_point_in_bias = true;
  node.op = op;
  node.inputs[2].bytes = Bytes::of(std::vector<int32_t>{20 - 7 * (4 - 4), 30 - 7 * (7 + 0)});
  EXPECT_EQ(reference_output<int8_t>(node), plain);
  EXPECT_EQ(disagreement(node), "");
}

// The exact numbers by the same helper as convolutions: a row is an image of one cell.
std::vector<double> exact_rows(OneNode node) {
  const Shape weights = node.inputs[1].type.shape;
  const int64_t rows = node.inputs[0].type.num_elements() / weights[1];
  node.inputs[0].type.shape = {rows, 1, 1, weights[1]};
  node.inputs[1].type.shape = {weights[0], 1, 1, weights[1]};
  node.op = Conv2D{};
  return exact_convolution(node, 1, false);
}

// M10: every small number of inputs and outputs.
TEST(FullyConnected, M10EverySmallSize) {
  for (OneNode node : fully_connected_cases()) {
    const std::vector<double> exact = exact_rows(node);
    for (const Rounding rounding : {Rounding::kDouble, Rounding::kSingle, Rounding::kFloat}) {
      node.rounding = rounding;
      ASSERT_EQ(far_from_exact(node, exact, tolerance_of(node)), "");
      ASSERT_EQ(disagreement(node), "");
    }
  }
}

OneNode plain_node() {
  return {FullyConnected{},
          {random_input(int8_type({2, 6})), random_constant(int8_type({3, 6})),
           random_constant(int32_type({3}))},
          {int8_type({}, 100)}};
}

TEST(FullyConnected, RefusesWhatItCannotMean) {
  struct Case {
    std::string_view part;
    std::function<void(OneNode&)> change;
  };
  const std::vector<Case> cases = {
      {"2 dimensions are needed",
       [](OneNode& n) {
         n.inputs[1].type.shape = {3, 6, 1};
       }},
      {"the input [2,5] does not divide into rows of 6",
       [](OneNode& n) { n.inputs[0].type.shape[1] = 5; }},
      {"the weight tensor has shape [3,0]", [](OneNode& n) { n.inputs[1].type.shape[1] = 0; }},
      {"its last must be the 6 of the weights [3,6]",
       [](OneNode& n) {
         n.inputs[0].type.shape = {2, 3, 2};
         std::get<FullyConnected>(n.op).keep_dims = true;
       }},
      {"its last must be the 1 of",
       [](OneNode& n) {
         n.inputs[0].type.shape = {};
         n.inputs[1].type.shape = {3, 1};
         std::get<FullyConnected>(n.op).keep_dims = true;
       }},
      {"the output has shape [1073741824,3]",
       [](OneNode& n) {
         n.inputs[0].type.shape = {1 << 30, 1};
         n.inputs[1].type.shape = {3, 1};
       }},
      {"the bias has shape [1,3], [3] is needed",
       [](OneNode& n) {
         n.inputs[2].type.shape = {1, 3};
       }},
      {"it has 1 inputs, 2 or 3 are needed", [](OneNode& n) { n.inputs.resize(1); }},
      {"the input is int16", [](OneNode& n) { n.inputs[0].type.dtype = DType::kInt16; }},
      {"the input is quantised per channel",
       [](OneNode& n) { n.inputs[0].type.quantization->axis = 0; }},
      {"the weight tensor is quantised along dimension 1",
       [](OneNode& n) { n.inputs[1].type.quantization->axis = 1; }},
  };
  EXPECT_EQ(refusal(plain_node()), "");
  for (const Case& c : cases) {
    OneNode node = plain_node();
    c.change(node);
    EXPECT_THAT(diagnostic_of(node).what, HasSubstr(std::string(c.part)));
  }
}

TEST(FullyConnected, Limits) {
  OneNode node = plain_node();
  node.inputs[1].constant = false;
  EXPECT_EQ(refusal(node), "the weights are constant");
  node = plain_node();
  node.inputs[2].constant = false;
  EXPECT_EQ(refusal(node), "the bias is constant");
  // 129 * 2^7 * 2^7 * ... : the weights' zero point counts in the bound, here |-128 - 127| = 255.
  node = {FullyConnected{},
          {random_input(int8_type({1, 1})),
           constant(TensorType{DType::kInt8, {1, 1}, per_tensor(1, 127)}, Elements{-128}),
           constant(int32_type({1}), std::vector<int32_t>{2147483647 - 255 * 128})},
          {int8_type({}, 1e8F)}};
  EXPECT_EQ(refusal(node), "");
  EXPECT_EQ(disagreement(node), "");
  node.inputs[2].bytes = Bytes::of(std::vector<int32_t>{2147483647 - 255 * 128 + 1});
  EXPECT_EQ(
      refusal(node),
      "the magnitudes of an output's products and of its int32 bias add up to at most 2147483647");
}

TEST(FullyConnected, CountsMultiplyAccumulates) {
  const OneNode node = plain_node();
  const std::vector<Operand> operands = {{&node.inputs[0].type}, {&node.inputs[1].type}};
  EXPECT_EQ(FullyConnected::rules.macs(node.op, operands, output_types(node)), 2 * 3 * 6);
}

}  // namespace
}  // namespace ingot::testing
