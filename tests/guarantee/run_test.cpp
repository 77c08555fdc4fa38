// SPDX-License-Identifier: Apache-2.0
// The guarantee end to end: networks are compiled to C, built, and run between guard bytes, on the
// host and on an emulated Cortex-M4. Nothing of the caller's may be overrun or changed, and outputs
// must equal those of the reference executor, byte for byte.
//
// All networks together are one program per board and way of passing inputs and outputs
// (many_models.h).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/compile.h"
#include "driver/vectors.h"
#include "tests/guarantee/guarantee_graphs.h"
#include "tests/guarantee/many_models.h"
#include "tests/support/sample_models.h"
#include "toolchain/board_fixture.h"
#include "toolchain/emulate.h"

namespace ingot::testing {
namespace {

struct Way {
  const char* name;
  EmitOptions::Io io;
  bool reuse_inputs;
};
const Way kWays[] = {{"caller", EmitOptions::Io::kCaller, false},
                     {"caller, inputs reused", EmitOptions::Io::kCaller, true},
                     {"arena", EmitOptions::Io::kArena, false},
                     {"arena, inputs reused", EmitOptions::Io::kArena, true}};

Compiled expect_compiled(const std::string& name, Result<Compiled> compiled) {
  if (!compiled) throw InternalError(name + ": " + compiled.error().front().what);
  return *std::move(compiled);
}

std::vector<Compiled> compile_all(const toolchain::Board& board, const Way& way) {
  CompileOptions options;
  options.target = board.target;
  options.io = way.io;
  options.reuse_inputs = way.reuse_inputs;
  std::vector<Compiled> all;
  for (const std::vector<SampleModel>& models : {guarantee_models(), sample_models()}) {
    for (const SampleModel& model : models) {
      options.name = model.name;
      all.push_back(expect_compiled(model.name, compile(model.file, options)));
    }
  }
  for (const GuaranteeGraph& graph : guarantee_graphs()) {
    options.name = "legacy_" + graph.name;
    all.push_back(expect_compiled(options.name, compile_graph(graph_of(graph.text), options)));
  }
  return all;
}

class Guarantee : public toolchain::OnBoard {};
INSTANTIATE_TEST_SUITE_P(Boards, Guarantee, ::testing::Values("c99", "cortex-m4"),
                         toolchain::name_of_case);

// A01, A09, G02, G04, G05: the arena has exactly the stated size.
TEST_P(Guarantee, NothingOfTheCallersIsTouched) {
  toolchain::BuildOptions options;
  options.flags = {"-std=c99", "-O2", "-ffp-contract=off"};
  for (const Way& way : kWays) {
    // On the core, the two ways that differ most.
    if (!board_->is_host() && (way.io == EmitOptions::Io::kArena) != way.reuse_inputs) continue;
    const std::vector<Compiled> all = compile_all(*board_, way);
    std::vector<ModelRun> runs;
    for (const Compiled& compiled : all) {
      runs.push_back({compiled.interface, compiled.files,
                      random_vectors(compiled.model, Rounding::kDouble, 1, 2)});
    }
    const Result<toolchain::Execution> execution =
        toolchain::build_and_run(*board_, many_models(runs), options);
    ASSERT_TRUE(execution.has_value()) << execution.error().front().what
                                       << ::testing::PrintToString(execution.error().front().notes);
    EXPECT_EQ(execution->fault, "") << way.name;
    EXPECT_EQ(execution->exit_code, 0) << way.name << "\n" << execution->console;
    EXPECT_THAT(execution->console,
                ::testing::HasSubstr(fmt::format("{} models are right", runs.size())));
  }
}

// What the harness of this test says of a model that does what must not be done.
TEST_P(Guarantee, TheHarnessSeesWhatIsWrong) {
  toolchain::BuildOptions options;
  options.flags = {"-std=c99", "-O0"};
  const struct {
    const char* statement;
    const char* message;
  } rows[] = {{"outputs->y[4] = 1", "tiny, vector 0: output y was overrun"},
              {"outputs->y[-1] = 1", "tiny, vector 0: output y was overrun"},
              {"((int8_t *)arena)[8] = 1", "tiny, vector 0: the arena was overrun"},
              {"((int8_t *)inputs->x)[0] = 99", "tiny, vector 0: input x was changed"},
              {"outputs->y[3] = 99", "tiny, vector 0: output y is wrong"},
              {"return 1", "tiny, vector 0: the run failed"}};
  for (const auto& row : rows) {
    ModelRun run;
    run.model = {.name = "tiny",
                 .inputs = {{"x", DType::kInt8, 4}},
                 .outputs = {{"y", DType::kInt8, 4}},
                 .arena_bytes = 8,
                 .arena_alignment = 8};
    run.files = {
        {"tiny.h",
         "#include <stdint.h>\n"
         "typedef struct { const int8_t *x; } tiny_inputs;\n"
         "typedef struct { int8_t *y; } tiny_outputs;\n"
         "int32_t tiny_run(const tiny_inputs *, const tiny_outputs *, void *);\n"},
        {"tiny.c", fmt::format("#include \"tiny.h\"\n"
                               "int32_t tiny_run(const tiny_inputs *inputs, const tiny_outputs "
                               "*outputs, void *arena) {{\n"
                               "  for (int i = 0; i < 4; ++i) outputs->y[i] = inputs->x[i];\n"
                               "  ((int8_t *)arena)[7] = 1;\n"
                               "  {};\n  return 0;\n}}\n",
                               row.statement)}};
    run.vectors = {{{{1, 2, 3, 4}}, {{1, 2, 3, 4}}}};
    const Result<toolchain::Execution> execution =
        toolchain::build_and_run(*board_, many_models({&run, 1}), options);
    ASSERT_TRUE(execution.has_value()) << execution.error().front().what;
    EXPECT_EQ(execution->exit_code, 1) << row.statement;
    EXPECT_THAT(execution->console, ::testing::HasSubstr(row.message));
  }
}

}  // namespace
}  // namespace ingot::testing
