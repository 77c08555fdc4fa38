// SPDX-License-Identifier: Apache-2.0
// reduce: the mean over some of the dimensions.
//
// Quantised, it is TFLM's QuantizedMeanOrSum (reference/reduce.h): an int32 sum of the centred
// elements and one MultiplyByQuantizedMultiplier, into whose multiplier the division by the number
// of elements is folded (integer division, after as many bits to the left as that number has). The
// arithmetic is integer in every rounding mode: the float mode rounds as the single one.
#include <fmt/format.h>

#include <bit>

#include "ops/access.h"
#include "ops/fixed_point.h"
#include "ops/rescale.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::Expr;
using loop::lit;
using loop::var;

bool is_reduced(const Reduce& reduce, size_t d) {
  return std::ranges::find(reduce.axes, static_cast<int64_t>(d)) != reduce.axes.end();
}

int64_t num_reduced(const Reduce& reduce, const Shape& shape) {
  int64_t count = 1;
  for (const int64_t axis : reduce.axes) count *= shape[static_cast<size_t>(axis)];
  return count;
}

Fault check_axes(const Reduce& reduce, const TensorType& x) {
  int64_t last = -1;
  for (const int64_t axis : reduce.axes) {
    if (axis <= last || axis >= x.rank()) {
      return attribute_fault(fmt::format("its axes are [{}], ascending ones below {} are needed",
                                         fmt::join(reduce.axes, ","), x.rank()));
    }
    last = axis;
    if (x.shape[static_cast<size_t>(axis)] == 0) {
      return shape_fault(fmt::format("dimension {} of the input {} is empty and has no mean", axis,
                                     print(x.shape)));
    }
  }
  return std::nullopt;
}

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  const Reduce& reduce = std::get<Reduce>(op);
  if (Fault fault = check_arity(inputs, 1, declared)) return *fault;
  const TensorType& x = *inputs[0].type;
  const auto dtypes = {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kFloat32};
  if (Fault fault = check_dtype(x, "the input", dtypes)) return *fault;
  if (Fault fault = check_same_dtype(x, declared[0])) return *fault;
  if (!is_float(x.dtype)) {
    if (Fault fault = check_per_tensor(x, "the input")) return *fault;
    if (Fault fault = check_per_tensor(declared[0], "the output")) return *fault;
  }
  if (Fault fault = check_axes(reduce, x)) return *fault;
  Shape shape;
  for (size_t d = 0; d < x.shape.size(); ++d) {
    if (!is_reduced(reduce, d)) shape.push_back(x.shape[d]);
    if (is_reduced(reduce, d) && reduce.keep_dims) shape.push_back(1);
  }
  return with_shape(declared[0], std::move(shape));
}

constexpr Limit kLimits[] = {
    {"the sum of the elements of one mean fits 32 bits (8 million of int8)",
     [](const Op& op, Operands inputs, std::span<const TensorType> /*outputs*/) {
       const TensorType& x = *inputs[0].type;
       if (is_float(x.dtype)) return true;
       constexpr int64_t kMax = (int64_t{1} << 31) - 1;
       const int64_t span = highest(x.dtype) - lowest(x.dtype) + 1;
       return num_reduced(std::get<Reduce>(op), x.shape) <= kMax / span;
     }}};

// scale(x) / (scale(y) * count) as TFLM folds it.
QuantizedMultiplier mean_multiplier(const TensorType& x, const TensorType& y, int64_t count) {
  const QuantizedMultiplier m = quantize_multiplier(rescale_factor(x, y, false));
  const int bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(count))) - 1;
  const int32_t shift = std::min({static_cast<int32_t>(bits), 32, 31 + m.shift});
  return {static_cast<int32_t>((int64_t{m.multiplier} << shift) / count), m.shift - shift};
}

void reference_rule(const Op& op, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding rounding) {
  const Reduce& reduce = std::get<Reduce>(op);
  const TensorType& x = *inputs[0].type;
  const TensorType& y = *outputs[0].type;
  const int64_t count = num_reduced(reduce, x.shape);
  const auto num_outputs = static_cast<size_t>(y.num_elements());
  std::vector<int64_t> sums(num_outputs);
  std::vector<float> float_sums(num_outputs);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    int64_t rest = i;
    int64_t to = 0;
    int64_t stride = 1;
    for (size_t d = x.shape.size(); d-- > 0;) {
      if (!is_reduced(reduce, d)) {
        to += rest % x.shape[d] * stride;
        stride *= x.shape[d];
      }
      rest /= x.shape[d];
    }
    const auto at = static_cast<size_t>(to);
    if (is_float(x.dtype)) {
      float_sums[at] += float_at(inputs[0], i);
    } else {
      sums[at] += int_at(inputs[0], i) - x.zero_point();
    }
  }
  for (size_t i = 0; i < num_outputs; ++i) {
    const auto at = static_cast<int64_t>(i);
    if (is_float(x.dtype)) {
      set_float(outputs[0], at, float_sums[i] / static_cast<float>(count));
      continue;
    }
    const int64_t mean = reference::multiply_by_quantized_multiplier(
        static_cast<int32_t>(sums[i]), mean_multiplier(x, y, count), integer_rounding(rounding));
    set_int(outputs[0], at, reference::saturate(mean + y.zero_point(), y.dtype));
  }
}

// Neighbouring dimensions that are all reduced or all kept, as one.
struct Dim {
  int64_t extent = 1;
  bool reduced = false;
};

std::vector<Dim> collapsed_dims(const Reduce& reduce, const Shape& shape) {
  std::vector<Dim> dims;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (!dims.empty() && dims.back().reduced == is_reduced(reduce, d)) {
      dims.back().extent *= shape[d];
    } else {
      dims.push_back({shape[d], is_reduced(reduce, d)});
    }
  }
  return dims;
}

// The mean from the sum, before the epilogue.
Expr lower_mean(Lowering& lowering, const Expr& sum, int64_t count) {
  const TensorType& x = lowering.input_type(0);
  const TensorType& y = lowering.output_type();
  if (is_float(x.dtype)) {
    return loop::binary(loop::BinaryOp::kDiv, sum, loop::float_lit(static_cast<double>(count)));
  }
  const QuantizedMultiplier m = mean_multiplier(x, y, count);
  const Expr mean =
      multiply_by_quantized_multiplier(lowering, sum, m, greatest_magnitude(x) * count);
  // The mean grows with each element, so it is least and greatest where all of them are.
  const auto mean_of = [&](int64_t element) -> int64_t {
    return reference::multiply_by_quantized_multiplier(
        static_cast<int32_t>((element - x.zero_point()) * count), m,
        integer_rounding(lowering.rounding()));
  };
  return saturate_to(y, mean, mean_of(lowest(x.dtype)), mean_of(highest(x.dtype)));
}

void lower(Lowering& lowering) {
  const Reduce& reduce = lowering.op<Reduce>();
  const TensorType& x = lowering.input_type(0);
  if (lowering.output_type().num_elements() == 0) return;
  const int64_t count = num_reduced(reduce, x.shape);
  const std::vector<Dim> dims = collapsed_dims(reduce, x.shape);
  std::vector<std::string> names;
  Expr from = lit(0);
  Expr to = lit(0);
  for (const Dim& dim : dims) {
    names.push_back(lowering.fresh(dim.reduced ? "r" : "i"));
    from = from * dim.extent + var(names.back());
    if (!dim.reduced) to = to * dim.extent + var(names.back());
  }
  const auto wrap = [&](loop::Block block, bool reduced) {
    for (size_t d = dims.size(); d-- > 0;) {
      if (dims[d].reduced != reduced) continue;
      block = {loop::For{names[d], lit(0), lit(dims[d].extent), 1, false, std::move(block)}};
    }
    return block;
  };
  const Expr element = Lowering::load(lowering.input(0, "x"), x.dtype, from);
  const std::string sum = lowering.fresh("sum");
  const Expr so_far = var(sum, element->type);
  // -zero_point of each element beforehand.
  const Expr start = is_float(x.dtype) ? loop::float_lit(0) : lit(-x.zero_point() * count);
  loop::Block body = {loop::Let{sum, start}};
  loop::Block accumulate = wrap({loop::Assign{sum, so_far + element}}, /*reduced=*/true);
  body.insert(body.end(), accumulate.begin(), accumulate.end());
  loop::Block store = lowering.store(to, lower_mean(lowering, so_far, count));
  body.insert(body.end(), store.begin(), store.end());
  lowering.body = wrap(std::move(body), /*reduced=*/false);
}

}  // namespace

constinit const OpRules Reduce::rules = {
    .infer = infer, .limits = kLimits, .reference = reference_rule, .lower = lower};

}  // namespace ingot
