// SPDX-License-Identifier: Apache-2.0
// K17: the C of damaged models that still compile: it runs under AddressSanitizer and
// UndefinedBehaviorSanitizer, each of the caller's buffers and the arena between guard bytes, and
// gives what the reference executor gives.
//
// INGOT_MUTANTS=N runs N of them instead of a few, INGOT_MUTANTS_FIRST=S begins with seed S.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "driver/compile.h"
#include "driver/vectors.h"
#include "report/metadata.h"
#include "tests/fuzz/seeds.h"
#include "tests/guarantee/many_models.h"
#include "tests/support/tflite_damage.h"
#include "toolchain/emulate.h"

namespace ingot::testing {
namespace {

constexpr size_t kBatch = 25;  // models in one program
// What a model may take to be run here; hardly any mutant is larger.
constexpr int64_t kMostBytes = int64_t{1} << 20;
constexpr int64_t kMostMacs = int64_t{1} << 22;

int64_t number_of(const char* variable, int64_t usual) {
  const char* const text = std::getenv(variable);
  return text ? std::strtoll(text, nullptr, 10) : usual;
}

std::vector<uint8_t> mutant(const std::vector<SampleModel>& seeds, uint64_t seed) {
  const std::vector<uint8_t>& file = seeds[seed % seeds.size()].file;
  const std::unique_ptr<format::ModelT> model = unpack(file);
  for (uint64_t i = 0; i <= seed % 2; ++i) static_cast<void>(mutate(*model, seed * 2 + i));
  return serialize(*model);
}

CompileOptions options_of(uint64_t seed) {
  constexpr Rounding kRoundings[] = {Rounding::kDouble, Rounding::kSingle, Rounding::kFloat};
  return {.name = fmt::format("mutant_{}", seed),
          .rounding = kRoundings[seed / 4 % 3],
          .io = seed % 2 == 0 ? EmitOptions::Io::kCaller : EmitOptions::Io::kArena,
          .reuse_inputs = seed / 2 % 2 == 0};
}

bool is_small(const Compiled& compiled) {
  int64_t bytes = compiled.interface.arena_bytes + weights_bytes(compiled.storage.program);
  for (const auto& ports : {compiled.interface.inputs, compiled.interface.outputs}) {
    for (const toolchain::Port& port : ports) bytes += port.bytes;
  }
  return bytes <= kMostBytes && macs_of(compiled.storage.program) <= kMostMacs;
}

void run_batch(const std::vector<ModelRun>& runs) {
  toolchain::BuildOptions build;
  build.flags = {"-std=c99", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                 "-ffp-contract=off"};
  const Result<toolchain::Execution> execution =
      toolchain::build_and_run(toolchain::host_board(), many_models(runs), build);
  ASSERT_TRUE(execution.has_value()) << execution.error().front().what
                                     << ::testing::PrintToString(execution.error().front().notes);
  EXPECT_EQ(execution->fault, "") << runs.front().model.name << " and following";
  EXPECT_THAT(execution->console,
              ::testing::HasSubstr(fmt::format("{} models are right", runs.size())));
}

TEST(Mutants, RunBetweenGuardBytes) {
  const toolchain::Board& board = toolchain::host_board();
  const std::vector<std::string> missing = toolchain::missing_programs(board);
  if (!missing.empty()) GTEST_SKIP() << "skipped: " << missing.front() << " is not installed";
  const std::vector<SampleModel> seeds = fuzz_seeds();
  const int64_t first = number_of("INGOT_MUTANTS_FIRST", 1);
  const int64_t count = number_of("INGOT_MUTANTS", 50);
  std::vector<ModelRun> runs;
  int64_t num_run = 0;
  // Of five mutants, about one compiles.
  int64_t seed = first;
  for (; num_run < count && seed < first + 20 * count; ++seed) {
    const auto number = static_cast<uint64_t>(seed);
    const CompileOptions options = options_of(number);
    const Result<Compiled> compiled = compile(mutant(seeds, number), options);
    if (!compiled) {
      EXPECT_NE(compiled.error().front().code, Code::kInternal) << options.name;
      continue;
    }
    if (!is_small(*compiled)) continue;
    runs.push_back({compiled->interface, compiled->files,
                    random_vectors(compiled->model, options.rounding, number, 2)});
    ++num_run;
    if (runs.size() < kBatch) continue;
    run_batch(runs);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
    runs.clear();
  }
  if (!runs.empty()) run_batch(runs);
  fmt::print("{} mutants were run, of seeds {} to {}\n", num_run, first, seed - 1);
  EXPECT_EQ(num_run, count);
}

}  // namespace
}  // namespace ingot::testing
