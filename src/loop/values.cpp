// SPDX-License-Identifier: Apache-2.0
#include "loop/values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "support/arithmetic.h"

namespace ingot::loop {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

constexpr Interval kNothing{kHighest, kLowest};

template <class T>
Interval range_of_elements(std::span<const uint8_t> bytes) {
  Interval range = kNothing;
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + i, sizeof value);
    const auto v = static_cast<int64_t>(value);
    range = join(range, {v, v});
  }
  return range;
}

Interval range_of_elements(std::span<const uint8_t> bytes, DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return range_of_elements<int8_t>(bytes);
    case DType::kUInt8:
      return range_of_elements<uint8_t>(bytes);
    case DType::kInt16:
      return range_of_elements<int16_t>(bytes);
    case DType::kUInt16:
      return range_of_elements<uint16_t>(bytes);
    case DType::kInt32:
      return range_of_elements<int32_t>(bytes);
    case DType::kUInt32:
      return range_of_elements<uint32_t>(bytes);
    case DType::kInt64:
      return range_of_elements<int64_t>(bytes);
    default:
      return range_of(dtype);
  }
}

void collect_assigned(const Block& block, std::set<std::string>& names) {
  for (const Stmt& s : block) {
    if (const auto* assign = std::get_if<Assign>(&s.kind)) {
      names.insert(assign->name);
    } else if (const auto* loop = std::get_if<For>(&s.kind)) {
      collect_assigned(loop->body, names);
    } else if (const auto* branch = std::get_if<If>(&s.kind)) {
      collect_assigned(branch->then_body, names);
      collect_assigned(branch->else_body, names);
    }
  }
}

// Bounds of a float expression that a cast to an integer takes; NaN is a fault there.
struct FloatRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

FloatRange range_of_float(const Expr& e) {
  if (const auto* literal = as<FloatLit>(e)) return {literal->value, literal->value};
  if (const auto* u = as<UnaryExpr>(e)) {
    const FloatRange a = range_of_float(u->a);
    if (u->op == UnaryOp::kFloor) return {std::floor(a.low), std::floor(a.high)};
    if (u->op == UnaryOp::kCeil) return {std::ceil(a.low), std::ceil(a.high)};
    if (u->op == UnaryOp::kRound) return {std::round(a.low), std::round(a.high)};
    return {};
  }
  const auto* b = as<BinaryExpr>(e);
  if (!b || (b->op != BinaryOp::kMin && b->op != BinaryOp::kMax)) return {};
  const FloatRange x = range_of_float(b->a);
  const FloatRange y = range_of_float(b->b);
  if (b->op == BinaryOp::kMin) return {std::min(x.low, y.low), std::min(x.high, y.high)};
  return {std::max(x.low, y.low), std::max(x.high, y.high)};
}

int64_t truncated(double value) {
  if (value <= -0x1p62) return kLowest;
  if (value >= 0x1p62) return kHighest;
  return static_cast<int64_t>(value);
}

}  // namespace

Interval range_of(DType dtype) {
  if (is_float(dtype)) return {kLowest, kHighest};
  return {lowest(dtype), highest(dtype)};
}

// What a runner's calls name; programs may have 100,000 calls, kernels and buffers.
struct ConstantContents::Index {
  std::map<std::string_view, const Kernel*> kernels;
  std::map<std::string_view, const Buffer*> buffers;

  explicit Index(const Program& program) {
    for (const Kernel& kernel : program.kernels) kernels.emplace(kernel.name, &kernel);
    for (const Buffer& buffer : program.buffers) buffers.emplace(buffer.name, &buffer);
  }
  template <class T>
  static const T* find(const std::map<std::string_view, const T*>& all, const std::string& name) {
    const auto found = all.find(name);
    return found == all.end() ? nullptr : found->second;
  }
};

ConstantContents::ConstantContents(const Program& program) {
  collect(Index(program), program.runner);
}

void ConstantContents::collect(const Index& index, const Block& block) {
  for (const Stmt& s : block) {
    if (const auto* loop = std::get_if<For>(&s.kind)) {
      collect(index, loop->body);
    } else if (const auto* branch = std::get_if<If>(&s.kind)) {
      collect(index, branch->then_body);
      collect(index, branch->else_body);
    }
    const auto* call = std::get_if<CallKernel>(&s.kind);
    const Kernel* kernel = call ? Index::find(index.kernels, call->kernel) : nullptr;
    if (!kernel) continue;
    for (size_t i = 0; i < std::min(kernel->params.size(), call->args.size()); ++i) {
      const Buffer* buffer = Index::find(index.buffers, call->args[i].buffer);
      const bool constant = buffer && buffer->kind == BufferKind::kConstant && buffer->data;
      places_[{kernel->name, kernel->params[i].name}].push_back(
          {constant ? buffer : nullptr, call->args[i].offset_elements});
    }
  }
}

std::optional<Interval> ConstantContents::range(const Kernel& kernel, const Param& param) {
  const std::pair<std::string, std::string> key{kernel.name, param.name};
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  const auto places = places_.find(key);
  const int64_t size = size_in_bytes(param.dtype);
  Interval range = kNothing;
  bool constant = places != places_.end() && param.access == Access::kRead;
  for (size_t i = 0; constant && i < places->second.size(); ++i) {
    const Place& place = places->second[i];
    const int64_t end = place.offset + param.num_elements;
    constant = place.buffer && place.buffer->dtype == param.dtype && place.offset >= 0 &&
               param.num_elements > 0 && end * size <= place.buffer->data->size();
    if (!constant) break;
    const auto bytes = place.buffer->data->view().subspan(
        static_cast<size_t>(place.offset * size), static_cast<size_t>(param.num_elements * size));
    range = join(range, range_of_elements(bytes, param.dtype));
  }
  return known_[key] = constant ? std::optional(range) : std::nullopt;
}

Values::Name* Values::find(const std::string& name) {
  const auto found =
      std::find_if(names_.rbegin(), names_.rend(), [&](const Name& n) { return n.name == name; });
  return found == names_.rend() ? nullptr : &*found;
}

void Values::leave(const Mark& mark) {
  names_.resize(mark.names);
  affine_.release(mark.affine);
}

void Values::declare(const std::string& name, const Sum& value) { names_.push_back({name, value}); }

void Values::declare_unknown(const std::string& name, Type type) {
  names_.push_back({name, affine_.unknown(range_of(type.dtype)), nullptr, type.dtype});
}

void Values::let(const Stmt& stmt, const Let& l) {
  const Type type = l.value->type;
  if (!type.is_scalar() || is_float(type.dtype)) return declare_unknown(l.name, type);
  const Sum value = sum_of(l.value);
  const Interval range = affine_.range(value);
  names_.push_back({l.name, value, &stmt, type.dtype});
  const auto entry = assigned_.try_emplace(&stmt, Assigned{range, kNothing, range, false}).first;
  entry->second.seen = join(entry->second.seen, range);
}

void Values::assign(const Assign& a) {
  Name* name = find(a.name);
  if (!name || is_float(name->dtype) || !a.value->type.is_scalar()) return;
  const Sum value = sum_of(a.value);
  name->value = value;
  const auto entry = assigned_.find(name->declaration);
  if (entry == assigned_.end()) return;
  entry->second.reassigned = true;
  entry->second.seen = join(entry->second.seen, meet(affine_.range(value), range_of(name->dtype)));
}

void Values::forget_assigned(const Block& block) {
  std::set<std::string> assigned;
  collect_assigned(block, assigned);
  for (const std::string& name : assigned) {
    Name* n = find(name);
    if (!n) continue;
    const auto entry = assigned_.find(n->declaration);
    n->value = affine_.unknown(entry == assigned_.end() ? range_of(n->dtype) : entry->second.used);
  }
}

bool Values::next_round() {
  names_.clear();
  affine_ = Affine();
  bool holds = true;
  bool shrinks = false;
  for (const auto& [stmt, a] : assigned_) {
    holds = holds && (!a.reassigned || a.used.contains(a.seen));
    shrinks = shrinks || (a.reassigned && a.used != a.seen);
  }
  if (holds && (phase_ == Phase::kShrunk || phase_ == Phase::kSettled || !shrinks)) return false;
  // Shrinking failed: back to what is known to hold.
  const bool back = !holds && phase_ == Phase::kShrunk;
  for (auto& [stmt, a] : assigned_) {
    const Interval used = a.used;
    if (back) {
      a.used = a.settled;
    } else if (holds) {
      a.settled = a.used;
      a.used = a.seen;
    } else {
      a.used = join(used, a.seen);
      const Interval all = range_of(std::get<Let>(stmt->kind).value->type.dtype);
      if (phase_ == Phase::kGrowing && a.used.low < used.low) a.used.low = all.low;
      if (phase_ == Phase::kGrowing && a.used.high > used.high) a.used.high = all.high;
    }
    a.seen = kNothing;
  }
  phase_ = back ? Phase::kSettled : holds ? Phase::kShrunk : Phase::kGrowing;
  return true;
}

void Values::assume(const Expr& condition, bool holds) {
  if (const auto* u = as<UnaryExpr>(condition)) {
    if (u->op == UnaryOp::kNot) assume(u->a, !holds);
    return;
  }
  const auto* c = as<BinaryExpr>(condition);
  if (!c || !c->a->type.is_scalar() || is_float(c->a->type.dtype)) return;
  if (c->op == (holds ? BinaryOp::kAnd : BinaryOp::kOr) && condition->type == kBool) {
    assume(c->a, holds);
    assume(c->b, holds);
    return;
  }
  const Sum a = sum_of(c->a);
  const Sum b = sum_of(c->b);
  // x - y - least >= 0
  const auto at_least = [&](const Sum& x, const Sum& y, int64_t least) {
    const std::optional<Sum> difference = add_multiple(x, y, -1);
    const auto rest = difference ? add_multiple(*difference, Sum{{}, least}, -1) : std::nullopt;
    if (rest) affine_.assume_not_negative(*rest);
  };
  if (c->op == BinaryOp::kLt) {
    holds ? at_least(b, a, 1) : at_least(a, b, 0);
  } else if (c->op == BinaryOp::kLe) {
    holds ? at_least(b, a, 0) : at_least(a, b, 1);
  } else if (c->op == (holds ? BinaryOp::kEq : BinaryOp::kNe)) {
    at_least(a, b, 0);
    at_least(b, a, 0);
  }
}

Sum Values::sum_of(const Expr& e) {
  if (!e->type.is_scalar() || is_float(e->type.dtype)) return of_type(*e);
  if (const auto* x = as<IntLit>(e)) return {{}, x->value};
  if (const auto* x = as<Var>(e)) {
    const Name* name = find(x->name);
    return name ? name->value : of_type(*e);
  }
  if (const auto* x = as<Load>(e)) return sum_of(*e, *x);
  if (const auto* x = as<UnaryExpr>(e)) return sum_of(*e, *x);
  if (const auto* x = as<BinaryExpr>(e)) return sum_of(*e, *x);
  if (const auto* x = as<Select>(e)) return affine_.either(sum_of(x->if_true), sum_of(x->if_false));
  if (const auto* x = as<Cast>(e)) return sum_of_cast(*e, *x);
  return of_type(*e);
}

Sum Values::sum_of(const ExprNode& e, const Load& x) {
  if (kernel_) {
    const auto param = std::ranges::find(kernel_->params, x.buffer, &Param::name);
    if (param != kernel_->params.end()) {
      const std::optional<Interval> range = contents_.range(*kernel_, *param);
      if (!range) return of_type(e);
      return affine_.element(param - kernel_->params.begin(), sum_of(x.index), *range);
    }
  }
  return of_type(e);
}

Sum Values::added(const ExprNode& e, const Sum& a, const Sum& b, int64_t factor) {
  const std::optional<Sum> sum = add_multiple(a, b, factor);
  return sum ? *sum : of_type(e);
}

Sum Values::sum_of(const ExprNode& e, const UnaryExpr& x) {
  const Sum a = sum_of(x.a);
  switch (x.op) {
    case UnaryOp::kNeg:
      return added(e, {}, a, -1);
    case UnaryOp::kAbs:
      return affine_.within(affine_.max(a, added(e, {}, a, -1)), {0, kHighest});
    case UnaryOp::kNot:
      // !x is 1 - x of a bool, -1 - x of a signed integer.
      if (e.type == kBool) return added(e, {{}, 1}, a, -1);
      if (is_signed_integer(e.type.dtype)) return added(e, {{}, -1}, a, -1);
      return of_type(e);
    default:
      return of_type(e);
  }
}

Sum Values::product(const ExprNode& e, const BinaryExpr& x, const Sum& a, const Sum& b) {
  if (b.is_constant()) return added(e, {}, a, b.constant);
  if (a.is_constant()) return added(e, {}, b, a.constant);
  const Interval p = affine_.range(a);
  const Interval q = affine_.range(b);
  Interval range = kNothing;
  for (const int64_t v : {p.low, p.high}) {
    for (const int64_t w : {q.low, q.high}) {
      const std::optional<int64_t> corner = checked_mul(v, w);
      if (!corner) return of_type(e);
      range = join(range, {*corner, *corner});
    }
  }
  if (equal(x.a, x.b)) range.low = std::max<int64_t>(range.low, 0);
  return affine_.unknown(meet(range, range_of(e.type.dtype)));
}

// Division truncates, which is the floor where the dividend is not negative.
Sum Values::quotient(const ExprNode& e, const Sum& a, const Sum& b) {
  const Interval dividend = affine_.range(a);
  if (b.is_constant() && b.constant > 0) {
    if (dividend.low >= 0) return affine_.floor_div(a, b.constant);
    return affine_.unknown({dividend.low / b.constant, dividend.high / b.constant});
  }
  const Interval divisor = affine_.range(b);
  if (dividend.low >= 0 && divisor.low > 0) {
    return affine_.unknown({dividend.low / divisor.high, dividend.high / divisor.low});
  }
  return of_type(e);
}

Sum Values::sum_of_bits(const ExprNode& e, const BinaryExpr& x) {
  const Sum a = sum_of(x.a);
  const Sum b = sum_of(x.b);
  const Interval p = affine_.range(a);
  const Interval q = affine_.range(b);
  if (x.op == BinaryOp::kAnd) {
    // x & (2^k - 1) is x modulo 2^k, of negative numbers too.
    if (b.is_constant() && b.constant >= 0 && b.constant < (int64_t{1} << 61) &&
        std::has_single_bit(static_cast<uint64_t>(b.constant + 1))) {
      return added(e, a, affine_.floor_div(a, b.constant + 1), -(b.constant + 1));
    }
    if (p.low < 0 && q.low < 0) return of_type(e);
    const int64_t high = p.low < 0 ? q.high : q.low < 0 ? p.high : std::min(p.high, q.high);
    return affine_.unknown({0, high});
  }
  if (p.low < 0 || q.low < 0) return of_type(e);
  // Bits that do not meet add up.
  const int64_t least = std::min(p.high, q.high);
  if (least < (int64_t{1} << 61)) {
    const auto unit = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(least) + 1));
    if (affine_.is_multiple(q.high == least ? a : b, unit)) return added(e, a, b, 1);
  }
  const auto bits = static_cast<uint64_t>(std::max(p.high, q.high));
  const auto high = static_cast<int64_t>(
      bits >= (uint64_t{1} << 62) ? static_cast<uint64_t>(kHighest) : std::bit_ceil(bits + 1) - 1);
  return affine_.unknown(meet({0, high}, range_of(e.type.dtype)));
}

Sum Values::sum_of(const ExprNode& e, const BinaryExpr& x) {
  if (is_float(x.a->type.dtype)) return of_type(e);
  if (x.op == BinaryOp::kAnd || x.op == BinaryOp::kOr || x.op == BinaryOp::kXor) {
    return sum_of_bits(e, x);
  }
  const Sum a = sum_of(x.a);
  const Sum b = sum_of(x.b);
  const bool shifts = b.is_constant() && b.constant >= 0 && b.constant < 62;
  switch (x.op) {
    case BinaryOp::kAdd:
      return added(e, a, b, 1);
    case BinaryOp::kSub:
      return added(e, a, b, -1);
    case BinaryOp::kMul:
      return product(e, x, a, b);
    case BinaryOp::kDiv:
      return quotient(e, a, b);
    case BinaryOp::kFloorDiv:
      return affine_.floor_div(a, b.constant);
    case BinaryOp::kFloorMod:
      return added(e, a, affine_.floor_div(a, b.constant), -b.constant);
    case BinaryOp::kMin:
      return affine_.min(a, b);
    case BinaryOp::kMax:
      return affine_.max(a, b);
    case BinaryOp::kShl:
      return shifts ? added(e, {}, a, int64_t{1} << b.constant) : of_type(e);
    case BinaryOp::kShr: {
      if (shifts) return affine_.floor_div(a, int64_t{1} << b.constant);
      const Interval range = affine_.range(a);
      return affine_.unknown({std::min<int64_t>(range.low, 0), std::max<int64_t>(range.high, 0)});
    }
    default:
      return of_type(e);
  }
}

Sum Values::sum_of_cast(const ExprNode& e, const Cast& x) {
  const Interval type = range_of(e.type.dtype);
  if (!is_float(x.a->type.dtype)) return affine_.within(sum_of(x.a), type);
  const FloatRange range = range_of_float(x.a);
  if (std::isnan(range.low) || std::isnan(range.high)) return of_type(e);
  return affine_.unknown(meet(type, {truncated(range.low), truncated(range.high)}));
}

}  // namespace ingot::loop
