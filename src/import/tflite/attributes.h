// SPDX-License-Identifier: Apache-2.0
// The arithmetic behind attributes of .tflite operators, apart from reading them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/ops.h"
#include "import/tflite/model.h"
#include "tensor/type.h"

namespace ingot::tflite {

// The cells that padding SAME adds to one axis: so many that there are ceil(input / stride)
// windows, the odd one at the end.
struct AxisPadding {
  int64_t before = 0;
  int64_t after = 0;
  bool operator==(const AxisPadding&) const = default;
};
AxisPadding same_padding(int64_t input, int64_t kernel, int64_t stride, int64_t dilation);

// The clamp that `activation` is on a tensor of `type`: its bounds are in units of the element,
// for quantised tensors computed as TFLite does (CalculateActivationRangeQuantized: the real bound
// divided by the scale in float, rounded half away from zero, added to the zero point, cut to the
// element type). nullopt if the activation is no clamp, or the type is an integer per channel.
std::optional<Clamp> clamp_of(format::Activation activation, const TensorType& type);

// An axis in [0, rank), from one that may be counted from the end; nullopt if it is beyond.
std::optional<int64_t> resolved_axis(int64_t axis, int64_t rank);

// `shape` with its one -1, if any, replaced such that there are `num_elements`. If that cannot be,
// `fault` says why.
std::optional<Shape> resolved_shape(const std::vector<int64_t>& shape, int64_t num_elements,
                                    std::string& fault);

}  // namespace ingot::tflite
