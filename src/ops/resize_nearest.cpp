// SPDX-License-Identifier: Apache-2.0
// resize_nearest: each cell of the output is the nearest one of the input. Which one that is,
// TFLite finds in float arithmetic (source: the formula of its reference kernel); the kernel that
// we write repeats cells or leaves cells out, which is the same wherever extents grow or shrink by
// a whole factor and no rounding comes between: a limit compares the two, cell by cell.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/checks.h"
#include "ops/strided.h"

namespace ingot {
namespace {

// Resizing by more makes no sense, and every cell is looked at.
constexpr int64_t kMostCells = int64_t{1} << 20;

// The cell of `in` cells that is nearest to cell `i` of `out`.
int64_t nearest(const ResizeNearest& resize, int64_t i, int64_t in, int64_t out) {
  const float scale = resize.align_corners && out > 1
                          ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                          : static_cast<float>(in) / static_cast<float>(out);
  const float place = (static_cast<float>(i) + (resize.half_pixel_centers ? 0.5F : 0.0F)) * scale;
  const float rounded = resize.align_corners ? std::round(place) : std::floor(place);
  return std::clamp<int64_t>(static_cast<int64_t>(rounded), 0, in - 1);
}

// Cells that are repeated, or of which one in `step` is taken, the `first` of them.
struct Steps {
  int64_t repeat = 1;
  int64_t step = 1;
  int64_t first = 0;
  int64_t of(int64_t i) const { return first + i / repeat * step; }
};

std::optional<Steps> steps_of(const ResizeNearest& resize, int64_t in, int64_t out) {
  if (out % in == 0) return Steps{.repeat = out / in};
  if (in % out != 0) return std::nullopt;
  const int64_t step = in / out;
  return Steps{.step = step, .first = resize.half_pixel_centers ? step / 2 : 0};
}

bool are_whole_steps(const ResizeNearest& resize, int64_t in, int64_t out) {
  const std::optional<Steps> steps = steps_of(resize, in, out);
  if (!steps || out > kMostCells) return false;
  for (int64_t i = 0; i < out; ++i) {
    if (steps->of(i) != nearest(resize, i, in, out)) return false;
  }
  return true;
}

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  const ResizeNearest& resize = std::get<ResizeNearest>(op);
  if (Fault fault = check_arity(inputs, 1, declared)) return *fault;
  const TensorType& x = *inputs[0].type;
  if (Fault fault = check_same_dtype(x, declared[0])) return *fault;
  if (Fault fault = check_indexable(x, "the input")) return *fault;
  if (x.rank() != 4) {
    return shape_fault(fmt::format("the input has rank {}, 4 is needed", x.rank()));
  }
  if (resize.height < 1 || resize.width < 1) {
    return attribute_fault(
        fmt::format("its size is {} x {}, at least 1 x 1 is needed", resize.height, resize.width));
  }
  return with_shape(declared[0], {x.shape[0], resize.height, resize.width, x.shape[3]});
}

constexpr Limit kLimits[] = {
    {"input and output have the same scale and zero point",
     [](const Op& /*op*/, Operands inputs, std::span<const TensorType> outputs) {
       return inputs[0].type->quantization == outputs[0].quantization;
     }},
    {"height and width grow or shrink by a whole factor, and nearest cells are as far apart",
     [](const Op& op, Operands inputs, std::span<const TensorType> /*outputs*/) {
       const auto& resize = std::get<ResizeNearest>(op);
       const Shape& in = inputs[0].type->shape;
       return are_whole_steps(resize, in[1], resize.height) &&
              are_whole_steps(resize, in[2], resize.width);
     }}};

void reference_rule(const Op& op, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding /*rounding*/) {
  const ResizeNearest& resize = std::get<ResizeNearest>(op);
  const Shape& in = inputs[0].type->shape;
  int64_t to = 0;
  for (int64_t n = 0; n < in[0]; ++n) {
    for (int64_t oy = 0; oy < resize.height; ++oy) {
      const int64_t row = n * in[1] + nearest(resize, oy, in[1], resize.height);
      for (int64_t ox = 0; ox < resize.width; ++ox) {
        const int64_t cell = row * in[2] + nearest(resize, ox, in[2], resize.width);
        for (int64_t c = 0; c < in[3]; ++c) {
          copy_element(inputs[0], cell * in[3] + c, outputs[0], to++);
        }
      }
    }
  }
}

void lower(Lowering& lowering) {
  const ResizeNearest& resize = lowering.op<ResizeNearest>();
  const Shape& in = lowering.input_type(0).shape;
  const int64_t row = in[2] * in[3];
  const Steps y = *steps_of(resize, in[1], resize.height);
  const Steps x = *steps_of(resize, in[2], resize.width);
  lower_strided(lowering, y.first * row + x.first * in[3],
                {{in[0], in[1] * row},
                 {resize.height / y.repeat, y.step * row},
                 {y.repeat, 0},
                 {resize.width / x.repeat, x.step * in[3]},
                 {x.repeat, 0},
                 {in[3], 1}});
}

}  // namespace

constinit const OpRules ResizeNearest::rules = {
    .infer = infer, .limits = kLimits, .reference = reference_rule, .lower = lower};

}  // namespace ingot
