// SPDX-License-Identifier: Apache-2.0
// The typing rules of expressions, stated once: the builders check them, the parser reports them as
// diagnostics, and the verifier finds trees that were built past both.
#pragma once
#include <string>

#include "loop/expr.h"

namespace ingot::loop {

// Nesting of expressions and of statements that every walk over a program may recurse into.
constexpr int64_t kMaxExprDepth = 1000;
constexpr int64_t kMaxBlockDepth = 100;

// Whether values of `type` exist: at least one lane, at most 256, packed lanes fill 32 bits.
bool is_valid(Type type);
bool is_comparison(BinaryOp op);
// Whether `value` can be an integer literal of `dtype`.
bool fits(int64_t value, DType dtype);

// What is wrong with the node's type given its operands' types ("" if nothing). Looks at the node
// alone, not below it; the signature of a called function is its caller's business.
std::string find_type_fault(const ExprNode& node);

}  // namespace ingot::loop
