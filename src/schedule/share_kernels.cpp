// SPDX-License-Identifier: Apache-2.0
#include "schedule/share_kernels.h"

#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "loop/rewrite.h"
#include "loop/text.h"
#include "loop/verify.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;

// A literal in a value that a kernel computes.
struct Literal {
  Expr value;
  std::string role;  // a name for a parameter that takes its place
};

bool is_liftable(const Expr& e) {
  if (const auto* real = loop::as<loop::FloatLit>(e)) return std::isfinite(real->value);
  return loop::as<loop::IntLit>(e) && e->type.dtype != DType::kBool && e->type.is_scalar();
}

// The amount of a 64-bit shift: known at compile time it is a move, else it is many instructions.
bool is_wide_shift(const Expr& e, size_t operand) {
  const auto* binary = loop::as<loop::BinaryExpr>(e);
  const bool shifts =
      binary && (binary->op == loop::BinaryOp::kShl || binary->op == loop::BinaryOp::kShr);
  return shifts && operand == 1 && e->type.dtype == DType::kInt64;
}

// Visits the literals of a kernel in textual order; each may be replaced.
class LiteralWalk {
 public:
  // The replacement, or null to leave the literal as it is.
  using Visit = std::function<Expr(const Expr& literal, const std::string& role)>;

  LiteralWalk(const loop::Program& program, Visit visit)
      : program_(program), visit_(std::move(visit)) {}

  Block block(const Block& block) {
    Block out;
    for (const loop::Stmt& s : block) {
      out.push_back(std::visit([&](const auto& kind) { return stmt(kind); }, s.kind));
    }
    return out;
  }

 private:
  loop::Stmt stmt(loop::For s) {
    s.body = block(s.body);
    return s;
  }
  loop::Stmt stmt(loop::If s) {
    s.then_body = block(s.then_body);
    s.else_body = block(s.else_body);
    return s;
  }
  loop::Stmt stmt(loop::Let s) {
    s.value = value(s.value, s.name);
    return s;
  }
  loop::Stmt stmt(loop::Assign s) {
    s.value = value(s.value, "operand");
    return s;
  }
  loop::Stmt stmt(loop::Store s) {
    s.value = value(s.value, "value");
    return s;
  }
  template <class T>
  loop::Stmt stmt(const T& s) {
    return s;
  }

  Expr value(const Expr& e, const std::string& role) {
    if (is_liftable(e)) {
      Expr replacement = visit_(e, role);
      return replacement ? replacement : e;
    }
    if (loop::as<loop::Load>(e)) return e;
    size_t operand = 0;
    return loop::map_operands(e, [&](const Expr& inner) {
      const size_t here = operand++;
      return is_wide_shift(e, here) ? inner : value(inner, role_of(e, here, role));
    });
  }

  // What an operand is to the expression around it.
  std::string role_of(const Expr& e, size_t operand, const std::string& outer) const {
    if (const auto* call = loop::as<loop::CallExpr>(e)) {
      const loop::Function* function = loop::find_function(program_, call->function);
      if (function && operand < function->params.size()) return function->params[operand].name;
    }
    const auto* binary = loop::as<loop::BinaryExpr>(e);
    if (!binary) return outer;
    switch (binary->op) {
      case loop::BinaryOp::kMin:
        return "highest";
      case loop::BinaryOp::kMax:
        return "lowest";
      case loop::BinaryOp::kAdd:
      case loop::BinaryOp::kSub:
        return "offset";
      case loop::BinaryOp::kMul:
        return "factor";
      case loop::BinaryOp::kShl:
      case loop::BinaryOp::kShr:
        return "shift";
      default:
        return outer;
    }
  }

  const loop::Program& program_;
  const Visit visit_;
};

// Kernels with the same text but for their literals; each has as many.
struct Group {
  std::vector<size_t> kernels;  // in the program's order
  std::vector<std::vector<Literal>> literals;

  // Whether the literals at `position` differ.
  bool differs(size_t position) const {
    for (const std::vector<Literal>& member : literals) {
      if (!loop::equal(member[position].value, literals.front()[position].value)) return true;
    }
    return false;
  }
  // Whether two positions hold equal literals in every kernel.
  bool same(size_t a, size_t b) const {
    for (const std::vector<Literal>& member : literals) {
      if (!loop::equal(member[a].value, member[b].value)) return false;
    }
    return true;
  }
};

std::vector<Group> find_groups(const loop::Program& program) {
  std::vector<Group> groups;
  std::map<std::string, size_t> group_of_text;
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    std::vector<Literal> literals;
    loop::Kernel skeleton = program.kernels[k];
    LiteralWalk walk(program, [&](const Expr& literal, const std::string& role) {
      literals.push_back({literal, role});
      // A name that no program has, with the type, which the text does not show otherwise.
      return loop::var("?" + loop::print(literal->type) + "?" + std::to_string(literals.size()),
                       literal->type);
    });
    skeleton.body = walk.block(skeleton.body);
    skeleton.name.clear();
    const auto [it, is_new] = group_of_text.try_emplace(loop::print(skeleton), groups.size());
    if (is_new) groups.emplace_back();
    groups[it->second].kernels.push_back(k);
    groups[it->second].literals.push_back(std::move(literals));
  }
  std::erase_if(groups, [](const Group& g) { return g.kernels.size() < 2; });
  return groups;
}

// The kernel of a group, and what each member passes to it.
struct Shared {
  loop::Kernel kernel;
  std::vector<size_t> columns;  // positions of literals, one per scalar
};

Shared share(const loop::Program& program, const Group& group) {
  Shared shared{program.kernels[group.kernels.front()], {}};
  std::set<std::string> names = loop::names_of(shared.kernel.body);
  for (const loop::Param& p : shared.kernel.params) names.insert(p.name);
  size_t position = 0;
  LiteralWalk walk(program, [&](const Expr& literal, const std::string& role) -> Expr {
    const size_t here = position++;
    if (!group.differs(here)) return nullptr;
    for (size_t c = 0; c < shared.columns.size(); ++c) {
      const loop::Function::Parameter& known = shared.kernel.scalars[c];
      if (group.same(shared.columns[c], here)) return loop::var(known.name, known.type);
    }
    shared.columns.push_back(here);
    shared.kernel.scalars.push_back({loop::fresh_name(role, names), literal->type});
    return loop::var(shared.kernel.scalars.back().name, literal->type);
  });
  shared.kernel.body = walk.block(shared.kernel.body);
  return shared;
}

// A call's kernel and scalars, by the name of the kernel that it called before.
using Calls = std::map<std::string, std::pair<std::string, std::vector<Expr>>>;

void redirect(Block& runner, const Calls& calls) {
  for (loop::Stmt& s : runner) {
    if (auto* call = std::get_if<loop::CallKernel>(&s.kind)) {
      const auto found = calls.find(call->kernel);
      if (found != calls.end()) std::tie(call->kernel, call->scalars) = found->second;
    } else if (auto* loop = std::get_if<loop::For>(&s.kind)) {
      redirect(loop->body, calls);
    } else if (auto* branch = std::get_if<loop::If>(&s.kind)) {
      redirect(branch->then_body, calls);
      redirect(branch->else_body, calls);
    }
  }
}

loop::Program merge(loop::Program program, const std::vector<Group>& groups,
                    const std::set<std::string>& apart) {
  Calls calls;
  std::set<std::string> gone;
  for (const Group& group : groups) {
    if (apart.contains(program.kernels[group.kernels.front()].name)) continue;
    Shared shared = share(program, group);
    for (size_t m = 0; m < group.kernels.size(); ++m) {
      std::vector<Expr> scalars;
      for (const size_t column : shared.columns) scalars.push_back(group.literals[m][column].value);
      const std::string& name = program.kernels[group.kernels[m]].name;
      calls[name] = {shared.kernel.name, std::move(scalars)};
      if (m > 0) gone.insert(name);
    }
    program.kernels[group.kernels.front()] = std::move(shared.kernel);
  }
  redirect(program.runner, calls);
  std::erase_if(program.kernels, [&](const loop::Kernel& k) { return gone.contains(k.name); });
  return program;
}

}  // namespace

loop::Program share_kernels(loop::Program program) {
  for (const loop::Kernel& k : program.kernels) CHECK(k.scalars.empty());
  const std::vector<Group> groups = find_groups(program);
  if (groups.empty()) return program;
  loop::Program merged = merge(program, groups, {});
  std::set<std::string> unproved;
  for (const loop::Unproved& access : loop::unproved_accesses(merged)) {
    unproved.insert(access.kernel);
  }
  return unproved.empty() ? merged : merge(std::move(program), groups, unproved);
}

}  // namespace ingot
