// SPDX-License-Identifier: Apache-2.0
// mean: by hand, against real numbers, and what is refused. Names with a letter and a number are
// known faults of other compilers.
#include <gmock/gmock.h>

#include "tests/support/triangle.h"
#include "tests/support/types.h"

namespace ingot::testing {
namespace {

using ::testing::ElementsAre;
using Elements = std::vector<int8_t>;
using Kind = Reduce::Kind;

TEST(Reduce, P09OneRescalingAfterTheSum) {
  // Channel 0 holds 0 .. 8 (mean 4, real (4 - 3) / 2), channel 1 -10 .. -18.
  Elements x;
  for (int i = 0; i < 9; ++i) {
    x.push_back(static_cast<int8_t>(i));
    x.push_back(static_cast<int8_t>(-10 - i));
  }
  OneNode node{Reduce{Kind::kMean, {1, 2}, false},
               {given(int8_type({1, 3, 3, 2}, 0.5F, 3), x)},
               {int8_type({}, 0.1F, -5)}};
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(0, -90));
  EXPECT_EQ(output_types(node).at(0).shape, (Shape{1, 2}));
  EXPECT_EQ(disagreement(node), "");
  node.op = Reduce{Kind::kMean, {1, 2}, true};
  EXPECT_EQ(output_types(node).at(0).shape, (Shape{1, 1, 1, 2}));
}

TEST(Reduce, AllAxesOrNone) {
  const TensorType type = int8_type({2, 3});
  const Elements x{1, 2, 3, 4, 5, 9};
  const OneNode all{Reduce{Kind::kMean, {0, 1}, false}, {given(type, x)}, {type}};
  EXPECT_THAT(reference_output<int8_t>(all), ElementsAre(4));
  EXPECT_EQ(output_types(all).at(0).shape, Shape{});
  EXPECT_EQ(disagreement(all), "");
  const OneNode none{Reduce{Kind::kMean, {}, false}, {given(type, x)}, {type}};
  EXPECT_EQ(reference_output<int8_t>(none), x);
  EXPECT_EQ(disagreement(none), "");
}

TEST(Reduce, ExtremesAndCountsThatAreNoPowersOfTwo) {
  for (int64_t count = 1; count <= 70; ++count) {
    for (const int8_t value : {int8_t{-128}, int8_t{127}, int8_t{1}}) {
      for (const int64_t zero_point : {-128, 0, 127}) {
        const TensorType type = int8_type({count}, 0.3F, zero_point);
        const OneNode node{Reduce{Kind::kMean, {0}, false},
                           {given(type, Elements(static_cast<size_t>(count), value))},
                           {type}};
        ASSERT_THAT(reference_output<int8_t>(node), ElementsAre(value));
        ASSERT_EQ(disagreement(node), "");
      }
    }
  }
}

TEST(Reduce, TheDivisionIsFoldedIntoTheMultiplier) {
  // What TFLM's arithmetic gives where the quotient, prepared as a factor of its own, would round
  // the other way: the folded multiplier has fewer bits, and the two roundings meet other numbers.
  struct Row {
    int64_t count, sum;
    int8_t mean;
  };
  for (const Row& row : {Row{3, 1, 0}, Row{6, 2, 1}, Row{7, 2, 1}, Row{20, 9, 1}}) {
    Elements x(static_cast<size_t>(row.count), 0);
    x[0] = static_cast<int8_t>(row.sum);
    const TensorType type = int8_type({row.count}, 0.5F);
    const OneNode node{Reduce{Kind::kMean, {0}, false}, {given(type, x)}, {type}};
    EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(row.mean)) << row.count;
    EXPECT_EQ(disagreement(node), "");
  }
}

TEST(Reduce, FloatsAreSummedInOrder) {
  const OneNode node{Reduce{Kind::kMean, {1}, false},
                     {given(float_type({2, 4}), std::vector<float>{1, 2, 3, 4, 1e8F, 1, -1e8F, 1})},
                     {float_type({})}};
  EXPECT_THAT(reference_output<float>(node), ElementsAre(2.5F, 0.25F));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Reduce, Refusals) {
  const auto code = [](std::vector<int64_t> axes, TensorType x) {
    const TensorType y = x;
    return diagnostic_of(
               {Reduce{Kind::kMean, std::move(axes), false}, {random_input(std::move(x))}, {y}})
        .code;
  };
  EXPECT_EQ(code({2}, int8_type({2, 3})), Code::kOperatorAttribute);
  EXPECT_EQ(code({-1}, int8_type({2, 3})), Code::kOperatorAttribute);
  EXPECT_EQ(code({1, 0}, int8_type({2, 3})), Code::kOperatorAttribute);
  EXPECT_EQ(code({1, 1}, int8_type({2, 3})), Code::kOperatorAttribute);
  EXPECT_EQ(code({1}, int8_type({2, 0})), Code::kOperatorShape);
  EXPECT_EQ(code({0}, int32_type({2})), Code::kOperatorType);
  EXPECT_EQ(code({0}, {DType::kInt8, {2}, {}}), Code::kOperatorQuantization);
  const TensorType large = int8_type({8388608});
  const TestInput x{large, false, Bytes(std::vector<uint8_t>(8388608))};
  EXPECT_EQ(refusal({Reduce{Kind::kMean, {0}, false}, {x}, {large}}),
            "the sum of the elements of one mean fits 32 bits (8 million of int8)");
}

}  // namespace
}  // namespace ingot::testing
