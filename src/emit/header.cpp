// SPDX-License-Identifier: Apache-2.0
// NAME.h: what the caller of a compiled model sees.
#include "emit/literals.h"
#include "emit/symbols.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::Buffer;
using loop::BufferKind;

void define(CText& out, const std::string& macro, const std::string& value) {
  out.raw("#define " + macro + " " + value);
}

// As an operand that anything may follow.
std::string macro_integer(int64_t value) {
  const std::string literal = int_literal(value, DType::kInt32);
  return value < 0 ? "(" + literal + ")" : literal;
}

// {1, 49, 10, 1} as an initialiser, broken with backslashes where it is long.
std::string shape_macro(const std::string& macro, const Shape& shape) {
  std::string text = "#define " + macro + " {";
  size_t begin_of_line = 0;
  if (shape.empty()) text += "1";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ",";
    const std::string extent = std::to_string(shape[i]);
    if (text.size() - begin_of_line + extent.size() > kMaxColumns - 5) {
      text += " \\\n   ";
      begin_of_line = text.rfind('\n') + 1;
    }
    text += (i > 0 ? " " : "") + extent;
  }
  return text + "}";
}

void print_macros(CText& out, const Buffer& buffer, const EmitOptions& options,
                  const Symbols& symbols) {
  const bool input = buffer.kind == BufferKind::kInput;
  const std::string prefix =
      symbols.upper + (input ? "_INPUT_" : "_OUTPUT_") + upper_case(buffer.name) + "_";
  out.blank();
  define(out, prefix + "BYTES", std::to_string(buffer.size_bytes()) + "u");
  if (buffer.type) {
    const TensorType& type = *buffer.type;
    define(out, prefix + "RANK", std::to_string(type.rank()));
    out.raw(shape_macro(prefix + "SHAPE", type.shape));
    if (type.quantization && type.quantization->per_tensor()) {
      const std::optional<std::string> scale = float_literal(type.scale(), DType::kFloat32);
      if (scale) define(out, prefix + "SCALE", *scale);
      define(out, prefix + "ZERO_POINT", macro_integer(type.zero_point()));
    }
  }
  if (options.io == EmitOptions::Io::kArena) {
    CHECK(buffer.offset_bytes.has_value());
    define(out, prefix + "OFFSET", std::to_string(*buffer.offset_bytes) + "u");
  }
}

// The struct with a pointer per input or output.
void print_struct(CText& out, const loop::Program& program, BufferKind kind,
                  const std::string& qualifier, const std::string& type_name) {
  out.open("typedef struct");
  bool empty = true;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind != kind) continue;
    empty = false;
    std::string about = std::string(name_of(buffer.dtype));
    if (buffer.type) about += print(buffer.type->shape);
    if (!buffer.tensor.empty()) about += ", tensor " + model_text(buffer.tensor);
    out.comment(about);
    out.line(qualifier + c_element_type(buffer.dtype) + " *" + buffer.name + ";");
  }
  if (empty) {
    out.comment("There are none; C wants a member.");
    out.line("char unused;");
  }
  out.close(" " + type_name + ";");
}

// What the caller must know of the memory that a run works in.
std::vector<std::string> memory_comment(const EmitOptions& options, const Symbols& symbols) {
  const bool io_in_arena = options.io == EmitOptions::Io::kArena;
  std::string text;
  if (!options.pools.empty()) {
    text = "The members of memory point to the bytes that " + symbols.upper + "_ARENA_* and " +
           symbols.upper + "_POOL_* state; one that needs no bytes may be NULL.";
    if (!io_in_arena) text += " Their contents do not matter before a run.";
  } else if (options.arena_bytes == 0 && !io_in_arena) {
    text = "The arena is not used and may be NULL.";
  } else {
    text = "arena points to " + symbols.upper + "_ARENA_BYTES bytes, aligned to " + symbols.upper +
           (io_in_arena ? "_ARENA_ALIGNMENT."
                        : "_ARENA_ALIGNMENT; its contents do not matter before a run.");
  }
  if (io_in_arena) {
    text +=
        " The caller fills the inputs in it before every run and reads the outputs after it, "
        "at the offsets above.";
  }
  return {text};
}

std::vector<std::string> runner_comment(const EmitOptions& options, const Symbols& symbols) {
  std::vector<std::string> lines = {"Runs the model. Returns 0, or a negative " + symbols.upper +
                                    "_ERROR_* and does nothing."};
  for (std::string& line : memory_comment(options, symbols)) lines.push_back(std::move(line));
  if (options.io == EmitOptions::Io::kCaller) {
    lines.push_back(std::string("Inputs and outputs are aligned as their elements need") +
                    (options.reuse_inputs ? "; inputs are overwritten" : "") +
                    ". An output must not overlap an input or another output" +
                    (!options.pools.empty()     ? ", and the memory none of them."
                     : options.arena_bytes == 0 ? "."
                                                : ", and the arena none of them."));
  }
  lines.push_back(options.pools.empty() ? "Re-entrant for different arenas; allocates nothing."
                                        : "Re-entrant for different memories; allocates nothing.");
  return lines;
}

void print_memory_macros(CText& out, const EmitOptions& options, const Symbols& symbols) {
  define(out, symbols.upper + "_ARENA_BYTES", std::to_string(options.arena_bytes) + "u");
  define(out, symbols.upper + "_ARENA_ALIGNMENT", std::to_string(options.arena_alignment) + "u");
  for (const EmitOptions::Pool& pool : options.pools) {
    const std::string prefix = symbols.upper + "_POOL_" + upper_case(pool.name);
    define(out, prefix + "_BYTES", std::to_string(pool.bytes) + "u");
    define(out, prefix + "_ALIGNMENT", std::to_string(pool.alignment) + "u");
  }
}

void print_memory_struct(CText& out, const EmitOptions& options, const Symbols& symbols) {
  out.open("typedef struct");
  out.line("void *arena;");
  for (const EmitOptions::Pool& pool : options.pools) out.line("void *" + pool.name + ";");
  out.close(" " + symbols.name + "_memory;");
}

}  // namespace

std::string runner_prototype(const EmitOptions& options, const Symbols& symbols) {
  const std::string memory =
      options.pools.empty() ? "void *arena" : "const " + symbols.name + "_memory *memory";
  if (options.io == EmitOptions::Io::kArena) {
    return "int32_t " + symbols.name + "_run(" + memory + ")";
  }
  return "int32_t " + symbols.name + "_run(const " + symbols.name + "_inputs *inputs, const " +
         symbols.name + "_outputs *outputs, " + memory + ")";
}

std::string emit_header(const loop::Program& program, const EmitOptions& options,
                        const Symbols& symbols) {
  CText out;
  print_head(out, program, options, "the interface of the model.");
  const std::string guard = symbols.upper + "_H";
  out.raw("#ifndef " + guard);
  out.raw("#define " + guard);
  out.blank();
  out.raw("#include <stdint.h>");
  out.blank();
  print_memory_macros(out, options, symbols);
  out.blank();
  out.comment("What " + symbols.name + "_run returns if it cannot run.");
  define(out, symbols.upper + "_ERROR_NULL_POINTER", "(-1)");
  define(out, symbols.upper + "_ERROR_ALIGNMENT", "(-2)");
  for (const Buffer& buffer : program.buffers) {
    const bool io = buffer.kind == BufferKind::kInput || buffer.kind == BufferKind::kOutput;
    if (io) print_macros(out, buffer, options, symbols);
  }
  out.blank();
  out.raw("#ifdef __cplusplus");
  out.raw("extern \"C\" {");
  out.raw("#endif");
  if (options.io == EmitOptions::Io::kCaller) {
    out.blank();
    print_struct(out, program, BufferKind::kInput, options.reuse_inputs ? "" : "const ",
                 symbols.name + "_inputs");
    out.blank();
    print_struct(out, program, BufferKind::kOutput, "", symbols.name + "_outputs");
  }
  if (!options.pools.empty()) {
    out.blank();
    print_memory_struct(out, options, symbols);
  }
  out.blank();
  out.comment(runner_comment(options, symbols));
  out.line(runner_prototype(options, symbols) + ";");
  out.blank();
  out.raw("#ifdef __cplusplus");
  out.raw("}");
  out.raw("#endif");
  out.blank();
  out.raw("#endif");
  return out.str();
}

}  // namespace ingot
