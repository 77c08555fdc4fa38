// SPDX-License-Identifier: Apache-2.0
#include "loop/dead.h"

#include <set>
#include <string>
#include <utility>

#include "loop/rewrite.h"

namespace ingot::loop {
namespace {

// What is read other than to compute a scalar itself; arrays with "[" behind.
std::set<std::string> read_by_others(const Block& block) {
  std::set<std::string> read;
  for_each_stmt(block, [&](const Stmt& s) {
    const auto* assign = std::get_if<Assign>(&s.kind);
    const auto note = [&](const Expr& e) {
      for_each_node(e, [&](const Expr& node) {
        if (const auto* load = as<Load>(node)) read.insert(load->buffer + "[");
      });
      for (const std::string& name : variables_of(e)) {
        if (!assign || assign->name != name) read.insert(name);
      }
    };
    if (const auto* loop = std::get_if<For>(&s.kind)) {
      note(loop->begin);
      note(loop->end);
    } else if (const auto* branch = std::get_if<If>(&s.kind)) {
      note(branch->condition);
    } else if (const auto* let = std::get_if<Let>(&s.kind)) {
      note(let->value);
    } else if (assign) {
      note(assign->value);
    } else if (const auto* store = std::get_if<Store>(&s.kind)) {
      note(store->index);
      note(store->value);
    }
  });
  return read;
}

std::set<std::string> local_arrays_in(const Block& block) {
  std::set<std::string> names;
  for_each_stmt(block, [&](const Stmt& s) {
    if (const auto* array = std::get_if<LocalArray>(&s.kind)) names.insert(array->name);
  });
  return names;
}

bool remove_unread(Block& block, const std::set<std::string>& read,
                   const std::set<std::string>& local_arrays) {
  bool changed = false;
  for (Stmt& s : block) {
    if (auto* loop = std::get_if<For>(&s.kind)) {
      changed |= remove_unread(loop->body, read, local_arrays);
    } else if (auto* branch = std::get_if<If>(&s.kind)) {
      changed |= remove_unread(branch->then_body, read, local_arrays);
      changed |= remove_unread(branch->else_body, read, local_arrays);
    }
  }
  const size_t removed = std::erase_if(block, [&](const Stmt& s) {
    if (const auto* let = std::get_if<Let>(&s.kind)) return !read.contains(let->name);
    if (const auto* assign = std::get_if<Assign>(&s.kind)) return !read.contains(assign->name);
    if (const auto* array = std::get_if<LocalArray>(&s.kind)) {
      return !read.contains(array->name + "[");
    }
    if (const auto* store = std::get_if<Store>(&s.kind)) {
      return local_arrays.contains(store->buffer) && !read.contains(store->buffer + "[");
    }
    if (const auto* loop = std::get_if<For>(&s.kind)) return loop->body.empty();
    if (const auto* branch = std::get_if<If>(&s.kind)) {
      return branch->then_body.empty() && branch->else_body.empty();
    }
    return false;
  });
  return changed || removed > 0;
}

// Of an integer literal, or a vector of one.
const IntLit* literal_in(const Expr& e) {
  const auto* cast = as<Cast>(e);
  return as<IntLit>(cast && cast->a->type.is_scalar() ? cast->a : e);
}

// max(x, b) below min(_, a), or min(x, b) below max(_, a), where the outer one always wins.
bool is_clamped_to_one(const Expr& e) {
  const auto* outer = as<BinaryExpr>(e);
  const bool is_min = outer && outer->op == BinaryOp::kMin;
  if (!is_min && !(outer && outer->op == BinaryOp::kMax)) return false;
  const auto* inner = as<BinaryExpr>(outer->a);
  if (!inner || inner->op != (is_min ? BinaryOp::kMax : BinaryOp::kMin)) return false;
  const IntLit* outer_bound = literal_in(outer->b);
  const IntLit* inner_bound = literal_in(inner->b);
  if (!outer_bound || !inner_bound || is_float(e->type.dtype)) return false;
  return is_min ? inner_bound->value >= outer_bound->value
                : inner_bound->value <= outer_bound->value;
}

Expr with_known_clamps(const Expr& e) {
  if (is_clamped_to_one(e)) return as<BinaryExpr>(e)->b;
  return map_operands(e, with_known_clamps);
}

}  // namespace

Block without_unread(Block block) {
  const std::set<std::string> local_arrays = local_arrays_in(block);
  while (remove_unread(block, read_by_others(block), local_arrays)) {
  }
  return block;
}

Block without_dead_code(const Block& block) {
  return without_unread(map_expressions(block, with_known_clamps));
}

}  // namespace ingot::loop
