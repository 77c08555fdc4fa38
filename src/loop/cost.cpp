// SPDX-License-Identifier: Apache-2.0
#include "loop/cost.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "support/arithmetic.h"

namespace ingot::loop {
namespace {

void add(Cost& total, const Cost& part, int64_t times = 1) {
  total.multiplies += part.multiplies * times;
  total.loads += part.loads * times;
  total.stores += part.stores * times;
  total.bytes_loaded += part.bytes_loaded * times;
  total.bytes_stored += part.bytes_stored * times;
  total.calls += part.calls * times;
  total.iterations += part.iterations * times;
  total.exact = total.exact && part.exact;
}

// Instructions that a branch may cost, to tell the dearer one.
int64_t weight(const Cost& c) { return c.multiplies + c.loads + c.stores + c.calls + c.iterations; }

class Counter {
 public:
  Counter(const Program& program, int64_t budget) : program_(program), budget_(budget) {}

  // `known` holds the values of loop variables and scalars that are the same in every run.
  using Known = std::map<std::string, Expr>;

  Cost of_block(const Block& block, Known known) {
    Cost total;
    for (const Stmt& s : block) {
      if (const auto* loop = std::get_if<For>(&s.kind)) {
        add(total, of_loop(*loop, known));
      } else if (const auto* branch = std::get_if<If>(&s.kind)) {
        add(total, of_branch(*branch, known));
      } else if (const auto* let = std::get_if<Let>(&s.kind)) {
        add(total, of_expr(let->value));
        known.erase(let->name);
        if (matters_.contains(let->name) && !assigned_.contains(let->name)) {
          const Expr value = substitute(let->value, known);
          if (as<IntLit>(value)) known[let->name] = value;
        }
      } else if (const auto* assign = std::get_if<Assign>(&s.kind)) {
        add(total, of_expr(assign->value));
      } else if (const auto* store = std::get_if<Store>(&s.kind)) {
        add(total, of_index(store->index));
        add(total, of_expr(store->value));
        ++total.stores;
        total.bytes_stored += store->value->type.size_bytes();
      }
    }
    return total;
  }

  // Finds the names on which bounds and conditions depend, by way of scalars too.
  void prepare(const Block& block) {
    assigned_ = assigned_in(block);
    const auto note = [&](const Expr& e) { matters_.merge(variables_of(e)); };
    for_each_stmt(block, [&](const Stmt& s) {
      if (const auto* loop = std::get_if<For>(&s.kind)) {
        note(loop->begin);
        note(loop->end);
      } else if (const auto* branch = std::get_if<If>(&s.kind)) {
        note(branch->condition);
      }
    });
    for (size_t before = 0; before != matters_.size();) {
      before = matters_.size();
      for_each_stmt(block, [&](const Stmt& s) {
        const auto* let = std::get_if<Let>(&s.kind);
        if (let && matters_.contains(let->name)) note(let->value);
      });
    }
  }

 private:
  Cost of_loop(const For& f, const Known& known) {
    Cost total;
    add(total, of_index(f.begin));
    add(total, of_index(f.end));
    const Expr first = substitute(f.begin, known);
    const Expr stop = substitute(f.end, known);
    const auto* begin = as<IntLit>(first);
    const auto* end = as<IntLit>(stop);
    Known inner = known;
    inner.erase(f.variable);
    if (!begin || !end) {
      add(total, of_block(f.body, inner));
      ++total.iterations;
      total.exact = false;
      return total;
    }
    const int64_t trips = std::max<int64_t>(ceil_div(end->value - begin->value, f.step), 0);
    if (trips == 0) return total;
    total.iterations += trips;
    if (!matters_.contains(f.variable)) {
      add(total, of_block(f.body, inner), trips);
      return total;
    }
    for (int64_t t = 0; t < trips; ++t) {
      inner[f.variable] = lit(begin->value + t * f.step);
      const Cost body = of_block(f.body, inner);
      if (--budget_ < 0) {
        add(total, body, trips - t);
        total.exact = false;
        return total;
      }
      add(total, body);
    }
    return total;
  }

  Cost of_branch(const If& i, const Known& known) {
    Cost total = of_expr(i.condition);
    const Expr condition = substitute(i.condition, known);
    if (const auto* decided = as<IntLit>(condition)) {
      add(total, of_block(decided->value != 0 ? i.then_body : i.else_body, known));
      return total;
    }
    const Cost if_true = of_block(i.then_body, known);
    const Cost if_false = of_block(i.else_body, known);
    add(total, weight(if_true) >= weight(if_false) ? if_true : if_false);
    total.exact = false;
    return total;
  }

  Cost of_index(const Expr& e) {
    Cost cost = of_expr(e);
    cost.multiplies = 0;
    return cost;
  }

  Cost of_expr(const Expr& e) {
    Cost total;
    if (const auto* x = as<Load>(e)) {
      add(total, of_index(x->index));
      ++total.loads;
      total.bytes_loaded += e->type.size_bytes();
      return total;
    }
    if (const auto* b = as<BinaryExpr>(e)) {
      if (b->op == BinaryOp::kMul) total.multiplies += e->type.lanes;
    } else if (const auto* call = as<CallExpr>(e)) {
      ++total.calls;
      add(total, of_function(call->function));
    }
    map_operands(e, [&](const Expr& operand) {
      add(total, of_expr(operand));
      return operand;
    });
    return total;
  }

  Cost of_function(const std::string& name) {
    const auto known = functions_.find(name);
    if (known != functions_.end()) return known->second;
    functions_[name] = Cost{};  // a function that calls itself has a fault, and no cost
    const Function* f = find_function(program_, name);
    if (!f) return {};
    Counter counter(program_, budget_);
    counter.functions_ = functions_;
    counter.prepare(f->body);
    Cost cost = counter.of_block(f->body, {});
    add(cost, counter.of_expr(f->result));
    return functions_[name] = cost;
  }

  const Program& program_;
  int64_t budget_;
  std::set<std::string> matters_;
  std::set<std::string> assigned_;
  std::map<std::string, Cost> functions_;
};

}  // namespace

Cost cost_of(const Program& program, const Kernel& kernel, int64_t budget) {
  Counter counter(program, budget);
  counter.prepare(kernel.body);
  return counter.of_block(kernel.body, {});
}

}  // namespace ingot::loop
