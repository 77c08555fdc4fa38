// SPDX-License-Identifier: Apache-2.0
#include "target/vector_intrinsics.h"

#include <fmt/format.h>

#include <utility>

namespace ingot {
namespace {

using loop::Expr;
using loop::Function;
using loop::kInt32;
using loop::lane;
using loop::lit;
using loop::Type;
using loop::var;

constexpr const char* kHasMve = "defined(__ARM_FEATURE_MVE)";

Expr i32(const Expr& e) { return loop::cast(kInt32, e); }

Function pack_lanes(std::string name, const std::vector<Expr>& lanes, std::string comment,
                    std::vector<Function::Parameter> params, std::string assembly,
                    std::string constraints = "w,r,r") {
  Function f;
  f.name = std::move(name);
  f.params = std::move(params);
  f.result = loop::pack({DType::kInt32, 4}, lanes);
  f.comment = std::move(comment);
  f.assembly = std::move(assembly);
  f.constraints = std::move(constraints);
  f.condition = kHasMve;
  return f;
}

// The bytes of four words.
Function bytes_of_words() {
  Function f;
  f.name = "words_x4";
  std::vector<Expr> bytes;
  for (const char* name : {"a", "b", "c", "d"}) {
    f.params.push_back({name, loop::kInt8x4});
    for (int64_t i = 0; i < 4; ++i) bytes.push_back(lane(var(name, loop::kInt8x4), i));
  }
  f.result = loop::pack({DType::kInt8, 16}, std::move(bytes));
  f.comment = "the bytes of a, b, c and d";
  f.assembly = "vmov %q0[2], %q0[0], %1, %3\\n\\tvmov %q0[3], %q0[1], %2, %4";
  f.constraints = "w,r,r,r,r";
  f.condition = kHasMve;
  return f;
}

constexpr const char* kMoveLanes1And3 = "vmov %q0[3], %q0[1], %1, %2";

// round(x * multiplier / 2^31), half up.
Function high_product() {
  const Type type{DType::kInt32, 4};
  const Type wide{DType::kInt64, 4};
  const auto i64 = [&](const char* name) { return loop::cast(wide, var(name, type)); };
  const auto all = [&](int64_t value) { return loop::cast(wide, lit(value, loop::kInt64)); };
  Function f;
  f.name = "high_product_x4";
  f.params = {{"x", type}, {"multiplier", type}};
  f.result =
      loop::cast(type, loop::binary(loop::BinaryOp::kShr,
                                    i64("x") * i64("multiplier") + all(int64_t{1} << 30), all(31)));
  f.comment = "x * multiplier / 2^31, rounded half up";
  f.expression = "(int32x4)vqrdmulhq_s32((int32x4_t)%1, (int32x4_t)%2)";
  f.condition = kHasMve;
  return f;
}

// round(x * 2^shift) for a negative shift, half away from zero or up.
Function shifted(bool up) {
  const Type type{DType::kInt32, 4};
  const Expr x = var("x", type);
  const auto all = [&](int64_t value) { return loop::cast(type, lit(value)); };
  const Expr shift = var("shift", type);
  const Expr half = loop::binary(loop::BinaryOp::kShl, all(1), all(-1) - shift);
  const Expr is_negative = loop::select(loop::less(x, all(0)), all(1), all(0));
  const Expr raised = x + half;
  Function f;
  f.name = up ? "shifted_up_x4" : "shifted_x4";
  f.params = {{"x", type}, {"shift", type}};
  f.result = loop::binary(loop::BinaryOp::kShr, up ? raised : raised - is_negative, all(0) - shift);
  f.comment = up ? "x * 2^shift, rounded half up" : "x * 2^shift, rounded half away from zero";
  const char* from =
      up ? "(int32x4_t)%1" : "vaddq_s32((int32x4_t)%1, vshrq_n_s32((int32x4_t)%1, 31))";
  f.expression = fmt::format("(int32x4)vrshlq_s32({}, (int32x4_t)%2)", from);
  f.condition = kHasMve;
  return f;
}

// Lanes `first`, `first` + 2 ... of eight of 16 bits, and what they are added to.
Function every_second(int64_t first, bool adds) {
  const Type type{DType::kInt32, 4};
  const Expr v = var("v", {DType::kInt16, 8});
  std::vector<Expr> lanes;
  for (int64_t i = first; i < 8; i += 2) lanes.push_back(i32(lane(v, i)));
  const std::string parity = first == 0 ? "even" : "odd";
  const std::string wide =
      fmt::format("vmovl{}q_s16((int16x8_t)%{})", first == 0 ? "b" : "t", adds ? 2 : 1);
  Function f;
  f.name = (adds ? "add_" : "") + parity + "_x8";
  if (adds) f.params = {{"sum", type}};
  f.params.push_back({"v", {DType::kInt16, 8}});
  f.result = loop::pack(type, std::move(lanes));
  if (adds) f.result = var("sum", type) + f.result;
  f.comment = (adds ? "sum and the " : "the ") + parity + " lanes of v";
  if (adds) {
    // In the order of the statements: vectors that wait for their turn find no register.
    f.assembly =
        fmt::format("vmovl{}.s16 q7, %q1\\n\\tvadd.i32 %q0, %q0, q7", first == 0 ? "b" : "t");
    f.constraints = "w,w,~q7";
  } else {
    f.expression = "(int32x4)" + wide;
  }
  f.condition = kHasMve;
  return f;
}

// Eight lanes of 16 bits, saturated, from four that become the even and four that become the odd.
Function paired() {
  const Type half{DType::kInt32, 4};
  std::vector<Expr> lanes;
  for (int64_t i = 0; i < 4; ++i) {
    for (const char* name : {"even", "odd"}) {
      const Expr x = lane(var(name, half), i);
      lanes.push_back(
          loop::cast(loop::kInt16, loop::min(loop::max(x, lit(INT16_MIN)), lit(INT16_MAX))));
    }
  }
  Function f;
  f.name = "paired_x8";
  f.params = {{"even", half}, {"odd", half}};
  f.result = loop::pack({DType::kInt16, 8}, std::move(lanes));
  f.comment = "the lanes of even and odd in turn, saturated to 16 bits";
  f.expression = "(int16x8)vqmovntq_s32(vqmovnbq_s32((int16x8_t)%1, (int32x4_t)%1), (int32x4_t)%2)";
  f.condition = kHasMve;
  return f;
}

}  // namespace

Function lanewise_dot(std::string name, int64_t lanes, int64_t terms, Type x_type, DType weight) {
  const Type sum_type{DType::kInt32, lanes};
  const Type w_type{weight, lanes * terms};
  const Expr sum = var("sum", sum_type);
  const Expr x = var("x", x_type);
  const Expr w = var("w", w_type);
  std::vector<Expr> results;
  for (int64_t i = 0; i < lanes; ++i) {
    Expr total = lane(sum, i);
    for (int64_t t = 0; t < terms; ++t) {
      const int64_t from = x_type.lanes == terms ? t : i * terms + t;
      total = total + i32(lane(x, from)) * i32(lane(w, i * terms + t));
    }
    results.push_back(total);
  }
  Function f;
  f.name = std::move(name);
  f.params = {{"sum", sum_type}, {"x", x_type}, {"w", w_type}};
  f.result = loop::pack(sum_type, std::move(results));
  return f;
}

Function rescaled(int64_t lanes, Rescaling rescaling) {
  const Type type{DType::kInt32, lanes};
  const Type half{DType::kInt64, lanes / 2};
  std::vector<Expr> words;
  for (int64_t i = 0; i < lanes; ++i) {
    const auto i64 = [&](const char* name) {
      return loop::cast(loop::kInt64, lane(var(name, type), i));
    };
    const bool low = i < lanes / 2;
    Expr sum = i64("a") * i64("m") + lane(var(low ? "low" : "high", half), low ? i : i - lanes / 2);
    if (rescaling == Rescaling::kBent) {
      sum = sum + loop::cast(loop::kInt64, loop::shr(lane(var("a", type), i), 31)) * i64("bend");
    }
    words.push_back(loop::cast(kInt32, loop::shr(sum, rescaling == Rescaling::k31 ? 31 : 32)));
  }
  Function f;
  const char* stem = rescaling == Rescaling::kWords  ? "rescaled"
                     : rescaling == Rescaling::kBent ? "rescaled_bent"
                                                     : "rescaled_31";
  f.name = fmt::format("{}_x{}", stem, lanes);
  f.params = {{"a", type}, {"m", type}, {"low", half}, {"high", half}};
  if (rescaling == Rescaling::kBent) f.params.push_back({"bend", type});
  f.result = loop::pack(type, std::move(words));
  f.comment = rescaling == Rescaling::kWords ? "the high words of a * m + offset"
              : rescaling == Rescaling::kBent
                  ? "the high words of a * m + offset, less bend where a is negative"
                  : "a * m + offset, shifted right by 31";
  return f;
}

std::vector<Function> mve_intrinsics() {
  const Type bytes{DType::kInt8, 16};
  const Type type{DType::kInt32, 4};
  Function sum;
  sum.name = "dot_x16";
  sum.params = {{"sum", kInt32}, {"x", bytes}, {"w", bytes}};
  Expr products = lit(0);
  sum.result = var("sum");
  for (int64_t i = 0; i < 16; ++i) {
    const Expr product = i32(lane(var("x", bytes), i)) * i32(lane(var("w", bytes), i));
    products = products + product;
    sum.result = sum.result + product;
  }
  sum.comment = "sum and the products of x and w";
  sum.assembly = "vmladava.s8 %0, %q1, %q2";
  sum.constraints = "Te,w,w";
  sum.condition = kHasMve;
  Function first = sum;
  first.name = "first_dot_x16";
  first.params.erase(first.params.begin());
  first.result = products;
  first.comment = "the products of x and w";
  first.assembly = "vmladav.s8 %0, %q1, %q2";
  Function scaled;
  scaled.name = "add_scaled_x4";
  scaled.params = {{"sum", type}, {"w", type}, {"x", kInt32}};
  scaled.result = var("sum", type) + var("w", type) * loop::cast(type, var("x"));
  scaled.comment = "sum + w * x";
  scaled.expression = "(int32x4)vmlaq_n_s32((int32x4_t)%1, (int32x4_t)%2, %3)";
  scaled.condition = kHasMve;
  const Type halfwords{DType::kInt16, 8};
  Function scaled_halfwords;
  scaled_halfwords.name = "scaled_x8";
  scaled_halfwords.params = {{"w", halfwords}, {"x", loop::kInt16}};
  scaled_halfwords.result = var("w", halfwords) * loop::cast(halfwords, var("x", loop::kInt16));
  scaled_halfwords.comment = "w * x";
  scaled_halfwords.expression = "(int16x8)vmulq_n_s16((int16x8_t)%1, %2)";
  scaled_halfwords.condition = kHasMve;
  const Expr a = var("a");
  const Expr b = var("b");
  const Expr v = var("v", type);
  return {sum, first,
          pack_lanes("lanes_0_2", {a, lit(0), b, lit(0)}, "a vector with these lanes",
                     {{"a", kInt32}, {"b", kInt32}}, "vmov %q0[2], %q0[0], %1, %2"),
          pack_lanes("with_lanes_1_3", {lane(v, 0), a, lane(v, 2), b}, "v with these lanes",
                     {{"v", type}, {"a", kInt32}, {"b", kInt32}}, kMoveLanes1And3),
          // Compilers keep lr for the counter of a loop unless something in the loop takes it.
          pack_lanes("with_lanes_1_3_and_lr", {lane(v, 0), a, lane(v, 2), b},
                     "v with these lanes, where lr is a register like others",
                     {{"v", type}, {"a", kInt32}, {"b", kInt32}}, kMoveLanes1And3, "w,r,r,~lr"),
          bytes_of_words(), scaled, scaled_halfwords, every_second(0, false),
          every_second(1, false), every_second(0, true), every_second(1, true), paired(),
          high_product(), shifted(false), shifted(true)};
}

namespace {

// As an instruction it stays where it stands: compilers that load earlier run out of registers.
std::string loaded_near(const std::string& type, const std::string& size,
                        const std::string& registers = "r") {
  return fmt::format(
      "{0} v; __asm__ volatile(\"vldr{1} %q0, [%1, %2]\" : \"=w\"(v) : \"{2}\"(p), "
      "\"i\"(distance), \"m\"(*(const int8_t(*)[])p)); return v;",
      type, size, registers);
}

}  // namespace

VectorExtension mve_vectors() {
  return {kHasMve,
          "arm_mve.h",
          {{"load_int8x4_as_int32x4", "return (int32x4)vldrbq_s32(p);"},
           {"load_int8x8_as_int16x8", loaded_near("int16x8", "b.s16", "l")},
           {"load_int32x4", "return (int32x4)vldrwq_s32(p);"},
           {"load_int8x16", loaded_near("int8x16", "b.8")},
           {"load_int8x16_aligned", loaded_near("int8x16", "w.32")},
           {"add_to_all_int32x4", "return (int32x4)vaddq_n_s32((int32x4_t)v, x);"},
           {"splat_int16x8", "return (int16x8)vdupq_n_s16(x);"},
           {"splat_int32x4", "return (int32x4)vdupq_n_s32(x);"},
           {"store_saturated_int32x4_as_int8x4",
            "__asm__(\"vqmovnb.s32 %q0, %q0\\n\\tvqmovnb.s16 %q0, %q0\" : \"+w\"(v)); "
            "vstrbq_s32(p, (int32x4_t)v);"},
           {"store_int32x4_as_int8x4", "vstrbq_s32(p, (int32x4_t)v);"},
           {"store_saturated_int16x8_as_int8x8",
            "vstrbq_s16(p, (int16x8_t)vqmovnbq_s16((int8x16_t)v, (int16x8_t)v));"},
           {"store_int16x8_as_int8x8", "vstrbq_s16(p, (int16x8_t)v);"},
           {"min_int32x4", "return (int32x4)vminq_s32((int32x4_t)a, (int32x4_t)b);"},
           {"max_int32x4", "return (int32x4)vmaxq_s32((int32x4_t)a, (int32x4_t)b);"}},
          {{"load_int8x16", 128}, {"load_int8x16_aligned", 512}, {"load_int8x8_as_int16x8", 128}}};
}

}  // namespace ingot
