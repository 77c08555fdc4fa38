// SPDX-License-Identifier: Apache-2.0
#include "driver/stack.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "loop/rewrite.h"
#include "loop/text.h"

namespace ingot {
namespace {

constexpr int64_t kWordBytes = 4;
constexpr int64_t kSavedCoreRegisters = 40;   // r4-r11, lr, and what keeps sp a multiple of 8
constexpr int64_t kSavedFloatRegisters = 64;  // d8-d15
constexpr int64_t kIntegerLibraryBytes = 64;  // long multiplication and division, memcpy
constexpr int64_t kFloatLibraryBytes = 160;   // arithmetic in software
constexpr int64_t kMathLibraryBytes = 512;    // expf, tanhf and their like

int64_t bytes_of(loop::Type type) {
  const int64_t bytes = size_in_bytes(type.dtype) * type.lanes;
  return std::max((bytes + kWordBytes - 1) / kWordBytes * kWordBytes, kWordBytes);
}

// What a body holds that may need a place in memory: the scalars that are live at once, and an
// address for each access that differs from the others by more than a constant.
class Frame {
 public:
  explicit Frame(const std::map<std::string, int64_t>& function_bytes)
      : function_bytes_(function_bytes) {}

  void add_scalar(loop::Type type) {
    bytes_ += bytes_of(type);
    note(type);
  }
  void add_word() { bytes_ += kWordBytes; }

  void visit(const loop::Block& block) { most_live_ = std::max(most_live_, live_in(block)); }
  void visit(const loop::Expr& e) {
    if (e == nullptr) return;
    note(e->type);
    std::visit([&](const auto& kind) { visit_kind(kind); }, e->kind);
  }

  // The frame and the deepest of what it calls.
  int64_t total_bytes() const {
    const int64_t saved = kSavedCoreRegisters + (has_float_ ? kSavedFloatRegisters : 0);
    const int64_t library = has_math_    ? kMathLibraryBytes
                            : has_float_ ? kFloatLibraryBytes
                                         : kIntegerLibraryBytes;
    const int64_t addresses = static_cast<int64_t>(addresses_.size()) * kWordBytes;
    return saved + bytes_ + most_live_ + addresses + std::max(library, deepest_callee_);
  }

 private:
  void note(loop::Type type) { has_float_ = has_float_ || is_float(type.dtype); }

  // The most bytes that the block's scalars, and those of the blocks inside it, take at once.
  // Blocks are nested as deep as lowering nests them.
  int64_t live_in(const loop::Block& block) {
    std::map<std::string, size_t> last_use;
    for (size_t i = 0; i < block.size(); ++i) {
      for (const std::string& name : loop::names_of({block[i]})) last_use[name] = i;
    }
    int64_t most = 0;
    int64_t live = 0;
    std::multimap<size_t, int64_t> until;  // bytes, by the statement that uses them last
    for (size_t i = 0; i < block.size(); ++i) {
      if (const auto* let = std::get_if<loop::Let>(&block[i].kind)) {
        const int64_t bytes = bytes_of(let->value->type);
        live += bytes;
        until.emplace(last_use.at(let->name), bytes);
      }
      const int64_t inside =
          std::visit([&](const auto& kind) { return live_in_kind(kind); }, block[i].kind);
      most = std::max(most, live + inside);
      for (; !until.empty() && until.begin()->first <= i; until.erase(until.begin())) {
        live -= until.begin()->second;
      }
    }
    return most;
  }

  int64_t live_in_kind(const loop::For& loop) {
    visit(loop.begin);
    visit(loop.end);
    return 2 * kWordBytes + live_in(loop.body);
  }
  int64_t live_in_kind(const loop::If& branch) {
    visit(branch.condition);
    const int64_t if_true = live_in(branch.then_body);
    return std::max(if_true, live_in(branch.else_body));
  }
  int64_t live_in_kind(const loop::Let& let) {
    visit(let.value);
    return 0;
  }
  int64_t live_in_kind(const loop::Assign& assign) {
    visit(assign.value);
    return 0;
  }
  int64_t live_in_kind(const loop::LocalArray& array) {
    bytes_ += array.num_elements * size_in_bytes(array.dtype);
    return 0;
  }
  int64_t live_in_kind(const loop::Store& store) {
    add_address(store.buffer, store.index);
    visit(store.index);
    visit(store.value);
    return 0;
  }
  static int64_t live_in_kind(const loop::Comment&) { return 0; }
  static int64_t live_in_kind(const loop::CallKernel&) { return 0; }

  void add_address(const std::string& buffer, loop::Expr index) {
    const auto* sum = loop::as<loop::BinaryExpr>(index);
    if (sum && sum->op == loop::BinaryOp::kAdd && loop::as<loop::IntLit>(sum->b)) index = sum->a;
    addresses_.insert(buffer + "[" + loop::print(index));
  }

  void visit_kind(const loop::IntLit&) {}
  void visit_kind(const loop::FloatLit&) {}
  void visit_kind(const loop::Var&) {}
  void visit_kind(const loop::Load& load) {
    add_address(load.buffer, load.index);
    visit(load.index);
  }
  void visit_kind(const loop::UnaryExpr& unary) {
    using Op = loop::UnaryOp;
    has_math_ = has_math_ || unary.op == Op::kExp || unary.op == Op::kLog || unary.op == Op::kTanh;
    visit(unary.a);
  }
  void visit_kind(const loop::BinaryExpr& binary) {
    visit(binary.a);
    visit(binary.b);
  }
  void visit_kind(const loop::Select& select) {
    visit(select.condition);
    visit(select.if_true);
    visit(select.if_false);
  }
  void visit_kind(const loop::Cast& cast) { visit(cast.a); }
  void visit_kind(const loop::Lane& lane) { visit(lane.a); }
  void visit_kind(const loop::Pack& pack) {
    for (const loop::Expr& value : pack.lanes) visit(value);
  }
  void visit_kind(const loop::CallExpr& call) {
    const auto callee = function_bytes_.find(call.function);
    if (callee != function_bytes_.end()) {
      deepest_callee_ = std::max(deepest_callee_, callee->second);
    }
    for (const loop::Expr& arg : call.args) visit(arg);
  }

  const std::map<std::string, int64_t>& function_bytes_;
  int64_t bytes_ = 0;
  int64_t most_live_ = 0;
  std::set<std::string> addresses_;
  int64_t deepest_callee_ = 0;
  bool has_float_ = false;
  bool has_math_ = false;
};

bool is_measured(const Target& target) { return target.name.starts_with("cortex-m"); }

}  // namespace

std::optional<int64_t> stack_bound(const loop::Program& program, const Target& target) {
  if (!is_measured(target)) return std::nullopt;
  std::map<std::string, int64_t> function_bytes;
  for (const loop::Function& function : program.functions) {  // callees stand first
    Frame frame(function_bytes);
    for (const loop::Function::Parameter& parameter : function.params) {
      frame.add_scalar(parameter.type);
    }
    frame.visit(function.body);
    frame.visit(function.result);
    function_bytes[function.name] = frame.total_bytes();
  }
  int64_t deepest_kernel = 0;
  int64_t most_params = 0;
  for (const loop::Kernel& kernel : program.kernels) {
    Frame frame(function_bytes);
    for (size_t i = 0; i < kernel.params.size(); ++i) frame.add_word();
    for (const loop::Function::Parameter& scalar : kernel.scalars) frame.add_scalar(scalar.type);
    frame.visit(kernel.body);
    deepest_kernel = std::max(deepest_kernel, frame.total_bytes());
    // A scalar of 64 bits takes two words.
    most_params = std::max(most_params,
                           static_cast<int64_t>(kernel.params.size() + 2 * kernel.scalars.size()));
  }
  const std::map<std::string, int64_t> no_functions;
  Frame runner(no_functions);
  runner.visit(program.runner);
  for (int64_t i = 0; i < 4 + most_params; ++i) runner.add_word();
  return runner.total_bytes() + deepest_kernel;
}

}  // namespace ingot
