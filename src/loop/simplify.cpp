// SPDX-License-Identifier: Apache-2.0
#include "loop/simplify.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "loop/dead.h"
#include "loop/rewrite.h"
#include "loop/rules.h"
#include "loop/values.h"
#include "support/arithmetic.h"

namespace ingot::loop {
namespace {

// Sums are collected where they are of indices: of int32 variables and literals. Elsewhere the
// order of additions may be what keeps them from overflowing.
bool is_index_like(const Expr& e) {
  bool plain = e->type == kInt32;
  for_each_node(e, [&](const Expr& node) {
    plain = plain && node->type == kInt32 &&
            (as<IntLit>(node) || as<Var>(node) || as<BinaryExpr>(node));
  });
  return plain;
}

struct Term {
  Expr of;
  int64_t factor = 0;
};

// An expression as a sum of terms in the order in which they occur, and of a constant.
class Collector {
 public:
  // False if a factor leaves the range of int64_t.
  bool add(const Expr& e, int64_t factor) {
    if (const auto* literal = as<IntLit>(e)) return accumulate(constant_, literal->value, factor);
    const auto* b = as<BinaryExpr>(e);
    if (b && b->op == BinaryOp::kAdd) return add(b->a, factor) && add(b->b, factor);
    if (b && b->op == BinaryOp::kSub) return add(b->a, factor) && add(b->b, -factor);
    const auto* multiplier = b && b->op == BinaryOp::kMul ? as<IntLit>(b->b) : nullptr;
    if (multiplier) {
      const std::optional<int64_t> product = checked_mul(factor, multiplier->value);
      return product && fits_int32(*product) && add(b->a, *product);
    }
    for (Term& term : terms_) {
      if (equal(term.of, e)) return accumulate(term.factor, 1, factor);
    }
    terms_.push_back({e, factor});
    return true;
  }

  // Positive terms first, so that a sum seldom starts with a negation; the constant last.
  std::optional<Expr> build() const {
    Expr sum;
    int64_t constant = constant_;
    std::vector<Term> terms = terms_;
    std::stable_partition(terms.begin(), terms.end(), [](const Term& t) { return t.factor > 0; });
    for (const Term& t : terms) {
      if (!fits_int32(t.factor)) return std::nullopt;
      if (t.factor == 0) continue;
      if (!sum && t.factor < 0) sum = lit(std::exchange(constant, 0));
      if (!sum) {
        sum = t.of * t.factor;
      } else {
        sum = t.factor < 0 ? std::move(sum) - t.of * -t.factor : std::move(sum) + t.of * t.factor;
      }
    }
    return sum ? std::move(sum) + constant : lit(constant);
  }

 private:
  // Factors of INT32_MIN are left out, so that all can be negated.
  static bool fits_int32(int64_t value) { return -INT32_MAX <= value && value <= INT32_MAX; }
  static bool accumulate(int64_t& total, int64_t value, int64_t factor) {
    const std::optional<int64_t> product = checked_mul(value, factor);
    const std::optional<int64_t> sum = product ? checked_add(total, *product) : std::nullopt;
    if (!sum || !fits_int32(*sum)) return false;
    total = *sum;
    return true;
  }

  std::vector<Term> terms_;
  int64_t constant_ = 0;
};

Expr collect(const Expr& e) {
  const auto* b = as<BinaryExpr>(e);
  const bool is_sum = b && (b->op == BinaryOp::kAdd || b->op == BinaryOp::kSub ||
                            (b->op == BinaryOp::kMul && as<IntLit>(b->b)));
  if (!is_sum || !is_index_like(e)) return e;
  Collector collector;
  if (!collector.add(e, 1)) return e;
  const std::optional<Expr> sum = collector.build();
  return sum && !equal(*sum, e) ? *sum : e;
}

// Simplifies bottom up; `decide` may replace a node by what is known of its operands' values.
template <class Decide>
Expr simplify_with(const Expr& e, const Decide& decide) {
  Expr out = map_operands(e, [&](const Expr& operand) { return simplify_with(operand, decide); });
  for (Expr next = apply_rules(out); next; next = apply_rules(out)) out = next;
  out = collect(out);
  return decide(out);
}

class BlockSimplifier {
 public:
  explicit BlockSimplifier(const Block& block)
      : contents_(Program{}),
        values_(nullptr, contents_),
        assigned_(assigned_in(block)),
        taken_(names_of(block)) {
    for_each_stmt(block, [&](const Stmt& s) {
      if (const auto* let = std::get_if<Let>(&s.kind)) ++declarations_[let->name];
      if (const auto* array = std::get_if<LocalArray>(&s.kind)) ++declarations_[array->name];
      if (const auto* loop = std::get_if<For>(&s.kind)) ++declarations_[loop->variable];
    });
  }

  Block run(const Block& block) {
    const Values::Mark mark = values_.enter();
    Block out = run_open(block);
    values_.leave(mark);
    return out;
  }

 private:
  Block run_open(const Block& block) {
    Block out;
    for (const Stmt& s : block) std::visit([&](const auto& kind) { add(out, kind); }, s.kind);
    return out;
  }

  Expr simplified(const Expr& e) {
    return simplify_with(e, [&](const Expr& node) { return decided(node); });
  }

  // What the ranges of variables decide.
  Expr decided(const Expr& e) {
    if (!e->type.is_scalar() || is_float(e->type.dtype) || as<IntLit>(e)) return e;
    const auto* b = as<BinaryExpr>(e);
    if (!b || is_float(b->a->type.dtype)) return e;
    Affine& affine = values_.affine();
    if (b->op == BinaryOp::kFloorDiv || b->op == BinaryOp::kFloorMod) {
      const Interval range = affine.range(values_.sum_of(e));
      if (range.low == range.high) return lit(range.low, e->type);
      const Interval a = affine.range(values_.sum_of(b->a));
      const bool within = 0 <= a.low && a.high < as<IntLit>(b->b)->value;
      return within && b->op == BinaryOp::kFloorMod ? b->a : e;
    }
    const auto difference = add_multiple(values_.sum_of(b->a), values_.sum_of(b->b), -1);
    if (!difference) return e;
    const auto known = [&](bool is_true, bool is_false) {
      return is_true ? lit(1, kBool) : is_false ? lit(0, kBool) : e;
    };
    const Interval d = affine.range(*difference);
    switch (b->op) {
      case BinaryOp::kMin:
        return d.high <= 0 ? b->a : d.low >= 0 ? b->b : e;
      case BinaryOp::kMax:
        return d.high <= 0 ? b->b : d.low >= 0 ? b->a : e;
      case BinaryOp::kLt:
        return known(d.high < 0, d.low >= 0);
      case BinaryOp::kLe:
        return known(d.high <= 0, d.low > 0);
      case BinaryOp::kEq:
        return known(d.low == 0 && d.high == 0, d.low > 0 || d.high < 0);
      case BinaryOp::kNe:
        return known(d.low > 0 || d.high < 0, d.low == 0 && d.high == 0);
      default:
        return e;
    }
  }

  void add(Block& out, const For& f) {
    For loop = f;
    loop.begin = simplified(f.begin);
    loop.end = simplified(f.end);
    const Sum begin = values_.sum_of(loop.begin);
    const Sum end = values_.sum_of(loop.end);
    const std::optional<Sum> extent = add_multiple(end, begin, -1);
    const Interval trips = extent ? values_.affine().range(*extent) : range_of(DType::kInt64);
    if (trips.high <= 0) return;
    // What the body changes must not be part of what replaces the variable.
    const bool fixed = is_index_like(loop.begin) && !reads_assigned(loop.begin);
    if (trips.low > 0 && trips.high <= f.step && fixed) return add_once(out, f, loop.begin);
    const Values::Mark mark = values_.enter();
    values_.declare(f.variable, values_.affine().loop_variable(begin, end, f.step));
    loop.body = run(f.body);
    values_.leave(mark);
    if (!loop.body.empty()) out.push_back(std::move(loop));
  }

  bool reads_assigned(const Expr& e) const {
    const std::set<std::string> names = variables_of(e);
    return std::ranges::any_of(names, [&](const std::string& n) { return assigned_.contains(n); });
  }

  // The body, once. Its names become names of the block around it, where they must be new.
  void add_once(Block& out, const For& f, const Expr& value) {
    Block body = substitute(f.body, {{f.variable, value}});
    std::map<std::string, std::string> names;
    for (const std::string& name : declared_by(body)) {
      if (declarations_[name] < 2) continue;
      names[name] = fresh_name(name, taken_);
      if (assigned_.contains(name)) assigned_.insert(names[name]);
    }
    for (const Stmt& s : rename(body, names)) {
      std::visit([&](const auto& kind) { add(out, kind); }, s.kind);
    }
  }

  void add(Block& out, const If& i) {
    const Expr condition = simplified(i.condition);
    if (const auto* known = as<IntLit>(condition)) {
      const Block& taken = known->value != 0 ? i.then_body : i.else_body;
      return add_once(out, For{"", lit(0), lit(1), 1, false, taken}, lit(0));
    }
    If branch{condition, branch_body(condition, true, i.then_body),
              branch_body(condition, false, i.else_body)};
    if (!branch.then_body.empty() || !branch.else_body.empty()) out.push_back(std::move(branch));
  }
  Block branch_body(const Expr& condition, bool holds, const Block& body) {
    const Values::Mark mark = values_.enter();
    // What a branch assigns has another value behind the assignment; such names are unknown
    // anyway, and each reading of an unknown name is a value of its own.
    values_.assume(condition, holds);
    Block out = run(body);
    values_.leave(mark);
    return out;
  }
  void add(Block& out, const Let& l) {
    Let let{l.name, simplified(l.value), l.register_name};
    // An assigned name stays undeclared, and so unknown wherever it is read.
    out.push_back(let);
    if (assigned_.contains(l.name)) return;
    const Type type = let.value->type;
    if (type.is_scalar() && !is_float(type.dtype)) {
      values_.declare(l.name, values_.sum_of(let.value));
    }
  }
  void add(Block& out, const Assign& a) { out.push_back(Assign{a.name, simplified(a.value)}); }
  void add(Block& out, const Store& s) {
    out.push_back(Store{s.buffer, simplified(s.index), simplified(s.value), s.alignment});
  }
  void add(Block& out, const LocalArray& a) { out.push_back(a); }
  void add(Block& out, const Comment& c) { out.push_back(c); }
  void add(Block& out, const CallKernel& c) { out.push_back(c); }

  ConstantContents contents_;
  Values values_;
  std::set<std::string> assigned_;
  std::set<std::string> taken_;
  std::map<std::string, int64_t> declarations_;
};

}  // namespace

Expr simplify(const Expr& e) {
  return simplify_with(e, [](const Expr& node) { return node; });
}

Block simplify(const Block& block) { return without_unread(BlockSimplifier(block).run(block)); }

}  // namespace ingot::loop
