// SPDX-License-Identifier: Apache-2.0
#include "loop/interpret.h"

#include <algorithm>
#include <map>
#include <memory>

#include "loop/machine.h"
#include "loop/memory.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

// Bytes that are unlikely to be what a kernel expects to find.
void fill_with_noise(std::span<uint8_t> bytes) {
  uint64_t state = 0x9e3779b97f4a7c15;
  for (uint8_t& byte : bytes) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    byte = static_cast<uint8_t>(state >> 32U);
  }
}

bool lies_in_arena(const Buffer& b) {
  return b.kind != BufferKind::kConstant && b.offset_bytes.has_value();
}

class Runner {
 public:
  Runner(const Program& program, int64_t arena_bytes, const OnBufferAccess& on_access)
      : program_(program), on_access_(on_access) {
    for (size_t k = 0; k < program.kernels.size(); ++k) kernels_[program.kernels[k].name] = k;
    machines_.resize(program.kernels.size());
    const bool planned = std::ranges::all_of(program.buffers, [](const Buffer& b) {
      return b.kind != BufferKind::kArena || lies_in_arena(b);
    });
    if (planned) make_arena(arena_bytes);
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      const Buffer& buffer = program.buffers[b];
      buffers_[buffer.name] = b;
      memory_.push_back(place(buffer, planned));
    }
  }

  void set_inputs(std::span<const std::vector<uint8_t>> inputs) {
    size_t next = 0;
    for (size_t b = 0; b < memory_.size(); ++b) {
      if (program_.buffers[b].kind != BufferKind::kInput) continue;
      CHECK(next < inputs.size() && inputs[next].size() == memory_[b].size());
      std::ranges::copy(inputs[next++], memory_[b].begin());
    }
    CHECK(next == inputs.size());
  }

  std::vector<std::vector<uint8_t>> outputs() const {
    std::vector<std::vector<uint8_t>> all;
    for (size_t b = 0; b < memory_.size(); ++b) {
      if (program_.buffers[b].kind != BufferKind::kOutput) continue;
      all.emplace_back(memory_[b].begin(), memory_[b].end());
    }
    return all;
  }

  void run(const Block& block) {
    for (const Stmt& s : block) {
      if (const auto* call = std::get_if<CallKernel>(&s.kind)) {
        run_call(*call);
      } else if (const auto* loop = std::get_if<For>(&s.kind)) {
        run_for(*loop);
      } else if (const auto* branch = std::get_if<If>(&s.kind)) {
        run(evaluate(branch->condition) != 0 ? branch->then_body : branch->else_body);
      } else if (!std::holds_alternative<Comment>(s.kind)) {
        throw InternalError("a statement that the runner does not have");
      }
    }
  }

 private:
  void make_arena(int64_t arena_bytes) {
    std::map<std::string, int64_t> ends = {{"", 0}};
    for (const Buffer& b : program_.buffers) {
      if (is_callers(b)) ends[memory_of_port(b.name)] = b.size_bytes();
    }
    for (const Buffer& b : program_.buffers) {
      if (!lies_in_arena(b)) continue;
      CHECK(*b.offset_bytes >= 0);
      CHECK(lender_of(b).empty() || *b.offset_bytes + b.size_bytes() <= ends.at(b.pool));
      int64_t& end = ends[b.pool];
      end = std::max(end, *b.offset_bytes + b.size_bytes());
    }
    CHECK(arena_bytes < 0 || ends[""] <= arena_bytes);
    ends[""] = std::max(ends[""], arena_bytes);
    for (const auto& [pool, end] : ends) {
      pools_[pool].resize(static_cast<size_t>(end));
      fill_with_noise(pools_[pool]);
    }
  }

  std::span<uint8_t> place(const Buffer& b, bool planned) {
    const auto size = static_cast<size_t>(b.size_bytes());
    if (planned && lies_in_arena(b)) {
      return std::span(pools_.at(b.pool)).subspan(static_cast<size_t>(*b.offset_bytes), size);
    }
    if (planned && is_callers(b)) return pools_.at(memory_of_port(b.name));
    if (b.kind == BufferKind::kConstant) {
      CHECK(b.data && b.data->size() == b.size_bytes());
      // Never written: no constant is bound to a parameter that a kernel may write.
      return {const_cast<uint8_t*>(b.data->view().data()), size};
    }
    owned_.push_back(std::make_unique<std::vector<uint8_t>>(size));
    fill_with_noise(*owned_.back());
    return *owned_.back();
  }

  void run_call(const CallKernel& call) {
    const auto found = kernels_.find(call.kernel);
    if (found == kernels_.end()) throw InternalError("call of unknown kernel " + call.kernel);
    const Kernel& kernel = program_.kernels[found->second];
    CHECK(kernel.params.size() == call.args.size());
    std::vector<std::span<uint8_t>> args;
    for (size_t i = 0; i < call.args.size(); ++i) {
      args.push_back(bind(kernel.params[i], call.args[i]));
    }
    std::unique_ptr<Machine>& machine = machines_[found->second];
    if (!machine) machine = std::make_unique<Machine>(translate(program_, kernel));
    machine->run(args, call.scalars, {.on_access = watch(kernel, call)});
    ++num_calls_;
  }

  // What the kernel touches by its parameters, as what the program touches in its buffers.
  std::function<void(const MemoryAccess&)> watch(const Kernel& kernel, const CallKernel& call) {
    if (!on_access_) return nullptr;
    std::vector<BufferAccess> starts;
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < call.args.size(); ++i) {
      const int64_t size = size_in_bytes(kernel.params[i].dtype);
      starts.push_back({num_calls_, buffers_.at(call.args[i].buffer),
                        call.args[i].offset_elements * size, 0, false});
      sizes.push_back(size);
    }
    return [this, starts, sizes](const MemoryAccess& access) {
      const auto param = static_cast<size_t>(access.param);
      BufferAccess touched = starts[param];
      touched.first_byte += access.element * sizes[param];
      touched.size_bytes = access.lanes * sizes[param];
      touched.is_store = access.is_store;
      on_access_(touched);
    };
  }

  std::span<uint8_t> bind(const Param& param, const BufferRef& ref) {
    const auto found = buffers_.find(ref.buffer);
    if (found == buffers_.end()) throw InternalError("unknown buffer " + ref.buffer);
    const Buffer& buffer = program_.buffers[found->second];
    CHECK(buffer.kind != BufferKind::kConstant || param.access == Access::kRead);
    CHECK(buffer.dtype == param.dtype && ref.offset_elements >= 0);
    CHECK(ref.offset_elements + param.num_elements <= buffer.num_elements);
    const int64_t size = size_in_bytes(param.dtype);
    return memory_[found->second].subspan(static_cast<size_t>(ref.offset_elements * size),
                                          static_cast<size_t>(param.num_elements * size));
  }

  // The value of an expression over the runner's loop variables.
  int64_t evaluate(const Expr& e) const {
    Function f{"", {}, {}, e, "", ""};
    for (const auto& [name, value] : variables_) f.body.push_back(Let{name, lit(value)});
    Program with = program_without_memory();
    f.name = "the runner's condition";
    with.functions.push_back(f);
    return evaluate_int(with, call(f.name, e->type, {}));
  }

  Program program_without_memory() const {
    Program p;
    p.functions = program_.functions;
    return p;
  }

  void run_for(const For& loop) {
    const int64_t begin = evaluate(loop.begin);
    const int64_t end = evaluate(loop.end);
    CHECK(loop.step > 0);
    const int64_t trips = begin < end ? (end - begin + loop.step - 1) / loop.step : 0;
    for (int64_t t = 0; t < trips; ++t) {
      variables_.emplace_back(loop.variable,
                              begin + (loop.reverse ? trips - 1 - t : t) * loop.step);
      run(loop.body);
      variables_.pop_back();
    }
  }

  const Program& program_;
  const OnBufferAccess& on_access_;
  int64_t num_calls_ = 0;
  std::map<std::string, size_t> kernels_;
  std::map<std::string, size_t> buffers_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::map<std::string, std::vector<uint8_t>> pools_;  // by Buffer::pool; the arena's is empty
  std::vector<std::unique_ptr<std::vector<uint8_t>>> owned_;
  std::vector<std::span<uint8_t>> memory_;  // per buffer
  std::vector<std::pair<std::string, int64_t>> variables_;
};

}  // namespace

void interpret(const Program& program, const Kernel& kernel,
               std::span<const std::span<uint8_t>> memory, const InterpretOptions& options) {
  CHECK(memory.size() == kernel.params.size());
  Machine(translate(program, kernel)).run(memory, options.scalars, options);
}

std::vector<std::vector<uint8_t>> interpret(const Program& program,
                                            std::span<const std::vector<uint8_t>> inputs,
                                            int64_t arena_bytes, const OnBufferAccess& on_access) {
  Runner runner(program, arena_bytes, on_access);
  runner.set_inputs(inputs);
  runner.run(program.runner);
  return runner.outputs();
}

int64_t evaluate_int(const Program& program, const Expr& e) {
  CHECK(e->type.is_scalar() && !is_float(e->type.dtype));
  return Machine(translate(program, e)).evaluate();
}

}  // namespace ingot::loop
