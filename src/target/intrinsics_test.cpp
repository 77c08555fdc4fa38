// SPDX-License-Identifier: Apache-2.0
#include "target/intrinsics.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "loop/interpret.h"
#include "loop/text.h"
#include "loop/verify.h"

namespace ingot {
namespace {

// Runs "let r: TYPE = EXPRESSION" and stores lanes or the value as int32; x are the bytes 1, -2, 3,
// -128, and h the halves 300, -7.
std::vector<int32_t> result_of(const std::string& text) {
  const Result<loop::Program> empty = loop::parse(
      "program p\nkernel k(x: int8[4] read align 4, h: int16[2] read align 4, y: "
      "int32[2] update align 4) \"\" {\n}\nrun {\n}\n");
  loop::Program program = *empty;
  program.functions = arm_dsp_intrinsics();
  for (const loop::Function& f : arm_dsp_sums()) program.functions.push_back(f);
  const std::string whole = loop::print(program);
  const std::string marker = "\"\" {\n";
  std::string with_body = whole;
  with_body.insert(with_body.find(marker) + marker.size(), text + "\n");
  const Result<loop::Program> parsed = loop::parse(with_body);
  EXPECT_TRUE(parsed) << text;
  program = *parsed;
  EXPECT_TRUE(loop::find_faults(program).empty()) << text;
  std::vector<uint8_t> x = {1, 0xfe, 3, 0x80};
  std::vector<uint8_t> h = {0x2c, 0x01, 0xf9, 0xff};
  std::vector<uint8_t> y(8);
  const std::vector<std::span<uint8_t>> memory = {x, h, y};
  loop::interpret(program, program.kernels[0], memory);
  return Bytes(y).as<int32_t>();
}

std::vector<int32_t> halves_of(const std::string& expression) {
  return result_of("let r: int16p2 = " + expression + "\ny[0] = int32(lane(r, 0))\n" +
                   "y[1] = int32(lane(r, 1))");
}

const std::string kBytes = "x[0]:int8p4 align 4";
const std::string kHalves = "h[0]:int16p2 align 4";

TEST(ArmDspIntrinsics, meanWhatTheManualSays) {
  using Two = std::vector<int32_t>;
  EXPECT_EQ(halves_of("sxtb16(" + kBytes + ")"), (Two{1, 3}));
  EXPECT_EQ(halves_of("sxtb16_ror8(" + kBytes + ")"), (Two{-2, -128}));
  EXPECT_EQ(halves_of("sxtab16(" + kHalves + ", " + kBytes + ")"), (Two{301, -4}));
  EXPECT_EQ(halves_of("sxtab16_ror8(" + kHalves + ", " + kBytes + ")"), (Two{298, -135}));
  EXPECT_EQ(halves_of("low_bytes(" + kHalves + ")"), (Two{44, -7}));
  EXPECT_EQ(halves_of("sadd16(" + kHalves + ", sxtb16(" + kBytes + "))"), (Two{301, -4}));
  EXPECT_EQ(halves_of("ssub16(" + kHalves + ", sxtb16(" + kBytes + "))"), (Two{299, -10}));
  EXPECT_EQ(halves_of("masked_halves(" + kHalves + ", -1)"), (Two{300, -7}));
  EXPECT_EQ(halves_of("masked_halves(" + kHalves + ", 0)"), (Two{0, 0}));
  const std::string operands = "(1000, " + kHalves + ", " + kHalves + ")";
  EXPECT_EQ(result_of("y[0] = smlad" + operands), (Two{1000 + 90000 + 49, 0}));
  EXPECT_EQ(result_of("y[0] = smuad(" + kHalves + ", " + kHalves + ")"), (Two{90000 + 49, 0}));
  EXPECT_EQ(result_of("y[0] = smlabb" + operands), (Two{1000 + 90000, 0}));
  EXPECT_EQ(result_of("y[0] = smlatt" + operands), (Two{1000 + 49, 0}));
}

}  // namespace
}  // namespace ingot
