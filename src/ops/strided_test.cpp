// SPDX-License-Identifier: Apache-2.0
// slice, transpose and resize_nearest: by hand, and what is refused. All small shapes of them, as
// loops and as C, are in tests/support/element_cases.h.
#include <gmock/gmock.h>

#include <limits>

#include "tests/support/triangle.h"
#include "tests/support/types.h"

namespace ingot::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Elements = std::vector<int8_t>;
using Numbers = std::vector<int64_t>;

Elements result_of(Op op, const Shape& shape, const Elements& x) {
  const OneNode node{std::move(op), {given(int8_type(shape), x)}, {int8_type({})}};
  EXPECT_EQ(disagreement(node), "");
  return reference_output<int8_t>(node);
}

TEST(Slice, ByHand) {
  const Elements x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_THAT(result_of(Slice{{1, 1}, {2, 2}, {1, 1}}, {3, 4}, x), ElementsAre(6, 7, 10, 11));
  EXPECT_THAT(result_of(Slice{{0, 3}, {2, 2}, {2, -2}}, {3, 4}, x), ElementsAre(4, 2, 12, 10));
  EXPECT_THAT(result_of(Slice{{2}, {3}, {-1}}, {3}, {1, 2, 3}), ElementsAre(3, 2, 1));
  EXPECT_THAT(result_of(Slice{}, {}, {7}), ElementsAre(7));
}

TEST(Slice, Refusals) {
  const auto code = [](Slice slice) {
    const TensorType x = int8_type({2, 3});
    return diagnostic_of({std::move(slice), {random_input(x)}, {int8_type({})}}).code;
  };
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const Slice& slice :
       {Slice{{0}, {1}, {1}}, Slice{{0, 0}, {1, 1}, {1, 0}},  // a loop without end
        Slice{{0, 0}, {1, 0}, {1, 1}}, Slice{{0, 0}, {1, 4}, {1, 1}}, Slice{{0, 3}, {1, 1}, {1, 1}},
        Slice{{0, -1}, {1, 1}, {1, 1}}, Slice{{0, 1}, {1, 3}, {1, -1}},
        Slice{{0, 1}, {1, 2}, {1, 2}}, Slice{{0, 1}, {1, 3}, {1, kMost}},
        Slice{{0, kMost}, {1, kMost}, {1, 1}}}) {
    EXPECT_EQ(code(slice), Code::kOperatorAttribute);
  }
  EXPECT_THAT(refusal({Slice{{0}, {1}, {1}}, {random_input(int8_type({2}))}, {int8_type({}, 2)}}),
              HasSubstr("same scale"));
}

TEST(Transpose, ByHand) {
  EXPECT_THAT(result_of(Transpose{{1, 0}}, {2, 3}, {1, 2, 3, 4, 5, 6}),
              ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(result_of(Transpose{{2, 0, 1}}, {1, 2, 3}, {1, 2, 3, 4, 5, 6}),
              ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(result_of(Transpose{}, {}, {7}), ElementsAre(7));
}

TEST(Transpose, Refusals) {
  for (const Numbers& permutation :
       {Numbers{0}, Numbers{0, 0}, Numbers{0, 2}, Numbers{-1, 0}, Numbers{0, 1, 2}}) {
    const OneNode node{Transpose{permutation}, {random_input(int8_type({2, 3}))}, {int8_type({})}};
    EXPECT_EQ(diagnostic_of(node).code, Code::kOperatorAttribute);
  }
}

TEST(ResizeNearest, ByHand) {
  const Shape image{1, 2, 2, 1};
  EXPECT_THAT(result_of(ResizeNearest{2, 4}, image, {1, 2, 3, 4}),
              ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
  EXPECT_THAT(result_of(ResizeNearest{4, 1}, image, {1, 2, 3, 4}), ElementsAre(1, 1, 3, 3));
  EXPECT_THAT(result_of(ResizeNearest{1, 1, false, true}, image, {1, 2, 3, 4}), ElementsAre(4));
}

// The reference has TFLite's formula; the loops have whole steps.
TEST(ResizeNearest, OtherFactorsAreRefused) {
  const auto refused = [](const ResizeNearest& resize) {
    return refusal({resize, {random_input(int8_type({1, 6, 6, 1}))}, {int8_type({})}});
  };
  EXPECT_THAT(refused({4, 6}), HasSubstr("by a whole factor"));
  EXPECT_THAT(refused({6, 9}), HasSubstr("by a whole factor"));
  EXPECT_THAT(refused({3, 3, true}), HasSubstr("by a whole factor"));
  EXPECT_EQ(refused({12, 6, true}), "");
  const OneNode node{ResizeNearest{0, 1}, {random_input(int8_type({1, 6, 6, 1}))}, {int8_type({})}};
  EXPECT_EQ(diagnostic_of(node).code, Code::kOperatorAttribute);
}

}  // namespace
}  // namespace ingot::testing
