// SPDX-License-Identifier: Apache-2.0
// Functions of one byte as tables of 256 entries, made by the reference at compile time: whatever
// the reference does, the kernel does.
#pragma once
#include "ops/lowering.h"

namespace ingot {

// What `op` makes of each of the 256 values of x's type (an 8-bit integer), in ascending order; y
// is an 8-bit type too.
Bytes table_of(const Op& op, const TensorType& x, const TensorType& y,
               Rounding rounding = Rounding::kDouble);

// Whether `element`, as it travels, comes from memory unchanged.
bool is_loaded(const loop::Expr& element);

// Where a table of 256 entries has that of `element`, an 8-bit integer whose type begins at `low`.
loop::Expr index_of_byte(const loop::Expr& element, int64_t low);

// The entry for `element` of such a table, as it travels.
loop::Expr look_up(Lowering& lowering, const Bytes& table, const loop::Expr& element,
                   const TensorType& x, const TensorType& y);

}  // namespace ingot
