// SPDX-License-Identifier: Apache-2.0
#include "schedule/contraction.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "schedule/block.h"
#include "support/arithmetic.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::as;
using loop::BinaryOp;
using loop::Expr;

std::optional<int64_t> literal(const Expr& e) {
  const auto* value = as<loop::IntLit>(e);
  return value ? std::optional(value->value) : std::nullopt;
}

// a + scale * b
std::optional<AffineIndex> sum_of(AffineIndex a, const AffineIndex& b, int64_t scale) {
  const auto add = [&](int64_t& to, int64_t value) {
    const std::optional<int64_t> product = checked_mul(value, scale);
    const auto total = product ? checked_add(to, *product) : std::nullopt;
    if (total) to = *total;
    return total.has_value();
  };
  if (!add(a.constant, b.constant)) return std::nullopt;
  for (const auto& [variable, factor] : b.factors) {
    int64_t& to = a.factors[variable];
    if (!add(to, factor)) return std::nullopt;
    if (to == 0) a.factors.erase(variable);
  }
  return a;
}

std::optional<AffineIndex> affine_binary(const loop::BinaryExpr& e) {
  const std::optional<AffineIndex> a = affine_index(e.a);
  const std::optional<AffineIndex> b = affine_index(e.b);
  if (!a || !b) return std::nullopt;
  if (e.op == BinaryOp::kAdd) return sum_of(*a, *b, 1);
  if (e.op == BinaryOp::kSub) return sum_of(*a, *b, -1);
  if (e.op != BinaryOp::kMul) return std::nullopt;
  if (b->factors.empty()) return sum_of({}, *a, b->constant);
  if (a->factors.empty()) return sum_of({}, *b, a->constant);
  return std::nullopt;
}

LoopRange range_of(const loop::For& f) { return {f.variable, f.begin, f.end}; }

// The load in `e`, which may be cast and have a literal added.
std::optional<Factor> factor_of(Expr e) {
  Factor factor;
  const auto* sum = as<loop::BinaryExpr>(e);
  if (sum && sum->op == BinaryOp::kAdd) {
    const std::optional<int64_t> offset = literal(sum->b);
    if (!offset) return std::nullopt;
    factor.offset = *offset;
    e = sum->a;
  }
  if (const auto* cast = as<loop::Cast>(e)) e = cast->a;
  const auto* load = as<loop::Load>(e);
  if (!load || !e->type.is_scalar()) return std::nullopt;
  const std::optional<AffineIndex> index = affine_index(load->index);
  if (!index) return std::nullopt;
  factor.buffer = load->buffer;
  factor.dtype = e->type.dtype;
  factor.index = *index;
  return factor;
}

bool is_constant(const loop::Kernel& kernel, const std::string& buffer) {
  const auto param = std::ranges::find(kernel.params, buffer, &loop::Param::name);
  return param != kernel.params.end() && param->constant;
}

// The single statement of a loop's body, through `sums`, is acc = acc + product.
bool read_sums(const loop::Kernel& kernel, const loop::For& outermost, Contraction& c) {
  const loop::For* f = &outermost;
  while (true) {
    if (f->step != 1 || f->reverse || f->body.size() != 1) return false;
    c.sums.push_back(range_of(*f));
    const auto* inner = std::get_if<loop::For>(&f->body[0].kind);
    if (!inner) break;
    f = inner;
  }
  const auto* assign = std::get_if<loop::Assign>(&f->body[0].kind);
  if (!assign || assign->name != c.accumulator) return false;
  const auto* sum = as<loop::BinaryExpr>(assign->value);
  if (!sum || sum->op != BinaryOp::kAdd) return false;
  const auto* self = as<loop::Var>(sum->a);
  const auto* product = as<loop::BinaryExpr>(sum->b);
  if (!self || self->name != c.accumulator || !product || product->op != BinaryOp::kMul) {
    return false;
  }
  std::optional<Factor> left = factor_of(product->a);
  std::optional<Factor> right = factor_of(product->b);
  if (!left || !right) return false;
  const bool left_is_constant = is_constant(kernel, left->buffer);
  if (left_is_constant == is_constant(kernel, right->buffer)) return false;
  c.x_stands_left = !left_is_constant;
  if (left_is_constant) std::swap(left, right);
  c.x = *std::move(left);
  c.w = *std::move(right);
  return true;
}

// No loops, and nothing but `accumulator` is assigned from outside.
bool is_plain(const loop::Block& finish) {
  return std::ranges::all_of(finish, [](const loop::Stmt& s) {
    return std::holds_alternative<loop::Let>(s.kind) ||
           std::holds_alternative<loop::Store>(s.kind) ||
           std::holds_alternative<loop::Assign>(s.kind) ||
           std::holds_alternative<loop::Comment>(s.kind);
  });
}

bool only_outer_variables(const Contraction& c, const AffineIndex& index) {
  return std::ranges::all_of(index.factors, [&](const auto& term) {
    const auto is = [&](const LoopRange& a) { return a.variable == term.first; };
    return std::ranges::any_of(c.outer, is) || std::ranges::any_of(c.sums, is);
  });
}

}  // namespace

int64_t AffineIndex::factor(const std::string& variable) const {
  const auto found = factors.find(variable);
  return found == factors.end() ? 0 : found->second;
}

int64_t AffineIndex::at(const std::map<std::string, int64_t>& values) const {
  int64_t sum = constant;
  for (const auto& [variable, factor] : factors) sum += factor * values.at(variable);
  return sum;
}

Expr AffineIndex::expr(const std::vector<std::string>& order) const {
  std::vector<std::string> names;
  for (const std::string& name : order) {
    if (factors.contains(name)) names.push_back(name);
  }
  for (const auto& [name, factor] : factors) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  Expr sum = nullptr;
  for (const std::string& name : names) {
    const Expr term = loop::var(name) * factors.at(name);
    sum = sum ? sum + term : term;
  }
  return sum ? sum + constant : loop::lit(constant);
}

std::optional<AffineIndex> affine_index(const Expr& e) {
  if (e->type != loop::kInt32) return std::nullopt;
  if (const std::optional<int64_t> value = literal(e)) return AffineIndex{{}, *value};
  if (const auto* v = as<loop::Var>(e)) return AffineIndex{{{v->name, 1}}, 0};
  if (const auto* b = as<loop::BinaryExpr>(e)) return affine_binary(*b);
  return std::nullopt;
}

std::optional<int64_t> LoopRange::first() const { return literal(begin); }

std::optional<int64_t> LoopRange::extent() const {
  const std::optional<int64_t> low = literal(begin);
  const std::optional<int64_t> high = literal(end);
  return low && high ? std::optional(*high - *low) : std::nullopt;
}

int64_t Axes::num_outer_channels() const {
  int64_t count = 1;
  for (const LoopRange& g : channels) count *= *g.extent();
  return count;
}

Expr Axes::outer_channel() const {
  Expr number = loop::lit(0);
  for (const LoopRange& g : channels) number = number * *g.extent() + loop::var(g.variable);
  return number;
}

Axes axes_of(const Contraction& c) {
  Axes axes;
  for (const LoopRange& axis : c.outer) {
    (c.is_channel(axis) ? axes.channels : axes.positions).push_back(axis);
  }
  CHECK(!axes.channels.empty());
  axes.channel = axes.channels.back();
  axes.channels.pop_back();
  return axes;
}

const LoopRange* Contraction::find_outer(const std::string& variable) const {
  const auto found = std::ranges::find(outer, variable, &LoopRange::variable);
  return found == outer.end() ? nullptr : &*found;
}

std::set<std::string> names_in(const loop::Kernel& kernel) {
  std::set<std::string> names = loop::names_of(kernel.body);
  for (const loop::Param& param : kernel.params) names.insert(param.name);
  return names;
}

loop::Block ending_of(const Contraction& c, Expr sum, const loop::Block& finish,
                      const std::map<std::string, Expr>& values, int64_t number,
                      std::set<std::string>& names) {
  loop::Block block = {loop::Let{c.accumulator, std::move(sum)}};
  append(block, loop::substitute(finish, values));
  std::map<std::string, std::string> renamed;
  for (const std::string& name : loop::declared_by(block)) {
    renamed[name] = loop::fresh_name(fmt::format("{}_{}", name, number), names);
  }
  return loop::rename(block, renamed);
}

Contraction with_a_channel(Contraction c, std::set<std::string>& names) {
  const auto is_channel = [&](const LoopRange& axis) { return c.is_channel(axis); };
  if (std::ranges::any_of(c.outer, is_channel)) return c;
  c.outer.push_back({loop::fresh_name("oc", names), loop::lit(0), loop::lit(1)});
  c.w.index.factors[c.outer.back().variable] = 1;
  return c;
}

std::optional<Contraction> find_contraction(const loop::Kernel& kernel) {
  Contraction c;
  const loop::Block* block = &kernel.body;
  while (block->size() == 1) {
    const auto* f = std::get_if<loop::For>(&block->front().kind);
    if (!f || f->step != 1 || f->reverse) return std::nullopt;
    c.outer.push_back(range_of(*f));
    if (c.outer.back().first() != 0 || !c.outer.back().extent()) return std::nullopt;
    block = &f->body;
  }
  if (block->size() < 3) return std::nullopt;
  const auto* let = std::get_if<loop::Let>(&block->at(0).kind);
  const auto* sums = std::get_if<loop::For>(&block->at(1).kind);
  if (!let || !sums) return std::nullopt;
  c.accumulator = let->name;
  c.first = let->value;
  c.finish.assign(block->begin() + 2, block->end());
  if (!read_sums(kernel, *sums, c) || !is_plain(c.finish)) return std::nullopt;
  if (!only_outer_variables(c, c.x.index) || !only_outer_variables(c, c.w.index)) {
    return std::nullopt;
  }
  return c;
}

}  // namespace ingot
