// SPDX-License-Identifier: Apache-2.0
// softmax: by hand, against the real function, long rows, and what is refused. Names with a letter
// and a number are known faults of other compilers.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/triangle.h"
#include "tests/support/types.h"

namespace ingot::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using Elements = std::vector<int8_t>;

const TensorType kResult = int8_type({}, 1.0F / 256, -128);

std::vector<double> real_softmax(const Elements& x, size_t first, size_t depth, double factor) {
  double sum = 0;
  std::vector<double> result;
  for (size_t i = first; i < first + depth; ++i) sum += std::exp(x[i] * factor);
  for (size_t i = first; i < first + depth; ++i) result.push_back(std::exp(x[i] * factor) / sum);
  return result;
}

TEST(Softmax, EqualLogitsShareOne) {
  for (const int64_t depth : {1, 2, 4, 8, 128, 256}) {
    const OneNode node{
        Softmax{},
        {given(int8_type({1, depth}, 0.1F, 7), Elements(static_cast<size_t>(depth), -5))},
        {kResult}};
    const int8_t share = static_cast<int8_t>(std::min<int64_t>(256 / depth - 128, 127));
    EXPECT_THAT(reference_output<int8_t>(node), Each(share));
    EXPECT_EQ(disagreement(node), "");
  }
}

TEST(Softmax, S01RowsAreIndependent) {
  const Elements x{10, 20, 30, 40, -128, 127, 0, 5, 7, 7, 6, 7};
  const OneNode node{Softmax{}, {given(int8_type({3, 4}, 0.1F, 3), x)}, {kResult}};
  const Elements result = reference_output<int8_t>(node);
  for (size_t row = 0; row < 3; ++row) {
    const std::vector<double> real = real_softmax(x, row * 4, 4, 0.1);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(result[row * 4 + i], std::min(real[i] * 256 - 128, 127.0), 0.51);
    }
  }
  EXPECT_EQ(disagreement(node), "");
}

TEST(Softmax, S03BetaMultipliesTheLogits) {
  const Elements x{10, 20, 30, 40, 35};
  for (const double beta : {0.5, 1.0, 2.0}) {
    const OneNode node{Softmax{beta}, {given(int8_type({5}, 0.1F), x)}, {kResult}};
    const Elements result = reference_output<int8_t>(node);
    const std::vector<double> real = real_softmax(x, 0, 5, 0.1 * beta);
    for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(result[i], real[i] * 256 - 128, 0.51);
    EXPECT_EQ(disagreement(node), "");
  }
}

TEST(Softmax, LongRowsOfEqualLogits) {
  // TFLM ends the program from 512 on, and its sum overflows at 4096.
  for (const int64_t depth : {511, 512, 513, 1024, 4095, 4096, 5000}) {
    const OneNode node{
        Softmax{},
        {given(int8_type({2, depth}, 1), Elements(static_cast<size_t>(2 * depth), 3))},
        {kResult}};
    EXPECT_THAT(reference_output<int8_t>(node), Each(depth == 511 ? -127 : -128)) << depth;
    EXPECT_EQ(disagreement(node), "");
  }
}

TEST(Softmax, LargestScaleIsAMaximum) {
  const OneNode node{Softmax{}, {given(int8_type({4}, 100), Elements{5, 6, 4, -128})}, {kResult}};
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(-128, 127, -128, -128));
  EXPECT_EQ(disagreement(node), "");
}

// E15.
TEST(Softmax, FloatDoesNotOverflow) {
  const OneNode node{Softmax{},
                     {given(float_type({2, 2}), std::vector<float>{1000, 1000, -1000, 1000})},
                     {float_type({})}};
  EXPECT_THAT(reference_output<float>(node), ElementsAre(0.5F, 0.5F, 0, 1));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Softmax, EmptyTensors) {
  for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}}) {
    const OneNode node{Softmax{}, {random_input(int8_type(shape))}, {kResult}};
    EXPECT_EQ(disagreement(node), "");
  }
}

TEST(Softmax, Refusals) {
  const auto code = [](double beta, TensorType x, TensorType y) {
    return diagnostic_of({Softmax{beta}, {random_input(std::move(x))}, {std::move(y)}}).code;
  };
  EXPECT_EQ(code(0, int8_type({2}), kResult), Code::kOperatorAttribute);
  EXPECT_EQ(code(-1, int8_type({2}), kResult), Code::kOperatorAttribute);
  EXPECT_EQ(code(std::nan(""), int8_type({2}), kResult), Code::kOperatorAttribute);
  EXPECT_EQ(code(1, int8_type({}), kResult), Code::kOperatorShape);
  EXPECT_EQ(code(1, int32_type({2}), int32_type({})), Code::kOperatorType);
  EXPECT_EQ(code(1, {DType::kInt8, {2}, {}}, kResult), Code::kOperatorQuantization);
  EXPECT_EQ(refusal({Softmax{}, {random_input(int8_type({2}))}, {int8_type({}, 1.0F / 256)}}),
            "the int8 output has scale 1/256 and zero point -128");
}

}  // namespace
}  // namespace ingot::testing
