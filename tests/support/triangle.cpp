// SPDX-License-Identifier: Apache-2.0
#include "tests/support/triangle.h"

#include <fmt/format.h>

#include "loop/interpret.h"
#include "loop/text.h"
#include "loop/verify.h"
#include "ops/access.h"
#include "ops/lowering.h"

namespace ingot::testing {
namespace {

// The node in a graph of its own: its inputs, in order, then its outputs.
Graph graph_of(const OneNode& node) {
  Graph graph;
  graph.name = "one_node";
  Node result;
  result.name = "node";
  result.op = node.op;
  for (const TestInput& input : node.inputs) {
    if (input.absent) {
      result.inputs.push_back({});
      continue;
    }
    const std::string name = "in" + std::to_string(graph.values.size());
    const ValueId id = graph.add({name, input.type, std::nullopt});
    if (input.constant) {
      graph[id].constant = *input.bytes;
    } else {
      graph.inputs.push_back(id);
    }
    result.inputs.push_back(id);
  }
  for (const TensorType& type : output_types(node)) {
    const ValueId id =
        graph.add({"out" + std::to_string(graph.outputs.size()), type, std::nullopt});
    result.outputs.push_back(id);
    graph.outputs.push_back(id);
  }
  graph.nodes.push_back(std::move(result));
  return graph;
}

loop::Buffer buffer_of(const Value& value, loop::BufferKind kind) {
  loop::Buffer buffer;
  buffer.name = value.name;
  buffer.dtype = value.type.dtype;
  buffer.num_elements = value.type.num_elements();
  buffer.kind = kind;
  buffer.alignment = size_in_bytes(value.type.dtype);
  buffer.tensor = value.name;
  if (kind != loop::BufferKind::kConstant) buffer.type = value.type;
  buffer.data = value.constant;
  return buffer;
}

// The buffer that a kernel's argument is bound to, added to the program if it is not the caller's.
std::string bind(loop::Program& program, const Graph& graph, const KernelArg& arg) {
  loop::Buffer buffer;
  if (const auto* id = std::get_if<ValueId>(&arg)) {
    const Value& value = graph[*id];
    if (!value.is_constant()) return value.name;
    buffer = buffer_of(value, loop::BufferKind::kConstant);
  } else if (const auto* constant = std::get_if<ConstantArg>(&arg)) {
    buffer.name = "constant" + std::to_string(program.buffers.size());
    buffer.dtype = constant->dtype;
    buffer.num_elements = constant->bytes.size() / size_in_bytes(constant->dtype);
    buffer.kind = loop::BufferKind::kConstant;
    buffer.alignment = size_in_bytes(constant->dtype);
    buffer.data = constant->bytes;
  } else {
    const auto& scratch = std::get<ScratchArg>(arg);
    buffer.name = "scratch" + std::to_string(program.buffers.size());
    buffer.dtype = scratch.dtype;
    buffer.num_elements = scratch.num_elements;
    buffer.kind = loop::BufferKind::kArena;
    buffer.alignment = size_in_bytes(scratch.dtype);
  }
  program.buffers.push_back(buffer);
  return buffer.name;
}

std::string element_text(const TensorView& tensor, int64_t index) {
  if (tensor.type->dtype == DType::kFloat32) return fmt::format("{}", float_at(tensor, index));
  return std::to_string(int_at(tensor, index));
}

std::string first_difference(const TensorType& type, const std::vector<uint8_t>& expected,
                             const std::vector<uint8_t>& actual) {
  if (expected.size() != actual.size()) return "the outputs' sizes differ";
  const auto element_size = static_cast<size_t>(size_in_bytes(type.dtype));
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == actual[i]) continue;
    const auto index = static_cast<int64_t>(i / element_size);
    return fmt::format("element {} of {}: the reference has {}, the loops {}", index,
                       print(type.shape), element_text({&type, expected}, index),
                       element_text({&type, actual}, index));
  }
  return "";
}

std::string fault_of(const OneNode& node, const loop::Program& program) {
  for (const std::string& fault : loop::find_faults(program)) return "malformed: " + fault;
  for (const loop::Unproved& access : loop::unproved_accesses(program)) {
    return "not proved in bounds: " + access.access + ": " + access.reason;
  }
  std::vector<std::vector<uint8_t>> inputs;
  for (const TestInput& input : node.inputs) {
    if (input.absent || input.constant) continue;
    inputs.emplace_back(input.bytes->view().begin(), input.bytes->view().end());
  }
  std::vector<std::vector<uint8_t>> actual;
  try {
    actual = loop::interpret(program, inputs);
  } catch (const InternalError& error) {
    return std::string("the interpreter refuses: ") + error.what();
  }
  const std::vector<std::vector<uint8_t>> expected = reference_outputs(node);
  const std::vector<TensorType> types = output_types(node);
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string difference = first_difference(types[i], expected[i], actual.at(i));
    if (!difference.empty()) return fmt::format("output {}, {}", i, difference);
  }
  return "";
}

}  // namespace

loop::Program program_of(const OneNode& node, ProvedForms forms) {
  const OneNode full = with_data(node);
  const Graph graph = graph_of(full);
  PlaneSearches searches;
  LoweredKernel lowered = lower_node(graph, graph.nodes.front(), full.rounding, searches, forms);
  lowered.kernel.name = "kernel";
  loop::Program program;
  program.name = "one_node";
  for (const ValueId id : graph.inputs) {
    program.buffers.push_back(buffer_of(graph[id], loop::BufferKind::kInput));
  }
  for (const ValueId id : graph.outputs) {
    program.buffers.push_back(buffer_of(graph[id], loop::BufferKind::kOutput));
  }
  loop::CallKernel call{"kernel", {}};
  for (const KernelArg& arg : lowered.args) call.args.push_back({bind(program, graph, arg), 0});
  program.functions = std::move(lowered.functions);
  program.kernels.push_back(std::move(lowered.kernel));
  program.runner.push_back(std::move(call));
  program.notes.push_back({"node", std::string(name_of(full.op)), {}, 0});
  return program;
}

std::string disagreement(const OneNode& node, ProvedForms forms) {
  const OneNode full = with_data(node);
  const std::string why = refusal(full);
  if (!why.empty()) return "refused: " + why;
  const loop::Program program = program_of(full, forms);
  const std::string fault = fault_of(full, program);
  if (fault.empty()) return "";
  std::string inputs;
  for (const TestInput& input : full.inputs) {
    inputs += "\n  input " + (input.absent ? "absent" : print(input.type));
  }
  return fmt::format("{}, seed {}: {}{}\n{}", name_of(full.op), full.seed, fault, inputs,
                     loop::print(program, {.data = false}));
}

}  // namespace ingot::testing
