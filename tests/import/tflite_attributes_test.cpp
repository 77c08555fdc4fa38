// SPDX-License-Identifier: Apache-2.0
// The arithmetic behind attributes, against rows worked out by hand and against slower definitions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "import/names.h"
#include "import/report.h"
#include "import/tflite/attributes.h"

namespace ingot::tflite {
namespace {

using format::Activation;

// SAME: the least padding with ceil(input / stride) windows, the odd cell at the end.
TEST(TfliteAttributes, SamePaddingIsTheLeastThatFits) {
  for (int64_t input = 1; input <= 9; ++input) {
    for (int64_t kernel = 1; kernel <= 5; ++kernel) {
      for (int64_t stride = 1; stride <= 4; ++stride) {
        for (int64_t dilation = 1; dilation <= 3; ++dilation) {
          const int64_t windows = (input + stride - 1) / stride;
          const int64_t extent = (kernel - 1) * dilation + 1;
          int64_t total = 0;
          while ((windows - 1) * stride + extent > input + total) ++total;
          const AxisPadding padding = same_padding(input, kernel, stride, dilation);
          EXPECT_EQ(padding.before + padding.after, total);
          EXPECT_EQ(padding.before, total / 2);
        }
      }
    }
  }
}

TEST(TfliteAttributes, ClampsInUnitsOfTheElement) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto quantized = [](DType dtype, float scale, int64_t zero_point) {
    return TensorType{dtype, {1}, per_tensor(scale, zero_point)};
  };
  const TensorType real{DType::kFloat32, {1}, std::nullopt};
  const struct {
    Activation activation;
    TensorType type;
    Clamp clamp;
  } rows[] = {
      {Activation::RELU, real, {0, kInfinity}},
      {Activation::RELU6, real, {0, 6}},
      {Activation::RELU_N1_TO_1, real, {-1, 1}},
      {Activation::RELU, {DType::kInt32, {1}, std::nullopt}, {0, 2147483647}},
      {Activation::RELU6, {DType::kInt8, {1}, std::nullopt}, {0, 6}},
      // The scale of E20: one is 50 steps.
      {Activation::RELU_N1_TO_1, quantized(DType::kInt8, 0.02F, 3), {-47, 53}},
      {Activation::RELU_N1_TO_1, quantized(DType::kInt8, 0.02F, 100), {50, 127}},
      {Activation::RELU, quantized(DType::kInt8, 0.02F, -128), {-128, 127}},
      {Activation::RELU6, quantized(DType::kInt8, 0.1F, -10), {-10, 50}},
      {Activation::RELU6, quantized(DType::kUInt8, 0.1F, 10), {10, 70}},
      {Activation::RELU6, quantized(DType::kInt16, 0.001F, 0), {0, 6000}},
      // Halves go away from zero: 1 / 0.4 = 2.5, 6 / 4 = 1.5.
      {Activation::RELU_N1_TO_1, quantized(DType::kInt8, 0.4F, 0), {-3, 3}},
      {Activation::RELU6, quantized(DType::kInt8, 4.0F, 0), {0, 2}},
      // More steps than an int32 holds.
      {Activation::RELU6, quantized(DType::kInt8, 1e-30F, 0), {0, 127}},
      {Activation::RELU_N1_TO_1, quantized(DType::kInt8, 1e-45F, 5), {-128, 127}},
  };
  for (const auto& row : rows) {
    const std::optional<Clamp> clamp = clamp_of(row.activation, row.type);
    ASSERT_TRUE(clamp);
    EXPECT_EQ(clamp->low, row.clamp.low) << print(row.type);
    EXPECT_EQ(clamp->high, row.clamp.high) << print(row.type);
  }
  EXPECT_FALSE(clamp_of(Activation::NONE, real));
  EXPECT_FALSE(clamp_of(Activation::TANH, real));
  EXPECT_FALSE(clamp_of(Activation::SIGN_BIT, real));
  EXPECT_FALSE(clamp_of(static_cast<Activation>(77), real));
  EXPECT_FALSE(clamp_of(Activation::RELU, {DType::kBool, {1}, std::nullopt}));
  EXPECT_FALSE(clamp_of(Activation::RELU, {DType::kInt8, {2}, Quantization{{1, 1}, {0, 0}, 0}}));
}

TEST(TfliteAttributes, ResolvesAxes) {
  EXPECT_EQ(resolved_axis(0, 3), 0);
  EXPECT_EQ(resolved_axis(2, 3), 2);
  EXPECT_EQ(resolved_axis(-1, 3), 2);
  EXPECT_EQ(resolved_axis(-3, 3), 0);
  for (const int64_t axis : {3, -4, 100, -100}) EXPECT_FALSE(resolved_axis(axis, 3)) << axis;
  EXPECT_FALSE(resolved_axis(0, 0));
  EXPECT_FALSE(resolved_axis(std::numeric_limits<int64_t>::min(), 3));
}

TEST(TfliteAttributes, ResolvesShapes) {
  const struct {
    Shape shape;
    int64_t num_elements;
    std::optional<Shape> resolved;
  } rows[] = {
      {{2, 3}, 6, {{2, 3}}},
      {{-1, 3}, 6, {{2, 3}}},
      {{2, -1, 3}, 6, {{2, 1, 3}}},
      {{-1}, 0, {{0}}},
      {{}, 1, {{}}},
      {{0, 5}, 0, {{0, 5}}},
      {{2, 3}, 7, {}},
      {{-1, 4}, 6, {}},
      {{-1, 0}, 0, {}},  // any extent would do
      {{-1, -1}, 6, {}},
      {{-2, 3}, 6, {}},
      {{}, 2, {}},
      {{2147483647, 2147483647, 2147483647}, 1, {}},
      {{4294967296, 4294967296}, 0, {}},
  };
  for (const auto& row : rows) {
    std::string fault;
    EXPECT_EQ(resolved_shape(row.shape, row.num_elements, fault), row.resolved) << print(row.shape);
    EXPECT_EQ(fault.empty(), row.resolved.has_value());
  }
}

TEST(ImportNames, AreUniqueNotEmptyAndBounded) {
  UniqueNames names(/*budget_bytes=*/100, /*longest_bytes=*/10);
  EXPECT_EQ(names.unique("a", "t0"), "a");
  EXPECT_EQ(names.unique("a", "t1"), "a_1");
  EXPECT_EQ(names.unique("a_2", "t2"), "a_2");
  EXPECT_EQ(names.unique("a", "t3"), "a_3");
  EXPECT_EQ(names.unique("", "t4"), "t4");
  EXPECT_EQ(names.unique("t4", "t5"), "t4_1");
  EXPECT_EQ(names.unique(std::string(5000, 'x'), "t6"), "xxxxxxxxxx");
  for (int i = 0; i < 8; ++i) names.unique("xxxxxxxxxx", "t");
  EXPECT_EQ(names.unique("beyond", "t20"), "t20");
}

TEST(ImportReport, SaysHowManyMessagesAreLeftOut) {
  Report report;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(report.is_full(), i >= 100);
    if (i < 500) report.error(Code::kModelIndex, "", "e");
    if (i >= 500) report.count_error();
    report.warning(Severity::kNote, Code::kExtentOpen, "", "w");
  }
  EXPECT_EQ(report.num_errors(), 1000);
  ASSERT_EQ(report.errors().size(), 101U);
  EXPECT_EQ(report.errors().back().what, "900 more such messages");
  EXPECT_EQ(report.errors().back().severity, Severity::kError);
  EXPECT_EQ(report.warnings().back().severity, Severity::kNote);
  EXPECT_FALSE(Report().has_errors());
  EXPECT_TRUE(Report().errors().empty());
}

}  // namespace
}  // namespace ingot::tflite
