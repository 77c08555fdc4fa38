// SPDX-License-Identifier: Apache-2.0
// The oracle triangle's third corner: the loops of a sample of the small cases, printed as C,
// built without warnings and run under sanitizers, give the bytes of the reference. All cases of an
// operator are one program, so that the compiler starts once.
#include <gtest/gtest.h>

#include <iterator>

#include "emit/test_build.h"
#include "tests/support/element_cases.h"
#include "tests/support/operator_cases.h"
#include "tests/support/triangle.h"

namespace ingot::testing {
namespace {

struct Cases {
  std::string name;
  std::vector<OneNode> (*make)();
};

// At most `count` of them, evenly spread.
std::vector<OneNode> sample(std::vector<OneNode> cases, size_t count) {
  std::vector<OneNode> result;
  const size_t step = cases.size() / count + 1;
  for (size_t i = 0; i < cases.size(); i += step) result.push_back(std::move(cases[i]));
  return result;
}

// One program with a kernel per case: inputs, outputs and constants of all, one after the other.
loop::Program merged(const std::vector<loop::Program>& programs, const std::string& name) {
  loop::Program result;
  result.name = name;
  for (const loop::BufferKind kind : {loop::BufferKind::kInput, loop::BufferKind::kOutput,
                                      loop::BufferKind::kArena, loop::BufferKind::kConstant}) {
    for (size_t i = 0; i < programs.size(); ++i) {
      for (loop::Buffer buffer : programs[i].buffers) {
        if (buffer.kind != kind) continue;
        buffer.name = "case" + std::to_string(i) + "_" + buffer.name;
        if (!buffer.tensor.empty()) buffer.tensor = buffer.name;
        result.buffers.push_back(std::move(buffer));
      }
    }
  }
  for (size_t i = 0; i < programs.size(); ++i) {
    const std::string number = std::to_string(i);
    for (const loop::Function& function : programs[i].functions) {
      if (!loop::find_function(result, function.name)) result.functions.push_back(function);
    }
    result.kernels.push_back(programs[i].kernels.front());
    result.kernels.back().name = "kernel_" + number;
    loop::CallKernel call = std::get<loop::CallKernel>(programs[i].runner.front().kind);
    call.kernel = result.kernels.back().name;
    for (loop::BufferRef& arg : call.args) arg.buffer = "case" + number + "_" + arg.buffer;
    result.runner.push_back(std::move(call));
    result.notes.push_back({"case" + number, programs[i].notes.front().kind, {}, 0});
  }
  return result;
}

// Scratch lies one after the other.
int64_t place_scratch(loop::Program& program) {
  int64_t end = 0;
  for (loop::Buffer& buffer : program.buffers) {
    if (buffer.kind != loop::BufferKind::kArena) continue;
    buffer.offset_bytes = end;
    end += (buffer.size_bytes() + 15) / 16 * 16;
  }
  return end;
}

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class OperatorsInC : public ::testing::TestWithParam<Cases> {};

TEST_P(OperatorsInC, EqualTheReference) {
  const std::vector<OneNode> cases = sample(GetParam().make(), 100);
  std::vector<loop::Program> programs;
  std::string inputs;
  std::vector<std::vector<uint8_t>> expected;
  for (const OneNode& node : cases) {
    programs.push_back(program_of(node));
    for (const TestInput& input : node.inputs) {
      if (input.absent || input.constant) continue;
      inputs.append(input.bytes->view().begin(), input.bytes->view().end());
    }
    for (std::vector<uint8_t>& output : reference_outputs(node)) {
      expected.push_back(std::move(output));
    }
  }
  loop::Program program = merged(programs, GetParam().name);
  EmitOptions options;
  options.ingot_version = "0";
  options.arena_bytes = place_scratch(program);
  const TemporaryFolder folder;
  for (const CFile& file : emit_c(program, options)) {
    write_text(folder.path() / file.name, file.text.str());
  }
  write_text(folder.path() / "main.cpp", main_text(program, options));
  write_text(folder.path() / "in.bin", inputs);
  int status = 0;
  const std::string sanitize = " -fsanitize=address,undefined -fno-sanitize-recover=all";
  std::string output = run_command(
      folder.path(),
      "gcc -std=c99 -O1 -c" + strict_flags() + sanitize + " " + program.name + ".c " +
          program.name + "_weights.c && g++ -std=c++17" + sanitize + " main.cpp *.o -lm -o main",
      status);
  ASSERT_EQ(status, 0) << output;
  output = run_command(folder.path(), "./main in.bin out.bin", status);
  ASSERT_EQ(status, 0) << output;
  const std::string actual = read_bytes(folder.path() / "out.bin");
  size_t begin = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string want(expected[i].begin(), expected[i].end());
    ASSERT_EQ(actual.substr(begin, want.size()), want)
        << "case " << i << " of " << GetParam().name << ", seed " << cases[i].seed;
    begin += want.size();
  }
}

INSTANTIATE_TEST_SUITE_P(All, OperatorsInC,
                         ::testing::Values(Cases{"conv_2d", conv_2d_cases},
                                           Cases{"depthwise_conv_2d", depthwise_conv_2d_cases},
                                           Cases{"fully_connected", fully_connected_cases},
                                           Cases{"pool_2d", pool_2d_cases},
                                           Cases{"binary", binary_cases},
                                           Cases{"elementwise", elementwise_cases},
                                           Cases{"pad", pad_cases}, Cases{"reduce", reduce_cases},
                                           Cases{"move", move_cases}, Cases{"concat", concat_cases},
                                           Cases{"softmax", softmax_cases}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace ingot::testing
