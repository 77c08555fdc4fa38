// SPDX-License-Identifier: Apache-2.0
#include "ops/rules.h"

#include <type_traits>

namespace ingot {

const OpRules& rules_of(const Op& op) {
  return std::visit(
      [](const auto& o) -> const OpRules& { return std::remove_cvref_t<decltype(o)>::rules; }, op);
}

}  // namespace ingot
