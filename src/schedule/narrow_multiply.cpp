// SPDX-License-Identifier: Apache-2.0
#include "schedule/narrow_multiply.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "loop/rewrite.h"

namespace ingot {
namespace {

using loop::as;
using loop::BinaryExpr;
using loop::BinaryOp;
using loop::Block;
using loop::Expr;
using loop::Let;
using loop::lit;
using loop::var;

constexpr const char* kRoundingName = "rounding_multiply_high";
constexpr const char* kAddingName = "multiply_add_high";
constexpr const char* kBoundedName = "multiply_add_bounded";
constexpr int64_t kBoundedShift = 16;
const loop::Type kUInt32{DType::kUInt32};

Expr u32(const Expr& e) { return loop::cast(kUInt32, e); }
Expr i32(const Expr& e) { return loop::cast(loop::kInt32, e); }
Expr i64(const Expr& e) { return loop::cast(loop::kInt64, e); }
Expr low_half(const Expr& e) { return loop::binary(BinaryOp::kAnd, e, lit(0xffff)); }
Expr low_word(const Expr& e) {
  return u32(loop::binary(BinaryOp::kAnd, e, lit(0xffffffff, loop::kInt64)));
}

// With a = 2^16 a_high + a_low, a_low >= 0, and b alike:
//   a b = 2^32 a_high b_high + 2^16 (a_high b_low + a_low b_high) + a_low b_low
// The carries are added one after the other so that no sum leaves int32:
//   a b = 2^32 high + 2^16 (upper mod 2^16) + low mod 2^16
Block products() {
  const auto product = [](const char* x, const char* y) { return var(x) * var(y); };
  return {Let{"a_low", low_half(var("a"))},
          Let{"a_high", loop::shr(var("a"), 16)},
          Let{"b_low", low_half(var("b"))},
          Let{"b_high", loop::shr(var("b"), 16)},
          Let{"low", u32(var("a_low")) * u32(var("b_low"))},
          Let{"middle", product("a_high", "b_low") + i32(loop::shr(var("low", kUInt32), 16))},
          Let{"upper", product("a_low", "b_high") + low_half(var("middle"))},
          Let{"high", product("a_high", "b_high") + loop::shr(var("middle"), 16) +
                          loop::shr(var("upper"), 16)}};
}

loop::Function rounding_multiply_high() {
  const Expr rounded = loop::shr(low_half(var("upper")) + (1 << 14), 15);
  return {kRoundingName,
          {{"a", loop::kInt32}, {"b", loop::kInt32}},
          products(),
          var("high") * 2 + rounded,
          "(a * b + 2^30) >> 31",
          ""};
}

loop::Function multiply_add_high() {
  const Expr c = var("c", loop::kInt64);
  Block body = products();
  const Expr low = loop::binary(BinaryOp::kAnd, var("low", kUInt32), lit(0xffff, kUInt32));
  body.push_back(Let{"rest", u32(low_half(var("upper"))) * lit(65536, kUInt32) + low});
  body.push_back(Let{"space", lit(0xffffffff, kUInt32) - low_word(c)});
  const Expr carry =
      loop::select(loop::less(var("space", kUInt32), var("rest", kUInt32)), lit(1), lit(0));
  return {kAddingName,         {{"a", loop::kInt32}, {"b", loop::kInt32}, {"c", loop::kInt64}},
          std::move(body),     var("high") + i32(loop::shr(c, 32)) + carry,
          "(a * b + c) >> 32", ""};
}

// (a * b + c) >> 16 where that lies within int32, and so do its parts:
//   a b + c = 2^16 (a b_high + a_high b_low + (c >> 16)) + a_low b_low + c mod 2^16
loop::Function multiply_add_bounded() {
  const Expr c = var("c", loop::kInt64);
  const Expr c_low = u32(loop::binary(BinaryOp::kAnd, c, lit(0xffff, loop::kInt64)));
  const Expr low = u32(low_half(var("a"))) * u32(var("b_low")) + c_low;
  Block body = {
      Let{"b_low", low_half(var("b"))}, Let{"low", low},
      Let{"high", var("a") * loop::shr(var("b"), 16) + loop::shr(var("a"), 16) * var("b_low")}};
  return {kBoundedName,
          {{"a", loop::kInt32}, {"b", loop::kInt32}, {"c", loop::kInt64}},
          std::move(body),
          var("high") + i32(loop::shr(c, 16)) + i32(loop::shr(var("low", kUInt32), 16)),
          "(a * b + c) >> 16, which lies within int32",
          ""};
}

// Whether multiply_add_bounded's parts lie within int32 for each sum that can be reached.
bool is_bounded(const loop::Requantization& r) {
  constexpr int64_t kHalf = int64_t{1} << 16;
  constexpr int64_t kHighest = std::numeric_limits<int32_t>::max();
  if (!r.proved || r.multipliers_table.empty() || r.accumulator_low.empty()) return false;
  for (size_t c = 0; c < r.multipliers.size(); ++c) {
    const int64_t bias = r.biases_in_offsets.empty() ? 0 : r.biases_in_offsets[c];
    // One range may stand for all channels.
    const size_t range = std::min(c, r.accumulator_low.size() - 1);
    const int64_t sum = std::max(std::abs(r.accumulator_low[range] - bias),
                                 std::abs(r.accumulator_high[range] - bias));
    const int64_t bend = r.bends.empty() ? 0 : std::abs(r.bends[c]);
    const int64_t multiplier = std::abs(r.multipliers[c]) / kHalf + 1;
    const int64_t offset = (std::abs(r.offsets[c]) + bend) / kHalf + 1;
    if (sum > kHighest || multiplier > kHalf || offset > kHighest) return false;
    if (sum * multiplier + (sum / kHalf + 1) * kHalf + offset + kHalf > kHighest) return false;
  }
  return true;
}

// The parameters of each kernel that hold multipliers of bounded requantisations in every call.
using Factors = std::map<std::string, std::set<std::string>>;
Factors bounded_factors(const loop::Program& program) {
  Factors factors;
  std::set<std::string> seen;
  size_t number = 0;
  loop::for_each_stmt(program.runner, [&](const loop::Stmt& s) {
    const auto* call = std::get_if<loop::CallKernel>(&s.kind);
    if (!call) return;
    const size_t n = number++;
    const loop::CallNote note = n < program.notes.size() ? program.notes[n] : loop::CallNote{};
    const loop::Kernel* kernel = loop::find_kernel(program, call->kernel);
    std::set<std::string> of_call;
    if (note.requantization && is_bounded(*note.requantization)) {
      for (size_t p = 0; p < kernel->params.size(); ++p) {
        if (call->args.at(p).buffer == note.requantization->multipliers_table) {
          of_call.insert(kernel->params[p].name);
        }
      }
    }
    std::set<std::string>& all = factors[call->kernel];
    if (seen.insert(call->kernel).second) {
      all = std::move(of_call);
    } else {
      std::erase_if(all, [&](const std::string& name) { return !of_call.contains(name); });
    }
  });
  return factors;
}

bool is_literal(const Expr& e, int64_t value) {
  const auto* literal = as<loop::IntLit>(e);
  return literal && literal->value == value;
}

// `e`, an int64, as what was cast to it from int32.
std::optional<Expr> narrow(const Expr& e) {
  if (const auto* literal = as<loop::IntLit>(e)) {
    if (literal->value != static_cast<int32_t>(literal->value)) return std::nullopt;
    return lit(literal->value);
  }
  const auto* cast = as<loop::Cast>(e);
  if (!cast || cast->a->type != loop::kInt32) return std::nullopt;
  return cast->a;
}

// int64(y) * int64(x >> 31) without a product, in either order.
std::optional<Expr> without_product_of_sign(const Expr& e) {
  const auto* product = as<BinaryExpr>(e);
  if (!product || product->op != BinaryOp::kMul || e->type != loop::kInt64) return std::nullopt;
  const std::optional<Expr> a = narrow(product->a);
  const std::optional<Expr> b = narrow(product->b);
  if (!a || !b) return std::nullopt;
  const auto is_sign = [](const Expr& x) {
    const auto* shift = as<BinaryExpr>(x);
    return shift && shift->op == BinaryOp::kShr && is_literal(shift->b, 31);
  };
  if (!is_sign(*a) && !is_sign(*b)) return std::nullopt;
  return lit(0, loop::kInt64) - i64(loop::binary(BinaryOp::kAnd, *a, *b));
}

class Rewriter {
 public:
  // `bounded`: the parameters whose products are.
  explicit Rewriter(std::set<std::string> bounded, std::set<std::string>& called)
      : bounded_(std::move(bounded)), called_(called) {}

  Expr operator()(const Expr& e) {
    const Expr inner = loop::map_operands(e, [&](const Expr& o) { return (*this)(o); });
    if (const std::optional<Expr> sign = without_product_of_sign(inner)) return *sign;
    return without_long_product(inner).value_or(inner);
  }

 private:
  // int32((int64(a) * int64(b) + c + ...) >> shift)
  std::optional<Expr> without_long_product(const Expr& e) {
    const auto* cast = as<loop::Cast>(e);
    if (!cast || e->type != loop::kInt32) return std::nullopt;
    const auto* shift = as<BinaryExpr>(cast->a);
    if (!shift || shift->op != BinaryOp::kShr || cast->a->type != loop::kInt64) return std::nullopt;
    const auto* bits = as<loop::IntLit>(shift->b);
    if (!bits) return std::nullopt;
    Expr rest = nullptr;
    const auto* sum = as<BinaryExpr>(shift->a);
    while (sum && sum->op == BinaryOp::kAdd) {
      rest = rest ? sum->b + rest : sum->b;
      sum = as<BinaryExpr>(sum->a);
    }
    if (!sum || sum->op != BinaryOp::kMul || !rest) return std::nullopt;
    const std::optional<Expr> a = narrow(sum->a);
    const std::optional<Expr> b = narrow(sum->b);
    if (!a || !b) return std::nullopt;
    if (bits->value == 31 && is_literal(rest, int64_t{1} << 30)) {
      return call(kRoundingName, {*a, *b});
    }
    const auto* factor = as<loop::Load>(*b);
    if (factor && bounded_.contains(factor->buffer) && bits->value >= kBoundedShift) {
      return loop::shr(call(kBoundedName, {*a, *b, rest}), bits->value - kBoundedShift);
    }
    if (bits->value < 32) return std::nullopt;
    return loop::shr(call(kAddingName, {*a, *b, rest}), bits->value - 32);
  }

  Expr call(const char* name, std::vector<Expr> arguments) {
    called_.insert(name);
    return loop::call(name, loop::kInt32, std::move(arguments));
  }

  std::set<std::string> bounded_;
  std::set<std::string>& called_;
};

}  // namespace

void narrow_multiplications(loop::Program& program) {
  std::set<std::string> called;
  const Factors bounded = bounded_factors(program);
  for (loop::Kernel& kernel : program.kernels) {
    const auto of_kernel = bounded.find(kernel.name);
    kernel.body = loop::map_expressions(
        kernel.body,
        Rewriter(of_kernel == bounded.end() ? std::set<std::string>{} : of_kernel->second, called));
  }
  for (loop::Function& f : program.functions) {
    Rewriter rewrite({}, called);
    f.body = loop::map_expressions(f.body, rewrite);
    f.result = rewrite(f.result);
  }
  std::vector<loop::Function> added = {rounding_multiply_high(), multiply_add_high(),
                                       multiply_add_bounded()};
  std::erase_if(added, [&](const loop::Function& f) { return !called.contains(f.name); });
  program.functions.insert(program.functions.begin(), added.begin(), added.end());
}

}  // namespace ingot
