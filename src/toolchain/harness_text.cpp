// SPDX-License-Identifier: Apache-2.0
#include "toolchain/harness_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "toolchain/build.h"

namespace ingot::toolchain {
namespace {

constexpr int64_t kGuardBytes = 64;  // HARNESS_GUARD_BYTES

// A buffer of the caller in storage of its own, at an address that is a multiple of `alignment`
// and of no greater power of two.
struct Placement {
  int64_t storage_alignment;
  int64_t offset;
  int64_t storage_bytes;
};

Placement place(int64_t bytes, int64_t alignment) {
  const int64_t storage_alignment = std::max(kGuardBytes, 2 * alignment);
  const int64_t offset = storage_alignment + alignment;
  return {storage_alignment, offset, offset + bytes + kGuardBytes};
}

std::string storage_text(std::string_view name, const Placement& placement) {
  return fmt::format("static unsigned char {}[{}] HARNESS_LARGE __attribute__((aligned({})));\n",
                     name, placement.storage_bytes, placement.storage_alignment);
}

// Fails to compile unless the condition holds: the text and the model must be of one mind.
std::string static_check(std::string_view name, std::string_view condition) {
  return fmt::format("typedef char check_{}[({}) ? 1 : -1];\n", name, condition);
}

// The texts that concern one list of ports: "input" or "output".
struct PortTexts {
  std::string storage;
  std::string table;
  std::string pointers;
};

PortTexts port_texts(const ModelInterface& model, std::string_view kind,
                     const std::vector<Port>& ports) {
  PortTexts texts;
  texts.table = fmt::format("const size_t harness_num_{}s = {};\n", kind, ports.size());
  texts.table += fmt::format("const harness_buffer harness_{}s[] = {{\n", kind);
  for (size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    const std::string name = fmt::format("{}_{}", kind, i);
    const std::string macro =
        fmt::format("{}_{}_{}", upper_case(model.name), upper_case(kind), upper_case(port.c_name));
    texts.storage +=
        static_check(name + "_bytes", fmt::format("{}_BYTES == {}", macro, port.bytes));
    if (model.io_in_arena) {
      texts.storage +=
          static_check(name + "_lies_in_arena",
                       fmt::format("{}_OFFSET + {} <= {}", macro, port.bytes, model.arena_bytes));
      texts.table += fmt::format(
          "    {{\"{} \\\"{}\\\"\", arena, sizeof arena, ARENA_OFFSET + {}_OFFSET, {}}},\n", kind,
          port.c_name, macro, port.bytes);
      continue;
    }
    const Placement placement = place(port.bytes, size_in_bytes(port.dtype));
    texts.storage += storage_text(name, placement);
    texts.table += fmt::format("    {{\"{} \\\"{}\\\"\", {}, sizeof {}, {}, {}}},\n", kind,
                               port.c_name, name, name, placement.offset, port.bytes);
    texts.pointers +=
        fmt::format("  {}s.{} = (void *)({} + {});\n", kind, port.c_name, name, placement.offset);
  }
  texts.table += "    {0, 0, 0, 0, 0}};\n";
  return texts;
}

// Each pool in storage of its own, and the table of them.
std::string pool_texts(const ModelInterface& model) {
  std::string text;
  std::string table = fmt::format("const size_t harness_num_pools = {};\n", model.pools.size());
  table += "const harness_buffer harness_pools[] = {\n";
  for (const PoolMemory& pool : model.pools) {
    const std::string macro =
        fmt::format("{}_POOL_{}", upper_case(model.name), upper_case(pool.name));
    const std::string name = "pool_" + pool.name;
    const Placement placement = place(pool.bytes, pool.alignment);
    text += static_check(name + "_bytes", fmt::format("{}_BYTES == {}", macro, pool.bytes));
    text +=
        static_check(name + "_alignment", fmt::format("{}_ALIGNMENT == {}", macro, pool.alignment));
    text += storage_text(name, placement);
    table += fmt::format("    {{\"the pool {}\", {}, sizeof {}, {}, {}}},\n", pool.name, name, name,
                         placement.offset, pool.bytes);
  }
  return text + table + "    {0, 0, 0, 0, 0}};\n";
}

std::string run_text(const ModelInterface& model, const std::string& pointers) {
  std::string text = "long harness_run_stack_bytes;\n\nint32_t harness_run_model(void) {\n";
  std::string arguments = "arena + ARENA_OFFSET";
  std::string memory;
  if (!model.pools.empty()) {
    text += fmt::format("  {}_memory memory;\n", model.name);
    memory = "  memory.arena = arena + ARENA_OFFSET;\n";
    for (const PoolMemory& pool : model.pools) {
      memory += fmt::format("  memory.{0} = pool_{0} + {1};\n", pool.name,
                            place(pool.bytes, pool.alignment).offset);
    }
    arguments = "&memory";
  }
  if (!model.io_in_arena) {
    text += fmt::format("  {0}_inputs inputs;\n  {0}_outputs outputs;\n", model.name);
    arguments = "&inputs, &outputs, " + arguments;
  }
  text += "  int32_t status;\n" + memory + pointers + "  harness_paint_stack();\n  MARK_START();\n";
  text += fmt::format("  status = {}_run({});\n", model.name, arguments);
  text += "  MARK_STOP();\n  harness_run_stack_bytes = harness_stack_used();\n";
  return text + "  return status;\n}\n";
}

std::string model_text(const ModelInterface& model) {
  const std::string prefix = upper_case(model.name);
  const Placement arena = place(model.arena_bytes, model.arena_alignment);
  const PortTexts inputs = port_texts(model, "input", model.inputs);
  const PortTexts outputs = port_texts(model, "output", model.outputs);
  std::string text = fmt::format("#include \"{}.h\"\n#include \"validate.h\"\n\n", model.name);
  text +=
      static_check("arena_bytes", fmt::format("{}_ARENA_BYTES == {}", prefix, model.arena_bytes));
  text += static_check("arena_alignment",
                       fmt::format("{}_ARENA_ALIGNMENT == {}", prefix, model.arena_alignment));
  text += fmt::format("#define ARENA_OFFSET {}\n", arena.offset);
  text += storage_text("arena", arena) + inputs.storage + outputs.storage;
  text += fmt::format(
      "const harness_buffer harness_arena = {{\"the arena\", arena, sizeof arena, {}, {}}};\n",
      arena.offset, model.arena_bytes);
  text += pool_texts(model) + inputs.table + outputs.table;
  text += fmt::format("const int harness_io_in_arena = {:d};\n", model.io_in_arena);
  text += fmt::format("const int harness_inputs_are_const = {:d};\n", !model.reuses_inputs);
  return text + run_text(model, inputs.pointers + outputs.pointers);
}

}  // namespace

std::string upper_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

std::string_view c_type_of(DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return "uint8_t";
    case DType::kInt8:
      return "int8_t";
    case DType::kInt16:
      return "int16_t";
    case DType::kUInt16:
    case DType::kFloat16:
      return "uint16_t";
    case DType::kInt32:
      return "int32_t";
    case DType::kUInt32:
      return "uint32_t";
    case DType::kInt64:
      return "int64_t";
    case DType::kUInt64:
      return "uint64_t";
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
  }
  return "";
}

std::vector<OutputFile> validation_harness(const ModelInterface& model) {
  return {{"validate.c", std::string(text_of(runtime_files(), "validate.c"))},
          {"validate_model.c", model_text(model)}};
}

}  // namespace ingot::toolchain
