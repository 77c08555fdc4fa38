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
  total.operations += part.operations * times;
  total.exact = total.exact && part.exact;
}

// Instructions that a branch may cost, to tell the dearer one.
int64_t weight(const Cost& c) { return c.multiplies + c.loads + c.stores + c.calls + c.iterations; }

class Counter {
 public:
  Counter(const Program& program, int64_t budget) : program_(program), budget_(budget) {}

  // `known` holds the values of loop variables and scalars that are the same in every run.
  using Known = std::map<std::string, Expr>;

  Cost of_block(const Block& block, const Known& known) { return of_part(part_of(block), known); }

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
  // A block as far as its cost goes: what is the same in every run of it, and the statements whose
  // cost depends on what is known, or on which that of others does.
  struct Step;
  struct Part {
    Cost fixed;
    std::vector<Step> steps;
  };
  struct Step {
    const Let* let = nullptr;
    const For* loop = nullptr;
    const If* branch = nullptr;
    Part body;
    Part other;  // of a branch
  };

  Part part_of(const Block& block) {
    Part part;
    for (const Stmt& s : block) {
      if (const auto* loop = std::get_if<For>(&s.kind)) {
        add(part.fixed, of_bound(loop->begin));
        add(part.fixed, of_bound(loop->end));
        part.steps.push_back({.let = nullptr,
                              .loop = loop,
                              .branch = nullptr,
                              .body = part_of(loop->body),
                              .other = {}});
      } else if (const auto* branch = std::get_if<If>(&s.kind)) {
        add(part.fixed, of_expr(branch->condition));
        part.steps.push_back({.let = nullptr,
                              .loop = nullptr,
                              .branch = branch,
                              .body = part_of(branch->then_body),
                              .other = part_of(branch->else_body)});
      } else if (const auto* let = std::get_if<Let>(&s.kind)) {
        add(part.fixed, of_expr(let->value));
        if (matters_.contains(let->name)) {
          part.steps.push_back(
              {.let = let, .loop = nullptr, .branch = nullptr, .body = {}, .other = {}});
        }
      } else if (const auto* assign = std::get_if<Assign>(&s.kind)) {
        add(part.fixed, of_expr(assign->value));
      } else if (const auto* store = std::get_if<Store>(&s.kind)) {
        add(part.fixed, of_index(store->index));
        add(part.fixed, of_expr(store->value));
        ++part.fixed.stores;
        part.fixed.bytes_stored += store->value->type.size_bytes();
      }
    }
    return part;
  }

  Cost of_part(const Part& part, Known known) {
    Cost total = part.fixed;
    for (const Step& step : part.steps) {
      if (step.loop) {
        add(total, of_loop(step, known));
      } else if (step.branch) {
        add(total, of_branch(step, known));
      } else {
        known.erase(step.let->name);
        if (assigned_.contains(step.let->name)) continue;
        const Expr value = substitute(step.let->value, known);
        if (as<IntLit>(value)) known[step.let->name] = value;
      }
    }
    return total;
  }

  Cost of_loop(const Step& step, const Known& known) {
    const For& f = *step.loop;
    Cost total;
    const Expr first = substitute(f.begin, known);
    const Expr stop = substitute(f.end, known);
    const auto* begin = as<IntLit>(first);
    const auto* end = as<IntLit>(stop);
    Known inner = known;
    inner.erase(f.variable);
    if (!begin || !end) {
      add(total, of_part(step.body, inner));
      ++total.iterations;
      total.exact = false;
      return total;
    }
    const int64_t trips = std::max<int64_t>(ceil_div(end->value - begin->value, f.step), 0);
    if (trips == 0) return total;
    total.iterations += trips;
    if (!matters_.contains(f.variable)) {
      add(total, of_part(step.body, inner), trips);
      return total;
    }
    for (int64_t t = 0; t < trips; ++t) {
      inner[f.variable] = lit(begin->value + t * f.step);
      const Cost body = of_part(step.body, inner);
      if (--budget_ < 0) {
        add(total, body, trips - t);
        total.exact = false;
        return total;
      }
      add(total, body);
    }
    return total;
  }

  Cost of_branch(const Step& step, const Known& known) {
    Cost total;
    const Expr condition = substitute(step.branch->condition, known);
    if (const auto* decided = as<IntLit>(condition)) {
      add(total, of_part(decided->value != 0 ? step.body : step.other, known));
      return total;
    }
    const Cost if_true = of_part(step.body, known);
    const Cost if_false = of_part(step.other, known);
    add(total, weight(if_true) >= weight(if_false) ? if_true : if_false);
    total.exact = false;
    return total;
  }

  Cost of_bound(const Expr& e) {
    Cost cost = of_expr(e);
    cost.multiplies = 0;
    return cost;
  }

  Cost of_index(const Expr& e) {
    Cost cost = of_bound(e);
    cost.operations = 0;
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
      ++total.operations;
    } else if (as<UnaryExpr>(e) || as<Select>(e)) {
      ++total.operations;
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
    const bool is_instruction =
        !f->assembly.empty() || !f->spelling.empty() || !f->expression.empty();
    if (is_instruction) cost.operations = 1;
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
