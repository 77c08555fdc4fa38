// SPDX-License-Identifier: Apache-2.0
// requantize: the same real values on another integer scale (ops/rescale.h). Where many bytes
// become bytes of another scale, the kernel is a table.
#include "ops/access.h"
#include "ops/rescale.h"
#include "ops/table.h"

namespace ingot {
namespace {

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  if (Fault fault = check_arity(inputs, 1, declared)) return *fault;
  const TensorType& x = *inputs[0].type;
  const bool in_float32 = std::get<Requantize>(op).ratio_in_float32;
  if (Fault fault = check_rescale(x, "the input", declared[0], in_float32)) return *fault;
  return with_shape(declared[0], x.shape);
}

void reference_rule(const Op& op, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding rounding) {
  const TensorType& x = *inputs[0].type;
  const TensorType& y = *outputs[0].type;
  const double factor = rescale_factor(x, y, std::get<Requantize>(op).ratio_in_float32);
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    set_int(outputs[0], i, reference_rescale(int_at(inputs[0], i), x, y, factor, rounding));
  }
}

// Fewer elements are not worth a table of 256 bytes.
constexpr int64_t kFewestLookUps = 256;

// Bytes of what `element` was computed from have no table: a requantisation that is part of another
// kernel.
bool takes_table(const TensorType& x, const TensorType& y, double factor,
                 const loop::Expr& element) {
  return factor != 1 && size_in_bytes(x.dtype) == 1 && size_in_bytes(y.dtype) == 1 &&
         x.num_elements() >= kFewestLookUps && is_loaded(element);
}

loop::Expr element(Lowering& lowering, const Op& op, std::span<const TensorType* const> types,
                   const TensorType& y, std::span<const loop::Expr> inputs) {
  const double factor = rescale_factor(*types[0], y, std::get<Requantize>(op).ratio_in_float32);
  if (takes_table(*types[0], y, factor, inputs[0])) {
    return look_up(lowering, table_of(op, *types[0], y, lowering.rounding()), inputs[0], *types[0],
                   y);
  }
  return lower_rescale(lowering, inputs[0], *types[0], y, factor);
}

}  // namespace

constinit const OpRules Requantize::rules = {.infer = infer,
                                             .limits = {},
                                             .reference = reference_rule,
                                             .lower = lower_elementwise,
                                             .element = element};

}  // namespace ingot
