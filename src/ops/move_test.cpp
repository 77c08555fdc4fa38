// SPDX-License-Identifier: Apache-2.0
// reshape, copy, pad and concat: by hand, and what is refused. Names with a letter and a number are
// known faults of other compilers.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/support/triangle.h"
#include "tests/support/types.h"

namespace ingot::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Elements = std::vector<int8_t>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Reshape, KeepsTheOrder) {
  const Elements x{1, 2, 3, 4, 5, 6};
  const OneNode node{
      Reshape{{3, 1, 2}}, {given(int8_type({2, 3}, 0.5F, 3), x)}, {int8_type({}, 0.5F, 3)}};
  EXPECT_EQ(reference_output<int8_t>(node), x);
  EXPECT_EQ(output_types(node).at(0).shape, (Shape{3, 1, 2}));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Reshape, Refusals) {
  const auto code = [](Shape shape, const TensorType& x, const TensorType& y) {
    return diagnostic_of({Reshape{std::move(shape)}, {random_input(x)}, {y}}).code;
  };
  const TensorType q = int8_type({2, 3});
  EXPECT_EQ(code({7}, q, q), Code::kOperatorShape);
  EXPECT_EQ(code({-1}, q, q), Code::kOperatorAttribute);
  EXPECT_EQ(code({int64_t{1} << 40, int64_t{1} << 40}, q, q), Code::kOperatorShape);
  EXPECT_EQ(code({6}, q, float_type({})), Code::kOperatorType);
  EXPECT_THAT(refusal({Reshape{{6}}, {random_input(q)}, {int8_type({}, 2)}}),
              HasSubstr("same scale"));
}

TEST(Copy, EveryWidth) {
  for (const DType dtype :
       {DType::kBool, DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16, DType::kInt32,
        DType::kUInt32, DType::kInt64, DType::kFloat32}) {
    const TensorType type{dtype, {2, 3}, {}};
    const OneNode node{Copy{}, {random_input(type)}, {type}};
    EXPECT_EQ(disagreement(node), "") << name_of(dtype);
  }
}

TEST(Pad, ByHand) {
  const OneNode node{
      Pad{{1, 0}, {0, 2}, 9}, {given(int8_type({2, 2}), Elements{1, 2, 3, 4})}, {int8_type({})}};
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(9, 9, 9, 9, 1, 2, 9, 9, 3, 4, 9, 9));
  EXPECT_EQ(output_types(node).at(0).shape, (Shape{3, 4}));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Pad, D10RanksUpToEightAndScalars) {
  const OneNode scalar{Pad{}, {given(int8_type({}), Elements{5})}, {int8_type({})}};
  EXPECT_THAT(reference_output<int8_t>(scalar), ElementsAre(5));
  EXPECT_EQ(disagreement(scalar), "");
  OneNode node{Pad{{1, 0, 1, 0, 0, 1, 0, 2}, {0, 0, 1, 1, 0, 0, 2, 0}, -7},
               {random_input(int8_type({1, 2, 1, 2, 1, 1, 2, 1}))},
               {int8_type({})}};
  EXPECT_EQ(disagreement(node), "");
  node.inputs = {random_input(int8_type({1, 2, 0, 2, 1, 1, 2, 1}))};  // only padding
  EXPECT_EQ(disagreement(node), "");
}

TEST(Pad, FloatInfinity) {
  const OneNode node{Pad{{1}, {1}, -std::numeric_limits<double>::infinity()},
                     {given(float_type({1}), std::vector<float>{2})},
                     {float_type({})}};
  EXPECT_THAT(reference_output<float>(node), ElementsAre(-kInfinity, 2, -kInfinity));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Pad, Refusals) {
  const auto code = [](Pad pad, const TensorType& x) {
    return diagnostic_of({std::move(pad), {random_input(x)}, {x}}).code;
  };
  const TensorType q = int8_type({2, 3});
  EXPECT_EQ(code({{1}, {1}, 0}, q), Code::kOperatorAttribute);
  EXPECT_EQ(code({{1, -1}, {1, 1}, 0}, q), Code::kOperatorAttribute);
  EXPECT_EQ(code({{1, 1}, {1, 1}, 128}, q), Code::kOperatorAttribute);
  EXPECT_EQ(code({{1, 1}, {1, 1}, 0.5}, q), Code::kOperatorAttribute);
  EXPECT_EQ(code({{1, 1}, {1, 1}, std::nan("")}, float_type({2, 3})), Code::kOperatorAttribute);
  EXPECT_EQ(code({{std::numeric_limits<int64_t>::max(), 1}, {1, 1}, 0}, q),
            Code::kOperatorAttribute);
  EXPECT_EQ(code({{int64_t{1} << 40, 1}, {1, 1}, 0}, q), Code::kOperatorShape);
  const std::vector<int64_t> nine(9, 0);
  EXPECT_EQ(code({nine, nine, 0}, int8_type({1, 1, 1, 1, 1, 1, 1, 1, 1})), Code::kOperatorShape);
  EXPECT_EQ(code({{1}, {1}, 0}, {DType::kFloat64, {2}, {}}), Code::kOperatorType);
}

TEST(Concat, D20AnyAxisSingleInputsTwiceTheSameAndEmptyParts) {
  const TestInput a = given(int8_type({1, 2}), Elements{1, 2});
  const TestInput b = given(int8_type({2, 2}), Elements{3, 4, 5, 6});
  const TestInput empty = given(int8_type({2, 0}), Elements{});
  const auto result = [](int64_t axis, std::vector<TestInput> inputs) {
    const OneNode node{Concat{axis}, std::move(inputs), {int8_type({})}};
    EXPECT_EQ(disagreement(node), "");
    return reference_output<int8_t>(node);
  };
  EXPECT_THAT(result(0, {a, b}), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(result(1, {b, b}), ElementsAre(3, 4, 3, 4, 5, 6, 5, 6));
  EXPECT_THAT(result(1, {b, empty, b}), ElementsAre(3, 4, 3, 4, 5, 6, 5, 6));
  EXPECT_THAT(result(0, {a}), ElementsAre(1, 2));
}

TEST(Concat, Q12InputsOnAnotherScaleAreRescaled) {
  const OneNode node{Concat{0},
                     {given(int8_type({2}, 0.1F), Elements{10, -3}),
                      given(int8_type({2}, 0.2F, 1), Elements{11, -3})},
                     {int8_type({}, 0.1F)}};
  EXPECT_THAT(reference_output<int8_t>(node), ElementsAre(10, -3, 20, -8));
  EXPECT_EQ(disagreement(node), "");
}

TEST(Concat, Refusals) {
  const auto fault = [](int64_t axis, const TensorType& x, const TensorType& z,
                        const TensorType& y) {
    return diagnostic_of({Concat{axis}, {random_input(x), random_input(z)}, {y}});
  };
  const TensorType q = int8_type({2, 3});
  EXPECT_EQ(fault(2, q, q, q).code, Code::kOperatorAttribute);
  EXPECT_EQ(fault(-1, q, q, q).code, Code::kOperatorAttribute);
  EXPECT_EQ(fault(0, q, int8_type({2, 4}), q).what,
            "the inputs [2,3] and [2,4] differ in more than dimension 0");
  EXPECT_EQ(fault(0, q, int8_type({2}), q).code, Code::kOperatorShape);
  EXPECT_EQ(fault(0, q, float_type({2, 3}), q).code, Code::kOperatorType);
  EXPECT_EQ(fault(0, q, int8_type({2, 3}, {1, 2}, 0), q).code, Code::kOperatorQuantization);
  EXPECT_EQ(diagnostic_of({Concat{0}, {}, {q}}).code, Code::kOperatorShape);
}

}  // namespace
}  // namespace ingot::testing
