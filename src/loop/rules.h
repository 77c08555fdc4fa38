// SPDX-License-Identifier: Apache-2.0
// The table of local rules of simplification, stated as loop text: x, y and z stand for integers of
// one type, c and d for bools.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "loop/expr.h"

namespace ingot::loop {

struct Rule {
  std::string_view pattern;
  std::string_view replacement;
};

// Each right side has the value of its left side wherever that has one.
const std::vector<Rule>& rules();

// `e` by the first rule whose pattern it matches; null if none does.
Expr apply_rules(const Expr& e);

}  // namespace ingot::loop
