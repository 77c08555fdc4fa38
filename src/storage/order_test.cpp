// SPDX-License-Identifier: Apache-2.0
// Calls come in the order that needs less memory, and only if one does.
#include "storage/order.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/interpret.h"
#include "loop/text.h"
#include "storage/storage.h"

namespace ingot {
namespace {

using testing::ElementsAre;

loop::Program parse(const std::string& text) {
  Result<loop::Program> program = loop::parse(text);
  if (!program) throw std::runtime_error(program.error()[0].what);
  return *std::move(program);
}

// Two branches, each of which grows to 100 bytes and shrinks to 2, and their sum.
loop::Program branches(const std::string& runner) {
  return parse(
      "program net\n"
      "buffer x int8[2] input align 1 tensor \"x\" type int8[2]\n"
      "buffer y int8[2] output align 1 tensor \"y\" type int8[2]\n"
      "buffer big1 int8[100] arena align 1\n"
      "buffer big2 int8[100] arena align 1\n"
      "buffer small1 int8[2] arena align 1\n"
      "buffer small2 int8[2] arena align 1\n"
      "kernel grow(x: int8[2] read align 1, y: int8[100] write align 1) \"\" {\n"
      "  for i = 0 to 100 { y[i] = x[floormod(i, 2)] }\n"
      "}\n"
      "kernel shrink(x: int8[100] read align 1, y: int8[2] write align 1) \"\" {\n"
      "  for i = 0 to 2 { y[i] = int8(max(int32(x[i]), int32(x[99 - i]))) }\n"
      "}\n"
      "kernel sum(a: int8[2] read align 1, b: int8[2] read align 1, y: int8[2] write align 1) \"\" "
      "{\n"
      "  for i = 0 to 2 { y[i] = int8((int32(a[i]) + int32(b[i])) >> 1) }\n"
      "}\n"
      "run {\n" +
      runner + "}\n");
}

std::string call(const std::string& kernel, const std::string& args) {
  return fmt::format("  call {}({}) note \"{}\" {} macs 0 operators []\n", kernel, args, args,
                     kernel);
}

std::vector<std::string> calls_of(const loop::Program& program) {
  std::vector<std::string> names;
  for (const loop::CallNote& note : program.notes) names.push_back(note.name);
  return names;
}

std::vector<std::vector<uint8_t>> run(const loop::Program& program) {
  const std::vector<std::vector<uint8_t>> inputs = {{5, 250}};
  return loop::interpret(program, inputs);
}

TEST(Order, FinishesOneBranchBeforeTheOther) {
  const loop::Program wide =
      branches(call("grow", "x, big1") + call("grow", "x, big2") + call("shrink", "big1, small1") +
               call("shrink", "big2, small2") + call("sum", "small1, small2, y"));
  const Storage storage = place(wide, {}, {});
  EXPECT_THAT(calls_of(storage.program), ElementsAre("x, big1", "big1, small1", "x, big2",
                                                     "big2, small2", "small1, small2, y"));
  EXPECT_GE(storage.arena_bytes_in_given_order, 200);
  EXPECT_LE(storage.arena_bytes, 104);
  EXPECT_EQ(run(storage.program), run(wide));
}

TEST(Order, StaysAsItIsWhereNothingIsGained) {
  const loop::Program narrow =
      branches(call("grow", "x, big2") + call("shrink", "big2, small2") + call("grow", "x, big1") +
               call("shrink", "big1, small1") + call("sum", "small1, small2, y"));
  const Storage storage = place(narrow, {}, {});
  EXPECT_EQ(calls_of(storage.program), calls_of(narrow));
  EXPECT_EQ(storage.arena_bytes_in_given_order, storage.arena_bytes);
}

TEST(Order, RunnersThatAreNoSequenceAreLeftAlone) {
  const loop::Program looped =
      branches("  for i = 0 to 2 {\n" + call("grow", "x, big1") + call("grow", "x, big2") +
               call("shrink", "big1, small1") + call("shrink", "big2, small2") + "  }\n" +
               call("sum", "small1, small2, y"));
  EXPECT_EQ(calls_of(place(looped, {}, {}).program), calls_of(looped));
}

}  // namespace
}  // namespace ingot
