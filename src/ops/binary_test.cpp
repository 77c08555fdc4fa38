// SPDX-License-Identifier: Apache-2.0
// add, sub and mul: by hand, against real numbers on every pair of bytes, and what is refused.
// Names with a letter and a number are known faults of other compilers.
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
using Kind = Binary::Kind;

constexpr Kind kKinds[] = {Kind::kAdd, Kind::kSub, Kind::kMul};

double exact(Kind kind, double x, double z) {
  if (kind == Kind::kMul) return x * z;
  return kind == Kind::kAdd ? x + z : x - z;
}

TEST(Binary, E01FactorsAboveOne) {
  const OneNode mul{Binary{Kind::kMul},
                    {given(int8_type({4}), Elements{10, -20, 3, 127}),
                     given(int8_type({4}), Elements{2, 1, -4, 127})},
                    {int8_type({}, 0.3F)}};
  // 66.7, -66.7, -40, far outside.
  EXPECT_THAT(reference_output<int8_t>(mul), ElementsAre(67, -67, -40, 127));
  EXPECT_EQ(disagreement(mul), "");
  const OneNode add{Binary{Kind::kAdd},
                    {given(int8_type({4}, 8), Elements{1, -1, 2, 100}),
                     given(int8_type({4}, 4), Elements{1, 1, -4, 100})},
                    {int8_type({}, 0.5F, -3)}};
  EXPECT_THAT(reference_output<int8_t>(add), ElementsAre(21, -11, -3, 127));
  EXPECT_EQ(disagreement(add), "");
}

TEST(Binary, E06RanksAreAlignedAtTheRight) {
  struct Row {
    Shape x, z, y;
  };
  const Row rows[] = {{{1, 1, 13}, {13}, {1, 1, 13}},
                      {{1}, {2, 3}, {2, 3}},
                      {{}, {2, 3}, {2, 3}},
                      {{2, 3}, {}, {2, 3}},
                      {{}, {}, {}},
                      {{3, 1}, {1, 4}, {3, 4}},
                      {{2, 1, 3}, {4, 1}, {2, 4, 3}},
                      {{0, 3}, {1, 3}, {0, 3}}};
  for (const Row& row : rows) {
    for (const Kind kind : kKinds) {
      for (const bool is_float : {false, true}) {
        const auto type = [&](const Shape& shape) {
          return is_float ? float_type(shape) : int8_type(shape, 0.1F, 5);
        };
        const OneNode node{
            Binary{kind}, {random_input(type(row.x)), random_input(type(row.z))}, {type({})}};
        EXPECT_EQ(output_types(node).at(0).shape, row.y);
        EXPECT_EQ(disagreement(node), "");
      }
    }
  }
}

TEST(Binary, BroadcastsByHand) {
  const OneNode node{Binary{Kind::kSub},
                     {given(float_type({2, 1}), std::vector<float>{10, 20}),
                      given(float_type({3}), std::vector<float>{1, 2, 3})},
                     {float_type({})}};
  EXPECT_THAT(reference_output<float>(node), ElementsAre(9, 8, 7, 19, 18, 17));
}

TEST(Binary, EveryPairOfBytesIsWithinOneStepOfTheRealResult) {
  Elements x;
  Elements z;
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      x.push_back(static_cast<int8_t>(a));
      z.push_back(static_cast<int8_t>(b));
    }
  }
  for (const Kind kind : kKinds) {
    for (const Rounding rounding : {Rounding::kDouble, Rounding::kSingle, Rounding::kFloat}) {
      const TensorType y = int8_type({}, kind == Kind::kMul ? 0.9F : 0.11F, 4);
      const OneNode node{
          Binary{kind},
          {given(int8_type({65536}, 0.07F, -9), x), given(int8_type({65536}, 0.031F, 17), z)},
          {y},
          rounding};
      const Elements result = reference_output<int8_t>(node);
      for (size_t i = 0; i < x.size(); ++i) {
        const double real = exact(kind, 0.07 * (x[i] + 9), 0.031 * (z[i] - 17));
        const double expected =
            std::clamp(real / static_cast<double>(y.scale()) + 4, -128.0, 127.0);
        ASSERT_NEAR(result[i], expected, 0.503) << i;
      }
      ASSERT_EQ(disagreement(node), "");
    }
  }
}

TEST(Binary, SumsByTableEqualTheReferenceForEveryPair) {
  Elements x;
  Elements z;
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      x.push_back(static_cast<int8_t>(a));
      z.push_back(static_cast<int8_t>(b));
    }
  }
  struct Scales {
    float x, z, y;
  };
  constexpr Scales kScales[] = {{0.07F, 0.031F, 0.11F},       {0.0831F, 0.2199F, 0.1075F},
                                {0.011F, 0.00123F, 0.0091F},  {0.5F, 0.25F, 0.5F},
                                {0.01731F, 0.0171F, 0.0301F}, {0.3F, 0.4F, 0.01F}};
  int tables = 0;
  for (const Kind kind : {Kind::kAdd, Kind::kSub}) {
    for (const Rounding rounding : {Rounding::kDouble, Rounding::kSingle}) {
      for (const Scales& scales : kScales) {
        const OneNode node{Binary{kind},
                           {given(int8_type({65536}, scales.x, -9), x),
                            given(int8_type({65536}, scales.z, 17), z)},
                           {int8_type({}, scales.y, 4)},
                           rounding};
        const ProvedForms forms = {.sum_tables = true};
        ASSERT_EQ(disagreement(node, forms), "");
        for (const loop::Buffer& b : program_of(node, forms).buffers) tables += b.data ? 1 : 0;
      }
    }
  }
  EXPECT_GT(tables, 2);
}

TEST(Binary, SubPreparesItsFactorsInFloat32AndAddInDouble) {
  // Near a tie the last bits of the factors decide: factors in double give 24, 111 and -42 here.
  const TestInput x = given(int8_type({3}, 0.194F), Elements{-65, -29, 10});
  const TestInput z = given(int8_type({3}, 0.394F), Elements{-53, -113, 42});
  const TestInput minus_z = given(int8_type({3}, 0.394F), Elements{53, 113, -42});
  const OneNode sub{Binary{Kind::kSub}, {x, z}, {int8_type({}, 0.352F)}};
  EXPECT_THAT(reference_output<int8_t>(sub), ElementsAre(23, 110, -41));
  EXPECT_EQ(disagreement(sub), "");
  const OneNode add{Binary{Kind::kAdd}, {x, minus_z}, {int8_type({}, 0.352F)}};
  EXPECT_THAT(reference_output<int8_t>(add), ElementsAre(24, 111, -42));
  EXPECT_EQ(disagreement(add), "");
}

TEST(Binary, ScalesFarApart) {
  for (const Kind kind : kKinds) {
    for (const float ratio : {1e-12F, 1e-9F, 1e-3F, 1.0F, 1e3F, 1e9F}) {
      for (const float out : {1e-30F, 1e-6F, 1.0F, 1e6F}) {
        const OneNode node{
            Binary{kind},
            {random_input(int8_type({40}, 1, 3)), random_input(int8_type({40}, ratio, -120))},
            {int8_type({}, out, 7)}};
        EXPECT_EQ(disagreement(node), "");
      }
    }
  }
}

TEST(Binary, Refusals) {
  const auto what = [](TensorType x, TensorType z, TensorType y, Kind kind = Kind::kAdd) {
    return diagnostic_of(
        {Binary{kind}, {random_input(std::move(x)), random_input(std::move(z))}, {std::move(y)}});
  };
  const TensorType q = int8_type({2, 3});
  EXPECT_EQ(what(q, int8_type({2, 2}), q).what,
            "the inputs [2,3] and [2,2] do not broadcast to one shape");
  EXPECT_EQ(what(q, float_type({2, 3}), q).what,
            "the inputs are int8 and float32, they must be equal");
  EXPECT_EQ(what(q, q, float_type({})).code, Code::kOperatorType);
  EXPECT_EQ(what(int32_type({2}), int32_type({2}), int32_type({})).code, Code::kOperatorType);
  EXPECT_EQ(what({DType::kInt8, {2}, {}}, q, q).what,
            "the first input has no quantisation parameters");
  EXPECT_EQ(what(q, int8_type({2, 3}, {1, 1}, 0), q).code, Code::kOperatorQuantization);
  EXPECT_EQ(what(int8_type({2}, 3e38F), q, int8_type({}, 3e38F), Kind::kSub).code,
            Code::kOperatorQuantization);
  EXPECT_EQ(what(float_type({1 << 20, 1}), float_type({1 << 20}), float_type({})).code,
            Code::kOperatorShape);
  EXPECT_EQ(diagnostic_of({Binary{}, {random_input(q)}, {q}}).what,
            "it has 1 inputs, 2 are needed");
  const TensorType wide{DType::kInt16, {2}, per_tensor(1, 1)};
  EXPECT_THAT(refusal({Binary{}, {random_input(wide), random_input(wide)}, {wide}}),
              HasSubstr("int16"));
}

}  // namespace
}  // namespace ingot::testing
