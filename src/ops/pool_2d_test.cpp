// SPDX-License-Identifier: Apache-2.0
// Pooling: by hand, against an average and a maximum written otherwise, and reference against
// loops. Names with a letter and a number are known faults of other compilers.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "ops/access.h"
#include "tests/support/operator_cases.h"
#include "tests/support/triangle.h"
#include "tests/support/types.h"

namespace ingot::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Elements = std::vector<int8_t>;

Pool2D pool(Pool2D::Kind kind, int64_t kernel, int64_t stride, Padding padding = {}) {
  return {kind, kernel, kernel, stride, stride, padding};
}

TEST(Pool2D, AverageRoundsHalfAwayFromZero) {
  // Sums 6, -6, 5, -5, 1, -1 of four cells.
  const OneNode node{
      Pool2D{Pool2D::Kind::kAverage, 1, 4, 1, 4, {}},
      {given(int8_type({6, 1, 4, 1}, 1, 9), Elements{1,  2,  3,  0, -1, -2, -3, 0, 1, 2, 3, -1,
                                                     -1, -2, -3, 1, 0,  0,  0,  1, 0, 0, 0, -1})},
      {int8_type({}, 1, 9)}};
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(2, -2, 1, -1, 0, 0));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Pool2D, ExtremesStayInRange) {
  for (const Pool2D::Kind kind : {Pool2D::Kind::kAverage, Pool2D::Kind::kMax}) {
    for (const int8_t value : {int8_t{-128}, int8_t{127}}) {
      const OneNode node{pool(kind, 3, 1, {1, 1, 1, 1}),
                         {given(int8_type({1, 3, 4, 1}), Elements(12, value))},
                         {int8_type({})}};
      EXPECT_THAT(reference_output<int8_t>(node), Each(value));
      EXPECT_EQ(disagreement(node), "");
    }
  }
}

TEST(Pool2D, P01EveryImageOfTheBatch) {
  Elements x(32);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int8_t>(3 * i);
  OneNode node{
      pool(Pool2D::Kind::kMax, 2, 2), {given(int8_type({2, 4, 4, 1}), x)}, {int8_type({})}};
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(15, 21, 39, 45, 63, 69, 87, 93));
  EXPECT_EQ(disagreement(node), "");
  node.op = pool(Pool2D::Kind::kAverage, 2, 2);  // 7.5 below the maximum, rounded up
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(8, 14, 32, 38, 56, 62, 80, 86));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Pool2D, P02AverageCountsOnlyCellsInsideTheImage) {
  const OneNode ones{pool(Pool2D::Kind::kAverage, 3, 1, {1, 1, 1, 1}),
                     {given(int8_type({1, 3, 3, 1}), Elements(9, 1))},
                     {int8_type({})}};
  EXPECT_THAT(reference_output<int8_t>(ones), Each(1));
  EXPECT_EQ(disagreement(ones), "");
  const OneNode real{pool(Pool2D::Kind::kAverage, 3, 1, {1, 1, 1, 1}),
                     {given(float_type({1, 3, 3, 1}), std::vector<float>(9, 0.25F))},
                     {float_type({})}};
  EXPECT_THAT(reference_output<float>(real), Each(0.25F));
  EXPECT_EQ(disagreement(real), "");
}

TEST(Pool2D, P04DifferentScalesAreRefused) {
  for (const Pool2D::Kind kind : {Pool2D::Kind::kAverage, Pool2D::Kind::kMax}) {
    OneNode node{pool(kind, 2, 2), {random_input(int8_type({1, 4, 4, 1}, 0.5F))}, {}};
    node.outputs = {int8_type({}, 0.25F)};
    EXPECT_EQ(refusal(node), "input and output have equal scales and zero points");
    node.outputs = {int8_type({}, 0.5F, 1)};
    EXPECT_EQ(refusal(node), "input and output have equal scales and zero points");
    node.outputs = {int8_type({}, 0.5F)};
    EXPECT_EQ(refusal(node), "");
  }
}

// What a window's cells give, from the list of all cells with their coordinates.
double expected_at(const Pool2D& op, const OneNode& node, const Shape& at) {
  const TestInput& x = node.inputs[0];
  const Shape& shape = x.type.shape;
  double sum = 0;
  double count = 0;
  double largest = -INFINITY;
  for (int64_t index = 0; index < x.type.num_elements(); ++index) {
    const int64_t c = index % shape[3];
    const int64_t ix = index / shape[3] % shape[2];
    const int64_t iy = index / shape[3] / shape[2] % shape[1];
    const int64_t n = index / shape[3] / shape[2] / shape[1];
    const int64_t dy = iy + op.padding.top - at[1] * op.stride_h;
    const int64_t dx = ix + op.padding.left - at[2] * op.stride_w;
    const bool inside = 0 <= dy && dy < op.kernel_h && 0 <= dx && dx < op.kernel_w;
    if (n != at[0] || c != at[3] || !inside) continue;
    const TensorView view{&x.type, x.bytes->view()};
    const double value = is_float(x.type.dtype) ? double{float_at(view, index)}
                                                : static_cast<double>(int_at(view, index));
    sum += value;
    count += 1;
    largest = std::max(largest, value);
  }
  if (op.kind == Pool2D::Kind::kMax) return largest;
  return is_float(x.type.dtype) ? sum / count : std::round(sum / count);
}

void expect_expected(const OneNode& node) {
  const TensorType y = output_types(node).at(0);
  const std::vector<uint8_t> bytes = reference_outputs(node).at(0);
  const TensorView view{&y, bytes};
  int64_t index = 0;
  for (int64_t n = 0; n < y.shape[0]; ++n) {
    for (int64_t h = 0; h < y.shape[1]; ++h) {
      for (int64_t w = 0; w < y.shape[2]; ++w) {
        for (int64_t c = 0; c < y.shape[3]; ++c, ++index) {
          const double expected = expected_at(std::get<Pool2D>(node.op), node, {n, h, w, c});
          if (is_float(y.dtype)) {
            ASSERT_NEAR(double{float_at(view, index)}, expected, 1e-5);
          } else {
            ASSERT_EQ(static_cast<double>(int_at(view, index)), expected);
          }
        }
      }
    }
  }
}

TEST(Pool2D, EverySmallGeometry) {
  for (const OneNode& node : pool_2d_cases()) {
    expect_expected(node);
    ASSERT_EQ(disagreement(node), "");
  }
}

TEST(Pool2D, RefusesWhatItCannotMean) {
  struct Case {
    std::string_view part;
    std::function<void(OneNode&, Pool2D&)> change;
  };
  const std::vector<Case> cases = {
      {"the stride is 0x2", [](OneNode&, Pool2D& p) { p.stride_h = 0; }},
      {"the kernel is 2x0", [](OneNode&, Pool2D& p) { p.kernel_w = 0; }},
      {"the kernel covers 5x2 cells, but the padded image has only 4x4",
       [](OneNode&, Pool2D& p) { p.kernel_h = 5; }},
      {"-1 bottom", [](OneNode&, Pool2D& p) { p.padding.bottom = -1; }},
      {"(0 top, 0 bottom, 0 left, 2 right) is not smaller than the 2x2 kernel",
       [](OneNode&, Pool2D& p) { p.padding.right = 2; }},
      {"4 dimensions are needed",
       [](OneNode& n, Pool2D&) {
         n.inputs[0].type.shape = {4, 4, 1};
       }},
      {"every extent must be at least 1",
       [](OneNode& n, Pool2D&) { n.inputs[0].type.shape[3] = 0; }},
      {"the input is int64", [](OneNode& n, Pool2D&) { n.inputs[0].type.dtype = DType::kInt64; }},
      {"the input is int8 and the output float32",
       [](OneNode& n, Pool2D&) { n.outputs[0] = float_type({}); }},
      {"it has 2 inputs", [](OneNode& n, Pool2D&) { n.inputs.push_back(n.inputs[0]); }},
  };
  const OneNode plain{
      pool(Pool2D::Kind::kAverage, 2, 2), {random_input(int8_type({1, 4, 4, 1}))}, {int8_type({})}};
  EXPECT_EQ(refusal(plain), "");
  for (const Case& c : cases) {
    OneNode node = plain;
    c.change(node, std::get<Pool2D>(node.op));
    EXPECT_THAT(diagnostic_of(node).what, HasSubstr(std::string(c.part)));
  }
}

TEST(Pool2D, SumsMustFit) {
  const TensorType type{DType::kInt16, {1, 256, 257, 1}, per_tensor(1, 0)};
  const OneNode node{
      Pool2D{Pool2D::Kind::kAverage, 256, 257, 1, 1, {}}, {random_input(type)}, {type}};
  EXPECT_EQ(refusal(node), "the sum of a window fits in int32");
  OneNode max = node;
  std::get<Pool2D>(max.op).kind = Pool2D::Kind::kMax;
  EXPECT_EQ(refusal(max), "");
}

}  // namespace
}  // namespace ingot::testing
