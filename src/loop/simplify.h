// SPDX-License-Identifier: Apache-2.0
// Simplification of loop programs.
#pragma once
#include <map>
#include <string>

#include "loop/program.h"

namespace ingot::loop {

// `e` with variables replaced, folded as the builders fold. In a block, no name that it declares
// may be replaced or stand in what replaces.
Expr substitute(const Expr& e, const std::map<std::string, Expr>& values);
Block substitute(const Block& block, const std::map<std::string, Expr>& values);

// The body of the same kernel (not of a function: its result would count for nothing) with
// expressions in a normal form (sums collected, constants last, min/max and comparisons
// that loop ranges decide removed), loops of one iteration replaced by their body,
// loops of none and unread scalars removed.
Block simplify(const Block& block);
Expr simplify(const Expr& e);

}  // namespace ingot::loop
