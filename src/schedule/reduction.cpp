// SPDX-License-Identifier: Apache-2.0
#include "schedule/reduction.h"

#include <algorithm>
#include <utility>

#include "loop/rewrite.h"
#include "schedule/block.h"

namespace ingot {
namespace {

using loop::as;
using loop::BinaryOp;
using loop::Expr;

bool is_up_by_one(const loop::For& f) { return f.step == 1 && !f.reverse; }

// The load of a scalar of x that `e` converts to int32.
bool read_element(const Expr& e, Factor& x) {
  const auto* cast = as<loop::Cast>(e);
  const auto* load = cast ? as<loop::Load>(cast->a) : nullptr;
  if (!load || e->type != loop::kInt32 || !cast->a->type.is_scalar()) return false;
  const std::optional<AffineIndex> index = affine_index(load->index);
  if (!index) return false;
  x = {load->buffer, cast->a->type.dtype, *index, 0};
  return true;
}

// acc = acc + x or acc = max(acc, x), the only statement inside of `outermost` and its inner loops.
bool read_terms(const loop::For& outermost, Reduction& r) {
  const loop::For* f = &outermost;
  while (true) {
    if (!is_up_by_one(*f) || f->body.size() != 1) return false;
    r.c.sums.push_back({f->variable, f->begin, f->end});
    const auto* inner = std::get_if<loop::For>(&f->body[0].kind);
    if (!inner) break;
    f = inner;
  }
  const auto* assign = std::get_if<loop::Assign>(&f->body[0].kind);
  if (!assign || assign->name != r.c.accumulator) return false;
  const auto* step = as<loop::BinaryExpr>(assign->value);
  const auto* self = step ? as<loop::Var>(step->a) : nullptr;
  if (!self || self->name != r.c.accumulator) return false;
  if (step->op != BinaryOp::kAdd && step->op != BinaryOp::kMax) return false;
  r.is_max = step->op == BinaryOp::kMax;
  return read_element(step->b, r.c.x);
}

// Declarations and stores only.
bool is_plain(const loop::Block& finish) {
  return std::ranges::all_of(finish, [](const loop::Stmt& s) {
    return std::holds_alternative<loop::Let>(s.kind) || std::holds_alternative<loop::Store>(s.kind);
  });
}

// The declarations in front of the last statement, if that is all there is beside it.
bool read_shared(const loop::Block& block, loop::Block& shared) {
  for (size_t i = 0; i + 1 < block.size(); ++i) {
    if (!std::holds_alternative<loop::Let>(block[i].kind)) return false;
    shared.push_back(block[i]);
  }
  return true;
}

}  // namespace

std::optional<Reduction> find_reduction(const loop::Kernel& kernel) {
  Reduction r;
  const loop::Block* block = &kernel.body;
  while (!block->empty()) {
    const auto* f = std::get_if<loop::For>(&block->back().kind);
    if (!f) break;
    if (!is_up_by_one(*f) || !read_shared(*block, r.shared)) return std::nullopt;
    r.c.outer.push_back({f->variable, f->begin, f->end});
    if (r.c.outer.back().first() != 0 || !r.c.outer.back().extent()) return std::nullopt;
    block = &f->body;
  }
  if (block->size() < 3) return std::nullopt;
  const auto* let = std::get_if<loop::Let>(&block->at(0).kind);
  const auto* terms = std::get_if<loop::For>(&block->at(1).kind);
  if (!let || !terms) return std::nullopt;
  r.c.accumulator = let->name;
  r.c.first = let->value;
  r.c.finish.assign(block->begin() + 2, block->end());
  if (!read_terms(*terms, r) || !is_plain(r.c.finish)) return std::nullopt;
  return r;
}

}  // namespace ingot
