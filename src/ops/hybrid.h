// SPDX-License-Identifier: Apache-2.0
// Hybrid layers: float activations, int8 weights ("dynamic range quantisation"), as TFLite's own
// kernels compute them at run time. Each row of the input (of a convolution: each image of the
// batch) is quantised to int8 by its own range, multiplied in integers, and scaled back:
//
//   symmetric    scale = max |x| / 127, q = round(x * (127 / max |x|)), zero point 0
//   asymmetric   over low = min(0, x) and high = max(0, x), in float64: step = (high - low) / 255,
//                the zero point is -128 - low / step or 127 - high / step, whichever has the
//                smaller terms, rounded; scale = float32(step), q = round(zero point + x * (1 /
//                scale)), both rounded to float32 before q is
//   y[c] = float32(sum of (q - zero point) * w) * (scale * scale(w)[c]) + bias[c]
//
// In that order for dense layers and convolutions; depthwise convolutions multiply the sum by
// scale, then by scale(w)[c]; convolutions of several groups by scale(w)[c], then by scale.
//
// Ties round away from zero; every operation but those marked is one of float32, rounded once, in
// the order of the parentheses. The sum is one of integers, so its order does not matter. A row of
// zeros has scale 1. What is not a number has no part in the range and becomes q = 0.
//
// There is nothing to requantise, so --rounding makes no difference here.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ops/lowering.h"
#include "ops/rules.h"

namespace ingot {

inline bool is_hybrid(const TensorType& x, const TensorType& weights) {
  return x.dtype == DType::kFloat32 && weights.dtype == DType::kInt8;
}

// In which order a sum is multiplied by the two scales.
enum class ScaleOrder : uint8_t { kProduct, kInputFirst, kWeightsFirst };

// How the input of a hybrid layer is cut into rows, and what becomes of them.
struct InputRows {
  int64_t num_elements = 0;  // of one row
  bool asymmetric = false;
  ScaleOrder order = ScaleOrder::kProduct;
};

// Lowering: a row, quantised into scratch memory.
class QuantizedRow {
 public:
  // Of input 0, whose parameter is `x`.
  QuantizedRow(Lowering& lowering, std::string x, const InputRows& rows);

  // Fills the scratch memory from the elements of x from `first` on, and names what the functions
  // below use.
  loop::Block quantize(const loop::Expr& first) const;

  // The quantised element `index` of the row without its zero point, as int32.
  loop::Expr centred(const loop::Expr& index) const;
  // A sum of products with weights of scale `weight_scale` as a real number.
  loop::Expr scaled(const loop::Expr& sum, const loop::Expr& weight_scale) const;

 private:
  loop::Block symmetric_range(const loop::Expr& first) const;
  loop::Block asymmetric_range(const loop::Expr& first) const;
  loop::Expr scale() const { return loop::var(scale_, loop::kFloat32); }
  loop::Expr element(const loop::Expr& first) const;
  loop::Block over_row(loop::Block body) const;

  Lowering& lowering_;
  std::string x_;
  InputRows rows_;
  std::string q_;  // the scratch memory
  std::string i_;
  std::string scale_;
  std::string inverse_;
  std::string zero_point_;
};

namespace reference {

// All rows of a float tensor. Shares no code with QuantizedRow.
struct QuantizedRows {
  std::vector<int64_t> centred;  // by element: q - zero point
  std::vector<float> scales;     // by row
  ScaleOrder order = ScaleOrder::kProduct;

  float scaled(int64_t sum, int64_t row, float weight_scale) const;
};
QuantizedRows quantize_rows(const TensorView& x, const InputRows& rows);

}  // namespace reference
}  // namespace ingot
