// SPDX-License-Identifier: Apache-2.0
// The text of TVM's forms: they build as everything else does, for every program, and their names
// keep apart. tests/tvm/ runs them.
#include "emit/tvm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "emit/runtime_files.h"
#include "emit/test_build.h"
#include "loop/text.h"

namespace ingot {
namespace {

using Tvm = EmitOptions::Tvm;
using ::testing::HasSubstr;

const Tvm kForms[] = {{Tvm::Interface::kC, Tvm::Workspace::kAllocator, ""},
                      {Tvm::Interface::kC, Tvm::Workspace::kCaller, ""},
                      {Tvm::Interface::kPacked, Tvm::Workspace::kAllocator, ""},
                      {Tvm::Interface::kPacked, Tvm::Workspace::kCaller, ""}};

loop::Program parsed(const std::string& text) {
  const Result<loop::Program> program = loop::parse(text);
  if (!program) {
    ADD_FAILURE() << program.error().at(0).where << ": " << program.error().at(0).what;
    return {};
  }
  return *program;
}

std::vector<CFile> files_of(const TestProgram& test, const Tvm& tvm) {
  EmitOptions options = options_for(test);
  options.tvm = tvm;
  return emit_c(parsed(test.text), options);
}

void write_all(const TemporaryFolder& folder, const std::vector<CFile>& files) {
  for (const CFile& file : files) write_text(folder.path() / file.name, file.text.str());
}

std::string text_of_file(const std::vector<CFile>& files, const std::string& name) {
  for (const CFile& file : files) {
    if (file.name == name) return file.text.str();
  }
  ADD_FAILURE() << name << " is not there";
  return "";
}

void expect_built(const TemporaryFolder& folder, const std::string& command) {
  int status = 0;
  const std::string output = run_command(folder.path(), command, status);
  EXPECT_EQ(status, 0) << command << "\n" << output;
}

TEST(TvmText, BuildsWithoutWarnings) {
  for (const TestProgram& test : test_programs()) {
    if (test.io_in_arena) continue;
    const std::string source = parsed(test.text).name;
    for (const Tvm& form : kForms) {
      TemporaryFolder folder;
      write_all(folder, files_of(test, form));
      for (const Build& build : strict_builds()) {
        if (!has_program(build.compiler)) continue;
        const std::string define = " -DTVMGEN_" + upper_case(source) + "_LOOKUP_LINKED_PARAM";
        expect_built(folder, build.compiler + " " + build.flags + define + " -c " + source +
                                 "_tvm.c -o tvm.o");
      }
    }
  }
}

TEST(TvmText, KeepsToHundredColumns) {
  for (const TestProgram& test : test_programs()) {
    if (test.io_in_arena) continue;
    for (const Tvm& form : kForms) {
      for (const CFile& file : files_of(test, form)) {
        std::istringstream lines(file.text.str());
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
      }
    }
  }
}

TEST(TvmText, ChecksCompileAsTheyStand) {
  if (!has_program("gcc")) GTEST_SKIP() << "no gcc on the PATH";
  TemporaryFolder folder;
  for (const EmbeddedFile& file : runtime_files()) {
    write_text(folder.path() / file.name, std::string(file.text));
  }
  expect_built(folder, "gcc -std=c99" + strict_flags() + " -Wno-unused-function -c tvm_check.c");
}

// What both sides rely on, as DLPack and TVM document it for 64-bit and 32-bit machines.
TEST(TvmText, StatesTheDocumentedLayout) {
  if (!has_program("gcc")) GTEST_SKIP() << "no gcc on the PATH";
  TemporaryFolder folder;
  write_text(folder.path() / "tvm_abi.h", std::string(text_of(runtime_files(), "tvm_abi.h")));
  write_text(folder.path() / "layout.c", R"(
#include <stddef.h>
#include "tvm_abi.h"
#define WORD sizeof(void *)
#define IS(what, value) typedef char at_##what[offsetof(DLTensor, what) == (value) ? 1 : -1]
IS(data, 0); IS(device, WORD); IS(ndim, WORD + 8); IS(dtype, WORD + 12);
IS(shape, WORD + 16); IS(strides, 2 * WORD + 16);
IS(byte_offset, 3 * WORD + 16 + (WORD == 4 ? 4 : 0));
typedef char size_of_value[sizeof(TVMValue) == 8 ? 1 : -1];
typedef char size_of_dtype[sizeof(DLDataType) == 4 ? 1 : -1];
typedef char size_of_device[sizeof(DLDevice) == 8 ? 1 : -1];
)");
  expect_built(folder, "gcc -std=c99 -c layout.c");
  if (has_program("arm-none-eabi-gcc")) {
    expect_built(folder, "arm-none-eabi-gcc -mcpu=cortex-m4 -std=c99 -c layout.c");
  }
}

const TestProgram kTwoWays = {"clash", 72, false, false, R"(
program clash
buffer workspace int8[4] input align 1
buffer num_params int8[4] input align 1
buffer y int8[4] output align 1
buffer t int8[16] arena align 16 offset 0
buffer w int8[4] constant align 1 data 01020304
buffer w_size int8[4] constant align 1 data 01020304
kernel sum_0(a: int8[4] read align 1, b: int8[4] read align 1, w: int8[4] constant align 1,
v: int8[4] constant align 1, t: int8[16] write align 16, y: int8[4] write align 1) "" {
  for i = 0 to 4 {
    t[i] = int8(min(max(int32(a[i]) + int32(b[i]), -128), 127))
    y[i] = int8(min(max(int32(w[i]) + int32(v[i]), -128), 127))
  }
}
kernel copy_1(t: int8[16] read align 16, y: int8[4] write align 1) "" {
  for i = 0 to 4 {
    y[i] = t[i]
  }
}
run {
  call sum_0(workspace, num_params, w, w_size, t, y) note "a" binary macs 0 operators [0]
  call copy_1(t, y) note "b" clamp macs 0 operators [1]
}
)"};

TEST(TvmText, TensorsMayHaveNamesOfItsOwnMacros) {
  const std::string header = text_of_file(files_of(kTwoWays, kForms[0]), "clash_tvm.h");
  EXPECT_THAT(header, HasSubstr("#define TVMGEN_CLASH_WORKSPACE_SIZE 80u"));
  EXPECT_THAT(header, HasSubstr("#define TVMGEN_CLASH_WORKSPACE_SIZE_2 4u"));
  EXPECT_THAT(header, HasSubstr("#define TVMGEN_CLASH_NUM_PARAMS 2"));
  EXPECT_THAT(header, HasSubstr("#define TVMGEN_CLASH_NUM_PARAMS_SIZE 4u"));
  EXPECT_THAT(header, HasSubstr("#define TVMGEN_CLASH_PARAM_W_SIZE 1"));
}

// The arena has 72 bytes, to be aligned to 16. 80 are asked for, enough to align what is aligned
// to 8; what is not is used if it happens to do, and refused if not.
TEST(TvmText, WorkMemoryIsAligned) {
  if (!has_program("gcc")) GTEST_SKIP() << "no gcc on the PATH";
  TemporaryFolder folder;
  write_all(folder, files_of(kTwoWays, kForms[0]));
  write_text(folder.path() / "main.c", R"(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tvmgen_clash.h"
#include "tvmgen_clash.h"
static size_t offset;
static char *block;
void *TVMBackendAllocWorkspace(int type, int id, uint64_t bytes, int code, int bits) {
  (void)type; (void)id; (void)code; (void)bits;
  block = (char *)aligned_alloc(64, 128) + offset;
  return bytes == TVMGEN_CLASH_WORKSPACE_SIZE ? block : NULL;
}
int TVMBackendFreeWorkspace(int type, int id, void *p) {
  (void)type; (void)id;
  free((char *)p - offset);
  return p != block;
}
int main(void) {
  int8_t a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, y[4];
  struct tvmgen_clash_inputs inputs = {a, b};
  struct tvmgen_clash_outputs outputs = {y};
  for (offset = 0; offset <= 32; offset += 4) {
    memset(y, 0, 4);
    printf("%d", (int)tvmgen_clash_run(&inputs, &outputs));
    printf(":%d ", y[3]);
  }
  return 0;
}
)");
  int status = 0;
  const std::string output = run_command(
      folder.path(), "gcc -std=c11 -g -fsanitize=address,undefined -Wall -Werror *.c -o m && ./m",
      status);
  EXPECT_EQ(output, "0:12 -2:0 0:12 0:12 0:12 -2:0 0:12 0:12 0:12 ");
}

// An application may use TVM's headers; they declare what ours would.
TEST(TvmText, GivesWayToTvmsHeaders) {
  if (!has_program("gcc")) GTEST_SKIP() << "no gcc on the PATH";
  TemporaryFolder folder;
  write_all(folder, files_of(kTwoWays, kForms[2]));
  std::string abi(text_of(runtime_files(), "tvm_abi.h"));
  for (const std::string name : {"INGOT_TVM_ABI_H", "INGOT_USE_TVM_HEADERS"}) {
    for (size_t at = 0; (at = abi.find(name, at)) != std::string::npos; ++at) abi[at] = 'J';
  }
  std::filesystem::create_directories(folder.path() / "tvm/runtime");
  write_text(folder.path() / "tvm/runtime/c_runtime_api.h",
             abi + "#define DLPACK_DLPACK_H_\n#define TVM_RUNTIME_C_RUNTIME_API_H_\n");
  write_text(folder.path() / "tvm/runtime/c_backend_api.h",
             "#include \"c_runtime_api.h\"\n#define TVM_RUNTIME_C_BACKEND_API_H_\n");
  write_text(folder.path() / "first.c",
             "#include <tvm/runtime/c_backend_api.h>\n#include \"tvmgen_clash.h\"\n"
             "int32_t (*function)(TVMValue *, int *, int, TVMValue *, int *, void *) = "
             "tvmgen_clash_run;\n");
  expect_built(folder, "gcc -std=c99 -I. -c first.c");
  expect_built(folder, "gcc -std=c99 -I. -DINGOT_USE_TVM_HEADERS -c clash_tvm.c");
}

TEST(TvmText, TwoModelsLink) {
  if (!has_program("gcc")) GTEST_SKIP() << "no gcc on the PATH";
  TemporaryFolder folder;
  for (const Tvm& form : {kForms[0], kForms[2]}) {
    TestProgram test = kTwoWays;
    if (form.interface == Tvm::Interface::kPacked) test.text.replace(9, 5, "other");
    write_all(folder, files_of(test, form));
  }
  write_text(folder.path() / "main.c", R"(
#include "clash_tvm.h"
#include "clash.h"
#include "other_tvm.h"
#include "other.h"
void *TVMBackendAllocWorkspace(int t, int i, uint64_t n, int c, int b) {
  return (void)t, (void)i, (void)n, (void)c, (void)b, (void *)0;
}
int TVMBackendFreeWorkspace(int t, int i, void *p) { return (void)t, (void)i, (void)p, 0; }
int main(void) {
  return !(clash_run && tvmgen_clash_run && tvmgen_clash_lookup_linked_param &&
           other_run && tvmgen_other_run && tvmgen_other_lookup_linked_param);
}
)");
  expect_built(folder, "gcc -std=c99 *.c -o m && ./m");
}

}  // namespace
}  // namespace ingot
