// SPDX-License-Identifier: Apache-2.0
#include "loop/type.h"

#include <fmt/format.h>

namespace ingot::loop {

std::string print(Type type) {
  if (type.is_scalar()) return std::string(name_of(type.dtype));
  return fmt::format("{}{}{}", name_of(type.dtype), type.packed ? 'p' : 'x', type.lanes);
}

}  // namespace ingot::loop
