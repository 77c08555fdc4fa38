// SPDX-License-Identifier: Apache-2.0
// find_faults: the form of programs. What their accesses touch is bounds.cpp's business.
#include "loop/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

#include "loop/memory.h"
#include "loop/operators.h"
#include "loop/text.h"
#include "loop/typing.h"

namespace ingot::loop {
namespace {

constexpr int64_t kMaxArrayBytes = 256;

bool is_identifier(const std::string& name) {
  const auto is_letter = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_';
  };
  if (name.empty() || !is_letter(name[0]) || name == "true" || name == "false") return false;
  return std::ranges::all_of(name, [&](char c) { return is_letter(c) || ('0' <= c && c <= '9'); });
}

// Names that stand for something else where a function is called.
bool is_builtin(const std::string& name) {
  return find_type(name) || name == "select" || name == "lane" ||
         std::ranges::find(kUnarySpellings, name) != kUnarySpellings.end() ||
         std::ranges::find(kBinarySpellings, name, &OperatorSpelling::text) !=
             kBinarySpellings.end();
}

bool is_power_of_two(int64_t n) { return n > 0 && std::has_single_bit(static_cast<uint64_t>(n)); }

// What an address of `dtype` is aligned to if `stated` bytes are promised.
int64_t real_alignment(int64_t stated, DType dtype) {
  return std::max(stated, size_in_bytes(dtype));
}

using Faults = std::vector<std::string>;

// Checks the body of one kernel or function.
class BodyChecker {
 public:
  // Calls may name the first `num_functions` functions.
  BodyChecker(const std::map<std::string, size_t>& functions, const Program& program,
              size_t num_functions, std::string where, Faults& faults)
      : functions_(functions),
        program_(program),
        num_functions_(num_functions),
        where_(std::move(where)),
        faults_(faults) {}

  void declare_param(const Param& p) {
    declare(p.name, {Symbol::Kind::kBuffer, Type{p.dtype}, p.access != Access::kWrite,
                     p.access != Access::kRead, real_alignment(p.alignment, p.dtype)});
  }
  void declare_value(const std::string& name, Type type) {
    declare(name, {Symbol::Kind::kValue, type});
  }

  void check_block(const Block& block, int64_t depth = 1) {
    const size_t mark = visible_.size();
    check_open_block(block, depth);
    leave(mark);
  }
  void check_open_block(const Block& block, int64_t depth = 1) {
    if (depth > kMaxBlockDepth) return fault("statements are nested too deeply");
    for (const Stmt& s : block) {
      std::visit([&](const auto& kind) { check_stmt(kind, depth); }, s.kind);
    }
  }
  void check_expr(const Expr& e, int64_t depth = 1) {
    if (!e) return fault("an expression is missing");
    if (depth > kMaxExprDepth) return fault("an expression is nested too deeply");
    bool complete = true;
    for_each_operand(e, [&](const Expr& operand) { complete = complete && operand; });
    if (!complete) return fault("an operand is missing");
    const std::string type_fault = find_type_fault(*e);
    if (!type_fault.empty()) fault(type_fault);
    check_names(e);
    for_each_operand(e, [&](const Expr& operand) { check_expr(operand, depth + 1); });
  }

 private:
  struct Symbol {
    enum class Kind : uint8_t { kValue, kScalar, kBuffer };  // only a kScalar can be assigned
    Kind kind = Kind::kValue;
    Type type;
    bool readable = true;
    bool writable = true;
    std::optional<int64_t> alignment = std::nullopt;  // of parameters
  };

  void fault(const std::string& what) { faults_.push_back(where_ + ": " + what); }

  template <class F>
  static void for_each_operand(const Expr& e, F&& f) {
    if (const auto* x = as<Load>(e)) {
      f(x->index);
    } else if (const auto* u = as<UnaryExpr>(e)) {
      f(u->a);
    } else if (const auto* b = as<BinaryExpr>(e)) {
      f(b->a);
      f(b->b);
    } else if (const auto* s = as<Select>(e)) {
      f(s->condition);
      f(s->if_true);
      f(s->if_false);
    } else if (const auto* c = as<Cast>(e)) {
      f(c->a);
    } else if (const auto* l = as<Lane>(e)) {
      f(l->a);
    } else if (const auto* p = as<Pack>(e)) {
      for (const Expr& value : p->lanes) f(value);
    } else if (const auto* call = as<CallExpr>(e)) {
      for (const Expr& arg : call->args) f(arg);
    }
  }

  void declare(const std::string& name, Symbol symbol) {
    if (!is_identifier(name)) fault(fmt::format("{} is no name", quote(name)));
    if (symbols_.contains(name)) {
      fault(fmt::format("{} is defined where it is visible already", name));
      return;
    }
    symbols_.emplace(name, symbol);
    visible_.push_back(name);
  }
  void leave(size_t mark) {
    for (; visible_.size() > mark; visible_.pop_back()) symbols_.erase(visible_.back());
  }
  const Symbol* find(const std::string& name) const {
    const auto found = symbols_.find(name);
    return found == symbols_.end() ? nullptr : &found->second;
  }
  const Symbol* find_buffer_symbol(const std::string& name) {
    const Symbol* symbol = find(name);
    if (symbol && symbol->kind == Symbol::Kind::kBuffer) return symbol;
    fault(fmt::format("{} is no buffer", name));
    return nullptr;
  }

  void check_access(const Symbol& buffer, const std::string& name, Type type, int64_t alignment) {
    if (buffer.type.dtype != type.dtype) {
      fault(fmt::format("{} of {} accessed as {}", name, print(buffer.type), print(type)));
    }
    if (!is_power_of_two(alignment)) fault(fmt::format("an alignment of {} bytes", alignment));
    if (buffer.alignment && alignment > *buffer.alignment) {
      fault(fmt::format("{} is aligned to {} bytes and accessed as if to {}", name,
                        *buffer.alignment, alignment));
    }
  }

  void check_names(const Expr& e) {
    if (const auto* v = as<Var>(e)) {
      const Symbol* symbol = find(v->name);
      if (!symbol || symbol->kind == Symbol::Kind::kBuffer) {
        fault(fmt::format("{} is not defined", v->name));
      } else if (symbol->type != e->type) {
        fault(fmt::format("{} is {}, not {}", v->name, print(symbol->type), print(e->type)));
      }
    } else if (const auto* load = as<Load>(e)) {
      const Symbol* symbol = find_buffer_symbol(load->buffer);
      if (!symbol) return;
      check_access(*symbol, load->buffer, e->type, load->alignment);
      if (!symbol->readable) fault(fmt::format("{} is read, but only to be written", load->buffer));
    } else if (const auto* call = as<CallExpr>(e)) {
      check_call(e->type, *call);
    }
  }

  void check_call(Type type, const CallExpr& call) {
    const auto found = functions_.find(call.function);
    if (found == functions_.end() || found->second >= num_functions_) {
      return fault(fmt::format("no function {} stands above its call", call.function));
    }
    const Function& f = program_.functions[found->second];
    const bool fits = std::ranges::equal(
        call.args, f.params,
        [](const Expr& arg, const Function::Parameter& p) { return arg->type == p.type; });
    if (!fits || !f.result || f.result->type != type) {
      fault(fmt::format("a call of {} against its signature", call.function));
    }
  }

  void expect_type(const Expr& e, Type type, const char* what) {
    if (e && e->type != type) fault(fmt::format("{} is {}", what, print(e->type)));
  }

  void check_stmt(const For& f, int64_t depth) {
    check_expr(f.begin);
    check_expr(f.end);
    expect_type(f.begin, kInt32, "the begin of a loop");
    expect_type(f.end, kInt32, "the end of a loop");
    if (f.step < 1) fault(fmt::format("a step of {}", f.step));
    const size_t mark = visible_.size();
    declare(f.variable, {Symbol::Kind::kValue, kInt32});
    check_block(f.body, depth + 1);
    leave(mark);
  }
  void check_stmt(const If& i, int64_t depth) {
    check_expr(i.condition);
    expect_type(i.condition, kBool, "a condition");
    check_block(i.then_body, depth + 1);
    check_block(i.else_body, depth + 1);
  }
  void check_stmt(const Let& l, int64_t) {
    check_expr(l.value);
    if (l.value) declare(l.name, {Symbol::Kind::kScalar, l.value->type});
  }
  void check_stmt(const Assign& a, int64_t) {
    check_expr(a.value);
    const Symbol* symbol = find(a.name);
    if (!symbol || symbol->kind != Symbol::Kind::kScalar) {
      fault(fmt::format("{} is assigned to and is no scalar of its own", a.name));
    } else if (a.value && a.value->type != symbol->type) {
      fault(fmt::format("{} is assigned {}", a.name, print(a.value->type)));
    }
  }
  void check_stmt(const LocalArray& a, int64_t) {
    if (a.num_elements < 0 || a.num_elements > kMaxArrayBytes) {
      return fault(fmt::format("an array of {} elements", a.num_elements));
    }
    const bool fitted = array_bytes_ <= kMaxArrayBytes;
    array_bytes_ += a.num_elements * size_in_bytes(a.dtype);
    if (fitted && array_bytes_ > kMaxArrayBytes) {
      fault(fmt::format("more than {} bytes of local arrays", kMaxArrayBytes));
    }
    declare(a.name, {Symbol::Kind::kBuffer, Type{a.dtype}});
  }
  void check_stmt(const Store& s, int64_t) {
    check_expr(s.index);
    check_expr(s.value);
    expect_type(s.index, kInt32, "the index of a store");
    const Symbol* symbol = find_buffer_symbol(s.buffer);
    if (!symbol || !s.value) return;
    check_access(*symbol, s.buffer, s.value->type, s.alignment);
    if (!symbol->writable) fault(fmt::format("{} is written, but only to be read", s.buffer));
  }
  void check_stmt(const Comment&, int64_t) {}
  void check_stmt(const CallKernel&, int64_t) { fault("a kernel is called outside the runner"); }

  const std::map<std::string, size_t>& functions_;
  const Program& program_;
  size_t num_functions_;
  std::string where_;
  Faults& faults_;
  std::map<std::string, Symbol> symbols_;
  std::vector<std::string> visible_;
  int64_t array_bytes_ = 0;
};

class ProgramChecker {
 public:
  ProgramChecker(const Program& program, bool inputs_writable)
      : program_(program), inputs_writable_(inputs_writable) {}

  Faults check() {
    if (!is_identifier(program_.name)) fault(quote(program_.name) + " is no name of a program");
    index("buffer", program_.buffers, buffers_);
    index("function", program_.functions, functions_);
    index("kernel", program_.kernels, kernels_);
    for (const Buffer& b : program_.buffers) check_buffer(b);
    if (!std::ranges::is_sorted(program_.buffers, {}, rank)) {
      fault("buffers are not in the order of inputs, outputs, others");
    }
    for (size_t f = 0; f < program_.functions.size(); ++f) check_function(f);
    for (const Kernel& k : program_.kernels) check_kernel(k);
    check_runner(program_.runner, 1);
    if (!program_.notes.empty() && program_.notes.size() != num_calls_) {
      fault(fmt::format("{} notes for {} calls", program_.notes.size(), num_calls_));
    }
    return std::move(faults_);
  }

 private:
  void fault(const std::string& what) { faults_.push_back(what); }

  static int64_t rank(const Buffer& b) {
    return b.kind == BufferKind::kInput ? 0 : b.kind == BufferKind::kOutput ? 1 : 2;
  }

  template <class T>
  void index(const char* kind, const std::vector<T>& items, std::map<std::string, size_t>& out) {
    for (size_t i = 0; i < items.size(); ++i) {
      const std::string& name = items[i].name;
      if (!is_identifier(name)) fault(fmt::format("{} {}: no name", kind, quote(name)));
      if (!out.emplace(name, i).second) fault(fmt::format("{} {} is defined twice", kind, name));
    }
  }

  void check_buffer(const Buffer& b) {
    const auto wrong = [&](const std::string& what) { fault("buffer " + b.name + ": " + what); };
    if (b.num_elements < 0) return wrong("a negative number of elements");
    if (!is_power_of_two(b.alignment)) return wrong(fmt::format("an alignment of {}", b.alignment));
    const bool ours = b.kind == BufferKind::kArena || b.kind == BufferKind::kConstant;
    if (ours && b.alignment < size_in_bytes(b.dtype)) wrong("aligned to less than an element");
    if (b.data && b.kind != BufferKind::kConstant) wrong("data of what is no constant");
    if (b.data && b.data->size() != b.size_bytes()) wrong("data of another size");
    if (b.type && (b.type->dtype != b.dtype || b.type->num_elements() != b.num_elements)) {
      wrong("a tensor of another type");
    }
    if (b.offset_bytes && *b.offset_bytes % b.alignment != 0) wrong("an offset that is misaligned");
    if (b.offset_bytes && *b.offset_bytes < 0) wrong("a negative offset");
    if (!b.pool.empty() && (b.kind != BufferKind::kArena || !b.offset_bytes))
      wrong("a pool, but no place in it");
    if (!lender_of(b).empty()) check_borrower(b, lender_of(b));
  }

  // What C lets lie in the caller's memory: what fits, and has its type or bytes.
  void check_borrower(const Buffer& b, const std::string& lender) {
    const auto wrong = [&](const std::string& what) { fault("buffer " + b.name + ": " + what); };
    const Buffer* port = find_buffer(program_, lender);
    if (port == nullptr || !is_callers(*port)) return wrong(lender + " is not the caller's");
    if (port->kind == BufferKind::kInput && !inputs_writable_)
      wrong(lender + " must not be overwritten");
    if (!b.offset_bytes) return;
    if (*b.offset_bytes > port->size_bytes() - b.size_bytes())
      wrong("it does not fit into " + lender);
    if (b.dtype != port->dtype && !is_of_bytes(b.dtype)) wrong("of another type than " + lender);
    if (b.alignment > size_in_bytes(port->dtype)) wrong("more alignment than " + lender + " has");
  }

  void check_function(size_t index) {
    const Function& f = program_.functions[index];
    if (is_builtin(f.name)) fault("function " + f.name + ": the name has a meaning of its own");
    BodyChecker body(functions_, program_, index, "function " + f.name, faults_);
    for (const Function::Parameter& p : f.params) body.declare_value(p.name, p.type);
    body.check_open_block(f.body);
    body.check_expr(f.result);
  }

  void check_kernel(const Kernel& k) {
    BodyChecker body(functions_, program_, program_.functions.size(), "kernel " + k.name, faults_);
    for (const Param& p : k.params) {
      const auto wrong = [&](const char* what) {
        fault(fmt::format("kernel {}: parameter {}: {}", k.name, p.name, what));
      };
      if (p.num_elements < 0) wrong("a negative number of elements");
      if (!is_power_of_two(p.alignment)) wrong("an alignment that is no power of two");
      if (p.constant && p.access != Access::kRead) wrong("a constant that is written");
      body.declare_param(p);
    }
    for (const Function::Parameter& p : k.scalars) {
      if (!p.type.is_scalar()) fault(fmt::format("kernel {}: {} is no scalar", k.name, p.name));
      body.declare_value(p.name, p.type);
    }
    body.check_block(k.body);
  }

  void check_runner(const Block& block, int64_t depth) {
    if (depth > kMaxBlockDepth) return fault("run: statements are nested too deeply");
    for (const Stmt& s : block) {
      if (const auto* call = std::get_if<CallKernel>(&s.kind)) {
        ++num_calls_;
        check_call(*call);
      } else if (const auto* loop = std::get_if<For>(&s.kind)) {
        check_runner_expr(loop->begin, kInt32);
        check_runner_expr(loop->end, kInt32);
        if (loop->step < 1) fault(fmt::format("run: a step of {}", loop->step));
        if (std::ranges::find(runner_variables_, loop->variable) != runner_variables_.end()) {
          fault(fmt::format("run: {} is defined where it is visible already", loop->variable));
        }
        runner_variables_.push_back(loop->variable);
        check_runner(loop->body, depth + 1);
        runner_variables_.pop_back();
      } else if (const auto* branch = std::get_if<If>(&s.kind)) {
        check_runner_expr(branch->condition, kBool);
        check_runner(branch->then_body, depth + 1);
        check_runner(branch->else_body, depth + 1);
      } else if (!std::holds_alternative<Comment>(s.kind)) {
        fault("run: a statement that only kernels have");
      }
    }
  }

  // No buffers are visible here, so that the expression can only be of loop variables.
  void check_runner_expr(const Expr& e, Type type) {
    BodyChecker checker(functions_, program_, program_.functions.size(), "run", faults_);
    std::set<std::string> declared;
    for (const std::string& name : runner_variables_) {
      if (declared.insert(name).second) checker.declare_value(name, kInt32);
    }
    checker.check_expr(e);
    if (e && e->type != type)
      fault(fmt::format("run: {} where {} is needed", print(e->type), print(type)));
  }

  void check_call(const CallKernel& call) {
    const auto found = kernels_.find(call.kernel);
    if (found == kernels_.end()) return fault("run: no kernel " + call.kernel);
    const Kernel& kernel = program_.kernels[found->second];
    if (kernel.params.size() != call.args.size()) {
      return fault(fmt::format("run: call of {} with {} arguments instead of {}", kernel.name,
                               call.args.size(), kernel.params.size()));
    }
    check_scalars(kernel, call);
    for (size_t i = 0; i < call.args.size(); ++i) {
      const std::string what = find_argument_fault(kernel.params[i], call.args[i]);
      if (!what.empty()) {
        fault(fmt::format("run: call of {}: argument {} for {}: {}", kernel.name,
                          call.args[i].buffer, kernel.params[i].name, what));
      }
    }
  }

  void check_scalars(const Kernel& kernel, const CallKernel& call) {
    if (kernel.scalars.size() != call.scalars.size()) {
      return fault(fmt::format("run: call of {} with {} scalars instead of {}", kernel.name,
                               call.scalars.size(), kernel.scalars.size()));
    }
    for (size_t i = 0; i < call.scalars.size(); ++i) {
      const Expr& value = call.scalars[i];
      const bool literal = value && (as<IntLit>(value) || as<FloatLit>(value));
      if (!literal || value->type != kernel.scalars[i].type) {
        fault(fmt::format("run: call of {}: {} needs a literal of its type", kernel.name,
                          kernel.scalars[i].name));
      }
    }
  }

  std::string find_argument_fault(const Param& param, const BufferRef& arg) const {
    const auto found = buffers_.find(arg.buffer);
    if (found == buffers_.end()) return "no such buffer";
    const Buffer& buffer = program_.buffers[found->second];
    if (buffer.dtype != param.dtype) return "another element type";
    if (arg.offset_elements < 0 || arg.offset_elements > buffer.num_elements ||
        param.num_elements > buffer.num_elements - arg.offset_elements) {
      return fmt::format("{} elements from {} on, where there are {}", param.num_elements,
                         arg.offset_elements, buffer.num_elements);
    }
    const int64_t alignment = real_alignment(param.alignment, param.dtype);
    if (real_alignment(buffer.alignment, buffer.dtype) % alignment != 0 ||
        arg.offset_elements * size_in_bytes(buffer.dtype) % alignment != 0) {
      return fmt::format("not aligned to {} bytes", alignment);
    }
    const bool constant = buffer.kind == BufferKind::kConstant;
    if (param.constant && !constant) return "no constant";
    if (param.access == Access::kRead) return "";
    if (constant) return "a constant would be written";
    if (buffer.kind == BufferKind::kInput && !inputs_writable_) return "an input would be written";
    return "";
  }

  const Program& program_;
  const bool inputs_writable_;
  Faults faults_;
  std::map<std::string, size_t> buffers_;
  std::map<std::string, size_t> functions_;
  std::map<std::string, size_t> kernels_;
  std::vector<std::string> runner_variables_;
  size_t num_calls_ = 0;
};

}  // namespace

std::vector<std::string> find_faults(const Program& program, bool inputs_writable) {
  return ProgramChecker(program, inputs_writable).check();
}

}  // namespace ingot::loop
