// SPDX-License-Identifier: Apache-2.0
// What operators that only move elements have in common: the output, element by element, is the
// input at places that are affine in the output's index.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ops/lowering.h"

namespace ingot {

// A dimension of the output and how far one step along it goes in the input, in elements.
struct StridedDim {
  int64_t extent = 1;
  int64_t stride = 0;
};

// The nest that writes the output from front to back. `first` is the place of output element 0.
void lower_strided(Lowering& lowering, int64_t first, const std::vector<StridedDim>& dims);

// How far a step along each dimension goes in a tensor of `shape`, in elements.
std::vector<int64_t> strides_of(const Shape& shape);

// Copies element `from` of x to element `to` of y, whatever their (equal) type.
void copy_element(const TensorView& x, int64_t from, const MutableTensorView& y, int64_t to);

// Same scale and zero point, for operators that move elements.
extern const Limit kMovesElements[1];

}  // namespace ingot
