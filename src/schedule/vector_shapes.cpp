// SPDX-License-Identifier: Apache-2.0
#include "schedule/vector_shapes.h"

#include <numeric>

#include "target/vector_intrinsics.h"

namespace ingot {
namespace {

using loop::Type;
using loop::var;

VectorFunctions x86_functions(bool has_avx512) {
  VectorFunctions functions;
  for (const int64_t lanes : {8, 16}) {
    if (lanes == 16 && !has_avx512) continue;
    for (const Rescaling rescaling : {Rescaling::kWords, Rescaling::kBent, Rescaling::k31}) {
      loop::Function f = x86_rescaled(lanes, rescaling);
      functions.emplace(f.name, f);
    }
  }
  return functions;
}

// 32 registers of 16 lanes; VPDPBUSD takes x as unsigned bytes.
DotShape avx512_dot() {
  DotShape shape;
  shape.parts = {{"biased", {DType::kUInt8, 4, true}, "dot_bytes"}};
  shape.x_bias = 128;
  shape.lanes = {16, 8, 4};
  shape.most_columns = 6;
  shape.most_sums = 16;
  shape.weight_alignment = 64;
  shape.functions = avx512_vnni_intrinsics();
  shape.known = x86_functions(true);
  return shape;
}

// 16 registers of 8 lanes; VPMADDWD multiplies halfwords.
DotShape avx2_dot() {
  DotShape shape;
  const Type pairs{DType::kInt16, 2};
  shape.parts = {{"even_pairs", pairs, "dot_pairs", {0, 2}},
                 {"odd_pairs", pairs, "dot_pairs", {1, 3}}};
  shape.x_bias = 128;
  shape.weight = DType::kInt16;
  shape.lanes = {8, 4};
  shape.most_sums = 8;
  shape.weight_alignment = 32;
  shape.functions = avx2_intrinsics();
  shape.known = x86_functions(false);
  return shape;
}

// Where each weight is loaded once, bytes are better, and one instruction takes 32 of them.
DotShape avx2_signed_dot() {
  DotShape shape = avx2_dot();
  shape.parts = {{"", loop::kInt8x4, "dot_signed"}};
  shape.x_bias = 0;
  shape.weight = DType::kInt8;
  shape.least_weight = -127;
  shape.without_positions = true;
  return shape;
}

VectorFunctions neon_functions() {
  VectorFunctions functions;
  for (const Rescaling rescaling : {Rescaling::kWords, Rescaling::kBent, Rescaling::k31}) {
    loop::Function f = neon_rescaled(4, rescaling);
    functions.emplace(f.name, f);
  }
  return functions;
}

// 32 registers of 4 lanes.
DotShape neon_dot() {
  DotShape shape;
  shape.parts = {{"", loop::kInt8x4, "dot_words"}};
  shape.lanes = {4};
  shape.weight_alignment = 16;
  shape.functions = neon_intrinsics();
  shape.known = neon_functions();
  return shape;
}

// 8 vector registers, but the sums are in core registers of even number, of which there are 7.
DotShape mve_dot() {
  DotShape shape;
  shape.word = 16;
  std::vector<int64_t> all(16);
  std::iota(all.begin(), all.end(), 0);
  shape.parts = {{"", {DType::kInt8, 16}, "dot_x16", all}};
  shape.across = true;
  shape.joins_tables = true;
  shape.first_dot = "first_dot_x16";
  shape.lanes = {4};
  shape.most_vectors = 1;
  shape.most_columns = 2;
  shape.most_sums = 2;
  shape.functions = mve_intrinsics();
  return shape;
}

VectorFunctions mve_functions() {
  const Type type{DType::kInt32, 4};
  VectorFunctions functions;
  for (const bool up : {false, true}) {
    loop::Function f;
    f.name = up ? "requantize_up_x4" : "requantize_x4";
    f.params = {{"x", type}, {"multiplier", type}, {"shift", type}};
    f.body = {loop::Let{
        "high", loop::call("high_product_x4", type, {var("x", type), var("multiplier", type)})}};
    f.result = loop::call(up ? "shifted_up_x4" : "shifted_x4", type,
                          {var("high", type), var("shift", type)});
    f.comment =
        up ? "x * multiplier * 2^(shift - 31), rounded twice, half up"
           : "x * multiplier * 2^(shift - 31), rounded twice: half up, then half away from zero";
    functions[f.name] = f;
  }
  return functions;
}

}  // namespace

std::optional<DotShape> dot_shape_of(const Target& target) {
  if (target.features.has_avx512_vnni) return avx512_dot();
  if (target.features.has_avx2) return avx2_dot();
  if (target.features.has_neon) return neon_dot();
  if (!target.features.has_mve) return std::nullopt;
  DotShape shape = mve_dot();
  shape.known = mve_functions();
  return shape;
}

std::optional<DotShape> dense_shape_of(const Target& target) {
  const TargetFeatures& has = target.features;
  return has.has_avx2 && !has.has_avx512_vnni ? std::optional(avx2_signed_dot()) : std::nullopt;
}

std::optional<TermShape> term_shape_of(const Target& target) {
  const TargetFeatures& has = target.features;
  TermShape shape;
  if (has.has_avx512_vnni) {
    shape.lanes = {16, 8, 4};
    shape.most_columns = 12;
    shape.most_sums = 24;
    shape.known = x86_functions(true);
  } else if (has.has_avx2) {
    shape.lanes = {8, 4};
    shape.known = x86_functions(false);
  } else if (has.has_neon) {
    shape.lanes = {4};
    shape.most_sums = 16;
    shape.known = neon_functions();
  } else if (has.has_mve) {
    shape.lanes = {4};
    shape.most_vectors = 2;
    shape.most_sums = 6;
    shape.narrow_taps = 3;
    shape.joins_tables = true;
    shape.add_scaled = "add_scaled";
    shape.functions = mve_intrinsics();
    shape.known = mve_functions();
  } else {
    return std::nullopt;
  }
  return shape;
}

std::optional<RowShape> row_shape_of(const Target& target) {
  return target.is_portable() ? std::optional(RowShape{}) : std::nullopt;
}

}  // namespace ingot
