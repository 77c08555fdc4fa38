// SPDX-License-Identifier: Apache-2.0
// concat: the inputs one after the other along one axis. An input on another scale than the output
// is rescaled (ops/rescale.h); TFLM would copy its integers as they are.
#include <fmt/format.h>

#include "ops/access.h"
#include "ops/rescale.h"
#include "support/arithmetic.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::lit;
using loop::var;

bool is_rescaled(const TensorType& x, const TensorType& y) { return !same_quantization(x, y); }

// An integer that stands for a real number on one side does so on the other, too.
Fault check_scales(const TensorType& x, const TensorType& y) {
  if (is_rescaled(x, y)) return check_rescale(x, "an input", y, false);
  if (!is_integer(x.dtype) || x.is_quantized() == y.is_quantized()) return std::nullopt;
  if (Fault fault = check_per_tensor(x, "an input")) return fault;
  return check_per_tensor(y, "the output");
}

Fault check_input(const TensorType& x, const TensorType& first, size_t axis, const TensorType& y) {
  if (Fault fault = check_same_dtype(x, y)) return fault;
  Shape a = x.shape;
  Shape b = first.shape;
  if (a.size() == b.size()) a[axis] = b[axis] = 0;
  if (a != b) {
    return shape_fault(fmt::format("the inputs {} and {} differ in more than dimension {}",
                                   print(first.shape), print(x.shape), axis));
  }
  return check_scales(x, y);
}

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  if (inputs.empty()) return shape_fault("it has no input");
  if (Fault fault = check_arity(inputs, inputs.size(), declared)) return *fault;
  const TensorType& first = *inputs[0].type;
  const int64_t axis = std::get<Concat>(op).axis;
  if (axis < 0 || axis >= first.rank()) {
    return attribute_fault(
        fmt::format("its axis is {}, the input has rank {}", axis, first.rank()));
  }
  const auto along = static_cast<size_t>(axis);
  Shape shape = first.shape;
  shape[along] = 0;
  for (const Operand& input : inputs) {
    if (Fault fault = check_input(*input.type, first, along, declared[0])) return *fault;
    const std::optional<int64_t> sum = checked_add(shape[along], input.type->shape[along]);
    if (!sum) return shape_fault("the inputs are too large together");
    shape[along] = *sum;
  }
  return with_shape(declared[0], std::move(shape));
}

// How many runs of how many consecutive elements `shape` is, seen along `axis`.
struct Runs {
  int64_t count = 1;
  int64_t length = 1;
};
Runs runs_of(const Shape& shape, int64_t axis) {
  Runs runs;
  for (size_t d = 0; d < shape.size(); ++d) {
    (static_cast<int64_t>(d) < axis ? runs.count : runs.length) *= shape[d];
  }
  return runs;
}

void reference_rule(const Op& op, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding rounding) {
  const int64_t axis = std::get<Concat>(op).axis;
  const TensorType& y = *outputs[0].type;
  const int64_t element_size = size_in_bytes(y.dtype);
  const int64_t num_runs = runs_of(y.shape, axis).count;
  int64_t at = 0;
  for (int64_t run = 0; run < num_runs; ++run) {
    for (const TensorView& input : inputs) {
      const TensorType& x = *input.type;
      const int64_t length = runs_of(x.shape, axis).length;
      for (int64_t i = run * length; i < (run + 1) * length; ++i, ++at) {
        if (is_rescaled(x, y)) {
          set_int(outputs[0], at,
                  reference_rescale(int_at(input, i), x, y, rescale_factor(x, y, false), rounding));
        } else {
          std::memcpy(outputs[0].bytes.data() + at * element_size,
                      input.bytes.data() + i * element_size, static_cast<size_t>(element_size));
        }
      }
    }
  }
}

// The loops that place input n with its first element at `offset` of each of the output's runs.
loop::Block lower_input(Lowering& lowering, size_t n, const Runs& out, int64_t offset) {
  const TensorType& x = lowering.input_type(n);
  const TensorType& y = lowering.output_type();
  const Runs in = runs_of(x.shape, lowering.op<Concat>().axis);
  const std::string run = lowering.fresh("run");
  const std::string i = lowering.fresh("i");
  const loop::Expr from = var(run) * in.length + var(i);
  loop::Expr value = Lowering::load(lowering.input(n, "x"), x.dtype, from);
  if (is_rescaled(x, y)) {
    value = lower_rescale(lowering, value, x, y, rescale_factor(x, y, false));
  }
  loop::Block body = lowering.store(var(run) * out.length + offset + var(i), value);
  loop::For inner = {i, lit(0), lit(in.length), 1, false, std::move(body)};
  return {loop::For{run, lit(0), lit(in.count), 1, false, {std::move(inner)}}};
}

void lower(Lowering& lowering) {
  const Runs out = runs_of(lowering.output_type().shape, lowering.op<Concat>().axis);
  int64_t offset = 0;
  for (size_t n = 0; n < lowering.node().inputs.size(); ++n) {
    const TensorType& x = lowering.input_type(n);
    if (x.num_elements() == 0) continue;
    loop::Block block = lower_input(lowering, n, out, offset);
    lowering.body.insert(lowering.body.end(), block.begin(), block.end());
    offset += runs_of(x.shape, lowering.op<Concat>().axis).length;
  }
}

}  // namespace

constinit const OpRules Concat::rules = {
    .infer = infer, .limits = {}, .reference = reference_rule, .lower = lower};

}  // namespace ingot
