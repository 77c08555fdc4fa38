// SPDX-License-Identifier: Apache-2.0
// logistic and tanh: every byte against the real function, known results of the fixed-point
// definition, and what is refused. Names with a letter and a number are known faults of other
// compilers.
#include <gmock/gmock.h>

#include <cmath>

#include "ops/gemmlowp.h"
#include "tests/support/triangle.h"
#include "tests/support/types.h"

namespace ingot::testing {
namespace {

using ::testing::HasSubstr;
using Elements = std::vector<int8_t>;
using Kind = Unary::Kind;

TensorType result_type(Kind kind) {
  return kind == Kind::kTanh ? int8_type({}, 1.0F / 128) : int8_type({}, 1.0F / 256, -128);
}

double real_function(Kind kind, double x) {
  return kind == Kind::kTanh ? std::tanh(x) : 1 / (1 + std::exp(-x));
}

TEST(Unary, EveryByteIsNearTheRealFunction) {
  Elements x;
  for (int v = -128; v < 128; ++v) x.push_back(static_cast<int8_t>(v));
  for (const Kind kind : {Kind::kLogistic, Kind::kTanh}) {
    for (const float scale : {1e-6F, 0.01F, 0.0625F, 0.1F, 1.0F}) {
      for (const int64_t zero_point : {-128, -3, 0, 90}) {
        const OneNode node{
            Unary{kind}, {given(int8_type({256}, scale, zero_point), x)}, {result_type(kind)}};
        const Elements result = reference_output<int8_t>(node);
        for (size_t i = 0; i < x.size(); ++i) {
          const double real = real_function(
              kind, static_cast<double>(scale) * static_cast<double>(x[i] - zero_point));
          const double expected = kind == Kind::kTanh ? real * 128 : real * 256 - 128;
          ASSERT_NEAR(result[i], std::clamp(expected, -128.0, 127.0), 0.51)
              << scale << " " << static_cast<int>(x[i]);
        }
        ASSERT_EQ(disagreement(node), "");
      }
    }
  }
}

TEST(Unary, CoarseInputsGiveTheEndsFromTheRadiusOn) {
  // With scale 4, one step is already outside what Q4.27 keeps: TFLM's radius is 1. With scale 16
  // it is 0, and even 0 is taken as far out.
  struct Row {
    float scale;
    Elements logistic, tanh;
  };
  const Row rows[] = {{4, {-128, 0, 127}, {-128, 0, 127}},
                      {16, {-128, -128, 127}, {-128, -128, 127}}};
  for (const Row& row : rows) {
    for (const Kind kind : {Kind::kLogistic, Kind::kTanh}) {
      const OneNode node{
          Unary{kind}, {given(int8_type({3}, row.scale), Elements{-1, 0, 1})}, {result_type(kind)}};
      EXPECT_EQ(reference_output<int8_t>(node), kind == Kind::kTanh ? row.tanh : row.logistic);
    }
  }
}

TEST(Unary, FixedPointFunctionsAreNearTheRealOnes) {
  constexpr double kUnit = 2147483648.0;
  for (int32_t a = -(1 << 30); a < 1 << 30; a += 9999991) {
    const double x = std::ldexp(a, -27);
    ASSERT_NEAR(reference::logistic(a) / kUnit, 1 / (1 + std::exp(-x)), 1e-6) << x;
    ASSERT_NEAR(reference::tanh(a) / kUnit, std::tanh(x), 1e-6) << x;
    const int32_t negative = a < 0 ? a : -a;
    for (const int bits : {4, 5}) {
      ASSERT_NEAR(reference::exp_on_negative_values(negative, bits) / kUnit,
                  std::exp(std::ldexp(negative, bits - 31)), 1e-6);
    }
    const int32_t fraction = a < 0 ? -a : a;
    ASSERT_NEAR(reference::one_over_one_plus(fraction) / kUnit, 1 / (1 + fraction / kUnit), 1e-6);
  }
  EXPECT_EQ(reference::exp_on_negative_values(0, 5), 2147483647);
  EXPECT_EQ(reference::logistic(0), 1 << 30);
  EXPECT_EQ(reference::tanh(0), 0);
}

TEST(Unary, S07OtherOutputScalesAreRefused) {
  for (const Kind kind : {Kind::kLogistic, Kind::kTanh}) {
    for (const TensorType& y : {int8_type({}, 1.0F / 200, -128), int8_type({}, 1.0F / 256, 0),
                                int8_type({}, 1.0F / 128, -128)}) {
      EXPECT_THAT(refusal({Unary{kind}, {random_input(int8_type({3}))}, {y}}),
                  HasSubstr("logistic has scale 1/256"));
    }
  }
}

TEST(Unary, Refusals) {
  const auto code = [](TensorType x, TensorType y) {
    return diagnostic_of({Unary{}, {random_input(std::move(x))}, {std::move(y)}}).code;
  };
  EXPECT_EQ(code(int32_type({2}), int32_type({})), Code::kOperatorType);
  EXPECT_EQ(code(int8_type({2}), float_type({})), Code::kOperatorType);
  EXPECT_EQ(code({DType::kInt8, {2}, {}}, int8_type({})), Code::kOperatorQuantization);
}

}  // namespace
}  // namespace ingot::testing
