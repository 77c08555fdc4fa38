// SPDX-License-Identifier: Apache-2.0
// Statements of the loop IR and the C that they become, as a table; and what the three files hold.
#include "emit/emit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emit/test_build.h"
#include "loop/text.h"

namespace ingot {
namespace {

using testing::HasSubstr;
using testing::Not;

loop::Program parsed(const std::string& text) {
  Result<loop::Program> program = loop::parse(text);
  if (!program) {
    ADD_FAILURE() << program.error().at(0).where << ": " << program.error().at(0).what << text;
    return {};
  }
  return *std::move(program);
}

std::string header_of(const loop::Program& program, const EmitOptions& options) {
  return emit_c(program, options).at(0).text.str();
}
std::string code_of(const loop::Program& program, const EmitOptions& options) {
  return emit_c(program, options).at(1).text.str();
}
std::string weights_of(const loop::Program& program, const EmitOptions& options) {
  return emit_c(program, options).at(2).text.str();
}

// The C of statements inside a kernel with parameters x, u, w, z, f and y.
std::string c_of(const std::string& statements) {
  const loop::Program program = parsed(R"(
program m
buffer x int8[64] input align 1
buffer u uint8[64] input align 1
buffer z int64[64] input align 8
buffer f float32[64] input align 4
buffer w int32[1] constant align 4 data 05000000
buffer y int32[64] output align 4
function g(a: int32, b: int64) -> int32 "" {
  return a + int32(b)
}
kernel k(x: int8[64] read align 1, u: uint8[64] read align 1, z: int64[64] read align 8,
f: float32[64] read align 4, w: int32[1] constant align 4, y: int32[64] write align 4) "" {
)" + statements + "\n}\nrun {\n  call k(x, u, z, f, w, y)\n}\n");
  EmitOptions options;
  const std::string code = code_of(program, options);
  const size_t begin = code.find('\n', code.find("int32_t *y) {")) + 1;
  std::string body = code.substr(begin, code.find("\n}\n", begin) - begin);
  // Parameters that the statements do not use.
  while (body.starts_with("  (void)")) body.erase(0, body.find('\n') + 1);
  return body;
}

TEST(Emit, Statements) {
  const struct {
    std::string statements;
    std::string expected;
  } rows[] = {
      {"y[0] = int32(x[1])", "  y[0] = x[1];"},
      {"y[0] = int32(x[1]) * int32(u[2])", "  y[0] = x[1] * u[2];"},
      {"y[0] = int32(int64(w[0]) * int64(y[1]) >> 31:int64)",
       "  y[0] = (int32_t)((int64_t)w[0] * y[1] >> 31);"},
      {"y[0] = int32(int64(w[0]) + 1:int64)", "  y[0] = (int32_t)((int64_t)w[0] + 1);"},
      {"y[0] = int32(z[0] + 5000000000:int64)", "  y[0] = (int32_t)(z[0] + INT64_C(5000000000));"},
      {"y[0] = int32(z[0] + 5:int64)", "  y[0] = (int32_t)(z[0] + 5);"},
      {"y[0] = w[0] + -5", "  y[0] = w[0] - 5;"},
      {"y[0] = w[0] - (-5)", "  y[0] = w[0] + 5;"},
      {"y[0] = w[0] - -w[0]", "  y[0] = w[0] - -w[0];"},
      {"y[0] = -(-w[0])", "  y[0] = -(-w[0]);"},
      {"y[0] = w[0] - (w[0] - w[0])", "  y[0] = w[0] - (w[0] - w[0]);"},
      {"y[0] = (w[0] + 1) * w[0] * 3 + 2", "  y[0] = (w[0] + 1) * w[0] * 3 + 2;"},
      {"y[0] = w[0] & 3 | w[0] ^ 5", "  y[0] = (w[0] & 3) | (w[0] ^ 5);"},
      {"y[0] = w[0] + 1 & 3", "  y[0] = (w[0] + 1) & 3;"},
      {"y[0] = w[0] + 1 >> 2", "  y[0] = (w[0] + 1) >> 2;"},
      {"y[0] = int32(u[0]) << 2", "  y[0] = u[0] << 2;"},
      {"y[0] = w[0] << 2", "  y[0] = w[0] * 4;"},
      {"y[0] = w[0] << 31", "  y[0] = (int32_t)((uint32_t)w[0] << 31);"},
      {"y[0] = int32(int64(w[0]) << 40:int64 >> 40:int64)",
       "  y[0] = (int32_t)((int64_t)w[0] * INT64_C(1099511627776) >> 40);"},
      {"y[0] = -2147483648", "  y[0] = (-2147483647 - 1);"},
      {"y[0] = floordiv(w[0], 8) + floormod(w[0], 8)", "  y[0] = (w[0] >> 3) + (w[0] & 7);"},
      {"y[0] = floordiv(w[0], 3) + floormod(w[0], 3)",
       "  y[0] = floor_div_int32(w[0], 3) + floor_mod_int32(w[0], 3);"},
      {"for i = 0 to 9 {\n y[i] = floordiv(i, 4) * 3 + floormod(i + 1, 3)\n}",
       "  for (int32_t i = 0; i < 9; ++i) {\n    y[i] = i / 4 * 3 + (i + 1) % 3;\n  }"},
      {"for i = -1 to 9 {\n y[i + 1] = floordiv(i, 4)\n}",
       "  for (int32_t i = -1; i < 9; ++i) {\n    y[i + 1] = i >> 2;\n  }"},
      {"for i = 0 to 10 step 3 reverse {\n y[i] = i\n}",
       "  for (int32_t i = 9; i >= 0; i -= 3) {\n    y[i] = i;\n  }"},
      {"for i = 5 to 5 reverse {\n y[i] = i\n}",
       "  for (int32_t i = 4; i >= 5; --i) {\n    y[i] = i;\n  }"},
      {"let n: int32 = w[0]\nn = n + 2\nfor i = 0 to n {\n y[i] = i\n}",
       "  int32_t n = w[0];\n  n += 2;\n"
       "  for (int32_t i = 0, i_end = n; i < i_end; ++i) {\n    y[i] = i;\n  }"},
      {"for i = 0 to 4 {\n for j = i * 2 to i * 2 + 2 {\n y[j] = 0\n}\n}",
       "  for (int32_t i = 0; i < 4; ++i) {\n"
       "    for (int32_t j = i * 2; j < i * 2 + 2; ++j) {\n"
       "      y[j] = 0;\n    }\n  }"},
      {"for i = 0 to 4 {\n y[i] = i\n}\nfor i = 0 to min(w[0], 3) {\n y[i] = i\n}",
       "  for (int32_t i = 0; i < 4; ++i) {\n    y[i] = i;\n  }\n"
       "  for (int32_t i = 0, i_end = min_int32(w[0], 3); i < i_end; ++i) {\n"
       "    y[i] = i;\n  }"},
      {"y[0] = select(w[0] < 0, -1, 1)", "  y[0] = w[0] < 0 ? -1 : 1;"},
      {"y[0] = select(int32(x[0]) < 128, 4, w[0])", "  y[0] = 4;"},
      {"y[0] = g(int32(x[0]), int64(w[0]))", "  y[0] = g(x[0], w[0]);"},
      {"y[0] = g(3, z[0] + z[1])", "  y[0] = g(3, z[0] + z[1]);"},
      {"y[0] = int32(f[0] * 0.1 + float32(x[0]))",
       "  y[0] = (int32_t)(f[0] * 0.1f + (float)x[0]);"},
      {"y[0] = int32(float64(f[0]) * 0.1:float64)", "  y[0] = (int32_t)((double)f[0] * 0.1);"},
      {"y[0] = int32(f[0] < inf:float32)",
       "  y[0] = f[0] < float32_from_bits(0x7f800000u) ? 1 : 0;"},
      {"y[0] = int32(round(f[0]))", "  y[0] = (int32_t)roundf(f[0]);"},
      {"let b: bool = w[0] == 0\nif b | ((w[0] < 3) & b) {\n y[0] = 1\n}",
       "  const bool b = w[0] == 0;\n  if (b || (w[0] < 3 && b)) {\n    y[0] = 1;\n  }"},
      {"if w[0] == 1 {\n y[0] = 1\n} else {\n if w[0] == 2 {\n y[0] = 2\n} else {\n y[0] = 3\n}\n}",
       "  if (w[0] == 1) {\n    y[0] = 1;\n  } else if (w[0] == 2) {\n    y[0] = 2;\n"
       "  } else {\n    y[0] = 3;\n  }"},
      {"let a: int32 = 1\nlet b: int32 = a\nb = a + 1\ny[0] = 2", "  y[0] = 2;"},
      {"array t int16[4]\nt[0] = int16(x[0]) * 256:int16\ny[0] = int32(t[0])",
       "  int16_t t[4];\n  t[0] = (int16_t)(x[0] * 256);\n  y[0] = t[0];"},
      {"let a: uint8 = u[0] + 1:uint8\ny[0] = int32(!a)",
       "  const uint8_t a = (uint8_t)(u[0] + 1);\n  y[0] = (uint8_t)~a;"},
      {"let a: uint32 = uint32(u[0]) * 3:uint32\ny[0] = int32(a >> 1:uint32)",
       "  const uint32_t a = (uint32_t)u[0] * 3u;\n  y[0] = (int32_t)(a >> 1u);"},
      {"let a: int16p2 = int16p2(128:int16, -2:int16)\ny[0] = int32(lane(a, 1))",
       "  const uint32_t a = UINT32_C(0xfffe0080);\n  y[0] = (int16_t)(a >> 16);"},
      {"comment \"rows */ first\"", "  /* rows * / first */"},
  };
  for (const auto& row : rows) EXPECT_EQ(c_of(row.statements), row.expected) << row.statements;
}

const char* const kSmall = R"(
program kws
buffer input_1 int8[490] input align 1 tensor "serving_default_input_1:0" type int8[1,49,10,1]
scale 0.5847029089927673 zero_point 83
buffer identity float32[1] output align 4 tensor "Identity" type float32[]
buffer t int8[20] arena align 4 offset 40
buffer w int8[4] constant align 4 tensor "dense/w" data 0102037f
buffer nan float32[2] constant align 4 data 000000000000c07f
kernel dense_0(x: int8[490] read align 1, w: int8[4] constant align 4, n: float32[2] constant
align 4, y: int8[4] write align 1) "a sum" {
  for i = 0 to 4 {
    y[i] = x[i] + w[i] + int8(n[0])
  }
}
kernel scale_1(x: int8[4] read align 1, y: float32[1] write align 4) "" {
  y[0] = float32(x[0])
}
run {
  call dense_0(input_1, w, nan, t + 8) note "dense" fully_connected macs 40 operators [0]
  call scale_1(t + 8, identity) note "" dequantize macs 0 operators [1, 2]
}
)";

TEST(Emit, TheHeaderStatesTheContract) {
  EmitOptions options;
  options.arena_bytes = 60;
  options.ingot_version = "1.2.3";
  options.model_sha256 = "ab12";
  options.options_text = "--optimize ram */";
  const std::string header = header_of(parsed(kSmall), options);
  for (const char* text :
       {"Generated by Ingot 1.2.3", "SHA-256 ab12", "Options: --optimize ram * /",
        "#ifndef KWS_H\n#define KWS_H\n", "#define KWS_ARENA_BYTES 60u\n",
        "#define KWS_ARENA_ALIGNMENT 16u\n", "#define KWS_ERROR_NULL_POINTER (-1)\n",
        "#define KWS_ERROR_ALIGNMENT (-2)\n", "#define KWS_INPUT_INPUT_1_BYTES 490u\n",
        "#define KWS_INPUT_INPUT_1_RANK 4\n", "#define KWS_INPUT_INPUT_1_SHAPE {1, 49, 10, 1}\n",
        "#define KWS_INPUT_INPUT_1_SCALE 0.5847029f\n", "#define KWS_INPUT_INPUT_1_ZERO_POINT 83\n",
        "#define KWS_OUTPUT_IDENTITY_SHAPE {1}\n", "  const int8_t *input_1;\n} kws_inputs;\n",
        "  float *identity;\n} kws_outputs;\n", "extern \"C\" {",
        "int32_t kws_run(const kws_inputs *inputs, const kws_outputs *outputs, void *arena);\n"}) {
    EXPECT_THAT(header, HasSubstr(text));
  }
  EXPECT_THAT(header, Not(HasSubstr("IDENTITY_SCALE")));
  EXPECT_THAT(header, Not(HasSubstr("_OFFSET")));
}

TEST(Emit, ReusedInputsAreNotConst) {
  EmitOptions options;
  options.arena_bytes = 60;
  options.reuse_inputs = true;
  EXPECT_THAT(header_of(parsed(kSmall), options), HasSubstr("\n  int8_t *input_1;\n"));
}

TEST(Emit, ArenaIoHasOffsetsAndNoStructs) {
  EmitOptions options;
  options.io = EmitOptions::Io::kArena;
  options.arena_bytes = 600;
  loop::Program program = parsed(kSmall);
  program.buffers.at(0).offset_bytes = 64;
  program.buffers.at(1).offset_bytes = 0;
  const std::string header = header_of(program, options);
  EXPECT_THAT(header, HasSubstr("#define KWS_INPUT_INPUT_1_OFFSET 64u\n"));
  EXPECT_THAT(header, HasSubstr("#define KWS_OUTPUT_IDENTITY_OFFSET 0u\n"));
  EXPECT_THAT(header, HasSubstr("int32_t kws_run(void *arena);\n"));
  EXPECT_THAT(header, Not(HasSubstr("struct")));
  const std::string code = code_of(program, options);
  EXPECT_THAT(code, HasSubstr("kws_dense_0((const int8_t *)(memory + 64), kws_w, kws_nan.values, "
                              "(int8_t *)(memory + 48));"));
  EXPECT_THAT(code, HasSubstr("(float *)(void *)memory);"));
}

TEST(Emit, CallsAndKernelsNameTheirOperators) {
  EmitOptions options;
  options.arena_bytes = 60;
  const std::string code = code_of(parsed(kSmall), options);
  EXPECT_THAT(code, HasSubstr("/* a sum\n * For dense (fully_connected), operator 0. */\n"
                              "static KWS_NOINLINE void kws_dense_0(const int8_t *x, "));
  EXPECT_THAT(code, HasSubstr("  /* dense: fully_connected, operator 0 */\n  kws_dense_0("));
  EXPECT_THAT(code, HasSubstr("  /* dequantize, operators 1, 2 */\n  kws_scale_1("));
  EXPECT_THAT(code, HasSubstr("const int8_t *KWS_RESTRICT w"));
  EXPECT_THAT(code, HasSubstr("return KWS_ERROR_ALIGNMENT;"));
}

TEST(Emit, WeightsAreConstAlignedAndExact) {
  EmitOptions options;
  options.arena_bytes = 60;
  const std::string weights = weights_of(parsed(kSmall), options);
  EXPECT_THAT(weights, HasSubstr("extern const int8_t kws_w[4];\n"));
  EXPECT_THAT(weights, HasSubstr("/* dense/w */\nKWS_ALIGN(4) const int8_t kws_w[4] = {\n"
                                 "  1, 2, 3, 127,\n};\n"));
  EXPECT_THAT(weights, HasSubstr("const union kws_nan_bits kws_nan = {{\n  0u, 2143289344u,\n}};"));
}

// A02: no later step can add to the arena unseen.
TEST(Emit, RefusesABufferOutsideTheArena) {
  EmitOptions options;
  options.arena_bytes = 59;
  EXPECT_THROW(emit_c(parsed(kSmall), options), InternalError);
}

}  // namespace
}  // namespace ingot
