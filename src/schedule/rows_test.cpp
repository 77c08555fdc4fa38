// SPDX-License-Identifier: Apache-2.0
// Rows of channels against the plain nests that they are made from, in the interpreter.
#include <gtest/gtest.h>

#include "schedule/channel_rows.h"
#include "schedule/test_convolutions.h"

namespace ingot {
namespace {

Rule rows(const RowShape& shape) {
  return [shape](const loop::Kernel& kernel, bool reverse) {
    return schedule_channel_rows(kernel, reverse, shape);
  };
}

// Never along runs; rows that do not divide the channels; columns and terms that leave a rest.
constexpr RowShape kByTerms = {.least_channels = 1, .bytes = {1, 2}, .least_run = 1000};
constexpr RowShape kShortRows = {
    .most_channels = 3, .least_channels = 1, .bytes = {1, 3}, .least_run = 1000};
constexpr RowShape kColumns = {
    .most_channels = 64, .least_channels = 1, .bytes = {3, 4}, .least_run = 1000};
// Along every run, however short.
constexpr RowShape kAlong = {.least_channels = 1, .least_run = 1, .jammed = 4};
constexpr RowShape kAlongShortRows = {
    .most_channels = 3, .least_channels = 1, .least_run = 1, .jammed = 2};

TEST(ChannelRows, GiveWhatThePlainNestGives) {
  for (const RowShape& shape : {kByTerms, kShortRows, kColumns, kAlong, kAlongShortRows}) {
    for (const ConvolutionShape& s : kConvolutions) {
      if (s.out > 1) expect_equal(s, rows(shape));
    }
    for (const ConvolutionShape& s : kDepthwise) expect_equal(s, rows(shape));
  }
}

int64_t num_loads_as_unsigned(const loop::Kernel& kernel) {
  const std::string text = loop::print(kernel);
  int64_t count = 0;
  for (size_t at = text.find("uint8("); at != std::string::npos; at = text.find("uint8(", at + 1)) {
    ++count;
  }
  return count;
}

TEST(ChannelRows, GoAlongRunsThatAreLongEnough) {
  const ConvolutionShape s = {5, 5, 8, 8, 3, 1, 1, 1, 128};  // runs of 24 elements
  const loop::Program program = program_of(s);
  const auto along = schedule_channel_rows(program.kernels[0], false, {.least_run = 24});
  const auto by_terms = schedule_channel_rows(program.kernels[0], false, {.least_run = 25});
  ASSERT_TRUE(along && by_terms);
  EXPECT_GT(num_loads_as_unsigned(along->kernel), 0);
  EXPECT_EQ(num_loads_as_unsigned(by_terms->kernel), 0);
}

TEST(ChannelRows, LeaveFewChannelsAlone) {
  const loop::Program program = program_of({4, 4, 4, 7, 1, 1, 0, 0, 0});
  EXPECT_FALSE(schedule_channel_rows(program.kernels[0], false, {.least_channels = 8}));
}

}  // namespace
}  // namespace ingot
