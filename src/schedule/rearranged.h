// SPDX-License-Identifier: Apache-2.0
// Constants in the order in which a schedule reads them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tensor/bytes.h"

namespace ingot {

// Elements of `element_bytes` each: the n-th is the `order[n]`-th of `from`, or 0 where that is
// negative.
inline Bytes rearranged(const Bytes& from, const std::vector<int64_t>& order,
                        int64_t element_bytes) {
  std::vector<uint8_t> bytes(order.size() * static_cast<size_t>(element_bytes), 0);
  for (size_t n = 0; n < order.size(); ++n) {
    if (order[n] < 0) continue;
    std::copy_n(from.view().begin() + order[n] * element_bytes, element_bytes,
                bytes.begin() + static_cast<int64_t>(n) * element_bytes);
  }
  return Bytes(std::move(bytes));
}

}  // namespace ingot
