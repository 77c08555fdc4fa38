// SPDX-License-Identifier: Apache-2.0
#include "driver/stack.h"

#include <algorithm>
#include <map>
#include <string>

namespace ingot {
namespace {

constexpr int64_t kWordBytes = 4;
constexpr int64_t kSavedCoreRegisters = 40;   // r4-r11, lr, and what keeps sp a multiple of 8
constexpr int64_t kSavedFloatRegisters = 64;  // d8-d15
constexpr int64_t kIntegerLibraryBytes = 64;  // long multiplication and division, memcpy
constexpr int64_t kFloatLibraryBytes = 160;   // arithmetic in software
constexpr int64_t kMathLibraryBytes = 512;    // expf, tanhf and their like

// What a body holds that may need a place in memory.
class Frame {
 public:
  explicit Frame(const std::map<std::string, int64_t>& function_bytes)
      : function_bytes_(function_bytes) {}

  void add_scalar(loop::Type type) {
    const int64_t bytes = size_in_bytes(type.dtype) * type.lanes;
    bytes_ += std::max<int64_t>((bytes + kWordBytes - 1) / kWordBytes * kWordBytes, kWordBytes);
    note(type);
  }
  void add_word() { bytes_ += kWordBytes; }

  // Blocks and expressions are nested as deep as lowering nests them.
  void visit(const loop::Block& block) {
    for (const loop::Stmt& stmt : block) {
      std::visit([&](const auto& kind) { visit_kind(kind); }, stmt.kind);
    }
  }
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
    return saved + bytes_ + std::max(library, deepest_callee_);
  }

 private:
  void note(loop::Type type) { has_float_ = has_float_ || is_float(type.dtype); }

  void visit_kind(const loop::For& loop) {
    bytes_ += 2 * kWordBytes;
    visit(loop.begin);
    visit(loop.end);
    visit(loop.body);
  }
  void visit_kind(const loop::If& branch) {
    visit(branch.condition);
    visit(branch.then_body);
    visit(branch.else_body);
  }
  void visit_kind(const loop::Let& let) {
    add_scalar(let.value->type);
    visit(let.value);
  }
  void visit_kind(const loop::Assign& assign) { visit(assign.value); }
  void visit_kind(const loop::LocalArray& array) {
    bytes_ += array.num_elements * size_in_bytes(array.dtype);
  }
  void visit_kind(const loop::Store& store) {
    add_word();
    visit(store.index);
    visit(store.value);
  }
  void visit_kind(const loop::Comment&) {}
  void visit_kind(const loop::CallKernel&) {}

  void visit_kind(const loop::IntLit&) {}
  void visit_kind(const loop::FloatLit&) {}
  void visit_kind(const loop::Var&) {}
  void visit_kind(const loop::Load& load) {
    add_word();
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
