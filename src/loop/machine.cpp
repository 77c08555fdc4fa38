// SPDX-License-Identifier: Apache-2.0
#include "loop/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "loop/float.h"
#include "loop/text.h"
#include "support/arithmetic.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

constexpr int64_t kMaxLanes = 256;

constexpr int32_t op_of(UnaryOp op) { return kUnaryNode + static_cast<int32_t>(op); }
constexpr int32_t op_of(BinaryOp op) { return kBinaryNode + static_cast<int32_t>(op); }

template <class T>
T read(const uint8_t* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
template <class T, class V>
void write(uint8_t* p, V v) {
  const T value = static_cast<T>(v);
  std::memcpy(p, &value, sizeof value);
}

int64_t read_int(const uint8_t* p, DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return *p != 0 ? 1 : 0;
    case DType::kInt8:
      return read<int8_t>(p);
    case DType::kUInt8:
      return *p;
    case DType::kInt16:
      return read<int16_t>(p);
    case DType::kUInt16:
      return read<uint16_t>(p);
    case DType::kInt32:
      return read<int32_t>(p);
    case DType::kUInt32:
      return read<uint32_t>(p);
    default:
      return read<int64_t>(p);
  }
}

double read_float(const uint8_t* p, DType dtype) {
  if (dtype == DType::kFloat32) return static_cast<double>(read<float>(p));
  if (dtype == DType::kFloat64) return read<double>(p);
  return half_to_double(read<uint16_t>(p));
}

// The value fits `dtype`: integers in two's complement need only their low bytes.
void write_value(uint8_t* p, DType dtype, Value value) {
  if (dtype == DType::kFloat32) return write<float>(p, value.f);
  if (dtype == DType::kFloat64) return write<double>(p, value.f);
  if (dtype == DType::kFloat16) return write<uint16_t>(p, double_to_half(value.f));
  switch (size_in_bytes(dtype)) {
    case 1:
      return write<uint8_t>(p, value.i);
    case 2:
      return write<uint16_t>(p, value.i);
    case 4:
      return write<uint32_t>(p, value.i);
    default:
      return write<int64_t>(p, value.i);
  }
}

}  // namespace

Machine::Machine(Translation translation)
    : t_(std::move(translation)), slots_(t_.num_slots, Value{0}) {
  for (Memory& memory : t_.memories) {
    if (memory.param < 0) memory.base = memory.own.data();
  }
}

void Machine::fail(const Node& node, const std::string& what) const {
  const Expr source(std::shared_ptr<void>(), node.source);
  throw InternalError(fmt::format("{}: {}: {}", t_.name, print(source), what));
}

void Machine::fail(const Step& step, const std::string& what) const {
  throw InternalError(fmt::format("{}: {}: {}", t_.name, print(Block{*step.source}), what));
}

int64_t Machine::in_range(const Node& node, int64_t value) const {
  if (value < node.low || value > node.high) [[unlikely]] {
    fail(node, fmt::format("{} is no value of {}", value, name_of(node.dtype)));
  }
  return value;
}

int64_t Machine::truncated(const Node& node, double value) const {
  const double whole = std::trunc(value);
  // Both bounds are exact in double, so that the cast below is defined.
  if (!(whole >= -0x1p63 && whole < 0x1p63)) fail(node, fmt::format("{} is no integer", value));
  return in_range(node, static_cast<int64_t>(whole));
}

Value Machine::eval(size_t n, int64_t lane) {
  Value value{0};
  if (is_float(t_.nodes[n].dtype)) {
    value.f = eval_float(n, lane);
  } else {
    value.i = eval_int(n, lane);
  }
  return value;
}

const uint8_t* Machine::locate(const Node& node, int64_t lane) {
  const Memory& memory = t_.memories[node.buffer];
  const int64_t index = eval_int(node.a, lane);
  if (lane == 0) {
    if (index < 0 || index > memory.num_elements - node.lanes) [[unlikely]] {
      fail(node, fmt::format("element {} of {}", index, memory.num_elements));
    }
    if (node.alignment > 1 && index * size_in_bytes(memory.dtype) % node.alignment != 0)
        [[unlikely]] {
      fail(node, fmt::format("element {} is not aligned to {} bytes", index, node.alignment));
    }
    if (memory.param < 0) {
      const auto* first = memory.assigned.data() + index;
      if (std::find(first, first + node.lanes, 0) != first + node.lanes) [[unlikely]] {
        fail(node, fmt::format("element {} has no value", index));
      }
    } else if (on_access_) [[unlikely]] {
      (*on_access_)({memory.param, index, node.lanes, false});
    }
  }
  return memory.base + (index + lane) * size_in_bytes(memory.dtype);
}

Value Machine::call(const Node& node, int64_t lane) {
  if (lane == 0) {
    const CallSite& site = t_.calls[node.a];
    const TranslatedFunction& f = t_.functions[node.buffer];
    size_t temporary = site.temporaries;
    for (size_t i = 0; i < site.args.size(); ++i) {
      for (int64_t l = 0; l < f.param_lanes[i]; ++l) slots_[temporary++] = eval(site.args[i], l);
    }
    temporary = site.temporaries;
    for (size_t i = 0; i < site.args.size(); ++i) {
      for (int64_t l = 0; l < f.param_lanes[i]; ++l) {
        slots_[f.param_slots[i] + static_cast<size_t>(l)] = slots_[temporary++];
      }
    }
    run(f.body);
    for (int64_t l = 0; l < node.lanes; ++l) {
      slots_[node.slot + static_cast<size_t>(l)] = eval(f.result, l);
    }
  }
  return slots_[node.slot + static_cast<size_t>(lane)];
}

int64_t Machine::eval_int(size_t n, int64_t lane) {
  const Node& node = t_.nodes[n];
  switch (node.op) {
    case kConstNode:
      return node.value.i;
    case kVarNode:
      return slots_[node.slot + static_cast<size_t>(lane)].i;
    case kLoadNode: {
      const int64_t value = read_int(locate(node, lane), node.dtype);
      if (value < node.low) [[unlikely]]
        fail(node, "a value beyond the range of int64");
      return value;
    }
    case kKeptNode:
      if (lane == 0) slots_[node.slot].i = eval_int(node.a, 0);
      return slots_[node.slot].i;
    case kLaneNode:
      // Calls and kept values are worked out at lane 0.
      if (node.slot > 0) eval_int(node.a, 0);
      return eval_int(node.a, static_cast<int64_t>(node.slot));
    case kPackNode:
      return eval_int(t_.calls[node.a].args[static_cast<size_t>(lane)], 0);
    case kSelectNode: {
      const int64_t condition = eval_int(node.a, lane);
      if (node.lanes == 1) return eval_int(condition != 0 ? node.b : node.c, lane);
      // Both, because either may keep something at lane 0.
      const int64_t if_true = eval_int(node.b, lane);
      const int64_t if_false = eval_int(node.c, lane);
      return condition != 0 ? if_true : if_false;
    }
    case kCallNode:
      return call(node, lane).i;
    case kIntToIntNode:
      return in_range(node, eval_int(node.a, lane));
    case kFloatToIntNode:
      return truncated(node, eval_float(node.a, lane));
    default:
      if (node.op >= kFloatComparisonNode) return compare_floats(node, lane) ? 1 : 0;
      return in_range(node, eval_int_operation(node, lane));
  }
}

int64_t Machine::divide(const Node& node, int64_t a, int64_t b) const {
  if (b == 0) fail(node, "a division by zero");
  if (b == -1) return checked_sub(0, a) ? -a : (fail(node, "an overflow"), 0);
  return a / b;
}

int64_t Machine::shift(const Node& node, int64_t a, int64_t b) const {
  if (b < 0 || b >= 8 * size_in_bytes(node.dtype)) {
    fail(node, fmt::format("a shift of {} by {} bits", name_of(node.dtype), b));
  }
  if (node.op == op_of(BinaryOp::kShr)) return a >> b;
  const auto bits = static_cast<uint64_t>(a) << static_cast<uint64_t>(b);
  const auto result = static_cast<int64_t>(bits);
  if (result >> b != a) fail(node, fmt::format("an overflow of {} << {}", a, b));
  return result;
}

int64_t Machine::eval_int_operation(const Node& node, int64_t lane) {
  const int64_t a = eval_int(node.a, lane);
  if (node.op < kBinaryNode) {
    if (node.op == op_of(UnaryOp::kNot)) {
      if (node.dtype == DType::kBool) return 1 - a;
      return node.low < 0 ? ~a : node.high - a;
    }
    if (a >= 0 && node.op == op_of(UnaryOp::kAbs)) return a;
    if (!checked_sub(0, a)) fail(node, "an overflow");
    return -a;
  }
  const int64_t b = eval_int(node.b, lane);
  int64_t result = 0;
  switch (node.op) {
    case op_of(BinaryOp::kAdd):
      if (__builtin_add_overflow(a, b, &result)) [[unlikely]]
        fail(node, "an overflow");
      return result;
    case op_of(BinaryOp::kSub):
      if (__builtin_sub_overflow(a, b, &result)) [[unlikely]]
        fail(node, "an overflow");
      return result;
    case op_of(BinaryOp::kMul):
      if (__builtin_mul_overflow(a, b, &result)) [[unlikely]]
        fail(node, "an overflow");
      return result;
    case op_of(BinaryOp::kDiv):
      return divide(node, a, b);
    case op_of(BinaryOp::kFloorDiv):
      return ingot::floor_div(a, b);
    case op_of(BinaryOp::kFloorMod):
      return ingot::floor_mod(a, b);
    case op_of(BinaryOp::kMin):
      return std::min(a, b);
    case op_of(BinaryOp::kMax):
      return std::max(a, b);
    case op_of(BinaryOp::kShl):
    case op_of(BinaryOp::kShr):
      return shift(node, a, b);
    case op_of(BinaryOp::kAnd):
      return a & b;
    case op_of(BinaryOp::kOr):
      return a | b;
    case op_of(BinaryOp::kXor):
      return a ^ b;
    case op_of(BinaryOp::kEq):
      return a == b ? 1 : 0;
    case op_of(BinaryOp::kNe):
      return a != b ? 1 : 0;
    case op_of(BinaryOp::kLt):
      return a < b ? 1 : 0;
    default:
      return a <= b ? 1 : 0;
  }
}

bool Machine::compare_floats(const Node& node, int64_t lane) {
  const double a = eval_float(node.a, lane);
  const double b = eval_float(node.b, lane);
  switch (static_cast<BinaryOp>(node.op - kFloatComparisonNode)) {
    case BinaryOp::kEq:
      return a == b;
    case BinaryOp::kNe:
      return a != b;
    case BinaryOp::kLt:
      return a < b;
    default:
      return a <= b;
  }
}

double Machine::eval_float(size_t n, int64_t lane) {
  const Node& node = t_.nodes[n];
  switch (node.op) {
    case kConstNode:
      return node.value.f;
    case kVarNode:
      return slots_[node.slot + static_cast<size_t>(lane)].f;
    case kLoadNode:
      return read_float(locate(node, lane), node.dtype);
    case kKeptNode:
      if (lane == 0) slots_[node.slot].f = eval_float(node.a, 0);
      return slots_[node.slot].f;
    case kLaneNode:
      if (node.slot > 0) eval_float(node.a, 0);
      return eval_float(node.a, static_cast<int64_t>(node.slot));
    case kPackNode:
      return eval_float(t_.calls[node.a].args[static_cast<size_t>(lane)], 0);
    case kSelectNode: {
      const int64_t condition = eval_int(node.a, lane);
      if (node.lanes == 1) return eval_float(condition != 0 ? node.b : node.c, lane);
      const double if_true = eval_float(node.b, lane);
      const double if_false = eval_float(node.c, lane);
      return condition != 0 ? if_true : if_false;
    }
    case kCallNode:
      return call(node, lane).f;
    case kIntToFloatNode: {
      const int64_t value = eval_int(node.a, lane);
      // One rounding: not by way of double.
      if (node.dtype == DType::kFloat32) return static_cast<double>(static_cast<float>(value));
      return round_to_float(static_cast<double>(value), node.dtype);
    }
    case kFloatToFloatNode:
      return round_to_float(eval_float(node.a, lane), node.dtype);
    default:
      return eval_float_operation(node, lane);
  }
}

// For +, -, *, / and the square root of float32 and float16, rounding the double's result again
// gives what one rounding gives, because a double has more than twice their digits.
double Machine::eval_float_operation(const Node& node, int64_t lane) {
  const double a = eval_float(node.a, lane);
  if (node.op < kBinaryNode) return round_to_float(eval_float_function(node, a), node.dtype);
  const double b = eval_float(node.b, lane);
  switch (node.op) {
    case op_of(BinaryOp::kAdd):
      return round_to_float(a + b, node.dtype);
    case op_of(BinaryOp::kSub):
      return round_to_float(a - b, node.dtype);
    case op_of(BinaryOp::kMul):
      return round_to_float(a * b, node.dtype);
    case op_of(BinaryOp::kDiv):
      return round_to_float(a / b, node.dtype);
    case op_of(BinaryOp::kMin):
      return b < a ? b : a;
    default:
      return a < b ? b : a;
  }
}

double Machine::eval_float_function(const Node& node, double a) const {
  // The C calls the float forms for float32, whose last digit is not the double's.
  const bool single = node.dtype == DType::kFloat32;
  const auto f = static_cast<float>(a);
  switch (static_cast<UnaryOp>(node.op - kUnaryNode)) {
    case UnaryOp::kNeg:
      return -a;
    case UnaryOp::kAbs:
      return std::fabs(a);
    case UnaryOp::kSqrt:
      return std::sqrt(a);
    case UnaryOp::kExp:
      return single ? static_cast<double>(std::exp(f)) : std::exp(a);
    case UnaryOp::kLog:
      return single ? static_cast<double>(std::log(f)) : std::log(a);
    case UnaryOp::kTanh:
      return single ? static_cast<double>(std::tanh(f)) : std::tanh(a);
    case UnaryOp::kFloor:
      return std::floor(a);
    case UnaryOp::kCeil:
      return std::ceil(a);
    case UnaryOp::kRound:
      return std::round(a);
    case UnaryOp::kNot:
      break;
  }
  fail(node, "no operation of floats");
}

void Machine::run(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    switch (step.kind) {
      case Step::Kind::kFor:
        run_for(step);
        break;
      case Step::Kind::kIf:
        run(eval_int(step.a, 0) != 0 ? step.body : step.other);
        break;
      case Step::Kind::kSet:
        run_set(step);
        break;
      case Step::Kind::kStore:
        run_store(step);
        break;
      case Step::Kind::kArray: {
        std::vector<uint8_t>& assigned = t_.memories[step.buffer].assigned;
        std::fill(assigned.begin(), assigned.end(), uint8_t{0});
        break;
      }
    }
  }
}

void Machine::run_for(const Step& step) {
  const int64_t begin = eval_int(step.a, 0);
  const int64_t end = eval_int(step.b, 0);
  if (begin >= end) return;
  const int64_t last = begin + (end - 1 - begin) / step.step * step.step;
  const int64_t first = step.reverse ? last : begin;
  const int64_t stop = step.reverse ? begin : last;
  const int64_t delta = step.reverse ? -step.step : step.step;
  for (int64_t i = first;; i += delta) {
    slots_[step.slot].i = i;
    run(step.body);
    if (i == stop) break;
  }
}

void Machine::run_set(const Step& step) {
  if (step.lanes == 1) {
    if (step.is_float) {
      slots_[step.slot].f = eval_float(step.b, 0);
    } else {
      slots_[step.slot].i = eval_int(step.b, 0);
    }
    return;
  }
  // All lanes first: the value may depend on the variable.
  std::array<Value, kMaxLanes> lanes;
  for (int64_t l = 0; l < step.lanes; ++l) lanes[static_cast<size_t>(l)] = eval(step.b, l);
  std::copy_n(lanes.begin(), step.lanes, slots_.begin() + static_cast<int64_t>(step.slot));
}

void Machine::run_store(const Step& step) {
  Memory& memory = t_.memories[step.buffer];
  const int64_t index = eval_int(step.a, 0);
  if (index < 0 || index > memory.num_elements - step.lanes) [[unlikely]] {
    fail(step, fmt::format("element {} of {}", index, memory.num_elements));
  }
  const int64_t size = size_in_bytes(memory.dtype);
  if (step.alignment > 1 && index * size % step.alignment != 0) [[unlikely]] {
    fail(step, fmt::format("element {} is not aligned to {} bytes", index, step.alignment));
  }
  // All lanes first: what is stored may be loaded from where it goes.
  std::array<Value, kMaxLanes> lanes;
  for (int64_t l = 0; l < step.lanes; ++l) lanes[static_cast<size_t>(l)] = eval(step.b, l);
  if (memory.param >= 0 && on_access_) [[unlikely]] {
    (*on_access_)({memory.param, index, step.lanes, true});
  }
  for (int64_t l = 0; l < step.lanes; ++l) {
    write_value(memory.base + (index + l) * size, memory.dtype, lanes[static_cast<size_t>(l)]);
    if (memory.param < 0) memory.assigned[static_cast<size_t>(index + l)] = 1;
  }
}

void Machine::run(std::span<const std::span<uint8_t>> memory, std::span<const Expr> scalars,
                  const InterpretOptions& options) {
  size_t params = 0;
  for (Memory& m : t_.memories) {
    if (m.param < 0) continue;
    const std::span<uint8_t> given = memory[params++];
    CHECK(static_cast<int64_t>(given.size()) == m.num_elements * size_in_bytes(m.dtype));
    m.base = given.data();
  }
  CHECK(scalars.size() == t_.scalar_slots.size());
  for (size_t i = 0; i < scalars.size(); ++i) {
    const auto* integer = as<IntLit>(scalars[i]);
    const auto* real = as<FloatLit>(scalars[i]);
    CHECK(integer || real);
    Value& value = slots_[t_.scalar_slots[i]];
    if (integer) value.i = integer->value;
    if (real) value.f = real->value;
  }
  on_access_ = options.on_access ? &options.on_access : nullptr;
  run(t_.body);
}

}  // namespace ingot::loop
