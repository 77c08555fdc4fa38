// SPDX-License-Identifier: Apache-2.0
// Blocks one after the other, and with loops replaced.
#pragma once
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

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

// `block` with the statements of `f(loop)` in place of each outermost loop that it has some for
// (nullopt: none); what is inside of other loops is gone through, too.
template <class F>
loop::Block with_loops_replaced(const loop::Block& block, const F& f) {
  loop::Block out;
  for (const loop::Stmt& s : block) {
    const auto* loop = std::get_if<loop::For>(&s.kind);
    if (!loop) {
      out.push_back(s);
    } else if (std::optional<loop::Block> other = f(*loop)) {
      append(out, *std::move(other));
    } else {
      loop::For same = *loop;
      same.body = with_loops_replaced(loop->body, f);
      out.emplace_back(std::move(same));
    }
  }
  return out;
}

}  // namespace ingot
