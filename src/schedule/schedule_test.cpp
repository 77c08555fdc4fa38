// SPDX-License-Identifier: Apache-2.0
// Schedules as text; that they keep values is tested where the transformations are (loop/).
#include "schedule/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "loop/text.h"

namespace ingot {
namespace {

loop::Program program_with(const std::string& body) {
  Result<loop::Program> program = loop::parse(
      "program net\nkernel k(x: int8[64] read align 1, w: int8[64] read align 1, "
      "y: int8[64] write align 1, z: int8[64] write align 1) \"\" {\n" +
      body + "}\nrun {\n}\n");
  if (!program) throw std::runtime_error(program.error()[0].what);
  return *std::move(program);
}

const Target& c99() { return *find_target("c99"); }

constexpr const char* kDense =
    "for n = 0 to 2 {\n"
    "  for oc = 0 to 8 {\n"
    "    let acc: int32 = 0\n"
    "    for ic = 0 to 5 {\n"
    "      acc = acc + int32(x[n * 5 + ic]) * int32(w[oc * 5 + ic])\n"
    "    }\n"
    "    y[n * 8 + oc] = int8(acc)\n"
    "  }\n"
    "}\n";

TEST(Schedule, FourChannelsAtOnceInBothOrders) {
  const Scheduled scheduled = schedule(program_with(kDense), c99());
  const std::string body = loop::print(scheduled.program.kernels[0].body);
  EXPECT_THAT(body, testing::StartsWith("for n = 0 to 2 {\n  for oc = 0 to 8 step 4 {\n"));
  ASSERT_TRUE(scheduled.reversed.at(0));
  const std::string reversed = loop::print(scheduled.reversed[0]->body);
  EXPECT_THAT(reversed, testing::StartsWith("for n = 0 to 2 reverse {\n"
                                            "  for oc = 0 to 8 step 4 reverse {\n"));
  // Sums keep their order.
  EXPECT_THAT(reversed, testing::HasSubstr("for ic = 0 to 5 {\n"));
}

TEST(Reverse, OnlyWhereTheOrderIsFree) {
  const auto is_reversible = [](const std::string& body) {
    return reverse(program_with(body).kernels[0]).has_value();
  };
  EXPECT_TRUE(is_reversible("for i = 0 to 9 {\n  y[i] = x[i]\n}\n"));
  EXPECT_TRUE(is_reversible("for i = 0 to 9 {\n  y[i] = x[i]\n  z[i * 2] = w[i]\n}\n"));
  EXPECT_FALSE(is_reversible("y[0] = x[0]\n"));
  EXPECT_FALSE(is_reversible("for i = 0 to 9 {\n  y[floordiv(i, 2)] = x[i]\n}\n"));
  EXPECT_FALSE(
      is_reversible("let n: int32 = 0\nfor i = 0 to 9 {\n  n = n + 1\n  y[i] = int8(n)\n}\n"));
}

}  // namespace
}  // namespace ingot
