// SPDX-License-Identifier: Apache-2.0
#include "loop/transform.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "loop/independence.h"
#include "loop/jam.h"
#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "support/arithmetic.h"

namespace ingot::loop {
namespace {

// The first value and the number of iterations of a loop with constant bounds.
struct Trips {
  int64_t begin = 0;
  int64_t count = 0;
};

std::optional<Trips> trips_of(const For& f) {
  const auto* begin = as<IntLit>(f.begin);
  const auto* end = as<IntLit>(f.end);
  if (!begin || !end) return std::nullopt;
  return Trips{begin->value, std::max<int64_t>(ceil_div(end->value - begin->value, f.step), 0)};
}

// The number of iterations, where the end is a constant behind the begin.
std::optional<int64_t> count_of(const For& f) {
  const auto* distance = as<IntLit>(simplify(f.end - f.begin));
  if (!distance) return std::nullopt;
  return std::max<int64_t>(ceil_div(distance->value, f.step), 0);
}

// `block` with the loop over `variable` replaced by change(loop); nullopt if there is not exactly
// one such loop or change gives nullopt.
std::optional<Block> replace_loop(const Block& block, const std::string& variable,
                                  const std::function<std::optional<Block>(const For&)>& change) {
  int64_t found = 0;
  for_each_stmt(block, [&](const Stmt& s) {
    const auto* loop = std::get_if<For>(&s.kind);
    found += loop && loop->variable == variable ? 1 : 0;
  });
  if (found != 1) return std::nullopt;
  bool changed = true;
  const std::function<Block(const Block&)> walk = [&](const Block& in) {
    Block out;
    for (const Stmt& s : in) {
      if (const auto* loop = std::get_if<For>(&s.kind)) {
        if (loop->variable == variable) {
          const std::optional<Block> replacement = change(*loop);
          changed = replacement.has_value();
          if (changed) out.insert(out.end(), replacement->begin(), replacement->end());
          continue;
        }
        For copy = *loop;
        copy.body = walk(loop->body);
        out.push_back(std::move(copy));
      } else if (const auto* branch = std::get_if<If>(&s.kind)) {
        out.push_back(If{branch->condition, walk(branch->then_body), walk(branch->else_body)});
      } else {
        out.push_back(s);
      }
    }
    return out;
  };
  Block result = walk(block);
  if (!changed) return std::nullopt;
  return result;
}

// All names that `body` declares, in inner blocks too, but for loop variables.
std::set<std::string> all_declared_by(const Block& body) {
  std::set<std::string> names = declared_by(body);
  for_each_stmt(body, [&](const Stmt& s) {
    if (const auto* loop = std::get_if<For>(&s.kind)) names.merge(declared_by(loop->body));
    if (const auto* branch = std::get_if<If>(&s.kind)) {
      names.merge(declared_by(branch->then_body));
      names.merge(declared_by(branch->else_body));
    }
  });
  return names;
}

// Copies of a body for one iteration each, with names of their own.
class Copies {
 public:
  Copies(const Block& whole, const For& f) : f_(f), taken_(names_of(whole)) {}

  // The iteration whose variable has `value`, as copy number k.
  Block make(const Expr& value, int64_t k) {
    std::map<std::string, std::string> names;
    for (const std::string& name : all_declared_by(f_.body)) {
      names[name] = fresh_name(name + "_" + std::to_string(k), taken_);
    }
    return rename(substitute(f_.body, {{f_.variable, value}}), names);
  }

  // `count` iterations from that whose variable has `value` on, side by side; in reverse, the last
  // one first.
  Block side_by_side(const Expr& value, int64_t count) {
    std::vector<Block> bodies;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t copy = f_.reverse ? count - 1 - k : k;
      bodies.push_back(make(value + copy * f_.step, copy));
    }
    return jam(bodies, taken_);
  }

 private:
  const For& f_;
  std::set<std::string> taken_;
};

}  // namespace

bool is_independent(const Block& block, const std::string& variable) {
  return replace_loop(block, variable,
                      [&](const For& f) {
                        return has_independent_iterations(block, f) ? std::optional(Block{})
                                                                    : std::nullopt;
                      })
      .has_value();
}

std::optional<Block> unroll_and_jam(const Block& block, const std::string& variable,
                                    int64_t factor) {
  return replace_loop(block, variable, [&](const For& f) -> std::optional<Block> {
    const std::optional<Trips> trips = trips_of(f);
    if (!trips || factor < 1) return std::nullopt;
    const int64_t n = std::min(factor, trips->count);
    if (n <= 1) return Block{f};
    if (!has_independent_iterations(block, f)) return std::nullopt;
    const int64_t rounds = trips->count / n;
    const int64_t middle = trips->begin + rounds * n * f.step;
    Copies copies(block, f);
    Block out;
    if (rounds == 1) {
      out = copies.side_by_side(f.begin, n);
    } else {
      out = {For{f.variable, f.begin, lit(middle), f.step * n, f.reverse,
                 copies.side_by_side(var(f.variable), n)}};
    }
    if (trips->count % n != 0) {
      const Block rest = copies.side_by_side(lit(middle), trips->count % n);
      out.insert(f.reverse ? out.begin() : out.end(), rest.begin(), rest.end());
    }
    return out;
  });
}

std::optional<Block> unroll(const Block& block, const std::string& variable, int64_t limit) {
  return replace_loop(block, variable, [&](const For& f) -> std::optional<Block> {
    const std::optional<int64_t> count = count_of(f);
    if (!count || *count > limit) return std::nullopt;
    // The begin is computed anew in every copy: nothing in the body may change it.
    bool is_fixed = true;
    const std::set<std::string> assigned = assigned_in(f.body);
    for_each_node(f.begin, [&](const Expr& e) {
      const auto* v = as<Var>(e);
      is_fixed = is_fixed && !as<Load>(e) && !(v && assigned.contains(v->name));
    });
    if (!is_fixed) return std::nullopt;
    Copies copies(block, f);
    Block out;
    for (int64_t k = 0; k < *count; ++k) {
      const int64_t copy = f.reverse ? *count - 1 - k : k;
      const Block body = copies.make(f.begin + copy * f.step, copy);
      out.insert(out.end(), body.begin(), body.end());
    }
    return out;
  });
}

std::optional<Block> reverse(const Block& block, const std::string& variable) {
  return replace_loop(block, variable, [&](const For& f) -> std::optional<Block> {
    if (!has_independent_iterations(block, f)) return std::nullopt;
    For reversed = f;
    reversed.reverse = !f.reverse;
    return Block{std::move(reversed)};
  });
}

std::optional<Block> split(const Block& block, const std::string& variable, int64_t factor,
                           const std::string& outer) {
  if (names_of(block).contains(outer)) return std::nullopt;
  return replace_loop(block, variable, [&](const For& f) -> std::optional<Block> {
    const std::optional<int64_t> step = checked_mul(f.step, factor);
    if (factor < 1 || !step || *step > INT32_MAX) return std::nullopt;
    // The end is computed anew for every block: nothing in the body may change it.
    const bool is_literal = as<IntLit>(f.end) != nullptr;
    bool is_fixed = true;
    const std::set<std::string> assigned = assigned_in(f.body);
    for_each_node(f.end, [&](const Expr& e) {
      const auto* v = as<Var>(e);
      is_fixed = is_fixed && !as<Load>(e) && !(v && assigned.contains(v->name));
    });
    if (!is_literal && !is_fixed) return std::nullopt;
    const std::optional<int64_t> count = count_of(f);
    For inner = f;
    inner.begin = var(outer);
    inner.end = var(outer) + *step;
    if (!count || *count % factor != 0) inner.end = min(inner.end, f.end);
    return Block{For{outer, f.begin, f.end, *step, f.reverse, {std::move(inner)}}};
  });
}

}  // namespace ingot::loop
