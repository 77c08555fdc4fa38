// SPDX-License-Identifier: Apache-2.0
#include "ops/staircase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "ops/proved_rescale.h"
#include "ops/reference_math.h"
#include "tests/support/random.h"

namespace ingot {
namespace {

using testing::Random;

int64_t value_of(const Line& line, int64_t shift, int64_t accumulator) {
  return (accumulator * line.multiplier + line.offset - (accumulator < 0 ? line.bend : 0)) >> shift;
}

TEST(Staircase, HasAStepForEachValue) {
  const Staircase stairs = staircase_of(
      [](int64_t acc) { return std::clamp<int64_t>(acc >> 2, -2, 3); }, {-20, 9}, 0.25);
  const std::vector<Stair> expected = {{-20, -2}, {-4, -1}, {0, 0}, {4, 1}, {8, 2}};
  EXPECT_EQ(stairs.steps, expected);
}

TEST(Staircase, WhateverTheGuess) {
  const auto f = [](int64_t acc) { return acc / 100; };
  const Staircase expected = staircase_of(f, {-2000, 30000}, 0.01);
  for (const double factor : {0.0, 1e-9, 0.5, 1e9}) {
    EXPECT_EQ(staircase_of(f, {-2000, 30000}, factor).steps, expected.steps) << factor;
  }
}

TEST(Staircase, MaySkipValues) {
  const Staircase stairs = staircase_of([](int64_t acc) { return acc * 3; }, {0, 2}, 3);
  const std::vector<Stair> expected = {{0, 0}, {1, 3}, {2, 6}};
  EXPECT_EQ(stairs.steps, expected);
  const std::optional<Line> line = find_line(stairs, {8, false, {}});
  ASSERT_TRUE(line);
  EXPECT_TRUE(is_proved(stairs, {8, false, {}}, *line));
}

// Three steps of widths that no line has: 0 1 1 1 2 2 2 2 2 3.
TEST(Line, IsNotFoundWhereThereIsNone) {
  const Staircase stairs{{0, 9}, {{0, 0}, {1, 1}, {4, 2}, {9, 3}}};
  EXPECT_FALSE(find_line(stairs, {32, false, {}}));
}

// By trying all multipliers: none is missed, and none is found that is wrong.
TEST(Line, IsFoundExactlyWhereThereIsOne) {
  Random random(3);
  int64_t found = 0;
  constexpr int64_t kShift = 6;
  constexpr int64_t kLast = 40;
  constexpr int kCases = 600;
  for (int i = 0; i < kCases; ++i) {
    // Near a line, so that often there is one and often there is none.
    const double factor = 0.05 + 0.01 * static_cast<double>(random.integer(0, 60));
    Staircase stairs{{0, kLast}, {{0, 0}}};
    for (int64_t acc = 1; acc <= kLast; ++acc) {
      const auto value = static_cast<int64_t>(std::floor(
          factor * static_cast<double>(acc) + 0.02 * static_cast<double>(random.integer(0, 9))));
      if (value > stairs.steps.back().value) stairs.steps.push_back({acc, value});
    }
    bool exists = false;
    for (int64_t multiplier = 0; multiplier <= 64 && !exists; ++multiplier) {
      for (int64_t offset = 0; offset < 64 && !exists; ++offset) {
        exists = is_proved(stairs, {kShift, false, {}}, {multiplier, offset, 0});
      }
    }
    const std::optional<Line> line = find_line(stairs, {kShift, false, {}});
    EXPECT_EQ(line.has_value(), exists) << i;
    if (line) {
      ++found;
      EXPECT_TRUE(is_proved(stairs, {kShift, false, {}}, *line)) << i;
    }
  }
  EXPECT_GT(found, kCases / 10);
  EXPECT_LT(found, kCases - kCases / 10);
}

TEST(Line, OfWrongConstantsIsNotProved) {
  const auto f = [](int64_t acc) {
    return reference::requantize(static_cast<int32_t>(acc), 0.0071, Rounding::kDouble);
  };
  const Interval clamp{-128, 127};
  const Staircase stairs = staircase_of(
      [&](int64_t acc) { return std::clamp<int64_t>(f(acc), -128, 127); }, {-40000, 40000}, 0.0071);
  const LineForm form{32, true, clamp};
  const std::optional<Line> line = find_line(stairs, form);
  ASSERT_TRUE(line);
  EXPECT_TRUE(is_proved(stairs, form, *line));
  const int64_t unit = int64_t{1} << 26;
  for (const Line wrong : {Line{line->multiplier + 20000, line->offset, line->bend},
                           Line{line->multiplier - 20000, line->offset, line->bend},
                           Line{line->multiplier, line->offset + unit, line->bend},
                           Line{line->multiplier, line->offset - unit, line->bend},
                           Line{line->multiplier, line->offset, line->bend + unit},
                           Line{line->multiplier, line->offset, 0}}) {
    EXPECT_FALSE(is_proved(stairs, form, wrong));
  }
  EXPECT_FALSE(find_line(stairs, {32, false, clamp})) << "halves away from zero need the bend";
}

// Each accumulator of channels drawn at random, in each rounding mode, with and without clamps.
TEST(ProvedRescale, EqualsTheReferenceForEveryAccumulator) {
  Random random(11);
  int64_t proved_channels = 0;
  constexpr int kCases = 150;
  for (int i = 0; i < kCases; ++i) {
    RescaleTask task;
    task.rounding = std::array{Rounding::kDouble, Rounding::kSingle, Rounding::kFloat}.at(
        static_cast<size_t>(i % 3));
    task.zero_point = random.integer(0, 1) == 0 ? -128 : random.integer(-128, 127);
    task.clamp = {random.integer(0, 1) == 0 ? -128 : task.zero_point, 127};
    const double factor = std::ldexp(1 + 1e-6 * static_cast<double>(random.integer(0, 999999)),
                                     static_cast<int>(random.integer(-12, 1)));
    const int64_t channels = random.integer(1, 3);
    for (int64_t c = 0; c < channels; ++c) {
      task.factors.push_back(factor * (c == 2 ? 0.37 : 1));
      task.accumulators.push_back({random.integer(-60000, 0), random.integer(0, 60000)});
    }
    const std::optional<ProvedRescale> proved = prove_rescale(task);
    if (!proved) continue;
    for (size_t c = 0; c < task.factors.size(); ++c) {
      ++proved_channels;
      const Line& line = proved->lines.size() == 1 ? proved->lines[0] : proved->lines.at(c);
      for (int64_t acc = task.accumulators[c].low; acc <= task.accumulators[c].high; ++acc) {
        const int64_t reference =
            task.zero_point +
            reference::requantize(static_cast<int32_t>(acc), task.factors[c], task.rounding);
        int64_t value = proved->base + value_of(line, proved->form.shift, acc);
        if (proved->form.clamp) value = std::clamp(value, task.clamp.low, task.clamp.high);
        ASSERT_EQ(value, std::clamp(reference, task.clamp.low, task.clamp.high))
            << "case " << i << " channel " << c << " accumulator " << acc;
      }
    }
  }
  EXPECT_GT(proved_channels, kCases);
}

// Ranges as wide as int32 allows: on both sides of every step, at the ends and around zero.
TEST(ProvedRescale, EqualsTheReferenceAroundEveryStep) {
  constexpr int64_t kMax = (int64_t{1} << 31) - 1;
  Random random(5);
  int64_t proved_cases = 0;
  constexpr int kCases = 300;
  for (int i = 0; i < kCases; ++i) {
    RescaleTask task;
    task.rounding = i % 2 == 0 ? Rounding::kDouble : Rounding::kSingle;
    task.zero_point = random.integer(-128, 127);
    task.clamp = {-128, 127};
    task.factors = {std::ldexp(1 + 1e-6 * static_cast<double>(random.integer(0, 999999)),
                               static_cast<int>(random.integer(-24, -6)))};
    task.accumulators = {{-kMax - 1, kMax}};
    const std::optional<ProvedRescale> proved = prove_rescale(task);
    if (!proved) continue;
    ++proved_cases;
    const auto reference = [&](int64_t acc) {
      return std::clamp(task.zero_point + reference::requantize(static_cast<int32_t>(acc),
                                                                task.factors[0], task.rounding),
                        int64_t{-128}, int64_t{127});
    };
    const Staircase stairs = staircase_of(reference, task.accumulators[0], task.factors[0]);
    std::vector<int64_t> places = {-kMax - 1, kMax, -1, 0};
    for (size_t s = 1; s < stairs.steps.size(); ++s) {
      places.push_back(stairs.steps[s].at);
      places.push_back(stairs.steps[s].at - 1);
    }
    for (const int64_t acc : places) {
      const int64_t value = proved->base + value_of(proved->lines[0], proved->form.shift, acc);
      ASSERT_EQ(std::clamp<int64_t>(value, -128, 127), reference(acc)) << i << ' ' << acc;
    }
  }
  EXPECT_GT(proved_cases, kCases * 9 / 10);
}

TEST(ProvedRescale, OfOneFactorHasOneLine) {
  const std::optional<ProvedRescale> proved =
      prove_rescale({.factors = {0.01, 0.01},
                     .accumulators = {{-9, 4000}, {-5000, 2}},
                     .biases = {},
                     .zero_point = -128,
                     .clamp = {-128, 127},
                     .rounding = Rounding::kDouble});
  ASSERT_TRUE(proved);
  EXPECT_EQ(proved->lines.size(), 1U);
  EXPECT_EQ(proved->form.shift, 32);
  EXPECT_FALSE(proved->form.bent);
}

TEST(ProvedRescale, DropsTheClampThatIsNeverReached) {
  const auto clamp_for = [](Interval accumulators) {
    return prove_rescale({.factors = {0.01},
                          .accumulators = {accumulators},
                          .biases = {},
                          .zero_point = -128,
                          .clamp = {-128, 127},
                          .rounding = Rounding::kDouble})
        .value()
        .form.clamp;
  };
  EXPECT_FALSE(clamp_for({0, 25500}));
  EXPECT_TRUE(clamp_for({-100, 25500}));
  EXPECT_TRUE(clamp_for({0, 25600}));
}

}  // namespace
}  // namespace ingot
