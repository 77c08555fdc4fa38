// SPDX-License-Identifier: Apache-2.0
// Walking over and rebuilding expressions and blocks: what simplification and transformations have
// in common.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>

#include "loop/program.h"

namespace ingot::loop {

// `e` with each operand replaced by f(operand), built anew, so that it folds; `e` itself if no
// operand changed.
Expr map_operands(const Expr& e, const std::function<Expr(const Expr&)>& f);
// `block` with each expression that stands in a statement replaced by f(expression).
Block map_expressions(const Block& block, const std::function<Expr(const Expr&)>& f);

// Calls f for every expression that stands in a statement, in textual order.
void for_each_expression(const Block& block, const std::function<void(const Expr&)>& f);
// Calls f for `e` and everything below it.
void for_each_node(const Expr& e, const std::function<void(const Expr&)>& f);
// Calls f for every statement, outer ones before inner ones.
void for_each_stmt(const Block& block, const std::function<void(const Stmt&)>& f);

// The variables that `e` reads.
std::set<std::string> variables_of(const Expr& e);
// All names of variables and buffers that occur in `block`.
std::set<std::string> names_of(const Block& block);
// The scalars that `block` assigns.
std::set<std::string> assigned_in(const Block& block);
// The scalars and local arrays that the statements of `block` declare, not those of inner blocks.
std::set<std::string> declared_by(const Block& block);

// `block` with names of scalars, loop variables and local arrays changed, where they are declared
// and where they are used.
Block rename(const Block& block, const std::map<std::string, std::string>& names);
// `name`, or `name` with something appended, that is not in `taken`; it is added there.
std::string fresh_name(const std::string& name, std::set<std::string>& taken);

}  // namespace ingot::loop
