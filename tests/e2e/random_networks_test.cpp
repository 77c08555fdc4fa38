// SPDX-License-Identifier: Apache-2.0
// Random whole networks through the whole pipeline: what the reference executor computes of the
// graph as written, the loop program computes after lowering, after each target's schedule and with
// every kind of storage, and so does the generated C, under sanitizers and between guard bytes.
//
// INGOT_RANDOM_SEEDS=N tries N networks instead of a few.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "driver/compile.h"
#include "driver/vectors.h"
#include "graph/text.h"
#include "loop/interpret.h"
#include "loop/shadow.h"
#include "loop/verify.h"
#include "lower/lower.h"
#include "passes/passes.h"
#include "schedule/schedule.h"
#include "target/target.h"
#include "tests/guarantee/many_models.h"
#include "tests/support/random_network.h"
#include "toolchain/board.h"
#include "toolchain/emulate.h"

namespace ingot::testing {
namespace {

constexpr Rounding kRoundings[] = {Rounding::kDouble, Rounding::kSingle, Rounding::kFloat};

constexpr int64_t kMuchFlash = 1 << 24;

uint64_t num_seeds(uint64_t usual) {
  const char* const wanted = std::getenv("INGOT_RANDOM_SEEDS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : usual;
}

// A different mixture for each seed.
CompileOptions options_of(uint64_t seed, const std::string& name) {
  // What the DSP instructions mean is C, too: their schedules run on the host.
  return {.name = name,
          .target = seed % 5 < 2 ? "cortex-m4" : "c99",
          .rounding = kRoundings[seed % 3],
          .io = seed % 2 == 0 ? EmitOptions::Io::kCaller : EmitOptions::Io::kArena,
          .reuse_inputs = seed / 2 % 2 == 0};
}

ImportedModel imported(const SampleModel& model) {
  Result<ImportedModel> result = read_model(model.file, {.name = model.name});
  if (!result) {
    throw InternalError(fmt::format("{}: {}: {}", model.name, result.error().front().where,
                                    result.error().front().what));
  }
  return *std::move(result);
}

Compiled compiled(const SampleModel& model, const CompileOptions& options) {
  Result<Compiled> result = compile(model.file, options);
  if (!result) throw InternalError(model.name + ": " + result.error().front().what);
  return *std::move(result);
}

struct Way {
  bool io_in_arena;
  bool reuse_inputs;
};
constexpr Way kWays[] = {{false, false}, {false, true}, {true, false}, {true, true}};

// The program is placed first: parts of one whole have no bytes of their own without it.
void expect_equal(const Scheduled& scheduled, const Way& way,
                  const std::vector<toolchain::GoldenVector>& vectors, const std::string& where) {
  const Storage storage =
      place(scheduled.program, scheduled.reversed,
            {.io_in_arena = way.io_in_arena, .reuse_inputs = way.reuse_inputs, .limits = {}});
  for (const loop::Unproved& access : loop::unproved_accesses(storage.program)) {
    ADD_FAILURE() << where << ": " << access.access << " is not proved: " << access.reason;
  }
  for (const std::string& fault : loop::shadow_faults(storage.program, vectors.front().inputs,
                                                      storage.arena_bytes, way.reuse_inputs)) {
    ADD_FAILURE() << where << ": " << fault;
  }
  for (const toolchain::GoldenVector& vector : vectors) {
    EXPECT_EQ(loop::interpret(storage.program, vector.inputs, storage.arena_bytes), vector.outputs)
        << where << (way.io_in_arena ? ", io in the arena" : "")
        << (way.reuse_inputs ? ", inputs reused" : "");
  }
}

// Lowered and placed in each way, and scheduled for each target.
void check_programs(const SampleModel& model, Rounding rounding) {
  const Graph graph = imported(model).graph;
  const std::vector<toolchain::GoldenVector> vectors = random_vectors(graph, rounding, 1, 1);
  const std::string where = fmt::format("{}, {} rounding", model.name, name_of(rounding));
  const loop::Program plain =
      lower(optimize(graph, rounding), {.name = "model", .rounding = rounding});
  Scheduled unchanged{plain, {}};
  for (const loop::Kernel& kernel : plain.kernels) unchanged.reversed.push_back(reverse(kernel));
  for (const Way& way : kWays) expect_equal(unchanged, way, vectors, where + ", lowered");
  for (const Target& target : all_targets()) {
    expect_equal(schedule(plain, target), kWays[3], vectors, where + ", for " + target.name);
  }
  expect_equal(schedule(plain, *find_target("cortex-m4"), Goal::kSpeed, kMuchFlash), kWays[3],
               vectors, where + ", for cortex-m4 with much flash");
}

TEST(RandomNetworks, MeanTheSameAtEveryStep) {
  for (uint64_t seed = 1; seed <= num_seeds(80); ++seed) {
    const SampleModel model = random_network(seed);
    check_programs(model, kRoundings[seed % 3]);
    if (::testing::Test::HasFailure()) FAIL() << print(imported(model).graph);
  }
}

// Layers of which nothing is left but stores of one number.
TEST(ConstantLayers, MeanTheSameAtEveryStep) {
  for (const Rounding rounding : kRoundings) check_programs(constant_layers(), rounding);
}

TEST(RandomNetworks, AreTheSameBytesForASeed) {
  EXPECT_EQ(random_network(7).file, random_network(7).file);
  EXPECT_NE(random_network(7).file, random_network(8).file);
}

// The C of `runs` between guard bytes on the board of `target`.
void expect_right(const std::vector<ModelRun>& runs, const std::string& target,
                  std::vector<std::string> flags) {
  const toolchain::Board& board = *toolchain::find_board(target);
  toolchain::BuildOptions build;
  build.flags = std::move(flags);
  const Result<toolchain::Execution> execution =
      toolchain::build_and_run(board, many_models(runs), build);
  ASSERT_TRUE(execution.has_value()) << execution.error().front().what
                                     << ::testing::PrintToString(execution.error().front().notes);
  EXPECT_EQ(execution->fault, "");
  ASSERT_THAT(execution->console,
              ::testing::HasSubstr(fmt::format("{} models are right", runs.size())));
}

constexpr uint64_t kBatch = 20;

std::vector<ModelRun> runs_from(uint64_t first, const std::string& target) {
  std::vector<ModelRun> runs;
  for (uint64_t seed = first; seed < first + kBatch; ++seed) {
    const SampleModel model = random_network(seed);
    CompileOptions options = options_of(seed, model.name);
    if (!target.empty()) options.target = target;
    if (seed % 2 == 1) options.flash_limit = kMuchFlash;
    const Compiled result = compiled(model, options);
    runs.push_back(
        {result.interface, result.files, random_vectors(result.model, options.rounding, seed, 2)});
  }
  return runs;
}

TEST(RandomNetworks, GiveTheSameInC) {
  const std::vector<std::string> missing = toolchain::missing_programs(toolchain::host_board());
  if (!missing.empty()) GTEST_SKIP() << "skipped: " << missing.front() << " is not installed";
  const uint64_t last = num_seeds(kBatch);
  for (uint64_t first = 1; first <= last; first += kBatch) {
    expect_right(runs_from(first, ""), "c99",
                 {"-std=c99", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                  "-ffp-contract=off"});
  }
}

class RandomNetworksOnTarget : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Targets, RandomNetworksOnTarget,
                         ::testing::Values("cortex-m0plus", "cortex-m4", "cortex-m33", "cortex-m55",
                                           "rv32imc", "aarch64", "x86-64-v3", "x86-64-avx512vnni"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(RandomNetworksOnTarget, GiveTheSameInItsInstructions) {
  const toolchain::Board& board = *toolchain::find_board(GetParam());
  const std::vector<std::string> missing = toolchain::missing_programs(board);
  const std::string feature = toolchain::missing_feature(board);
  if (!missing.empty()) GTEST_SKIP() << "skipped: " << missing.front() << " is not installed";
  if (!feature.empty()) GTEST_SKIP() << "skipped: " << feature;
  const std::vector<std::string>& flags = find_target(GetParam())->compile_flags;
  const uint64_t last = num_seeds(kBatch);
  for (uint64_t first = 1; first <= last; first += kBatch) {
    expect_right(runs_from(first, GetParam()), GetParam(), flags);
  }
  const Compiled constant =
      compiled(constant_layers(), {.name = "constant_layers", .target = GetParam()});
  expect_right({{constant.interface, constant.files,
                 random_vectors(constant.model, Rounding::kDouble, 1, 2)}},
               GetParam(), flags);
}

}  // namespace
}  // namespace ingot::testing
