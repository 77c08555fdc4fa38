// SPDX-License-Identifier: Apache-2.0
// Blocks one after the other.
#pragma once
#include <iterator>
#include <utility>

#include "loop/program.h"

namespace ingot {

inline void append(loop::Block& block, loop::Block more) {
  block.insert(block.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

inline loop::Block joined(loop::Block a, loop::Block b) {
  append(a, std::move(b));
  return a;
}

}  // namespace ingot
