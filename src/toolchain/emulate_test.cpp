// SPDX-License-Identifier: Apache-2.0
#include "toolchain/emulate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toolchain/board_fixture.h"

namespace ingot::toolchain {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// Marks and what else differs between the architectures, within assembly.
constexpr std::string_view kAssembly = R"text(
#if defined(__riscv)
#define START ".2byte 0x0005\n"
#define STOP ".2byte 0x0009\n"
#define COUNT_DOWN "1: addi %0, %0, -1\n bnez %0, 1b\n"
#define USE_STACK "addi sp, sp, -400\n sw zero, 0(sp)\n addi sp, sp, 400\n ret"
#define JUMP "j"
#define LOAD "lw %0, 0(%1)"
#define UNDEFINED "unimp"
#define LOW "r"
#else
#define START ".inst.n 0x46d2\n"
#define STOP ".inst.n 0x46db\n"
#define COUNT_DOWN "1: subs %0, #1\n bne 1b\n"
#define USE_STACK "sub sp, #400\n mov r0, sp\n movs r1, #0\n str r1, [r0]\n add sp, #400\n bx lr"
#define JUMP "b"
#define LOAD "ldr %0, [%1]"
#define UNDEFINED "udf #1"
#define LOW "l"
#endif
)text";

class Emulate : public OnBoard {
 protected:
  Execution run(const std::string& main, const RunOptions& options = {}) {
    const std::string text = std::string(kAssembly) + "#include \"harness.h\"\n" + main;
    const Result<Execution> execution =
        build_and_run(*board_, {{}, {{"main.c", text}}}, {}, options);
    EXPECT_TRUE(execution.has_value()) << execution.error().front().what << "\n"
                                       << testing::PrintToString(execution.error().front().notes);
    return execution ? *execution : Execution{};
  }
};

class OnCore : public Emulate {};

INSTANTIATE_TEST_SUITE_P(Boards, Emulate,
                         testing::Values("c99", "cortex-m0plus", "cortex-m4", "cortex-m7",
                                         "cortex-m33", "cortex-m55", "rv32imc"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Cores, OnCore,
                         testing::Values("cortex-m0plus", "cortex-m4", "cortex-m7", "cortex-m33",
                                         "cortex-m55", "rv32imc"),
                         name_of_case);

TEST_P(Emulate, TheConsoleTheExitCodeAndReportsArrive) {
  const Execution execution = run(R"(
    int main(void) {
      harness_put("hello ");
      harness_put_number(-12345678901234LL);
      harness_put("\n");
      harness_report("speed", 3);
      harness_report("speed", 1);
      return 7;
    })");
  EXPECT_EQ(execution.exit_code, 7);
  EXPECT_THAT(execution.console, HasSubstr("hello -12345678901234\n"));
  EXPECT_EQ(execution.greatest("speed"), 3);
  EXPECT_EQ(execution.greatest("weight"), std::nullopt);
  EXPECT_EQ(execution.fault, "");
}

TEST_P(Emulate, FilesGoInAndComeBack) {
  RunOptions options;
  options.input_files = {{"in.bin", std::string("\x00\xff\x0a\x1a\x80", 5)}};
  options.result_files = {"out.bin", "nothing.bin"};
  const Execution execution = run(R"(
    int main(void) {
      unsigned char bytes[5];
      const int in = harness_open_to_read("in.bin");
      const int out = harness_open_to_write("out.bin");
      if (in < 0 || out < 0 || harness_open_to_read("missing.bin") >= 0) return 1;
      if (harness_read(in, bytes, 5) != 0) return 2;
      if (harness_read(in, bytes, 1) == 0) return 3;
      if (harness_write(out, bytes, 5) != 0) return 4;
      harness_close(in);
      harness_close(out);
      return 0;
    })",
                                  options);
  EXPECT_EQ(execution.exit_code, 0);
  EXPECT_THAT(execution.files, SizeIs(1));
  EXPECT_THAT(execution.files.at("out.bin"), ElementsAre(0x00, 0xff, 0x0a, 0x1a, 0x80));
}

TEST_P(Emulate, TheCLibraryWorks) {
  const Execution execution = run(R"(
    #include <math.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    static int initialised = 5;
    static int zero[100];
    int main(int argc, char **argv) {
      char *text = malloc(100);
      (void)argv;
      strcpy(text, "text");
      printf("%s %d %.3f\n", text, initialised + zero[99], floor(2.75 + (argc > 5)));
      free(text);
      exit(4);
    })");
  EXPECT_THAT(execution.console, HasSubstr("text 5 2.000\n"));
  EXPECT_EQ(execution.exit_code, 4);
}

TEST_P(Emulate, AHangIsStopped) {
  RunOptions options;
  options.timeout = milliseconds(700);
  const Execution execution =
      run("int main(void) { harness_put(\"begun\\n\"); for (;;) MARK_NEXT(); }", options);
  EXPECT_TRUE(execution.timed_out);
  EXPECT_THAT(execution.console, HasSubstr("begun"));
}

TEST_P(Emulate, ATextThatDoesNotCompileIsADiagnostic) {
  const Result<Program> program = build(*board_, {{{"kws.c", "int f(void) { return x; }"}}, {}});
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().front().code, Code::kProgramFailed);
  EXPECT_THAT(testing::PrintToString(program.error().front().notes), HasSubstr("kws.c:1"));
}

TEST_P(Emulate, TheModelsFilesAreCompiledAmongThemselves) {
  const Sources sources = {{{"kws.h", "int kws(void);\n"},
                            {"kws.c", "#include \"kws.h\"\nint kws(void) { return VALUE; }\n"},
                            {"test/kws_test.c", "not compiled"}},
                           {{"main.c", "#include \"kws.h\"\nint main(void) { return kws(); }\n"}}};
  BuildOptions options;
  options.flags = {"-O1", "-std=c99", "-DVALUE=42"};
  const Result<Execution> execution = build_and_run(*board_, sources, options);
  ASSERT_TRUE(execution.has_value());
  EXPECT_EQ(execution->exit_code, 42);
}

// The loop executes two instructions for each count.
constexpr std::string_view kLoops = R"(
  #define LOOP(n) do { uint32_t count = (n); \
    __asm__ volatile(START COUNT_DOWN STOP : "+" LOW(count) : : "cc", "memory"); } while (0)
  int main(void) {
    MARK_START();
    MARK_STOP();
    LOOP(1000);
    LOOP(1);
    LOOP(10000000);
    MARK_START();
    __asm__ volatile("nop");
    MARK_NEXT();
    __asm__ volatile("nop\n nop");
    MARK_STOP();
    return 0;
  })";

TEST_P(OnCore, InstructionsAreCountedExactly) {
  EXPECT_THAT(run(std::string(kLoops)).regions, ElementsAre(0, 2000, 2, 20000000, 1, 2));
}

TEST_P(OnCore, InstructionsThatTakeNoEffectCountToo) {
  if (GetParam() == "cortex-m0plus" || GetParam() == "rv32imc") {
    GTEST_SKIP() << "skipped: the core has no IT instruction";
  }
  EXPECT_THAT(run(R"(
    int main(void) {
      __asm__ volatile(".inst.n 0x46d2\n cmp r0, r0\n ite ne\n movne r0, r0\n moveq r0, r0\n"
                       ".inst.n 0x46db" : : : "cc", "memory");
      return 0;
    })")
                  .regions,
              ElementsAre(4));
}

// QEMU hands over the instruction before the end of a page with bytes of the next.
TEST_P(OnCore, MarksAreSeenWhereverTheyLie) {
  const Execution execution = run(R"(
    int main(void) {
      __asm__ volatile(".rept 700\n" START "nop\n" STOP ".endr" : : : "memory");
      __asm__ volatile(JUMP " 1f\n 1: .rept 700\n" START "nop\n nop\n" STOP ".endr"
                       : : : "memory");
      return 0;
    })");
  ASSERT_THAT(execution.regions, SizeIs(1400));
  for (size_t i = 0; i < 1400; ++i) ASSERT_EQ(execution.regions[i], i < 700 ? 1 : 2) << i;
}

TEST_P(OnCore, PaintingFindsTheStackUsed) {
  const Execution execution = run(R"(
    __attribute__((naked, noinline)) static void use(void) {
      __asm__ volatile(USE_STACK);
    }
    int main(void) {
      harness_paint_stack();
      const long nothing = harness_stack_used();
      harness_paint_stack();
      use();
      const long used = harness_stack_used();
      harness_report("nothing", nothing);
      harness_report("used", used);
      return 0;
    })");
  EXPECT_EQ(execution.greatest("nothing"), 0);
  EXPECT_EQ(execution.greatest("used"), 400);
}

TEST_P(OnCore, EveryFaultIsReported) {
  const struct {
    std::string statement, fault;
  } rows[] = {
      {"*(volatile int *)0x1f000000;", "access outside of memory"},
      {"*(volatile int *)8 = 1;", "write to constants"},
      {"*(volatile int *)((char *)harness_stack_bottom - 4) = 1;", "access outside of memory"},
      {"__asm__ volatile(UNDEFINED);", "undefined instruction"},
      {"((void (*)(void))(uintptr_t)0x1f000001u)();", "execution outside of code"},
      {"volatile char large[100000]; large[0] = 1; harness_put((const char *)large);",
       "stack overflow"},
  };
  for (const auto& row : rows) {
    const Execution execution =
        run("int main(void) { harness_put(\"\");\n" + row.statement + "\nreturn 0; }");
    EXPECT_EQ(execution.exit_code, kExitCodeOfFaults) << row.statement << execution.console;
    EXPECT_THAT(execution.fault, HasSubstr(row.fault)) << row.statement;
  }
}

// An unaligned word is read as an ARMv6-M core does it: not at all.
TEST_P(OnCore, UnalignedAccessTrapsWhereTheCoreHasNone) {
  const Execution execution = run(R"(
    static char bytes[8] __attribute__((aligned(4))) = {0, 1, 0, 0, 0, 0, 0, 0};
    int main(void) {
      int word;
      __asm__ volatile(LOAD : "=" LOW(word) : LOW(bytes + 1) : "memory");
      return word;
    })");
  if (GetParam() == "cortex-m0plus") {
    EXPECT_EQ(execution.exit_code, kExitCodeOfFaults);
    EXPECT_THAT(execution.fault, HasSubstr("unaligned access"));
  } else {
    EXPECT_EQ(execution.exit_code, 1) << execution.fault;
  }
}

TEST_P(OnCore, LargeBuffersAndWeightsHaveTheirPlace) {
  const Sources sources = {
      {{"kws_weights.c",
        "extern const unsigned char kws_weights[5000000];\n"
        "const unsigned char kws_weights[5000000] = {[4999999] = 9};\n"}},
      {{"main.c",
        "#include \"harness.h\"\n"
        "extern const unsigned char kws_weights[5000000];\n"
        "static unsigned char arena[6000000] HARNESS_LARGE;\n"
        "int main(void) { arena[5999999] = kws_weights[4999999]; return arena[5999999]; }"}}};
  const Result<Execution> execution = build_and_run(*board_, sources);
  ASSERT_TRUE(execution.has_value());
  EXPECT_EQ(execution->exit_code, 9) << execution->fault;
}

TEST_P(OnCore, AProgramThatDoesNotFitTheBoardIsADiagnostic) {
  const Result<Program> program = build(*board_, {{},
                                                  {{"main.c",
                                                    "static volatile char much[8000000];\n"
                                                    "int main(void) { return much[7]; }"}}});
  ASSERT_FALSE(program.has_value());
  EXPECT_THAT(program.error().front().hint, HasSubstr("does not fit"));
}

TEST(OnHost, RegionsAreNanosecondsAndCrashesAreFaults) {
  const Result<Execution> execution = build_and_run(host_board(), {{}, {{"main.c", R"(
    #include "harness.h"
    #include <stdlib.h>
    int main(void) {
      volatile int i;
      MARK_START();
      for (i = 0; i < 1000000; ++i) {}
      MARK_NEXT();
      MARK_STOP();
      if (harness_stack_used() != -1) return 1;
      abort();
    })"}}});
  ASSERT_TRUE(execution.has_value());
  ASSERT_THAT(execution->regions, SizeIs(2));
  EXPECT_GT(execution->regions[0], 100000);
  EXPECT_THAT(execution->fault, HasSubstr("signal 6"));
}

TEST(OnHost, TheCompilerIsTheUsersChoice) {
  for (const std::string compiler : {"gcc", "clang", "g++"}) {
    if (!find_program(compiler)) continue;
    BuildOptions options;
    options.compiler = compiler;
    options.flags = {"-O2", "-fsanitize=undefined"};
    const Result<Execution> execution =
        build_and_run(host_board(),
                      {{{"m.h", "#ifdef __cplusplus\nextern \"C\"\n#endif\nint m(void);\n"},
                        {"m.c",
                         "#include \"m.h\"\nint m(void) {\n#ifdef __cplusplus\nreturn 3;\n"
                         "#elif defined(__clang__)\nreturn 2;\n#else\nreturn 1;\n#endif\n}\n"}},
                       {{"main.c", "#include \"m.h\"\nint main(void) { return m(); }\n"}}},
                      options);
    ASSERT_TRUE(execution.has_value()) << compiler;
    EXPECT_EQ(execution->exit_code, compiler == "gcc" ? 1 : compiler == "clang" ? 2 : 3);
  }
  BuildOptions missing;
  missing.compiler = "clang-of-nobody";
  const Result<Program> program =
      build(host_board(), {{}, {{"main.c", "int main(void) { return 0; }"}}}, missing);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().front().code, Code::kProgramMissing);
}

TEST(Boards, EachTargetIsFoundAndHasItsScript) {
  EXPECT_EQ(find_board("c99"), &host_board());
  EXPECT_EQ(find_board("z80"), nullptr);
  for (const Board& board : boards()) {
    EXPECT_EQ(find_board(board.target), &board);
    if (!board.is_host()) {
      EXPECT_FALSE(text_of(runtime_files(), board.linker_script).empty());
    }
  }
}

TEST(Boards, MissingProgramsAreNamed) {
  EXPECT_THAT(missing_programs(host_board(), "cc-of-nobody"), ElementsAre("cc-of-nobody"));
}

TEST(EmbeddedFile, AnUnknownNameIsABug) {
  EXPECT_THROW(text_of(runtime_files(), "nothing.c"), InternalError);
}

}  // namespace
}  // namespace ingot::toolchain
