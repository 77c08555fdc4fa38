// SPDX-License-Identifier: Apache-2.0
// unproved_accesses: walks over every kernel and function with what is known of its values.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "loop/text.h"
#include "loop/values.h"
#include "loop/verify.h"

namespace ingot::loop {
namespace {

// For the bounds of one access.
constexpr int64_t kSubstitutions = 2000;

class Prover {
 public:
  Prover(const std::string& name, const Kernel* kernel, ConstantContents& contents)
      : name_(name), values_(kernel, contents) {
    if (!kernel) return;
    for (const Param& p : kernel->params) sizes_.push_back({p.name, p.num_elements});
  }

  std::vector<Unproved> prove(const Kernel& kernel) {
    do {
      unproved_.clear();
      for (const Function::Parameter& p : kernel.scalars) values_.declare_unknown(p.name, p.type);
      walk(kernel.body);
    } while (values_.next_round());
    return std::move(unproved_);
  }

  std::vector<Unproved> prove(const Function& function) {
    do {
      unproved_.clear();
      for (const Function::Parameter& p : function.params) values_.declare_unknown(p.name, p.type);
      walk_open(function.body);
      check(function.result);
      sizes_.clear();
    } while (values_.next_round());
    return std::move(unproved_);
  }

 private:
  struct Size {
    std::string name;
    int64_t num_elements = 0;
  };

  void walk(const Block& block) {
    const Values::Mark mark = values_.enter();
    const size_t sizes = sizes_.size();
    walk_open(block);
    sizes_.resize(sizes);
    values_.leave(mark);
  }

  void walk_open(const Block& block) {
    for (const Stmt& s : block) {
      std::visit([&](const auto& kind) { walk_stmt(s, kind); }, s.kind);
    }
  }

  void walk_stmt(const Stmt&, const For& f) {
    check(f.begin);
    check(f.end);
    const Sum begin = values_.sum_of(f.begin);
    const Sum end = values_.sum_of(f.end);
    const std::optional<Sum> extent = add_multiple(end, begin, -1);
    // A body that never runs has nothing to prove.
    if (extent && values_.affine().range(*extent).high <= 0) return;
    values_.forget_assigned(f.body);
    const Values::Mark mark = values_.enter();
    values_.declare(f.variable, values_.affine().loop_variable(begin, end, f.step));
    walk(f.body);
    values_.leave(mark);
    values_.forget_assigned(f.body);
  }
  void walk_stmt(const Stmt&, const If& i) {
    check(i.condition);
    walk_branch(i.condition, true, i.then_body);
    walk_branch(i.condition, false, i.else_body);
    values_.forget_assigned(i.then_body);
    values_.forget_assigned(i.else_body);
  }
  void walk_branch(const Expr& condition, bool holds, const Block& body) {
    const auto* known = as<IntLit>(condition);
    if (known && (known->value != 0) != holds) return;
    // What the branch assigns is restored by forgetting it afterwards; the other branch must not
    // see it, so it is forgotten before as well.
    values_.forget_assigned(body);
    const Values::Mark mark = values_.enter();
    values_.assume(condition, holds);
    walk(body);
    values_.leave(mark);
    values_.forget_assigned(body);
  }
  void walk_stmt(const Stmt& s, const Let& l) {
    check(l.value);
    values_.let(s, l);
  }
  void walk_stmt(const Stmt&, const Assign& a) {
    check(a.value);
    values_.assign(a);
  }
  void walk_stmt(const Stmt&, const LocalArray& a) { sizes_.push_back({a.name, a.num_elements}); }
  void walk_stmt(const Stmt&, const Store& s) {
    check(s.index);
    check(s.value);
    check_access(s.buffer, s.index, s.value->type, s.alignment);
  }
  void walk_stmt(const Stmt&, const Comment&) {}
  void walk_stmt(const Stmt&, const CallKernel&) {}

  // Every load in `e`. An alternative of a scalar select is evaluated only if it is chosen.
  void check(const Expr& e) {
    if (const auto* x = as<Load>(e)) {
      check(x->index);
      check_access(x->buffer, x->index, e->type, x->alignment);
    } else if (const auto* u = as<UnaryExpr>(e)) {
      check(u->a);
    } else if (const auto* b = as<BinaryExpr>(e)) {
      check(b->a);
      check(b->b);
    } else if (const auto* s = as<Select>(e)) {
      check(s->condition);
      check_chosen(*s, s->if_true, true);
      check_chosen(*s, s->if_false, false);
    } else if (const auto* c = as<Cast>(e)) {
      check(c->a);
    } else if (const auto* l = as<Lane>(e)) {
      check(l->a);
    } else if (const auto* p = as<Pack>(e)) {
      for (const Expr& value : p->lanes) check(value);
    } else if (const auto* call = as<CallExpr>(e)) {
      for (const Expr& arg : call->args) check(arg);
    }
  }
  void check_chosen(const Select& s, const Expr& chosen, bool holds) {
    if (!chosen->type.is_scalar()) return check(chosen);
    const Values::Mark mark = values_.enter();
    values_.assume(s.condition, holds);
    check(chosen);
    values_.leave(mark);
  }

  void check_access(const std::string& buffer, const Expr& index, Type type, int64_t alignment) {
    const auto size = std::find_if(sizes_.rbegin(), sizes_.rend(),
                                   [&](const Size& s) { return s.name == buffer; });
    const auto report = [&](std::string reason) {
      unproved_.push_back({name_, fmt::format("{}[{}]", buffer, print(index)), std::move(reason)});
    };
    if (size == sizes_.rend()) return report("there is no such buffer");
    const Sum sum = values_.sum_of(index);
    const Interval range = values_.affine().range(sum, kSubstitutions);
    if (range.low > range.high) return;  // never reached
    if (range.low < 0 || range.high > size->num_elements - type.lanes) {
      report(fmt::format("index in [{}, {}]{}, the buffer has {} elements", range.low, range.high,
                         type.is_scalar() ? "" : fmt::format(" of {} lanes", type.lanes),
                         size->num_elements));
    }
    const int64_t elements = alignment / size_in_bytes(type.dtype);
    if (elements > 1 && !values_.affine().is_multiple(sum, elements)) {
      report(fmt::format("index not known to be a multiple of {}", elements));
    }
  }

  const std::string& name_;
  Values values_;
  std::vector<Size> sizes_;
  std::vector<Unproved> unproved_;
};

}  // namespace

std::vector<Unproved> unproved_accesses(const Program& program) {
  ConstantContents contents(program);
  std::vector<Unproved> all;
  const auto append = [&](std::vector<Unproved> some) {
    std::ranges::move(some, std::back_inserter(all));
  };
  for (const Function& f : program.functions) append(Prover(f.name, nullptr, contents).prove(f));
  for (const Kernel& k : program.kernels) append(Prover(k.name, &k, contents).prove(k));
  return all;
}

}  // namespace ingot::loop
