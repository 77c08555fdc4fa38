// SPDX-License-Identifier: Apache-2.0
#include "emit/block_printer.h"

namespace ingot {
namespace {

// One walk over a body. Values of scalars and arrays that `live` lacks are skipped, because they
// will not be printed.
class Collector {
 public:
  explicit Collector(const std::set<std::string>* live) : live_(live) {}

  void visit(const loop::Block& block) {
    for (const loop::Stmt& stmt : block) {
      std::visit([&](const auto& kind) { visit(kind); }, stmt.kind);
    }
  }
  void visit(const loop::Expr& e) {
    if (e == nullptr) return;
    if (const auto* variable = loop::as<loop::Var>(e)) usage.read.insert(variable->name);
    if (const auto* load = loop::as<loop::Load>(e)) {
      usage.read.insert(load->buffer);
      visit(load->index);
    }
    if (const auto* operation = loop::as<loop::UnaryExpr>(e)) visit(operation->a);
    if (const auto* operation = loop::as<loop::BinaryExpr>(e)) {
      visit(operation->a);
      visit(operation->b);
    }
    if (const auto* choice = loop::as<loop::Select>(e)) {
      visit(choice->condition);
      visit(choice->if_true);
      visit(choice->if_false);
    }
    if (const auto* conversion = loop::as<loop::Cast>(e)) visit(conversion->a);
    if (const auto* part = loop::as<loop::Lane>(e)) visit(part->a);
    if (const auto* vector = loop::as<loop::Pack>(e)) {
      for (const loop::Expr& value : vector->lanes) visit(value);
    }
    if (const auto* call = loop::as<loop::CallExpr>(e)) {
      for (const loop::Expr& argument : call->args) visit(argument);
    }
  }

  Usage usage;

 private:
  bool is_live(const std::string& name) const { return !live_ || live_->contains(name); }

  void visit(const loop::For& loop) {
    visit(loop.begin);
    visit(loop.end);
    visit(loop.body);
  }
  void visit(const loop::If& branch) {
    visit(branch.condition);
    visit(branch.then_body);
    visit(branch.else_body);
  }
  void visit(const loop::Let& let) {
    if (is_live(let.name)) visit(let.value);
  }
  void visit(const loop::Assign& assign) {
    usage.assigned.insert(assign.name);
    if (!is_live(assign.name)) return;
    // acc = acc + x alone does not make acc worth having.
    const bool read_before = usage.read.contains(assign.name);
    visit(assign.value);
    if (!read_before) usage.read.erase(assign.name);
  }
  void visit(const loop::LocalArray& array) { usage.local_arrays.insert(array.name); }
  void visit(const loop::Store& store) {
    usage.stored.insert(store.buffer);
    if (usage.local_arrays.contains(store.buffer) && !is_live(store.buffer)) return;
    visit(store.index);
    visit(store.value);
  }
  void visit(const loop::Comment&) {}
  void visit(const loop::CallKernel&) {}

  const std::set<std::string>* live_;
};

}  // namespace

Usage usage_of(const loop::Block& body, const loop::Expr& result) {
  std::set<std::string> live;
  bool known = false;
  // What only dead scalars read is dead too: until nothing more falls away.
  while (true) {
    Collector collector(known ? &live : nullptr);
    collector.visit(body);
    collector.visit(result);
    if (known && collector.usage.read == live) return collector.usage;
    live = collector.usage.read;
    known = true;
  }
}

}  // namespace ingot
