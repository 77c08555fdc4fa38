// SPDX-License-Identifier: Apache-2.0
// What every operator must tell the compiler: its types, its limits, its meaning, its loops.
//
// Rules see types and bytes, never the graph: the same rule serves a node, a step of an epilogue, a
// constant being folded and a test.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/operand.h"
#include "loop/loop.h"
#include "support/result.h"
#include "tensor/bytes.h"

namespace ingot {

class Lowering;  // ops/lowering.h

// How requantisation rounds. kDouble: TFLM's reference kernels: doubling high multiplication, half
// up, then a rounding shift, half away from zero. kSingle: one rounding, ties up.
// kFloat: float scale, half to even.
enum class Rounding : uint8_t { kDouble, kSingle, kFloat };

// A tensor's bytes for the reference executor. Elements are read and written with memcpy: bytes
// need no alignment.
struct TensorView {
  const TensorType* type = nullptr;  // null: absent
  std::span<const uint8_t> bytes;
  bool present() const { return type != nullptr; }
};
struct MutableTensorView {
  const TensorType* type = nullptr;
  std::span<uint8_t> bytes;
};

// A condition for which an operator is supported. The sentence is the text of the diagnostic and
// the line of docs/supported_operators.md: "the filter is constant".
struct Limit {
  std::string_view sentence;
  bool (*holds)(const Op& op, Operands inputs, std::span<const TensorType> outputs);
};

// A member without a default: leaving it out does not compile.
template <class Function>
struct Required {
  Function* call;
  constexpr Required(Function* f) : call(f) {}
};

struct OpRules {
  // The types of the outputs. dtype and quantisation are taken from `declared` (the file's word,
  // one per output), shapes are computed. A Diagnostic's `where` is filled in by the caller.
  // Everything that would make `limits`, `reference` or `lower` misbehave is refused here: wrong
  // counts, ranks, dtypes, attributes that are zero or negative, sizes that leave int64_t.
  Required<Result<std::vector<TensorType>>(const Op&, Operands inputs,
                                           std::span<const TensorType> declared)>
      infer;
  // What else must hold for the rest of the compiler to take it; called only after infer has
  // succeeded.
  std::span<const Limit> limits;
  // What the operator means, written to be read; for quantised types exact in every rounding mode.
  // Shares no code with `lower`.
  Required<void(const Op&, std::span<const TensorView> inputs,
                std::span<const MutableTensorView> outputs, Rounding)>
      reference;
  // The loops that compute it (null for operators that `legalize` or a pass always removes).
  void (*lower)(Lowering&) = nullptr;
  // For elementwise operators: the result element from the input elements, as values of the loop IR
  // held in the inputs' dtypes; makes an operator fusable into its producer. `lower` is then the
  // shared lower_elementwise. The element index along `axis` is not needed: operands are per
  // tensor.
  loop::Expr (*element)(Lowering&, const Op& op, std::span<const TensorType* const> input_types,
                        const TensorType& output_type,
                        std::span<const loop::Expr> inputs) = nullptr;
  // Multiply-accumulates of one run (0 for operators that do not multiply by weights), counted as
  // if padding cells were multiplied too, which is how the field counts.
  int64_t (*macs)(const Op&, Operands inputs, std::span<const TensorType> outputs) = nullptr;
};

const OpRules& rules_of(const Op& op);

}  // namespace ingot
