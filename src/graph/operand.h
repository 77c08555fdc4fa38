// SPDX-License-Identifier: Apache-2.0
// What an operator's rules see of its inputs: types and, where known, bytes; never the graph. It
// stands here rather than in ops/ because importers hand operands to shape inference.
#pragma once
#include <span>

#include "tensor/bytes.h"
#include "tensor/type.h"

namespace ingot {

// An input as the rules see it.
struct Operand {
  const TensorType* type = nullptr;  // null: the optional input is absent
  const Bytes* constant = nullptr;   // null: not known at compile time

  bool present() const { return type != nullptr; }
  bool is_constant() const { return constant != nullptr; }
};
using Operands = std::span<const Operand>;

}  // namespace ingot
