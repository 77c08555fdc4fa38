// SPDX-License-Identifier: Apache-2.0
// Emitted C is built under the flags of the contract, runs, and gives what the interpreter gives.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <iterator>

#include "emit/test_build.h"
#include "loop/interpret.h"
#include "loop/text.h"

namespace ingot {
namespace {

using Bytes2 = std::vector<std::vector<uint8_t>>;

loop::Program parsed(const std::string& text) {
  Result<loop::Program> program = loop::parse(text);
  if (!program) {
    ADD_FAILURE() << program.error().at(0).where << ": " << program.error().at(0).what;
    return {};
  }
  return *std::move(program);
}

// Any bytes for integers; for floats moderate values.
Bytes2 make_inputs(const loop::Program& program, uint32_t seed) {
  Bytes2 inputs;
  for (const loop::Buffer& buffer : program.buffers) {
    if (buffer.kind != loop::BufferKind::kInput) continue;
    std::vector<uint8_t> bytes(static_cast<size_t>(buffer.size_bytes()));
    for (uint8_t& byte : bytes) {
      seed = seed * 1664525u + 1013904223u;
      byte = static_cast<uint8_t>(seed >> 24);
    }
    if (buffer.dtype == DType::kFloat32) {
      for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
        const float value = (static_cast<float>(bytes[i]) - 128) / 7;
        std::memcpy(&bytes[i], &value, 4);
      }
    }
    inputs.push_back(bytes);
  }
  return inputs;
}

std::string concatenated(const Bytes2& parts) {
  std::string all;
  for (const std::vector<uint8_t>& part : parts) all.append(part.begin(), part.end());
  return all;
}

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class Emitted : public testing::TestWithParam<TestProgram> {
 protected:
  void SetUp() override {
    program_ = parsed(GetParam().text);
    options_ = options_for(GetParam());
    for (const CFile& file : emit_c(program_, options_)) {
      write_text(folder_.path() / file.name, file.text.str());
    }
    write_text(folder_.path() / "main.cpp", main_text(program_, options_));
  }
  std::string sources() const { return program_.name + ".c " + program_.name + "_weights.c"; }
  // Builds with `build` and compares runs with the interpreter.
  void build_and_compare(const Build& build, const std::string& link_flags);

  loop::Program program_;
  EmitOptions options_;
  TemporaryFolder folder_;
};

void Emitted::build_and_compare(const Build& build, const std::string& link_flags) {
  int status = 0;
  std::string output = run_command(
      folder_.path(), "rm -f *.o && " + build.compiler + " " + build.flags + " -c " + sources(),
      status);
  ASSERT_EQ(status, 0) << build.compiler << " " << build.flags << "\n" << output;
  const std::string linker = build.compiler.starts_with("clang") ? "clang++" : "g++";
  output = run_command(folder_.path(),
                       linker + " " + link_flags + " -std=c++11 main.cpp *.o -lm -o main", status);
  ASSERT_EQ(status, 0) << output;
  for (uint32_t seed = 1; seed <= 3; ++seed) {
    const Bytes2 inputs = make_inputs(program_, seed);
    write_text(folder_.path() / "in.bin", concatenated(inputs));
    output = run_command(folder_.path(), "./main in.bin out.bin", status);
    ASSERT_EQ(status, 0) << build.compiler << " " << build.flags << "\n" << output;
    const Bytes2 expected = loop::interpret(program_, inputs, options_.arena_bytes);
    EXPECT_EQ(read_bytes(folder_.path() / "out.bin"), concatenated(expected))
        << build.compiler << " " << build.flags << " seed " << seed;
  }
}

TEST_P(Emitted, BuildsWithoutWarningsAndEqualsTheInterpreter) {
  int64_t built = 0;
  for (const Build& build : strict_builds()) {
    if (!has_program(build.compiler)) continue;
    ++built;
    build_and_compare(build, "");
  }
  if (built == 0) GTEST_SKIP() << "no compiler on the PATH";
}

TEST_P(Emitted, HasNoUndefinedBehaviour) {
  if (!has_program("gcc") || !has_program("g++")) GTEST_SKIP() << "no gcc on the PATH";
  const std::string sanitize = "-fsanitize=address,undefined -fno-sanitize-recover=all";
  build_and_compare({"gcc", "-std=c99 -O1 -g " + sanitize}, sanitize);
}

TEST_P(Emitted, ExportsOnlyNamesOfTheModel) {
  if (!has_program("gcc") || !has_program("nm")) GTEST_SKIP() << "no gcc or nm on the PATH";
  int status = 0;
  const std::string symbols = run_command(
      folder_.path(),
      "gcc -std=c99 -O2 -Wno-psabi -c " + sources() + " && nm -g --defined-only *.o", status);
  ASSERT_EQ(status, 0) << symbols;
  std::istringstream lines(symbols);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.ends_with(":")) continue;
    const std::string symbol = line.substr(line.rfind(' ') + 1);
    EXPECT_TRUE(symbol.starts_with(program_.name + "_")) << line;
    // Code and read-only data; nothing writable.
    EXPECT_TRUE(line.find(" T ") != std::string::npos || line.find(" R ") != std::string::npos)
        << line;
  }
}

TEST_P(Emitted, KeepsToHundredColumnsAndIsDeterministic) {
  const std::vector<CFile> files = emit_c(program_, options_);
  const std::vector<CFile> again = emit_c(parsed(loop::print(program_)), options_);
  for (size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(files[i].text.str(), again[i].text.str());
    std::istringstream lines(files[i].text.str());
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 100u) << line;
      EXPECT_EQ(line.find_first_not_of(' ') == std::string::npos && !line.empty(), false);
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Emitted, testing::ValuesIn(test_programs()),
                         [](const testing::TestParamInfo<TestProgram>& row) {
                           return row.param.name;
                         });

TEST(EmittedPrograms, CheckTheirArguments) {
  if (!has_program("gcc")) GTEST_SKIP() << "no gcc on the PATH";
  TemporaryFolder folder;
  std::string sources = "main.c";
  for (const TestProgram& test : test_programs()) {
    for (const CFile& file : emit_c(parsed(test.text), options_for(test))) {
      write_text(folder.path() / file.name, file.text.str());
      if (file.name.ends_with(".c")) sources += " " + file.name;
    }
  }
  write_text(folder.path() / "main.c", R"(
#include <stdio.h>
#include <stddef.h>
#include "convolution.h"
#include "floats.h"
#include "nothing.h"
#include "no_inputs.h"
static union { double d; char bytes[1024]; } arena, x, y;
int main(void) {
  const convolution_inputs in = {(const int8_t *)x.bytes + 1}, no_x = {NULL};
  const convolution_outputs out = {(int8_t *)y.bytes + 1}, no_y = {NULL};
  const floats_inputs odd = {(const float *)(const void *)(x.bytes + 2), (const int8_t *)x.bytes};
  const floats_outputs aligned = {(float *)(void *)y.bytes, (double *)(void *)(y.bytes + 64),
                                  (uint16_t *)(void *)(y.bytes + 192),
                                  (int32_t *)(void *)(y.bytes + 224)};
  const no_inputs_outputs rest = {(uint8_t *)y.bytes, (float *)(void *)(y.bytes + 4), NULL};
  const int32_t shape[] = CONVOLUTION_INPUT_X_SHAPE;
  char *a = arena.bytes + (16 - (uintptr_t)arena.bytes % 16) % 16;
  printf("%d %d ", (int)shape[CONVOLUTION_INPUT_X_RANK - 1], (int)CONVOLUTION_ARENA_BYTES);
  printf("%d ", (int)convolution_run(&in, &out, a));
  printf("%d ", (int)convolution_run(NULL, &out, a));
  printf("%d ", (int)convolution_run(&in, NULL, a));
  printf("%d ", (int)convolution_run(&in, &out, NULL));
  printf("%d ", (int)convolution_run(&no_x, &out, a));
  printf("%d ", (int)convolution_run(&in, &no_y, a));
  printf("%d ", (int)convolution_run(&in, &out, a + 8));
  printf("%d ", (int)floats_run(&odd, &aligned, a));
  printf("%d ", (int)nothing_run(NULL, NULL, NULL));
  printf("%d", (int)no_inputs_run(NULL, &rest, NULL));
  return 0;
}
)");
  int status = 0;
  const std::string output =
      run_command(folder.path(),
                  "gcc -std=c99 -Wall -Werror -Wno-psabi " + sources + " -lm -o m && ./m", status);
  EXPECT_EQ(output, "40 64 0 -1 -1 -1 -1 -1 -2 -2 0 0");
}

// X05.
TEST(EmittedPrograms, LinkTogether) {
  if (!has_program("gcc") || !has_program("g++")) GTEST_SKIP() << "no gcc on the PATH";
  TemporaryFolder folder;
  std::string sources;
  std::string headers;
  for (const TestProgram& test : test_programs()) {
    for (const CFile& file : emit_c(parsed(test.text), options_for(test))) {
      write_text(folder.path() / file.name, file.text.str());
      if (file.name.ends_with(".c")) sources += " " + file.name;
      if (file.name.ends_with(".h")) headers += "#include \"" + file.name + "\"\n";
    }
  }
  write_text(folder.path() / "all.c", headers + "int main(void) { return 0; }\n");
  int status = 0;
  const std::string output = run_command(
      folder.path(), "gcc -std=c99 -O1 -Werror all.c" + sources + " -lm -o all", status);
  EXPECT_EQ(status, 0) << output;
}

}  // namespace
}  // namespace ingot
