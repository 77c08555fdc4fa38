// SPDX-License-Identifier: Apache-2.0
#include "schedule/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "schedule/contraction.h"

namespace ingot {

using loop::as;
using loop::BinaryOp;
using loop::Block;
using loop::Expr;
using loop::Type;

bool Lanes::depends(const Expr& e) const {
  const std::set<std::string> variables = loop::variables_of(e);
  return std::ranges::any_of(
      variables, [&](const std::string& v) { return v == channel_ || vectors_.contains(v); });
}

std::optional<Expr> Lanes::of_load(const loop::Load& load, Type type) {
  const std::optional<AffineIndex> index = affine_index(load.index);
  if (!index || index->factor(channel_) != 1 || !type.is_scalar()) return std::nullopt;
  for (const auto& [name, factor] : index->factors) {
    if (vectors_.contains(name)) return std::nullopt;
  }
  const Expr at = loop::substitute(load.index, {{channel_, first_}});
  return loop::load(load.buffer, at, vector_of(type), load.alignment);
}

std::optional<Expr> Lanes::of_look_up(const Expr& load) {
  for (const std::string& v : loop::variables_of(load)) {
    if (vectors_.contains(v)) return std::nullopt;
  }
  std::vector<Expr> elements;
  for (int64_t k = 0; k < lanes_; ++k) {
    elements.push_back(loop::substitute(load, {{channel_, first_ + k}}));
  }
  return loop::pack(vector_of(load->type), std::move(elements));
}

std::optional<std::string> Lanes::vector_function(const std::string& name) {
  const std::string vector_name = fmt::format("{}_x{}", name, lanes_);
  const auto is_it = [&](const loop::Function& f) { return f.name == vector_name; };
  if (std::ranges::any_of(functions_, is_it)) return vector_name;
  const auto known = known_.find(vector_name);
  if (known != known_.end()) {
    functions_.push_back(known->second);
    return vector_name;
  }
  const loop::Function* scalar = loop::find_function(program_, name);
  if (!scalar || !scalar->spelling.empty()) return std::nullopt;
  Lanes inner(channel_, first_, lanes_, program_, known_);
  inner.functions_ = functions_;
  loop::Function f;
  f.name = vector_name;
  f.comment = scalar->comment;
  for (const loop::Function::Parameter& p : scalar->params) {
    f.params.push_back({p.name, vector_of(p.type)});
    inner.set_vector(p.name);
  }
  std::optional<Block> body = inner.widened(scalar->body);
  if (!body) return std::nullopt;
  const std::optional<Expr> result = inner.widened(scalar->result);
  if (!result) return std::nullopt;
  f.body = *std::move(body);
  f.result = *result;
  functions_ = inner.functions_;
  functions_.push_back(std::move(f));
  return vector_name;
}

std::optional<Expr> Lanes::of_call(const loop::CallExpr& call, Type type) {
  std::vector<Expr> args;
  for (const Expr& arg : call.args) {
    const std::optional<Expr> wide = widened(arg);
    if (!wide) return std::nullopt;
    args.push_back(*wide);
  }
  const std::optional<std::string> name = vector_function(call.function);
  if (!name) return std::nullopt;
  return loop::call(*name, vector_of(type), std::move(args));
}

namespace {

std::optional<int64_t> literal(const Expr& e) {
  const auto* value = as<loop::IntLit>(e);
  return value ? std::optional(value->value) : std::nullopt;
}

// min(max(a, low), high) + z as min(max(a + z, low + z), high + z) where those are the limits of
// int8: cores store that in one go.
Expr with_limits_last(const Expr& e) {
  const auto* sum = as<loop::BinaryExpr>(e);
  if (!sum || sum->op != BinaryOp::kAdd || e->type != loop::kInt32) return e;
  const auto* low = as<loop::BinaryExpr>(sum->a);
  if (!low || low->op != BinaryOp::kMin) return e;
  const auto* inner = as<loop::BinaryExpr>(low->a);
  if (!inner || inner->op != BinaryOp::kMax) return e;
  const std::optional<int64_t> z = literal(sum->b);
  const std::optional<int64_t> high = literal(low->b);
  const std::optional<int64_t> least = literal(inner->b);
  if (!z || !high || !least || *least + *z != -128 || *high + *z != 127) return e;
  return loop::min(loop::max(inner->a + *z, loop::lit(-128)), loop::lit(127));
}

// An int32 whose int64 `e` is; nullptr if it is none.
Expr narrow(const Expr& e) {
  const auto* cast = as<loop::Cast>(e);
  if (cast && cast->a->type == loop::kInt32) return cast->a;
  const std::optional<int64_t> value = literal(e);
  return value && INT32_MIN <= *value && *value <= INT32_MAX ? loop::lit(*value) : nullptr;
}

}  // namespace

std::optional<Expr> Lanes::half_of_offset(const Expr& offset, int64_t half) {
  const Type type{DType::kInt64, lanes_ / 2};
  if (!depends(offset)) return loop::cast(type, offset);
  const auto* load = as<loop::Load>(offset);
  if (!load) return std::nullopt;
  const std::optional<Expr> whole = of_load(*load, offset->type);
  if (!whole) return std::nullopt;
  const auto* wide = as<loop::Load>(*whole);
  return loop::load(wide->buffer, wide->index + half * type.lanes, type, wide->alignment);
}

namespace {

// sum >> shift as an int32, taken apart: sum = int64(a) * m + offset, or + int64(a >> 31) * bend.
struct Rescaled {
  Expr a = nullptr;
  Expr m = nullptr;
  Expr offset = nullptr;
  Expr bend = nullptr;
  int64_t shift = 32;
};

struct Product {
  Expr a = nullptr;
  Expr b;
};

std::optional<Product> narrow_product(const Expr& e) {
  const auto* product = as<loop::BinaryExpr>(e);
  if (!product || product->op != BinaryOp::kMul || e->type != loop::kInt64) return std::nullopt;
  Product p{narrow(product->a), narrow(product->b)};
  return p.a && p.b ? std::optional(p) : std::nullopt;
}

std::optional<Rescaled> rescaled_in(const Expr& e) {
  const auto* cast = as<loop::Cast>(e);
  const auto* shifted = cast ? as<loop::BinaryExpr>(cast->a) : nullptr;
  if (!shifted || e->type != loop::kInt32 || shifted->op != BinaryOp::kShr) return std::nullopt;
  const std::optional<int64_t> shift = literal(shifted->b);
  const auto* sum = as<loop::BinaryExpr>(shifted->a);
  if (!shift || !sum || sum->op != BinaryOp::kAdd) return std::nullopt;
  Rescaled r;
  r.shift = *shift;
  if (const auto* inner = as<loop::BinaryExpr>(sum->a); inner && inner->op == BinaryOp::kAdd) {
    const std::optional<Product> bend = narrow_product(sum->b);
    const auto* sign = bend ? as<loop::BinaryExpr>(bend->a) : nullptr;
    if (!sign || sign->op != BinaryOp::kShr || literal(sign->b) != 31) return std::nullopt;
    r.bend = bend->b;
    r.a = sign->a;
    sum = inner;
  }
  const std::optional<Product> product = narrow_product(sum->a);
  if (!product || (r.bend && !loop::equal(r.a, product->a))) return std::nullopt;
  r.a = product->a;
  r.m = product->b;
  r.offset = sum->b;
  return r;
}

}  // namespace

std::optional<Expr> Lanes::of_rescaling(const Expr& e) {
  constexpr int64_t kWord = 32;
  const std::optional<Rescaled> r = rescaled_in(e);
  if (!r || r->shift < kWord - 1 || (r->bend && r->shift < kWord)) return std::nullopt;
  const char* stem = r->bend ? "rescaled_bent" : r->shift < kWord ? "rescaled_31" : "rescaled";
  const std::string name = fmt::format("{}_x{}", stem, lanes_);
  if (!known_.contains(name)) return std::nullopt;
  std::vector<std::optional<Expr>> wide = {
      widened(r->a), widened(r->m), half_of_offset(r->offset, 0), half_of_offset(r->offset, 1)};
  if (r->bend) wide.push_back(widened(r->bend));
  std::vector<Expr> args;
  for (const std::optional<Expr>& arg : wide) {
    if (!arg) return std::nullopt;
    args.push_back(*arg);
  }
  if (!vector_function(stem)) return std::nullopt;
  const Type type = vector_of(e->type);
  const Expr word = loop::call(name, type, std::move(args));
  if (r->shift <= kWord) return word;
  return loop::binary(BinaryOp::kShr, word, loop::cast(type, loop::lit(r->shift - kWord)));
}

std::optional<Expr> Lanes::widened(const Expr& e) {
  if (!e->type.is_scalar() || e->type.dtype == DType::kBool) return std::nullopt;
  if (!depends(e)) return loop::cast(vector_of(e->type), e);
  if (const auto* v = as<loop::Var>(e)) {
    if (!vectors_.contains(v->name)) return std::nullopt;
    return loop::var(v->name, vector_of(e->type));
  }
  if (const auto* load = as<loop::Load>(e)) {
    const std::optional<Expr> together = of_load(*load, e->type);
    return together ? together : of_look_up(e);
  }
  if (const auto* call = as<loop::CallExpr>(e)) return of_call(*call, e->type);
  if (const auto* c = as<loop::Cast>(e)) {
    if (c->a->type.dtype == DType::kBool) return std::nullopt;
    if (const std::optional<Expr> rescaled = of_rescaling(e)) return rescaled;
    const std::optional<Expr> a = widened(with_limits_last(c->a));
    return a ? std::optional(loop::cast(vector_of(e->type), *a)) : std::nullopt;
  }
  if (const auto* b = as<loop::BinaryExpr>(e)) {
    const bool integer = !is_float(e->type.dtype);
    const bool divides = b->op == BinaryOp::kFloorDiv || b->op == BinaryOp::kFloorMod ||
                         (b->op == BinaryOp::kDiv && integer);
    if (divides) return std::nullopt;
    const std::optional<Expr> x = widened(b->a);
    const std::optional<Expr> y = widened(b->b);
    return x && y ? std::optional(loop::binary(b->op, *x, *y)) : std::nullopt;
  }
  if (const auto* s = as<loop::Select>(e)) {
    const std::optional<Expr> x = widened(s->if_true);
    const std::optional<Expr> y = widened(s->if_false);
    if (!x || !y) return std::nullopt;
    if (!depends(s->condition)) return loop::select(s->condition, *x, *y);
    // Truth by lanes exists between a comparison and what it chooses, of elements as wide.
    const auto* c = as<loop::BinaryExpr>(s->condition);
    if (!c || size_in_bytes(c->a->type.dtype) != size_in_bytes(e->type.dtype)) return std::nullopt;
    if (c->op != BinaryOp::kLt && c->op != BinaryOp::kLe && c->op != BinaryOp::kEq) {
      return std::nullopt;
    }
    const std::optional<Expr> a = widened(c->a);
    const std::optional<Expr> b = widened(c->b);
    return a && b ? std::optional(loop::select(loop::binary(c->op, *a, *b), *x, *y)) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Block> Lanes::widened(const Block& block) {
  Block out;
  for (const loop::Stmt& s : block) {
    if (const auto* comment = std::get_if<loop::Comment>(&s.kind)) {
      out.emplace_back(*comment);
    } else if (const auto* let = std::get_if<loop::Let>(&s.kind)) {
      const std::optional<Expr> value = widened(let->value);
      if (!value) return std::nullopt;
      set_vector(let->name);
      out.emplace_back(loop::Let{let->name, *value});
    } else if (const auto* store = std::get_if<loop::Store>(&s.kind)) {
      const std::optional<AffineIndex> index = affine_index(store->index);
      const std::optional<Expr> value = widened(store->value);
      if (!index || index->factor(channel_) != 1 || !value) return std::nullopt;
      out.emplace_back(loop::Store{store->buffer,
                                   loop::substitute(store->index, {{channel_, first_}}), *value,
                                   store->alignment});
    } else {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace ingot
