// SPDX-License-Identifier: Apache-2.0
#include "driver/shadow.h"

#include "loop/shadow.h"

namespace ingot {

std::vector<std::string> shadow_violations(const Compiled& compiled, bool inputs_writable,
                                           std::span<const toolchain::GoldenVector> vectors) {
  if (vectors.empty()) return {};
  const Storage& storage = compiled.storage;
  std::vector<std::string> violations = loop::shadow_faults(storage.program, vectors.front().inputs,
                                                            storage.arena_bytes, inputs_writable);
  for (std::string& violation : violations) violation.insert(0, "shadow run: ");
  return violations;
}

}  // namespace ingot
