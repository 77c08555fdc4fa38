// SPDX-License-Identifier: Apache-2.0
#include "schedule/names.h"

#include <utility>

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;
using loop::Stmt;

class Collector {
 public:
  NamesOf names;

  void walk(const Block& block) {
    for (const Stmt& stmt : block) std::visit([&](const auto& s) { visit(s); }, stmt.kind);
  }

 private:
  void visit(const loop::For& f) {
    names.declared.insert(f.variable);
    loads(f.begin);
    loads(f.end);
    walk(f.body);
  }
  void visit(const loop::If& i) {
    loads(i.condition);
    walk(i.then_body);
    walk(i.else_body);
  }
  void visit(const loop::Let& l) {
    names.declared.insert(l.name);
    loads(l.value);
  }
  void visit(const loop::Assign& a) {
    names.assigned.insert(a.name);
    loads(a.value);
  }
  void visit(const loop::LocalArray& a) { names.declared.insert(a.name); }
  void visit(const loop::Store& s) {
    names.stored.insert(s.buffer);
    loads(s.index);
    loads(s.value);
  }
  void visit(const loop::Comment&) {}
  void visit(const loop::CallKernel&) {}

  void loads(const Expr& e) {
    if (const auto* l = loop::as<loop::Load>(e)) {
      names.loaded.insert(l->buffer);
      loads(l->index);
    } else if (const auto* u = loop::as<loop::UnaryExpr>(e)) {
      loads(u->a);
    } else if (const auto* b = loop::as<loop::BinaryExpr>(e)) {
      loads(b->a);
      loads(b->b);
    } else if (const auto* s = loop::as<loop::Select>(e)) {
      loads(s->condition);
      loads(s->if_true);
      loads(s->if_false);
    } else if (const auto* c = loop::as<loop::Cast>(e)) {
      loads(c->a);
    } else if (const auto* call = loop::as<loop::CallExpr>(e)) {
      for (const Expr& arg : call->args) loads(arg);
    }
  }
};

class Replacer {
 public:
  explicit Replacer(const Replacement& replacement) : r_(replacement) {}

  Expr expr(const Expr& e) const {
    if (const auto* v = loop::as<loop::Var>(e)) {
      const auto value = r_.values.find(v->name);
      if (value != r_.values.end()) return value->second;
      return loop::var(name(v->name), e->type);
    }
    if (const auto* l = loop::as<loop::Load>(e)) {
      return loop::load(name(l->buffer), expr(l->index), e->type, l->alignment);
    }
    if (const auto* u = loop::as<loop::UnaryExpr>(e)) return loop::unary(u->op, expr(u->a));
    if (const auto* b = loop::as<loop::BinaryExpr>(e)) {
      return loop::binary(b->op, expr(b->a), expr(b->b));
    }
    if (const auto* s = loop::as<loop::Select>(e)) {
      return loop::select(expr(s->condition), expr(s->if_true), expr(s->if_false));
    }
    if (const auto* c = loop::as<loop::Cast>(e)) return loop::cast(e->type, expr(c->a));
    if (const auto* call = loop::as<loop::CallExpr>(e)) {
      std::vector<Expr> args;
      for (const Expr& arg : call->args) args.push_back(expr(arg));
      return loop::call(call->function, e->type, std::move(args));
    }
    return e;
  }

  Block block(const Block& body) const {
    Block out;
    for (const Stmt& stmt : body) {
      out.push_back(std::visit([&](const auto& s) { return Stmt(copy(s)); }, stmt.kind));
    }
    return out;
  }

 private:
  std::string name(const std::string& old) const {
    const auto local = r_.locals.find(old);
    return local == r_.locals.end() ? old : local->second;
  }
  loop::For copy(const loop::For& f) const {
    return {name(f.variable), expr(f.begin), expr(f.end), f.step, f.reverse, block(f.body)};
  }
  loop::If copy(const loop::If& i) const {
    return {expr(i.condition), block(i.then_body), block(i.else_body)};
  }
  loop::Let copy(const loop::Let& l) const { return {name(l.name), expr(l.value)}; }
  loop::Assign copy(const loop::Assign& a) const { return {name(a.name), expr(a.value)}; }
  loop::LocalArray copy(const loop::LocalArray& a) const {
    return {name(a.name), a.dtype, a.num_elements};
  }
  loop::Store copy(const loop::Store& s) const {
    return {name(s.buffer), expr(s.index), expr(s.value), s.alignment};
  }
  loop::Comment copy(const loop::Comment& c) const { return c; }
  loop::CallKernel copy(const loop::CallKernel& c) const { return c; }

  const Replacement& r_;
};

}  // namespace

NamesOf names_of(const Block& block) {
  Collector collector;
  collector.walk(block);
  return std::move(collector.names);
}

FreshNames::FreshNames(const loop::Kernel& kernel) : used_(names_of(kernel.body).declared) {
  for (const loop::Param& p : kernel.params) used_.insert(p.name);
  for (const loop::Function::Parameter& p : kernel.scalars) used_.insert(p.name);
}

std::string FreshNames::make(const std::string& name) {
  std::string candidate = name;
  for (int64_t n = 1; !used_.insert(candidate).second; ++n) {
    candidate = name + "_" + std::to_string(n);
  }
  return candidate;
}

Expr replace(const Expr& e, const Replacement& replacement) {
  return Replacer(replacement).expr(e);
}

Block replace(const Block& block, const Replacement& replacement) {
  return Replacer(replacement).block(block);
}

}  // namespace ingot
