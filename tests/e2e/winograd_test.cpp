// SPDX-License-Identifier: Apache-2.0
// Networks of windows of 3 x 3 with --flash-limit: Winograd's convolution on Cortex-M with DSP, in
// the interpreter and on the emulated core, with borders, odd extents, odd numbers of channels and
// residual additions.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "driver/compile.h"
#include "driver/generated.h"
#include "driver/vectors.h"
#include "loop/interpret.h"
#include "loop/shadow.h"
#include "report/metadata.h"
#include "tests/guarantee/many_models.h"
#include "tests/support/sample_models.h"
#include "tests/support/sample_network.h"
#include "toolchain/board.h"
#include "toolchain/emulate.h"

namespace ingot::testing {
namespace {

constexpr int64_t kFlash = 1 << 22;
constexpr Rounding kRoundings[] = {Rounding::kDouble, Rounding::kSingle, Rounding::kFloat};

SampleModel windows(uint64_t seed) {
  SampleNetwork net(seed);
  TfliteWriter& w = net.writer();
  Random& random = net.random();
  int64_t x =
      net.input("x", {1, random.integer(5, 13), random.integer(5, 14), random.integer(4, 21)});
  for (int64_t layer = 0; layer < 3; ++layer) {
    const Shape shape = w.type_of(x).shape;
    const bool stays = random.chance(1, 2);
    const bool is_valid = !stays && shape[1] > 3 && shape[2] > 3 && random.chance(1, 2);
    const Window window{.padding = is_valid ? Padding::VALID : Padding::SAME,
                        .activation = random.chance(1, 2) ? Activation::RELU : Activation::NONE};
    const int64_t channels = stays ? shape[3] : random.integer(4, 17);
    const std::string name = fmt::format("conv{}", layer);
    int64_t y = net.conv(name, x, {.channels = channels, .h = 3, .w = 3}, window);
    if (stays && random.chance(2, 3)) {
      y = w.add(name + "_sum", y, x, net.quantization_after(y), Activation::RELU);
    }
    x = y;
  }
  w.output(x);
  return {fmt::format("windows{}", seed), w.bytes()};
}

SampleModel two_windows() {
  SampleNetwork net(5);
  const int64_t x = net.input("x", {1, 12, 16, 16});
  const Window relu{.activation = Activation::RELU};
  const int64_t a = net.conv("a", x, {.channels = 8, .h = 3, .w = 3}, relu);
  net.writer().output(net.conv("b", a, {.channels = 16, .h = 3, .w = 3}, relu));
  return {"two_windows", net.writer().bytes()};
}

CompileOptions options_of(uint64_t seed, const std::string& name) {
  return {.name = name,
          .target = "cortex-m4",
          .rounding = kRoundings[seed % 3],
          .flash_limit = kFlash,
          .io = seed % 2 == 0 ? EmitOptions::Io::kCaller : EmitOptions::Io::kArena,
          .reuse_inputs = seed / 2 % 2 == 0};
}

Compiled compiled(const SampleModel& model, const CompileOptions& options) {
  Result<Compiled> result = compile(model.file, options);
  if (!result) throw InternalError(model.name + ": " + result.error().front().what);
  return *std::move(result);
}

int64_t num_expansions(const Compiled& model) {
  return std::ranges::count_if(model.storage.program.notes,
                               [](const loop::CallNote& n) { return n.expansion.has_value(); });
}

TEST(Winograd, MeansWhatTheReferenceDoes) {
  int64_t expansions = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    const SampleModel model = windows(seed);
    const CompileOptions options = options_of(seed, model.name);
    const Compiled result = compiled(model, options);
    expansions += num_expansions(result);
    const Storage& storage = result.storage;
    for (const toolchain::GoldenVector& v :
         random_vectors(result.model, options.rounding, seed, 2)) {
      EXPECT_EQ(loop::interpret(storage.program, v.inputs, storage.arena_bytes), v.outputs)
          << model.name;
      for (const std::string& fault : loop::shadow_faults(
               storage.program, v.inputs, storage.arena_bytes, options.reuse_inputs)) {
        ADD_FAILURE() << model.name << ": " << fault;
      }
    }
  }
  EXPECT_GE(expansions, 24);
}

TEST(Winograd, GivesTheSameOnTheCore) {
  const toolchain::Board& board = *toolchain::find_board("cortex-m4");
  const std::vector<std::string> missing = toolchain::missing_programs(board);
  if (!missing.empty()) GTEST_SKIP() << "skipped: " << missing.front() << " is not installed";
  std::vector<ModelRun> runs;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const SampleModel model = windows(seed);
    const CompileOptions options = options_of(seed, model.name);
    const Compiled result = compiled(model, options);
    runs.push_back(
        {result.interface, result.files, random_vectors(result.model, options.rounding, seed, 2)});
  }
  toolchain::BuildOptions build;
  build.flags = find_target("cortex-m4")->compile_flags;
  const Result<toolchain::Execution> execution =
      toolchain::build_and_run(board, many_models(runs), build);
  ASSERT_TRUE(execution.has_value()) << execution.error().front().what;
  EXPECT_EQ(execution->fault, "");
  EXPECT_THAT(execution->console, ::testing::HasSubstr("10 models are right"));
}

class WinogradOnCore : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto missing = toolchain::missing_programs(*toolchain::find_board("cortex-m4"));
    if (!missing.empty()) GTEST_SKIP() << "skipped: " << missing.front() << " is not installed";
  }

  static Compiled compiled_with(std::optional<int64_t> flash_limit,
                                std::optional<int64_t> arena_limit = std::nullopt) {
    return compiled(two_windows(), {.name = "two_windows",
                                    .target = "cortex-m4",
                                    .flash_limit = flash_limit,
                                    .arena_limit = arena_limit,
                                    .step_mark = std::string(kStepMark)});
  }

  static Measurement measured(const Compiled& compiled) {
    std::vector<toolchain::Tensors> inputs;
    for (int64_t i = 0; i < 8; ++i) inputs.push_back(random_inputs(compiled.model, 1, i));
    const Result<Measurement> result = measure(compiled, "cortex-m4", inputs, true, {});
    if (!result) throw InternalError(result.error().front().what);
    return *result;
  }
};

TEST_F(WinogradOnCore, TakesFewerInstructionsAndAsManyForEveryInput) {
  const Measurement without = measured(compiled_with(std::nullopt));
  const Compiled expanded = compiled_with(kFlash);
  const Measurement with = measured(expanded);
  EXPECT_LT(with.median * 4, without.median * 3);
  EXPECT_EQ(with.least, with.greatest);
  // The estimates that were compared are not far from what is executed.
  for (size_t s = 0; s < with.steps.size(); ++s) {
    const loop::Expansion& e = expanded.storage.program.notes.at(s).expansion.value();
    EXPECT_NEAR(1.0, static_cast<double>(e.instructions) / static_cast<double>(with.steps[s]), 0.3);
    EXPECT_NEAR(
        1.0,
        static_cast<double>(e.instructions_otherwise) / static_cast<double>(without.steps.at(s)),
        0.3);
  }
}

TEST_F(WinogradOnCore, StaysWithinTheLimits) {
  const Compiled without = compiled_with(std::nullopt);
  const int64_t bytes = weights_bytes(without.storage.program);
  EXPECT_EQ(num_expansions(without), 0);
  int64_t most = 0;
  for (int64_t limit = bytes - 100; limit < bytes + 20000; limit += 1000) {
    const Compiled with = compiled_with(limit);
    most = std::max(most, num_expansions(with));
    EXPECT_EQ(num_expansions(with), most) << limit;  // more never make for less
    if (limit >= bytes) {
      EXPECT_LE(weights_bytes(with.storage.program), limit);
    } else {
      EXPECT_EQ(weights_bytes(with.storage.program), bytes);
    }
  }
  EXPECT_EQ(most, 2);
  const int64_t arena = compiled_with(kFlash).storage.arena_bytes;
  EXPECT_GT(arena, without.storage.arena_bytes);
  EXPECT_EQ(num_expansions(compiled_with(kFlash, arena)), 2);
  EXPECT_EQ(num_expansions(compiled_with(kFlash, arena - 1)), 0);
}

TEST(Winograd, IsOnlyForSpeedAndOnlyForCoresWithDsp) {
  const SampleModel model = two_windows();
  for (const auto optimize : {CompileOptions::Optimize::kSize, CompileOptions::Optimize::kRam}) {
    CompileOptions options = options_of(1, model.name);
    options.optimize = optimize;
    EXPECT_EQ(num_expansions(compiled(model, options)), 0);
  }
  for (const Target& target : all_targets()) {
    CompileOptions options = options_of(1, model.name);
    options.target = target.name;
    const bool has = target.features.has_dsp && !target.features.has_mve;
    EXPECT_EQ(num_expansions(compiled(model, options)) > 0, has) << target.name;
  }
}

}  // namespace
}  // namespace ingot::testing
