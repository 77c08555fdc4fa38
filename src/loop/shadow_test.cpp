// SPDX-License-Identifier: Apache-2.0
// The shadow run finds what is destroyed too early, and nothing else.
#include "loop/shadow.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/interpret.h"
#include "loop/text.h"

namespace ingot::loop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Program parse_or_throw(const std::string& text) {
  Result<Program> program = parse(text);
  if (!program) throw std::runtime_error(program.error()[0].what);
  return *std::move(program);
}

// x (8 bytes) is copied to t, element i to element i; then sums of neighbours in t go to y. t and y
// lie at these offsets, x at 0.
Program program_at(int64_t t, int64_t y, const std::string& order) {
  return parse_or_throw(
      fmt::format("program net\n"
                  "buffer x int8[8] input align 1 offset 0 tensor \"x\" type int8[8]\n"
                  "buffer y int8[7] output align 1 offset {} tensor \"y\" type int8[7]\n"
                  "buffer t int8[8] arena align 1 offset {}\n"
                  "kernel copy(x: int8[8] read align 1, y: int8[8] write align 1) \"\" {{\n"
                  "  for i = 0 to 8 {{ y[i] = x[i] }}\n"
                  "}}\n"
                  "kernel sums(x: int8[8] read align 1, y: int8[7] write align 1) \"\" {{\n"
                  "  for i = 0 to 7 {} {{ y[i] = int8((int32(x[i]) + int32(x[i + 1])) >> 1) }}\n"
                  "}}\n"
                  "run {{ call copy(x, t) call sums(t, y) }}\n",
                  y, t, order));
}

std::vector<std::string> faults_at(int64_t t, int64_t y, bool inputs_writable,
                                   const std::string& order = "") {
  const std::vector<std::vector<uint8_t>> inputs = {{1, 2, 3, 4, 5, 6, 7, 8}};
  return shadow_faults(program_at(t, y, order), inputs, 32, inputs_writable);
}

TEST(Shadow, DisjointBuffersAreClean) { EXPECT_THAT(faults_at(8, 16, false), IsEmpty()); }

// t at 0 of a pool, where x and then y lie in the arena.
TEST(Shadow, PoolsAreMemoriesOfTheirOwn) {
  Program program = program_at(0, 0, "");
  program.buffers[2].pool = "fast";
  EXPECT_TRUE(equal(program, parse_or_throw(print(program))));
  const std::vector<std::vector<uint8_t>> inputs = {{1, 2, 3, 4, 5, 6, 7, 8}};
  EXPECT_THAT(shadow_faults(program, inputs, 8, true), IsEmpty());
  EXPECT_EQ(interpret(program, inputs, 8).at(0), (std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7}));
  program.buffers[2].pool = "";
  EXPECT_THAT(shadow_faults(program, inputs, 8, false), Not(IsEmpty()));
}

TEST(Shadow, AnOutputMayFollowADyingInput) {
  EXPECT_THAT(faults_at(8, 8, false), IsEmpty());  // y[i] is written after t[i] was read last
  EXPECT_THAT(faults_at(0, 8, true), IsEmpty());   // t[i] is written when x[i] has been read
}

TEST(Shadow, ByOneByteTooFar) {
  EXPECT_THAT(faults_at(8, 9, false), ElementsAre("call 1 reads: byte 1 of t holds byte 0 of y"));
  // In reverse it is the other neighbour that must not be destroyed.
  EXPECT_THAT(faults_at(8, 9, false, "reverse"), IsEmpty());
  EXPECT_THAT(faults_at(8, 8, false, "reverse"),
              ElementsAre("call 1 reads: byte 6 of t holds byte 6 of y"));
}

TEST(Shadow, InputsMustLast) {
  EXPECT_THAT(faults_at(0, 8, false), ElementsAre("in the end: byte 0 of x holds byte 0 of t"));
}

TEST(Shadow, OutputsMustLast) {
  // The copy runs after the sums: y is destroyed, and read before it has a value.
  Program program = program_at(8, 8, "");
  std::swap(program.runner[0], program.runner[1]);
  const std::vector<std::vector<uint8_t>> inputs = {std::vector<uint8_t>(8)};
  EXPECT_THAT(shadow_faults(program, inputs, 32, true),
              ElementsAre("call 0 reads: byte 0 of t holds byte 0 of nothing",
                          "in the end: byte 0 of y holds byte 0 of t"));
}

TEST(Shadow, PartsOfATiedGroupAreOneValue) {
  const auto faults = [](int64_t offset_of_part) {
    const std::vector<std::vector<uint8_t>> inputs = {{1, 2, 3, 4}};
    return shadow_faults(
        parse_or_throw(
            fmt::format("program net\n"
                        "buffer x int8[4] input align 1 tensor \"x\" type int8[4]\n"
                        "buffer y int8[8] output align 1 tensor \"y\" type int8[8]\n"
                        "buffer whole int8[8] arena align 1 offset 0 tie 0 0\n"
                        "buffer part int8[4] arena align 1 offset {} tie 0 4\n"
                        "kernel copy(x: int8[4] read align 1, y: int8[4] write align 1) \"\" {{\n"
                        "  for i = 0 to 4 {{ y[i] = x[i] }}\n"
                        "}}\n"
                        "kernel all(x: int8[8] read align 1, y: int8[8] write align 1) \"\" {{\n"
                        "  for i = 0 to 8 {{ y[i] = x[i] }}\n"
                        "}}\n"
                        "run {{ call copy(x, whole) call copy(x, part) call all(whole, y) }}\n",
                        offset_of_part)),
        inputs, 16, false);
  };
  EXPECT_THAT(faults(4), IsEmpty());
  EXPECT_THAT(faults(5), ElementsAre(HasSubstr("call 2 reads: byte 4 of whole holds")));
}

}  // namespace
}  // namespace ingot::loop
