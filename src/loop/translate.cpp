// SPDX-License-Identifier: Apache-2.0
// From programs to the interpreter's tables: names are resolved and types decided here, once.
#include <optional>
#include <utility>

#include "loop/machine.h"
#include "loop/typing.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

[[noreturn]] void fail(const std::string& what) { throw InternalError(what); }

// Names of one kind and what they stand for; inner blocks may hide names.
class Names {
 public:
  void declare(const std::string& name, size_t meaning) { names_.emplace_back(name, meaning); }
  size_t mark() const { return names_.size(); }
  void leave(size_t mark) { names_.resize(mark); }
  std::optional<size_t> find(const std::string& name) const {
    for (size_t i = names_.size(); i-- > 0;) {
      if (names_[i].first == name) return names_[i].second;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::pair<std::string, size_t>> names_;
};

class Translator {
 public:
  Translator(const Program& program, Translation& out) : program_(program), out_(out) {
    out_.functions.resize(program.functions.size());
    for (size_t f = 0; f < program.functions.size(); ++f) {
      function_index_[program.functions[f].name] = f;
    }
  }

  void translate_kernel(const Kernel& kernel) {
    for (size_t p = 0; p < kernel.params.size(); ++p) {
      const Param& param = kernel.params[p];
      buffers_.declare(param.name, out_.memories.size());
      out_.memories.push_back({param.name, param.dtype, param.num_elements, static_cast<int64_t>(p),
                               param.access != Access::kRead});
    }
    for (const Function::Parameter& p : kernel.scalars) {
      CHECK(p.type.is_scalar());
      out_.scalar_slots.push_back(new_slots(1));
      variables_.declare(p.name, out_.scalar_slots.back());
    }
    out_.body = block(kernel.body);
  }

  size_t node(const Expr& e) {
    Node n;
    n.source = e.get();
    n.dtype = e->type.dtype;
    n.lanes = e->type.lanes;
    if (!is_float(n.dtype)) {
      n.low = lowest(n.dtype);
      n.high = highest(n.dtype);
    }
    std::visit([&](const auto& kind) { fill(n, kind); }, e->kind);
    out_.nodes.push_back(n);
    return out_.nodes.size() - 1;
  }

 private:
  size_t new_slots(int64_t lanes) {
    const size_t first = out_.num_slots;
    out_.num_slots += static_cast<size_t>(lanes);
    return first;
  }

  // An operand of a node with `lanes`: a scalar among vectors is kept.
  size_t operand(const Expr& e, int64_t lanes) {
    const size_t inner = node(e);
    if (lanes == 1 || !e->type.is_scalar()) return inner;
    Node kept = out_.nodes[inner];
    kept.op = kKeptNode;
    kept.a = inner;
    kept.slot = new_slots(1);
    out_.nodes.push_back(kept);
    return out_.nodes.size() - 1;
  }

  void fill(Node& n, const IntLit& x) { n.value.i = x.value; }
  void fill(Node& n, const FloatLit& x) { n.value.f = x.value; }
  void fill(Node& n, const Var& x) {
    n.op = kVarNode;
    n.slot = variable(x.name);
  }
  void fill(Node& n, const Load& x) {
    n.op = kLoadNode;
    n.buffer = buffer(x.buffer);
    if (out_.memories[n.buffer].dtype != n.dtype) fail("a load of another type from " + x.buffer);
    n.alignment = x.alignment;
    n.a = operand(x.index, n.lanes);
  }
  void fill(Node& n, const UnaryExpr& x) {
    n.op = kUnaryNode + static_cast<int32_t>(x.op);
    n.a = node(x.a);
  }
  void fill(Node& n, const BinaryExpr& x) {
    const bool of_floats = is_comparison(x.op) && is_float(x.a->type.dtype);
    n.op = (of_floats ? kFloatComparisonNode : kBinaryNode) + static_cast<int32_t>(x.op);
    n.a = node(x.a);
    n.b = node(x.b);
  }
  void fill(Node& n, const Select& x) {
    n.op = kSelectNode;
    n.a = operand(x.condition, n.lanes);
    n.b = node(x.if_true);
    n.c = node(x.if_false);
  }
  void fill(Node& n, const Cast& x) {
    const bool from_float = is_float(x.a->type.dtype);
    const bool to_float = is_float(n.dtype);
    n.op = from_float ? (to_float ? kFloatToFloatNode : kFloatToIntNode)
                      : (to_float ? kIntToFloatNode : kIntToIntNode);
    n.a = operand(x.a, n.lanes);
  }
  void fill(Node& n, const Lane& x) {
    n.op = kLaneNode;
    n.slot = static_cast<size_t>(x.lane);
    n.a = node(x.a);
  }
  void fill(Node& n, const Pack& x) {
    n.op = kPackNode;
    CallSite site;
    for (const Expr& value : x.lanes) site.args.push_back(node(value));
    n.a = out_.calls.size();
    out_.calls.push_back(std::move(site));
  }
  void fill(Node& n, const CallExpr& x) {
    const auto found = function_index_.find(x.function);
    if (found == function_index_.end()) fail("call of unknown function " + x.function);
    const Function& f = program_.functions[found->second];
    if (f.params.size() != x.args.size() || f.result->type.lanes != n.lanes ||
        f.result->type.dtype != n.dtype) {
      fail("call of " + x.function + " against its signature");
    }
    CallSite site;
    int64_t lanes = 0;
    for (size_t i = 0; i < x.args.size(); ++i) {
      if (x.args[i]->type != f.params[i].type) fail("an argument of " + x.function);
      site.args.push_back(node(x.args[i]));
      lanes += x.args[i]->type.lanes;
    }
    site.temporaries = new_slots(lanes);
    translate_function(found->second);
    n.op = kCallNode;
    n.buffer = found->second;
    n.slot = new_slots(n.lanes);
    n.a = out_.calls.size();
    out_.calls.push_back(std::move(site));
  }

  void translate_function(size_t index) {
    using State = TranslatedFunction::State;
    if (out_.functions[index].state == State::kDone) return;
    if (out_.functions[index].state == State::kInWork) fail("a function that calls itself");
    out_.functions[index].state = State::kInWork;
    const Function& f = program_.functions[index];
    // A function sees its parameters only.
    const Names variables = std::exchange(variables_, Names());
    const Names buffers = std::exchange(buffers_, Names());
    TranslatedFunction translated;
    translated.state = State::kDone;
    for (const Function::Parameter& p : f.params) {
      translated.param_slots.push_back(new_slots(p.type.lanes));
      translated.param_lanes.push_back(p.type.lanes);
      translated.param_is_float.push_back(is_float(p.type.dtype));
      variables_.declare(p.name, translated.param_slots.back());
    }
    translated.body = open_block(f.body);
    translated.result = node(f.result);
    out_.functions[index] = std::move(translated);
    variables_ = variables;
    buffers_ = buffers;
  }

  size_t variable(const std::string& name) const {
    const std::optional<size_t> slot = variables_.find(name);
    if (!slot) fail("unknown name " + name);
    return *slot;
  }
  size_t buffer(const std::string& name) const {
    const std::optional<size_t> index = buffers_.find(name);
    if (!index) fail("unknown buffer " + name);
    return *index;
  }

  std::vector<Step> block(const Block& statements) {
    const size_t variables = variables_.mark();
    const size_t buffers = buffers_.mark();
    std::vector<Step> steps = open_block(statements);
    variables_.leave(variables);
    buffers_.leave(buffers);
    return steps;
  }

  // A block whose names stay visible.
  std::vector<Step> open_block(const Block& statements) {
    std::vector<Step> steps;
    for (const Stmt& s : statements) {
      if (std::holds_alternative<Comment>(s.kind)) continue;
      Step step;
      step.source = &s;
      std::visit([&](const auto& kind) { fill(step, kind); }, s.kind);
      steps.push_back(std::move(step));
    }
    return steps;
  }

  void fill(Step& step, const For& x) {
    step.kind = Step::Kind::kFor;
    if (x.step < 1) fail("a loop with a step below 1");
    step.step = x.step;
    step.reverse = x.reverse;
    step.a = node(x.begin);
    step.b = node(x.end);
    step.slot = new_slots(1);
    const size_t mark = variables_.mark();
    variables_.declare(x.variable, step.slot);
    step.body = block(x.body);
    variables_.leave(mark);
  }
  void fill(Step& step, const If& x) {
    step.kind = Step::Kind::kIf;
    step.a = node(x.condition);
    step.body = block(x.then_body);
    step.other = block(x.else_body);
  }
  void fill_set(Step& step, const Expr& value) {
    step.kind = Step::Kind::kSet;
    step.is_float = is_float(value->type.dtype);
    step.lanes = value->type.lanes;
    step.b = node(value);
  }
  void fill(Step& step, const Let& x) {
    fill_set(step, x.value);
    step.slot = new_slots(step.lanes);
    variables_.declare(x.name, step.slot);
  }
  void fill(Step& step, const Assign& x) {
    fill_set(step, x.value);
    step.slot = variable(x.name);
  }
  void fill(Step& step, const LocalArray& x) {
    step.kind = Step::Kind::kArray;
    step.buffer = out_.memories.size();
    Memory memory{x.name, x.dtype, x.num_elements, -1, true};
    if (x.num_elements < 0 || x.num_elements > kMaxArrayElements) fail("a local array too large");
    memory.own.resize(static_cast<size_t>(x.num_elements * size_in_bytes(x.dtype)));
    memory.assigned.resize(static_cast<size_t>(x.num_elements));
    out_.memories.push_back(std::move(memory));
    buffers_.declare(x.name, step.buffer);
  }
  void fill(Step& step, const Store& x) {
    step.kind = Step::Kind::kStore;
    step.buffer = buffer(x.buffer);
    const Memory& memory = out_.memories[step.buffer];
    if (memory.dtype != x.value->type.dtype) fail("a store of another type into " + x.buffer);
    if (!memory.writable) fail("a store into " + x.buffer + ", which is only read");
    step.is_float = is_float(x.value->type.dtype);
    step.lanes = x.value->type.lanes;
    step.alignment = x.alignment;
    step.a = node(x.index);
    step.b = node(x.value);
  }
  void fill(Step&, const Comment&) {}
  void fill(Step&, const CallKernel&) { fail("a kernel that calls a kernel"); }

  static constexpr int64_t kMaxArrayElements = int64_t{1} << 20;

  const Program& program_;
  Translation& out_;
  std::map<std::string, size_t> function_index_;
  Names variables_;
  Names buffers_;
};

}  // namespace

Translation translate(const Program& program, const Kernel& kernel) {
  Translation out;
  out.name = kernel.name;
  Translator(program, out).translate_kernel(kernel);
  return out;
}

Translation translate(const Program& program, const Expr& e) {
  Translation out;
  out.name = "expression";
  out.result = Translator(program, out).node(e);
  return out;
}

}  // namespace ingot::loop
