// SPDX-License-Identifier: Apache-2.0
#include "loop/rewrite.h"

#include <utility>
#include <vector>

#include "loop/simplify.h"

namespace ingot::loop {

Expr map_operands(const Expr& e, const std::function<Expr(const Expr&)>& f) {
  if (const auto* x = as<Load>(e)) {
    const Expr index = f(x->index);
    return index == x->index ? e : load(x->buffer, index, e->type, x->alignment);
  }
  if (const auto* x = as<UnaryExpr>(e)) {
    const Expr a = f(x->a);
    return a == x->a ? e : unary(x->op, a);
  }
  if (const auto* x = as<BinaryExpr>(e)) {
    const Expr a = f(x->a);
    const Expr b = f(x->b);
    return a == x->a && b == x->b ? e : binary(x->op, a, b);
  }
  if (const auto* x = as<Select>(e)) {
    const Expr condition = f(x->condition);
    const Expr if_true = f(x->if_true);
    const Expr if_false = f(x->if_false);
    const bool same = condition == x->condition && if_true == x->if_true && if_false == x->if_false;
    return same ? e : select(condition, if_true, if_false);
  }
  if (const auto* x = as<Cast>(e)) {
    const Expr a = f(x->a);
    return a == x->a ? e : cast(e->type, a);
  }
  if (const auto* x = as<Lane>(e)) {
    const Expr a = f(x->a);
    return a == x->a ? e : lane(a, x->lane);
  }
  if (const auto* x = as<Pack>(e)) {
    std::vector<Expr> lanes;
    for (const Expr& value : x->lanes) lanes.push_back(f(value));
    return lanes == x->lanes ? e : pack(e->type, std::move(lanes));
  }
  if (const auto* x = as<CallExpr>(e)) {
    std::vector<Expr> args;
    for (const Expr& arg : x->args) args.push_back(f(arg));
    return args == x->args ? e : call(x->function, e->type, std::move(args));
  }
  return e;
}

Block map_expressions(const Block& block, const std::function<Expr(const Expr&)>& f) {
  Block out = block;
  for (Stmt& s : out) {
    if (auto* loop = std::get_if<For>(&s.kind)) {
      loop->begin = f(loop->begin);
      loop->end = f(loop->end);
      loop->body = map_expressions(loop->body, f);
    } else if (auto* branch = std::get_if<If>(&s.kind)) {
      branch->condition = f(branch->condition);
      branch->then_body = map_expressions(branch->then_body, f);
      branch->else_body = map_expressions(branch->else_body, f);
    } else if (auto* let = std::get_if<Let>(&s.kind)) {
      let->value = f(let->value);
    } else if (auto* assign = std::get_if<Assign>(&s.kind)) {
      assign->value = f(assign->value);
    } else if (auto* store = std::get_if<Store>(&s.kind)) {
      store->index = f(store->index);
      store->value = f(store->value);
    }
  }
  return out;
}

void for_each_stmt(const Block& block, const std::function<void(const Stmt&)>& f) {
  for (const Stmt& s : block) {
    f(s);
    if (const auto* loop = std::get_if<For>(&s.kind)) {
      for_each_stmt(loop->body, f);
    } else if (const auto* branch = std::get_if<If>(&s.kind)) {
      for_each_stmt(branch->then_body, f);
      for_each_stmt(branch->else_body, f);
    }
  }
}

void for_each_expression(const Block& block, const std::function<void(const Expr&)>& f) {
  for_each_stmt(block, [&](const Stmt& s) {
    if (const auto* loop = std::get_if<For>(&s.kind)) {
      f(loop->begin);
      f(loop->end);
    } else if (const auto* branch = std::get_if<If>(&s.kind)) {
      f(branch->condition);
    } else if (const auto* let = std::get_if<Let>(&s.kind)) {
      f(let->value);
    } else if (const auto* assign = std::get_if<Assign>(&s.kind)) {
      f(assign->value);
    } else if (const auto* store = std::get_if<Store>(&s.kind)) {
      f(store->index);
      f(store->value);
    }
  });
}

void for_each_node(const Expr& e, const std::function<void(const Expr&)>& f) {
  f(e);
  map_operands(e, [&](const Expr& operand) {
    for_each_node(operand, f);
    return operand;
  });
}

std::set<std::string> variables_of(const Expr& e) {
  std::set<std::string> names;
  for_each_node(e, [&](const Expr& node) {
    if (const auto* v = as<Var>(node)) names.insert(v->name);
  });
  return names;
}

std::set<std::string> names_of(const Block& block) {
  std::set<std::string> names;
  for_each_stmt(block, [&](const Stmt& s) {
    if (const auto* loop = std::get_if<For>(&s.kind)) {
      names.insert(loop->variable);
    } else if (const auto* let = std::get_if<Let>(&s.kind)) {
      names.insert(let->name);
    } else if (const auto* assign = std::get_if<Assign>(&s.kind)) {
      names.insert(assign->name);
    } else if (const auto* array = std::get_if<LocalArray>(&s.kind)) {
      names.insert(array->name);
    } else if (const auto* store = std::get_if<Store>(&s.kind)) {
      names.insert(store->buffer);
    }
  });
  for_each_expression(block, [&](const Expr& e) {
    for_each_node(e, [&](const Expr& node) {
      if (const auto* v = as<Var>(node)) names.insert(v->name);
      if (const auto* l = as<Load>(node)) names.insert(l->buffer);
    });
  });
  return names;
}

std::set<std::string> assigned_in(const Block& block) {
  std::set<std::string> names;
  for_each_stmt(block, [&](const Stmt& s) {
    if (const auto* assign = std::get_if<Assign>(&s.kind)) names.insert(assign->name);
  });
  return names;
}

std::set<std::string> declared_by(const Block& block) {
  std::set<std::string> names;
  for (const Stmt& s : block) {
    if (const auto* let = std::get_if<Let>(&s.kind)) names.insert(let->name);
    if (const auto* array = std::get_if<LocalArray>(&s.kind)) names.insert(array->name);
  }
  return names;
}

namespace {

Expr rename_in(const Expr& e, const std::map<std::string, std::string>& names) {
  const Expr inner =
      map_operands(e, [&](const Expr& operand) { return rename_in(operand, names); });
  if (const auto* v = as<Var>(inner)) {
    const auto found = names.find(v->name);
    return found == names.end() ? inner : var(found->second, inner->type);
  }
  if (const auto* l = as<Load>(inner)) {
    const auto found = names.find(l->buffer);
    return found == names.end() ? inner : load(found->second, l->index, inner->type, l->alignment);
  }
  return inner;
}

void rename_places(Block& block, const std::map<std::string, std::string>& names) {
  const auto change = [&](std::string& name) {
    const auto found = names.find(name);
    if (found != names.end()) name = found->second;
  };
  for (Stmt& s : block) {
    if (auto* loop = std::get_if<For>(&s.kind)) {
      change(loop->variable);
      rename_places(loop->body, names);
    } else if (auto* branch = std::get_if<If>(&s.kind)) {
      rename_places(branch->then_body, names);
      rename_places(branch->else_body, names);
    } else if (auto* let = std::get_if<Let>(&s.kind)) {
      change(let->name);
    } else if (auto* assign = std::get_if<Assign>(&s.kind)) {
      change(assign->name);
    } else if (auto* array = std::get_if<LocalArray>(&s.kind)) {
      change(array->name);
    } else if (auto* store = std::get_if<Store>(&s.kind)) {
      change(store->buffer);
    }
  }
}

}  // namespace

Block rename(const Block& block, const std::map<std::string, std::string>& names) {
  Block out = map_expressions(block, [&](const Expr& e) { return rename_in(e, names); });
  rename_places(out, names);
  return out;
}

std::string fresh_name(const std::string& name, std::set<std::string>& taken) {
  std::string candidate = name;
  for (int64_t n = 1; taken.contains(candidate); ++n) candidate = name + "_" + std::to_string(n);
  taken.insert(candidate);
  return candidate;
}

Expr substitute(const Expr& e, const std::map<std::string, Expr>& values) {
  if (const auto* v = as<Var>(e)) {
    const auto found = values.find(v->name);
    return found == values.end() ? e : found->second;
  }
  return map_operands(e, [&](const Expr& operand) { return substitute(operand, values); });
}

Block substitute(const Block& block, const std::map<std::string, Expr>& values) {
  return map_expressions(block, [&](const Expr& e) { return substitute(e, values); });
}

}  // namespace ingot::loop
