// SPDX-License-Identifier: Apache-2.0
// requantize, quantize, dequantize and clamp: by hand, on every byte, and what is refused. Names
// with a letter and a number are known faults of other compilers.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "ops/reference_math.h"
#include "tests/support/triangle.h"
#include "tests/support/types.h"

namespace ingot::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Elements = std::vector<int8_t>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <class T>
std::vector<T> all_values() {
  std::vector<T> values;
  for (int v = std::numeric_limits<T>::min(); v <= std::numeric_limits<T>::max(); ++v) {
    values.push_back(static_cast<T>(v));
  }
  return values;
}

TensorType uint8_type(Shape shape, float scale, int64_t zero_point) {
  return {DType::kUInt8, std::move(shape), per_tensor(scale, zero_point)};
}

TEST(Requantize, Q03RatiosFromTinyToHuge) {
  struct Row {
    float ratio;
    int8_t of_minus_5, of_3;
  };
  const Row rows[] = {{std::ldexp(1.0F, -40), 0, 0},
                      {std::ldexp(1.0F, -31), 0, 0},
                      {0.5F, -2, 2},
                      {1, -5, 3},
                      {2, -10, 6},
                      {std::ldexp(1.0F, 20), -128, 127},
                      {std::ldexp(1.0F, 40), -128, 127}};
  for (const Row& row : rows) {
    OneNode node{
        Requantize{}, {given(int8_type({2}, row.ratio), Elements{-5, 3})}, {int8_type({}, 1)}};
    EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(row.of_minus_5, row.of_3));
    for (const Rounding rounding : {Rounding::kDouble, Rounding::kSingle, Rounding::kFloat}) {
      node.rounding = rounding;
      EXPECT_EQ(disagreement(node), "");
    }
  }
  // A tie that the final shift decides: away from zero in double rounding, up in single.
  OneNode tie{Requantize{}, {given(int8_type({2}, 0.25F), Elements{-10, 10})}, {int8_type({}, 1)}};
  EXPECT_THAT(reference_output<int8_t>(tie), ElementsAre(-3, 3));
  tie.rounding = Rounding::kSingle;
  EXPECT_THAT(reference_output<int8_t>(tie), ElementsAre(-2, 3));
}

TEST(Requantize, Q13FromUInt8ToInt8IsAShiftBy128) {
  const OneNode node{Requantize{},
                     {given(uint8_type({256}, 0.3F, 128), all_values<uint8_t>())},
                     {int8_type({}, 0.3F, 0)}};
  EXPECT_EQ(reference_output<int8_t>(node), all_values<int8_t>());
  EXPECT_EQ(disagreement(node), "");
}

TEST(Requantize, EveryByteOnAnotherScale) {
  const OneNode node{Requantize{},
                     {given(int8_type({256}, 0.07F, -9), all_values<int8_t>())},
                     {int8_type({}, 0.05F, 30)}};
  const Elements result = reference_output<int8_t>(node);
  for (int v = -128; v < 128; ++v) {
    const double expected = std::clamp((v + 9) * 0.07 / 0.05 + 30, -128.0, 127.0);
    EXPECT_NEAR(result[static_cast<size_t>(v + 128)], expected, 0.5001);
  }
  EXPECT_EQ(disagreement(node), "");
}

TEST(Requantize, Int32DoesNotOverflow) {
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  for (const int64_t zero_point : {int64_t{0}, int64_t{kMin}, int64_t{kMax}}) {
    for (const float scale : {0.25F, 1.0F, 5.0F}) {
      for (const DType to : {DType::kInt8, DType::kInt32}) {
        const OneNode node{Requantize{},
                           {given(TensorType{DType::kInt32, {4}, per_tensor(scale, zero_point)},
                                  std::vector<int32_t>{kMin, kMax, 0, -77})},
                           {TensorType{to, {}, per_tensor(1, 100)}}};
        EXPECT_EQ(disagreement(node), "");
      }
    }
  }
}

TEST(Requantize, Refusals) {
  const auto what = [](TensorType x, TensorType y, bool in_float32 = false) {
    return diagnostic_of({Requantize{in_float32}, {random_input(std::move(x))}, {std::move(y)}});
  };
  EXPECT_EQ(what(float_type({2}), int8_type({})).code, Code::kOperatorType);
  EXPECT_EQ(what(int8_type({2}), float_type({})).code, Code::kOperatorType);
  EXPECT_EQ(what(int8_type({2}, 0), int8_type({})).what,
            "the input has scale 0, a finite one above 0 is needed");
  EXPECT_EQ(what(int8_type({2}, 1, 200), int8_type({})).what,
            "the input has zero point 200, which is outside int8");
  EXPECT_THAT(what(int8_type({2}, 3e38F), int8_type({}, 1e-38F), true).what,
              HasSubstr("not finite in float32"));
}

TEST(Quantize, RoundsHalfAwayFromZeroAndSaturates) {
  const std::vector<float> x{0.25F,  0.75F,     -0.25F,     -0.75F, 0.2499999F, 1e30F,
                             -1e30F, kInfinity, -kInfinity, kNaN,   0,          -0.0F};
  const OneNode node{Quantize{}, {given(float_type({12}), x)}, {int8_type({}, 0.5F, 3)}};
  EXPECT_THAT(reference_output<int8_t>(node),
              ElementsAre(4, 5, 2, 1, 3, 127, -128, 127, -128, 3, 3, 3));
  EXPECT_EQ(disagreement(node), "");
  // The float below one half is not one half.
  const OneNode below{Quantize{},
                      {given(float_type({2}), std::vector<float>{0.49999997F, -0.49999997F})},
                      {int8_type({}, 1)}};
  EXPECT_THAT(reference_output<int8_t>(below), ElementsAre(0, 0));
  EXPECT_EQ(disagreement(below), "");
}

TEST(Quantize, Refusals) {
  EXPECT_EQ(diagnostic_of({Quantize{}, {random_input(int8_type({2}))}, {int8_type({})}}).code,
            Code::kOperatorType);
  const TensorType wide{DType::kInt32, {}, per_tensor(1, 0)};
  EXPECT_EQ(diagnostic_of({Quantize{}, {random_input(float_type({2}))}, {wide}}).code,
            Code::kOperatorType);
  const TensorType plain{DType::kInt8, {}, {}};
  EXPECT_EQ(diagnostic_of({Quantize{}, {random_input(float_type({2}))}, {plain}}).code,
            Code::kOperatorQuantization);
}

TEST(Dequantize, EveryByte) {
  const OneNode node{
      Dequantize{}, {given(int8_type({256}, 0.1F, -7), all_values<int8_t>())}, {float_type({})}};
  const std::vector<float> result = reference_output<float>(node);
  for (int v = -128; v < 128; ++v) {
    EXPECT_EQ(result[static_cast<size_t>(v + 128)], 0.1F * static_cast<float>(v + 7));
  }
  EXPECT_EQ(disagreement(node), "");
}

TEST(Dequantize, ConstantsMayBePerChannelOrHalf) {
  const OneNode channels{Dequantize{},
                         {constant(int8_type({2, 3}, {1, 0.5F, 2}, 1), Elements{1, 2, 3, 4, 5, 6})},
                         {float_type({})}};
  EXPECT_THAT(reference_output<float>(channels), ElementsAre(1, 1, 6, 4, 2.5F, 12));
  // Q15: 1, -2, the least and greatest finite numbers, -0 and an infinity.
  const std::vector<uint16_t> halves{0x3c00, 0xc000, 0x0001, 0x7bff, 0x8000, 0x7c00};
  const OneNode half{
      Dequantize{}, {constant(TensorType{DType::kFloat16, {6}, {}}, halves)}, {float_type({})}};
  EXPECT_THAT(reference_output<float>(half),
              ElementsAre(1, -2, std::ldexp(1.0F, -24), 65504, 0, kInfinity));
  EXPECT_TRUE(std::signbit(reference_output<float>(half)[4]));
  const TestInput computed = given(int8_type({2, 3}, {1, 0.5F, 2}, 1), Elements(6));
  EXPECT_THAT(refusal({Dequantize{}, {computed}, {float_type({})}}), HasSubstr("constant"));
}

TEST(Dequantize, Refusals) {
  const auto code = [](TensorType x, TensorType y) {
    return diagnostic_of({Dequantize{}, {random_input(std::move(x))}, {std::move(y)}}).code;
  };
  EXPECT_EQ(code(float_type({2}), float_type({})), Code::kOperatorType);
  EXPECT_EQ(code(int8_type({2}), int8_type({})), Code::kOperatorType);
  EXPECT_EQ(code(int8_type({2, 3}, {1, 2}, 1), float_type({})), Code::kOperatorQuantization);
  EXPECT_EQ(code(int8_type({2}, {1, -1}, 0), float_type({})), Code::kOperatorQuantization);
  TensorType outside = int8_type({2}, {1, 1}, 0);
  outside.quantization->zero_points = {0, 300};
  EXPECT_EQ(code(outside, float_type({})), Code::kOperatorQuantization);
}

TEST(Clamp, E20BoundsAreInUnitsOfTheElement) {
  // RELU_N1_TO_1 with scale 0.02 and zero point 3: 3 - 50 .. 3 + 50.
  const TensorType type = int8_type({256}, 0.02F, 3);
  const OneNode node{Clamp{-47, 53}, {given(type, all_values<int8_t>())}, {type}};
  const Elements result = reference_output<int8_t>(node);
  for (int v = -128; v < 128; ++v) {
    EXPECT_EQ(result[static_cast<size_t>(v + 128)], std::clamp(v, -47, 53));
  }
  EXPECT_EQ(disagreement(node), "");
}

TEST(Clamp, BoundsOutsideTheTypeOrBetweenIntegers) {
  const TensorType type = int8_type({3});
  const TestInput x = given(type, Elements{-128, 0, 127});
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const auto result = [&](double low, double high) {
    const OneNode node{Clamp{low, high}, {x}, {type}};
    EXPECT_EQ(disagreement(node), "");
    return reference_output<int8_t>(node);
  };
  EXPECT_THAT(result(-kNone, kNone), ElementsAre(-128, 0, 127));
  EXPECT_THAT(result(-1e9, 20.5), ElementsAre(-128, 0, 20));
  EXPECT_THAT(result(-0.5, kNone), ElementsAre(0, 0, 127));
  EXPECT_THAT(result(300, 400), ElementsAre(127, 127, 127));
}

TEST(Clamp, FloatsThatAreNotNumbersStay) {
  const OneNode node{Clamp{0, 6},
                     {given(float_type({5}), std::vector<float>{-1, 7, 3, kInfinity, kNaN})},
                     {float_type({})}};
  const std::vector<float> result = reference_output<float>(node);
  EXPECT_THAT(std::vector<float>(result.begin(), result.begin() + 4), ElementsAre(0, 6, 3, 6));
  EXPECT_TRUE(std::isnan(result[4]));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Clamp, Refusals) {
  const auto fault = [](double low, double high, const TensorType& type) {
    return diagnostic_of({Clamp{low, high}, {random_input(type)}, {type}}).code;
  };
  const TensorType q = int8_type({2});
  EXPECT_EQ(fault(1, 0, q), Code::kOperatorAttribute);
  EXPECT_EQ(fault(std::nan(""), 0, q), Code::kOperatorAttribute);
  EXPECT_EQ(fault(0.2, 0.8, q), Code::kOperatorAttribute);
  EXPECT_EQ(fault(1e300, 1e301, float_type({2})), Code::kOperatorAttribute);
  EXPECT_EQ(fault(0, 1, {DType::kBool, {2}, {}}), Code::kOperatorType);
  EXPECT_EQ(refusal({Clamp{0, 1}, {random_input(q)}, {int8_type({}, 2)}}),
            "input and output have the same scale and zero point");
}

}  // namespace
}  // namespace ingot::testing
