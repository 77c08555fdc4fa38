// SPDX-License-Identifier: Apache-2.0
#include "toolchain/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "toolchain/board_fixture.h"
#include "toolchain/tiny_model.h"

namespace ingot::toolchain {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Validation validate(const Board& board, const ModelInterface& model, std::vector<std::string> flags,
                    milliseconds timeout = std::chrono::minutes(1)) {
  flags.insert(flags.end(), {"-O1", "-std=c99", "-DCHECK_PLACEMENT"});
  BuildOptions options;
  options.flags = flags;
  const Result<Program> program =
      build(board, {tiny_files(model), validation_harness(model)}, options);
  EXPECT_TRUE(program.has_value())
      << program.error().front().what << testing::PrintToString(program.error().front().notes);
  if (!program) return {};
  const Result<Validation> validation = run_vectors(*program, model, inputs_of(goldens()), timeout);
  EXPECT_TRUE(validation.has_value());
  return validation ? *validation : Validation{};
}

class OnTwoBoards : public OnBoard {};

INSTANTIATE_TEST_SUITE_P(Boards, OnBoard,
                         testing::Values("c99", "cortex-m0plus", "cortex-m4", "cortex-m7",
                                         "cortex-m33", "cortex-m55", "rv32imc"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Boards, OnTwoBoards, testing::Values("c99", "cortex-m4"), name_of_case);

void expect_correct(const Validation& validation, const Board& board) {
  EXPECT_THAT(validation.violations, IsEmpty());
  ASSERT_THAT(validation.outputs, SizeIs(2)) << validation.execution.console;
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(validation.outputs[i], goldens()[i].outputs) << i;
  ASSERT_THAT(validation.run_costs, SizeIs(2));
  EXPECT_EQ(validation.stack_bytes.has_value(), !board.is_host());
  if (board.is_host()) return;
  EXPECT_GT(validation.run_costs[0], 20);
  EXPECT_LT(validation.run_costs[0], 3000);
  EXPECT_LT(*validation.stack_bytes, 400);
}

TEST_P(OnBoard, ACorrectModelPasses) {
  expect_correct(validate(*board_, tiny(), {}), *board_);
  ModelInterface in_arena = tiny();
  in_arena.io_in_arena = true;
  expect_correct(validate(*board_, in_arena, {}), *board_);
}

TEST_P(OnTwoBoards, ViolationsAreFound) {
  const struct {
    std::string statement, violation;
  } rows[] = {
      {"y[5]=1", "vector 0: output \"y\" was overrun: the byte 1 after its end was written"},
      {"y[-1]=1", "vector 1: output \"y\" was overrun: the byte 1 before its start was written"},
      {"g[3]=1", "output \"g\" was overrun: the byte 1 after its end"},
      {"bytes[48]=1", "the arena was overrun: the byte 1 after its end"},
      {"bytes[-2]=1", "the arena was overrun: the byte 2 before its start"},
      {"((int8_t*)x)[2]=1", "input \"x\" was changed"},
      {"return -7", "the run returned -7 instead of 0"},
  };
  for (const auto& row : rows) {
    const Validation validation = validate(*board_, tiny(), {"-DFAULT=" + row.statement});
    EXPECT_THAT(validation.violations, Contains(HasSubstr(row.violation))) << row.statement;
  }
}

TEST_P(OnTwoBoards, AHangIsAViolation) {
  const Validation validation =
      validate(*board_, tiny(), {"-DFAULT=for(;;)i=(int)*(volatile int8_t*)y"}, milliseconds(1500));
  EXPECT_THAT(validation.violations, ElementsAre("the run did not end in 1500 ms"));
}

TEST_P(OnTwoBoards, AFaultIsAViolation) {
  const Validation validation = validate(*board_, tiny(), {"-DFAULT=__builtin_trap()"});
  EXPECT_THAT(validation.violations, ElementsAre(HasSubstr("the run ended by a fault: ")));
}

TEST_P(OnTwoBoards, InputsMayChangeIfTheyAreReused) {
  ModelInterface model = tiny();
  model.reuses_inputs = true;
  expect_correct(validate(*board_, model, {"-DFAULT=((int8_t*)x)[2]=1"}), *board_);
}

TEST_P(OnBoard, StepsAreCountedApart) {
  const Validation validation =
      validate(*board_, tiny(), {"-include", "../runtime/harness.h", "-DTINY_STEP()=MARK_NEXT()"});
  expect_correct(validation, *board_);
  ASSERT_THAT(validation.step_costs, SizeIs(2));
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_THAT(validation.step_costs[i], SizeIs(2));
    EXPECT_EQ(validation.step_costs[i][0] + validation.step_costs[i][1], validation.run_costs[i]);
  }
  if (board_->is_host()) return;
  EXPECT_EQ(validation.run_costs[0], validation.run_costs[1]);
}

TEST_P(OnBoard, TheStackOfTheRunIsMeasured) {
  if (board_->is_host()) GTEST_SKIP() << "skipped: the stack is painted on cores only";
  const Validation small = validate(*board_, tiny(), {});
  const Validation large = validate(
      *board_, tiny(), {"-DFAULT=volatile int8_t large[1000];for(i=0;i<1000;++i)large[i]=1"});
  ASSERT_TRUE(small.stack_bytes && large.stack_bytes);
  EXPECT_GE(*large.stack_bytes, *small.stack_bytes + 1000);
  EXPECT_LE(*large.stack_bytes, *small.stack_bytes + 1032);
}

TEST_P(OnTwoBoards, ADescriptionThatDoesNotFitTheModelDoesNotCompile) {
  ModelInterface wrong_arena = tiny();
  wrong_arena.arena_bytes = 47;
  ModelInterface wrong_input = tiny();
  wrong_input.inputs[1].bytes = 16;
  for (const ModelInterface& model : {wrong_arena, wrong_input}) {
    EXPECT_FALSE(build(*board_, {tiny_files(), validation_harness(model)}).has_value());
  }
}

// What guard bytes cannot show: reading beyond a buffer.
TEST(OnHost, AddressSanitizerSeesTheGuards) {
  for (const std::string statement : {"i=x[5]", "i=bytes[48]", "i=(int)f[3]"}) {
    const Validation validation =
        validate(host_board(), tiny(),
                 {"-fsanitize=address", "-DFAULT=" + statement + ";bytes[0]=(int8_t)i"});
    EXPECT_THAT(validation.violations, Contains(HasSubstr("exit code"))) << statement;
    EXPECT_THAT(validation.execution.console, HasSubstr("use-after-poison")) << statement;
  }
  expect_correct(validate(host_board(), tiny(), {"-fsanitize=address,undefined"}), host_board());
}

TEST(Compare, CountsWhatDiffers) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const struct {
    std::vector<float> expected, actual;
    int64_t different;
    double max_difference;
  } rows[] = {
      {{100, 1}, {100, 1}, 0, 0},
      {{100, 1}, {100, 1.0009765625F}, 0, 0.0009765625},
      {{100, 1}, {100, 1.001953125F}, 1, 0.001953125},
      {{kNan, kInfinity}, {kNan, kInfinity}, 0, 0},
      {{kInfinity, 1}, {kInfinity, 2}, 1, 1},
      {{kNan}, {1}, 1, kInfinity},
      {{1}, {kNan}, 1, kInfinity},
      {{kInfinity}, {-kInfinity}, 1, kInfinity},
      {{}, {}, 0, 0},
  };
  for (const auto& row : rows) {
    const Comparison result =
        compare(DType::kFloat32, bytes_of(row.expected), bytes_of(row.actual));
    EXPECT_EQ(result.compared, static_cast<int64_t>(row.expected.size()));
    EXPECT_EQ(result.different, row.different) << testing::PrintToString(row.actual);
    EXPECT_EQ(result.max_difference, row.max_difference) << testing::PrintToString(row.actual);
  }
  Comparison sum =
      compare(DType::kInt16, bytes_of<int16_t>({-32768, 5, 6}), bytes_of<int16_t>({32767, 5, 7}));
  sum += compare(DType::kUInt8, bytes_of<uint8_t>({1}), bytes_of<uint8_t>({1}));
  EXPECT_EQ(sum.compared, 4);
  EXPECT_EQ(sum.different, 2);
  EXPECT_EQ(sum.max_difference, 65535);
  EXPECT_FALSE(compare(DType::kInt8, bytes_of<int8_t>({1}), {}).equal());
}

}  // namespace
}  // namespace ingot::toolchain
