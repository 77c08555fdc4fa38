// SPDX-License-Identifier: Apache-2.0
#include "schedule/copies.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "loop/simplify.h"
#include "schedule/block.h"
#include "schedule/contraction.h"

namespace ingot {
namespace {

using loop::as;
using loop::Block;
using loop::Expr;
using loop::lit;
using loop::Type;

constexpr int64_t kWord = 4;
constexpr int64_t kStep = 16;  // bytes of one iteration

// y[...] = x[...] or y[...] = literal, of one byte each.
struct Move {
  loop::Store store;
  const loop::Load* load = nullptr;  // of what is moved
  std::optional<int64_t> literal;
};

// The bytes that the only statement of `f` stores, whose places go up by one with its variable.
std::optional<Move> find_move(const loop::For& f) {
  const auto* store = f.body.size() == 1 ? std::get_if<loop::Store>(&f.body[0].kind) : nullptr;
  if (!store || f.step != 1 || store->value->type != loop::kInt8) return std::nullopt;
  const auto goes_up = [&](const Expr& index) {
    const std::optional<AffineIndex> affine = affine_index(index);
    return affine && affine->factor(f.variable) == 1;
  };
  if (!goes_up(store->index)) return std::nullopt;
  Move move = {*store, nullptr, std::nullopt};
  if (const auto* value = as<loop::IntLit>(store->value)) {
    move.literal = value->value;
    return move;
  }
  Expr value = store->value;
  while (const auto* cast = as<loop::Cast>(value)) value = cast->a;
  move.load = as<loop::Load>(value);
  const bool moves = move.load && value->type == loop::kInt8 && move.load->buffer != store->buffer;
  return moves && goes_up(move.load->index) ? std::optional(move) : std::nullopt;
}

// `type.lanes` bytes, the first of which is that of iteration `i`.
loop::Stmt moved(const loop::For& f, const Move& move, const Expr& i, Type type) {
  const std::map<std::string, Expr> at = {{f.variable, i}};
  Expr value = nullptr;
  if (move.load) {
    value = loop::load(move.load->buffer, loop::substitute(move.load->index, at), type, 1);
  } else if (type.packed) {
    value = loop::pack(type, std::vector<Expr>(kWord, lit(*move.literal, loop::kInt8)));
  } else {
    value = loop::cast(type, lit(*move.literal, loop::kInt8));
  }
  return loop::Store{move.store.buffer, loop::substitute(move.store.index, at), value, 1};
}

// The statements for `count` iterations (fewer than two steps) from `first` on.
Block straight(const loop::For& f, const Move& move, const Expr& first, int64_t count,
               bool has_vectors) {
  Block out;
  int64_t i = 0;
  const auto add = [&](Type type) {
    for (; i + type.lanes <= count; i += type.lanes) {
      out.push_back(moved(f, move, first + i, type));
    }
  };
  if (has_vectors) add({DType::kInt8, kStep});
  add(loop::kInt8x4);
  add(loop::kInt8);
  if (f.reverse) std::ranges::reverse(out);
  return out;
}

Block by_words(const loop::For& f, const Move& move, int64_t first, int64_t count,
               bool has_vectors) {
  const int64_t whole = count < 2 * kStep ? 0 : count / kStep * kStep;
  Block rest = straight(f, move, lit(first + whole), count - whole, has_vectors);
  if (whole == 0) return rest;
  Block step = straight(f, move, loop::var(f.variable), kStep, has_vectors);
  Block steps = {loop::For{f.variable, lit(first), lit(first + whole), kStep, f.reverse, step}};
  return f.reverse ? joined(std::move(rest), std::move(steps))
                   : joined(std::move(steps), std::move(rest));
}

}  // namespace

bool is_copy(const loop::For& f) { return find_move(f).has_value(); }

Block with_words(const Block& block, bool has_vectors) {
  return with_loops_replaced(block, [&](const loop::For& f) -> std::optional<Block> {
    const auto* first = as<loop::IntLit>(f.begin);
    const auto* end = as<loop::IntLit>(f.end);
    const std::optional<Move> move = find_move(f);
    if (!move || !first || !end || end->value - first->value < kWord) return std::nullopt;
    return by_words(f, *move, first->value, end->value - first->value, has_vectors);
  });
}

}  // namespace ingot
