// SPDX-License-Identifier: Apache-2.0
// memory_maps MODEL.tflite: what two planners do with the caller's output buffer, as text.
//
// The first is the planner with storage tokens of tests/legacy, whose plan is bound to the caller's
// buffer: what it stores there is shown byte by byte, with the values that the model really has.
// The second is Ingot's. Returns 0 if the first overruns the buffer and the second cannot.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "driver/compile.h"
#include "driver/vectors.h"
#include "support/file.h"
#include "tests/legacy/token_planner.h"

namespace ingot {
namespace {

constexpr uint8_t kPaint = 0xa5;
constexpr size_t kBehind = 52;  // bytes of the caller's that are looked at behind the buffer

const Value& value(const Graph& graph, ValueId id) { return graph[id]; }

std::string type_of(const Value& value) {
  return fmt::format("{}{}", name_of(value.type.dtype), print(value.type.shape));
}

// One character a byte: '.' for untouched, and a bar where the caller's buffer ends.
std::string bar_after(const std::string& row, size_t at) {
  return row.substr(0, at) + "|" + row.substr(at);
}

// ---- The planner with tokens ----

void print_tokens(const Graph& graph, const legacy::TokenPlan& plan) {
  for (size_t token = 0; token < plan.token_bytes.size(); ++token) {
    std::string held;
    for (const Node& node : graph.nodes) {
      for (const ValueId id : node.outputs) {
        if (plan.token_of[static_cast<size_t>(id.index)] != static_cast<int64_t>(token)) continue;
        const Value& one = value(graph, id);
        held += fmt::format("{}{} ({}, {} bytes)", held.empty() ? "" : ", then ", one.name,
                            name_of(one.type.dtype), one.type.size_bytes());
      }
    }
    if (held.empty()) continue;  // an input or a constant
    fmt::print("  block of {:2} bytes: {}\n", plan.token_bytes[token], held);
  }
}

// What lies at the caller's buffer and behind it while the model runs, if the token of its output
// is the caller's buffer. Returns how many bytes behind it were written.
int64_t run_tokens(const Graph& graph, const legacy::TokenPlan& plan) {
  const ReferenceExecutor executor(graph, Rounding::kDouble);
  const std::vector<TensorBytes> values = executor.run_all(random_inputs(graph, 1, 0));
  const ValueId output = graph.outputs.front();
  const int64_t token = plan.token_of[static_cast<size_t>(output.index)];
  const size_t size = static_cast<size_t>(value(graph, output).type.size_bytes());
  std::vector<uint8_t> memory(size + kBehind, kPaint);
  for (const Node& node : graph.nodes) {
    const ValueId id = node.outputs.front();
    std::string row(memory.size(), '.');
    if (plan.token_of[static_cast<size_t>(id.index)] == token) {
      const TensorBytes& bytes = values[static_cast<size_t>(id.index)];
      std::copy(bytes.begin(), bytes.end(), memory.begin());
      const char mark = value(graph, id).type.dtype == DType::kFloat32 ? 'f' : 'i';
      std::fill_n(row.begin(), bytes.size(), mark);
    }
    fmt::print("  {:14} {}\n", value(graph, id).name, bar_after(row, size));
  }
  fmt::print("\nThe 40 bytes behind the buffer, which were all {:02x}, after the run:\n", kPaint);
  int64_t overwritten = 0;
  std::string line;
  for (size_t i = 0; i < 40; ++i) {
    line += fmt::format("{}{:02x}", i % 20 == 0 ? "\n  " : " ", memory[size + i]);
  }
  for (size_t i = size; i < memory.size(); ++i) overwritten += memory[i] != kPaint;
  fmt::print("{}\n", line.substr(1));
  return overwritten;
}

// ---- Ingot's planner ----

void print_arena(const Compiled& compiled) {
  const Storage& storage = compiled.storage;
  for (int64_t step = 0; step < storage.num_steps; ++step) {
    std::string row(static_cast<size_t>(storage.arena_bytes), '.');
    for (size_t i = 0; i < storage.problem.buffers.size(); ++i) {
      const plan::Buffer& buffer = storage.problem.buffers[i];
      if (step < buffer.lifetime.begin || step >= buffer.lifetime.end) continue;
      const loop::Buffer& of_program = storage.program.buffers[storage.buffers[i]];
      const char mark = of_program.dtype == DType::kFloat32 ? 'f' : 'i';
      std::fill_n(row.begin() + storage.plan.offsets[i], buffer.size_bytes, mark);
    }
    const loop::CallNote& note = storage.program.notes.at(static_cast<size_t>(step));
    fmt::print("  {:14} {}\n", note.name, row);
  }
}

// The kernels that get the caller's output, and how many bytes of it each may write.
bool print_writers(const Compiled& compiled) {
  const loop::Program& program = compiled.storage.program;
  bool exact = true;
  for (size_t i = 0, call_index = 0; i < program.runner.size(); ++i) {
    const auto* call = std::get_if<loop::CallKernel>(&program.runner[i].kind);
    if (call == nullptr) continue;
    const loop::CallNote& note = program.notes.at(call_index++);
    const loop::Kernel& kernel = *loop::find_kernel(program, call->kernel);
    for (size_t a = 0; a < call->args.size(); ++a) {
      const loop::Buffer& buffer = *loop::find_buffer(program, call->args[a].buffer);
      if (buffer.kind != loop::BufferKind::kOutput) continue;
      const loop::Param& param = kernel.params[a];
      exact = exact && param.num_elements == buffer.num_elements && param.dtype == buffer.dtype;
      fmt::print("  {:14} gets `{}` as {}[{}]\n", note.name, buffer.name, name_of(param.dtype),
                 param.num_elements);
    }
  }
  for (const size_t index : compiled.storage.buffers) {
    exact = exact && program.buffers[index].kind == loop::BufferKind::kArena;
  }
  return exact;
}

int run(const std::string& path) {
  const Result<std::vector<uint8_t>> bytes = read_file(path);
  CompileOptions options;
  options.name = "keywords";
  const Result<Compiled> compiled = bytes ? compile(*bytes, options) : bytes.error();
  if (!compiled) {
    fmt::print(stderr, "{}: {}\n", path, compiled.error().front().what);
    return 2;
  }
  const Graph& graph = compiled->model;
  fmt::print("The network:\n\n");
  for (const Node& node : graph.nodes) {
    const Value& one = value(graph, node.outputs.front());
    fmt::print("  {:16} -> {:14} {}\n", name_of(node.op), one.name, type_of(one));
  }
  const Value& output = value(graph, graph.outputs.front());
  const legacy::TokenPlan plan = legacy::plan_tokens(graph);
  fmt::print("\nA planner with storage tokens, and the blocks it makes:\n\n");
  print_tokens(graph, plan);
  fmt::print(
      "\nThe block that ends as `{}` is the caller's buffer of {} bytes. What each operator\n"
      "stores there (i: int8, f: float, |: where the buffer ends):\n\n",
      output.name, output.type.size_bytes());
  const int64_t overwritten = run_tokens(graph, plan);
  fmt::print("\n{} bytes of the caller's behind the buffer are gone. The result itself is right.\n",
             plan.outputs.front().overrun_bytes);

  fmt::print("\nIngot's arena of {} bytes, while each step runs:\n\n",
             compiled->storage.arena_bytes);
  print_arena(*compiled);
  fmt::print("\nThe caller's buffer is not in it. Who writes there:\n\n");
  const bool exact = print_writers(*compiled);
  return overwritten > 0 && overwritten <= plan.outputs.front().overrun_bytes && exact ? 0 : 1;
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: memory_maps MODEL.tflite\n");
    return 2;
  }
  return ingot::run(argv[1]);
}
