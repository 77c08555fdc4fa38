// SPDX-License-Identifier: Apache-2.0
#include "target/intrinsics.h"

#include <functional>
#include <string>
#include <utility>

namespace ingot {
namespace {

using loop::Expr;
using loop::Function;
using loop::kInt16;
using loop::kInt16x2;
using loop::kInt32;
using loop::kInt8x4;
using loop::lane;

constexpr const char* kHasDsp = "defined(__GNUC__) && defined(__ARM_FEATURE_DSP)";

// Bytes `first` and `first` + 2 of x, each added to its half of `sum`, if any.
Function extend(std::string name, std::string comment, std::string assembly, int64_t first,
                bool adds) {
  const Expr x = loop::var("x", kInt8x4);
  const Expr sum = loop::var("sum", kInt16x2);
  const auto half = [&](int64_t i) {
    const Expr byte = loop::cast(kInt16, lane(x, first + 2 * i));
    return adds ? lane(sum, i) + byte : byte;
  };
  Function f;
  f.name = std::move(name);
  if (adds) f.params.push_back({"sum", kInt16x2});
  f.params.push_back({"x", kInt8x4});
  f.result = loop::pack(kInt16x2, {half(0), half(1)});
  f.comment = std::move(comment);
  f.assembly = std::move(assembly);
  f.condition = kHasDsp;
  return f;
}

// sum + a[half] * b[half] over the halves.
Function multiply_add(std::string name, std::string comment, std::string assembly,
                      const std::vector<int64_t>& halves) {
  Expr result = loop::var("sum");
  for (const int64_t half : halves) {
    const auto factor = [&](const char* operand) {
      return loop::cast(kInt32, lane(loop::var(operand, kInt16x2), half));
    };
    result = result + factor("a") * factor("b");
  }
  return {.name = std::move(name),
          .params = {{"sum", kInt32}, {"a", kInt16x2}, {"b", kInt16x2}},
          .body = {},
          .result = std::move(result),
          .comment = std::move(comment),
          .spelling = {},
          .assembly = std::move(assembly),
          .condition = kHasDsp};
}

// x, brought into the range of int8.
Function saturate_int8() {
  return {.name = "saturate_int8",
          .params = {{"x", kInt32}},
          .body = {},
          .result = loop::min(loop::max(loop::var("x"), loop::lit(-128)), loop::lit(127)),
          .comment = "x, brought into the range of int8",
          .spelling = {},
          .assembly = "ssat %0, #8, %1",
          .condition = kHasDsp,
          .movable = true};
}

// a[0] * b[0] + a[1] * b[1]
Function dual_multiply() {
  const auto product = [](int64_t half) {
    const auto factor = [&](const char* operand) {
      return loop::cast(kInt32, lane(loop::var(operand, kInt16x2), half));
    };
    return factor("a") * factor("b");
  };
  return {.name = "smuad",
          .params = {{"a", kInt16x2}, {"b", kInt16x2}},
          .body = {},
          .result = product(0) + product(1),
          .comment = "the sum of the products of the halves of a and b",
          .spelling = {},
          .assembly = "smuad %0, %1, %2",
          .condition = kHasDsp};
}

// The low byte of each half of x, sign extended: sxtb16 of a word that is seen as halfwords.
Function low_bytes() {
  const auto low = [](int64_t i) {
    const Expr half = loop::cast(kInt32, lane(loop::var("x", kInt16x2), i));
    const Expr byte = loop::binary(loop::BinaryOp::kAnd, half, loop::lit(255));
    const Expr flipped = loop::binary(loop::BinaryOp::kXor, byte, loop::lit(128));
    return loop::cast(kInt16, flipped - 128);
  };
  return {.name = "low_bytes",
          .params = {{"x", kInt16x2}},
          .body = {},
          .result = loop::pack(kInt16x2, {low(0), low(1)}),
          .comment = "the low byte of each half of x, as a halfword",
          .spelling = {},
          .assembly = "sxtb16 %0, %1",
          .condition = kHasDsp};
}

// By halves, from the halves of x and what is `other` there.
Function by_halves(std::string name, Function::Parameter other, std::string comment,
                   std::string assembly,
                   const std::function<Expr(const Expr& half, const Expr& other)>& result) {
  const Expr x = loop::var("x", kInt16x2);
  const Expr y = loop::var(other.name, other.type);
  const auto half = [&](int64_t i) {
    return result(lane(x, i), other.type.is_scalar() ? y : lane(y, i));
  };
  return {.name = std::move(name),
          .params = {{"x", kInt16x2}, other},
          .body = {},
          .result = loop::pack(kInt16x2, {half(0), half(1)}),
          .comment = std::move(comment),
          .spelling = {},
          .assembly = std::move(assembly),
          .condition = kHasDsp};
}

}  // namespace

std::vector<Function> arm_dsp_sums() {
  const Function::Parameter halves = {"y", kInt16x2};
  return {
      by_halves("sadd16", halves, "the sums of the halves of x and y", "sadd16 %0, %1, %2",
                [](const Expr& a, const Expr& b) { return a + b; }),
      by_halves("ssub16", halves, "the differences of the halves of x and y", "ssub16 %0, %1, %2",
                [](const Expr& a, const Expr& b) { return a - b; }),
      by_halves("masked_halves", {"mask", kInt32}, "x, or zeros: the mask is -1 or 0",
                "and %0, %1, %2",
                [](const Expr& a, const Expr& mask) {
                  const Expr wide = loop::cast(kInt32, a);
                  return loop::cast(kInt16, loop::binary(loop::BinaryOp::kAnd, wide, mask));
                }),
  };
}

std::vector<Function> arm_dsp_intrinsics() {
  return {
      extend("sxtb16", "bytes 0 and 2 of x, as halfwords", "sxtb16 %0, %1", 0, false),
      extend("sxtb16_ror8", "bytes 1 and 3 of x, as halfwords", "sxtb16 %0, %1, ror #8", 1, false),
      extend("sxtab16", "bytes 0 and 2 of x, each added to its half of sum", "sxtab16 %0, %1, %2",
             0, true),
      extend("sxtab16_ror8", "bytes 1 and 3 of x, each added to its half of sum",
             "sxtab16 %0, %1, %2, ror #8", 1, true),
      low_bytes(),
      dual_multiply(),
      saturate_int8(),
      multiply_add("smlad", "sum and the products of the halves of a and b", "smlad %0, %1, %2, %0",
                   {0, 1}),
      multiply_add("smlabb", "sum and the product of the low halves of a and b",
                   "smlabb %0, %1, %2, %0", {0}),
      multiply_add("smlatt", "sum and the product of the high halves of a and b",
                   "smlatt %0, %1, %2, %0", {1}),
  };
}

Function arm_greater_bytes() {
  std::vector<Expr> bytes;
  for (int64_t i = 0; i < 4; ++i) {
    bytes.push_back(loop::max(lane(loop::var("a", kInt8x4), i), lane(loop::var("b", kInt8x4), i)));
  }
  return {.name = "greater_bytes",
          .params = {{"a", kInt8x4}, {"b", kInt8x4}},
          .body = {},
          .result = loop::pack(kInt8x4, std::move(bytes)),
          .comment = "the greater of the bytes of a and b",
          .spelling = {},
          .assembly = "ssub8 %0, %1, %2\\n\\tsel %0, %1, %2",
          .condition = kHasDsp,
          .constraints = "&r,r,r"};
}

Function arm_float_multiply_add() {
  const auto operand = [](const char* name) { return loop::var(name, loop::kFloat32); };
  return {.name = "multiply_add",
          .params = {{"sum", loop::kFloat32}, {"a", loop::kFloat32}, {"b", loop::kFloat32}},
          .body = {},
          .result = operand("sum") + operand("a") * operand("b"),
          .comment = "sum + a * b, the product rounded, too",
          .spelling = {},
          .assembly = "vmla.f32 %0, %1, %2",
          .condition = "defined(__GNUC__) && defined(__ARM_FP) && defined(__thumb2__)"};
}

}  // namespace ingot
