// SPDX-License-Identifier: Apache-2.0
// `--api tvm`: applications in microTVM's style (*_application.c) are built with a compiled model
// and run, on the host and on an emulated Cortex-M4. They check results, error codes, and that a
// refused call touches nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/compile.h"
#include "driver/vectors.h"
#include "support/file.h"
#include "tests/support/sample_network.h"
#include "toolchain/board_fixture.h"
#include "toolchain/emulate.h"

namespace ingot::testing {
namespace {

using Tvm = EmitOptions::Tvm;

// Two inputs and two outputs, of one byte and of four.
std::vector<uint8_t> duo() {
  SampleNetwork net(7);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {3, 8});
  const int64_t bias = w.input("bias", {DType::kFloat32, {1, 6}, {}});
  const int64_t hidden = net.dense("hidden", x, 12, Activation::RELU);
  const int64_t logits = net.dense("logits", hidden, 6);
  const int64_t mean = w.mean("mean", w.dequantize("real", logits), {0}, true, std::nullopt);
  w.output(w.add("scores", mean, bias, std::nullopt));
  w.output(net.dense("y", hidden, 5));
  return w.bytes();
}

std::string array_text(const std::string& name, const std::vector<uint8_t>& bytes) {
  std::string text = fmt::format("static const unsigned char {}[] = {{", name);
  for (const uint8_t byte : bytes) text += fmt::format("{},", byte);
  return text + "};\n";
}

std::string expected_text(const Compiled& compiled, const Tvm& tvm) {
  const toolchain::GoldenVector vector =
      random_vectors(compiled.model, Rounding::kDouble, 3, 1).front();
  std::string text = "#define TVMGEN_DUO_LOOKUP_LINKED_PARAM\n";
  if (tvm.workspace == Tvm::Workspace::kCaller) text += "#define WORK_FROM_CALLER 1\n";
  text += array_text("expected_x", vector.inputs.at(0));
  text += array_text("expected_bias", vector.inputs.at(1));
  text += array_text("expected_scores", vector.outputs.at(0));
  text += array_text("expected_y", vector.outputs.at(1));
  std::string params;
  for (const loop::Buffer& buffer : compiled.storage.program.buffers) {
    if (buffer.kind != loop::BufferKind::kConstant || buffer.num_elements == 0) continue;
    text += fmt::format("extern const char duo_{0}[];\n", buffer.name);
    params += fmt::format("duo_{},", buffer.name);
  }
  return text + fmt::format("#define EXPECTED_PARAMS {{{}}}\n", params);
}

std::string source_of(const std::string& name) {
  const auto bytes = read_file(std::string(INGOT_SOURCE_FOLDER) + "/tests/tvm/" + name);
  if (!bytes) throw InternalError(name + " cannot be read");
  return {bytes->begin(), bytes->end()};
}

class TvmForms : public toolchain::OnBoard {
 protected:
  void run(const std::string& application, const Tvm& tvm,
           EmitOptions::Io io = EmitOptions::Io::kCaller) {
    CompileOptions options;
    options.name = "duo";
    options.target = board_->target;
    options.tvm = tvm;
    options.io = io;
    const Result<Compiled> compiled = compile(duo(), options);
    ASSERT_TRUE(compiled.has_value()) << compiled.error().front().what;
    toolchain::Sources sources;
    for (const OutputFile& file : compiled->files) {
      if (file.name.ends_with(".c") || file.name.ends_with(".h")) sources.model.push_back(file);
    }
    sources.harness = {{application, source_of(application)},
                       {"application.h", source_of("application.h")},
                       {"expected.h", expected_text(*compiled, tvm)}};
    toolchain::BuildOptions build;
    build.flags = {"-std=c99",
                   "-O2",
                   "-ffp-contract=off",
                   "-pedantic",
                   "-Wall",
                   "-Wextra",
                   "-Wshadow",
                   "-Wconversion",
                   "-Werror",
                   "-DTVMGEN_DUO_LOOKUP_LINKED_PARAM"};
    if (board_->is_host()) build.flags.insert(build.flags.end(), {"-fsanitize=address,undefined"});
    const Result<toolchain::Execution> execution =
        toolchain::build_and_run(*board_, sources, build);
    ASSERT_TRUE(execution.has_value()) << execution.error().front().what
                                       << ::testing::PrintToString(execution.error().front().notes);
    EXPECT_EQ(execution->fault, "");
    EXPECT_EQ(execution->exit_code, 0) << execution->console;
    EXPECT_THAT(execution->console, ::testing::HasSubstr(" calls, faults: 0"));
  }
};
INSTANTIATE_TEST_SUITE_P(Boards, TvmForms, ::testing::Values("c99", "cortex-m4"),
                         toolchain::name_of_case);

TEST_P(TvmForms, CInterfaceWithAllocator) {
  run("c_application.c", {Tvm::Interface::kC, Tvm::Workspace::kAllocator, ""});
}
TEST_P(TvmForms, CInterfaceWithCallersArena) {
  run("c_application.c", {Tvm::Interface::kC, Tvm::Workspace::kCaller, ""});
}
TEST_P(TvmForms, CInterfaceWithTensorsInTheArena) {
  run("arena_application.c", {Tvm::Interface::kC, Tvm::Workspace::kCaller, ""},
      EmitOptions::Io::kArena);
}
TEST_P(TvmForms, PackedFunctionWithAllocator) {
  run("packed_application.c", {Tvm::Interface::kPacked, Tvm::Workspace::kAllocator, ""});
}
TEST_P(TvmForms, PackedFunctionWithCallersArena) {
  run("packed_application.c", {Tvm::Interface::kPacked, Tvm::Workspace::kCaller, ""});
}

}  // namespace
}  // namespace ingot::testing
