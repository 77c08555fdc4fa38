// SPDX-License-Identifier: Apache-2.0
// Vectors that are limited to the range of a type, which stores with saturation need not do.
#pragma once
#include "loop/expr.h"

namespace ingot::loop {

// The v of min(max(v, the least value of `dtype`), the greatest) in all lanes; nullptr if `e` is
// something else.
Expr limited_to(const Expr& e, DType dtype);

}  // namespace ingot::loop
