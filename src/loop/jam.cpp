// SPDX-License-Identifier: Apache-2.0
#include "loop/jam.h"

#include <algorithm>
#include <utility>

#include "loop/rewrite.h"

namespace ingot::loop {
namespace {

// The first buffer that `e` loads from, in the order of printing; empty if none.
std::string loaded_by(const Expr& e) {
  std::string buffer;
  for_each_node(e, [&](const Expr& node) {
    const auto* load = as<Load>(node);
    if (load && buffer.empty()) buffer = load->buffer;
  });
  return buffer;
}

class Jammer {
 public:
  explicit Jammer(std::set<std::string>& taken) : taken_(taken) {}

  // The copies do not depend on each other, so that any order that keeps each copy's own is right.
  Block jam(const std::vector<Block>& copies) {
    Block out;
    for (size_t i = 0; i < copies[0].size(); ++i) {
      std::vector<const Stmt*> stmts;
      for (const Block& copy : copies) stmts.push_back(&copy[i]);
      jam_statements(stmts, out);
    }
    return out;
  }

 private:
  void jam_statements(const std::vector<const Stmt*>& stmts, Block& out) {
    const Stmt& first = *stmts.front();
    if (std::holds_alternative<For>(first.kind) && jam_loops(stmts, out)) return;
    if (std::holds_alternative<If>(first.kind) && jam_branches(stmts, out)) return;
    if (std::holds_alternative<Assign>(first.kind)) {
      jam_assignments(stmts, out);
    } else if (std::holds_alternative<Comment>(first.kind)) {
      out.push_back(first);
    } else {
      for (const Stmt* s : stmts) out.push_back(*s);
    }
  }

  bool jam_loops(const std::vector<const Stmt*>& stmts, Block& out) {
    For merged = std::get<For>(stmts.front()->kind);
    std::vector<Block> bodies;
    for (const Stmt* s : stmts) {
      const auto& other = std::get<For>(s->kind);
      if (!equal(merged.begin, other.begin) || !equal(merged.end, other.end)) return false;
      bodies.push_back(other.body);
    }
    merged.body = jam(bodies);
    out.push_back(std::move(merged));
    return true;
  }

  bool jam_branches(const std::vector<const Stmt*>& stmts, Block& out) {
    const Expr& condition = std::get<If>(stmts.front()->kind).condition;
    std::vector<Block> then_bodies;
    std::vector<Block> else_bodies;
    for (const Stmt* s : stmts) {
      const auto& other = std::get<If>(s->kind);
      if (!equal(condition, other.condition)) return false;
      then_bodies.push_back(other.then_body);
      else_bodies.push_back(other.else_body);
    }
    out.push_back(If{condition, jam(then_bodies), jam(else_bodies)});
    return true;
  }

  void jam_assignments(const std::vector<const Stmt*>& stmts, Block& out) {
    std::vector<Assign> assigns;
    for (const Stmt* s : stmts) assigns.push_back(std::get<Assign>(s->kind));
    if (assigns.size() > 1) {
      std::vector<Expr> values;
      for (const Assign& a : assigns) values.push_back(a.value);
      share(values, out);
      for (size_t i = 0; i < assigns.size(); ++i) assigns[i].value = values[i];
    }
    for (Assign& a : assigns) out.push_back(std::move(a));
  }

  // Loads what all `values` have in common before them, by name. Names of the copies differ, so
  // that what is equal depends on no scalar that a copy assigns.
  void share(std::vector<Expr>& values, Block& out) {
    const Expr first = values.front();
    if (std::ranges::all_of(values, [&](const Expr& e) { return equal(e, first); })) {
      const std::string buffer = loaded_by(first);
      if (buffer.empty()) return;
      const std::string name = fresh_name(buffer + "_value", taken_);
      out.push_back(Let{name, first});
      for (Expr& e : values) e = var(name, first->type);
      return;
    }
    // They differ somewhere below: their operands may have something in common.
    const auto* b = as<BinaryExpr>(first);
    if (!b) return;
    std::vector<Expr> left;
    std::vector<Expr> right;
    for (const Expr& e : values) {
      const auto* other = as<BinaryExpr>(e);
      if (!other || other->op != b->op) return;
      left.push_back(other->a);
      right.push_back(other->b);
    }
    share(left, out);
    share(right, out);
    const BinaryOp op = b->op;
    for (size_t i = 0; i < values.size(); ++i) values[i] = binary(op, left[i], right[i]);
  }

  std::set<std::string>& taken_;
};

}  // namespace

Block jam(const std::vector<Block>& copies, std::set<std::string>& taken) {
  return Jammer(taken).jam(copies);
}

}  // namespace ingot::loop
