// SPDX-License-Identifier: Apache-2.0
// NAME_tvm.h: what an application that was written for TVM sees.
#include <algorithm>

#include "emit/names.h"
#include "emit/tvm.h"

namespace ingot {
namespace {

using loop::Buffer;
using loop::BufferKind;
using Tvm = EmitOptions::Tvm;

constexpr int64_t kBlockBytes = 16;     // TVM's allocators hand out multiples of it
constexpr int64_t kLeastAlignment = 8;  // of what any allocator returns

void define(CText& out, const std::string& macro, const std::string& value) {
  out.raw("#define " + macro + " " + value);
}

// A struct of untyped pointers, as TVM declares them.
void print_struct(CText& out, const loop::Program& program, BufferKind kind,
                  const std::string& name) {
  out.open("struct " + name);
  bool empty = true;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind != kind) continue;
    empty = false;
    std::string about = std::string(name_of(buffer.dtype));
    if (buffer.type) about += print(buffer.type->shape);
    if (!buffer.tensor.empty()) about += ", tensor " + model_text(buffer.tensor);
    out.comment(about);
    out.line("void *" + buffer.name + ";");
  }
  if (empty) {
    out.comment("There are none; C wants a member.");
    out.line("void *unused;");
  }
  out.close(";");
}

void print_macros(CText& out, const loop::Program& program, const EmitOptions& options,
                  const TvmNames& names) {
  out.comment(options.tvm->workspace == Tvm::Workspace::kAllocator
                  ? "Bytes that a run asks TVMBackendAllocWorkspace for, and gives back."
                  : "Bytes of work memory that the caller supplies, and their alignment.");
  define(out, names.upper + "_WORKSPACE_SIZE", std::to_string(tvm_workspace_bytes(options)) + "u");
  if (options.tvm->workspace == Tvm::Workspace::kCaller) {
    define(out, names.upper + "_WORKSPACE_ALIGNMENT",
           std::to_string(options.arena_alignment) + "u");
  }
  out.blank();
  out.comment("Bytes of the inputs, then of the outputs.");
  int64_t num_inputs = 0;
  for (const Buffer& buffer : program.buffers) {
    const auto macro = names.size_macros.find(buffer.name);
    if (macro == names.size_macros.end()) continue;
    define(out, macro->second, std::to_string(buffer.size_bytes()) + "u");
    if (buffer.kind == BufferKind::kInput) ++num_inputs;
  }
  const int64_t num_tensors = static_cast<int64_t>(names.size_macros.size());
  define(out, names.upper + "_NUM_INPUTS", std::to_string(num_inputs));
  define(out, names.upper + "_NUM_OUTPUTS", std::to_string(num_tensors - num_inputs));
  out.blank();
  out.comment("Results beside those of " + program.name + ".h.");
  define(out, names.upper + "_ERROR_NULL_POINTER", "(-1)");
  define(out, names.upper + "_ERROR_ALIGNMENT", "(-2)");
  for (const TvmError& error : tvm_errors()) {
    out.comment(error.meaning);
    define(out, names.upper + "_ERROR_" + std::string(error.name),
           "(" + std::to_string(error.value) + ")");
  }
}

void print_params(CText& out, const TvmNames& names) {
  out.comment("Linked parameters: their ids.");
  define(out, names.upper + "_NUM_PARAMS", std::to_string(names.params.size()));
  for (size_t id = 0; id < names.params.size(); ++id) {
    define(out, names.param_macros[id], std::to_string(id));
  }
}

// The functions that say where the tensors lie in the caller's arena.
void print_maps(CText& out, const TvmNames& names) {
  out.blank();
  out.comment(
      "Where the inputs (outputs) lie in the arena: fill the inputs before every run, read the "
      "outputs after it. Pointers are NULL if the pool is.");
  for (const bool inputs : {true, false}) out.line(tvm_map_prototype(names, inputs) + ";");
}

std::vector<std::string> run_comment(const EmitOptions& options, const TvmNames& names) {
  std::vector<std::string> lines = {
      "Runs the model. Returns 0, or a negative error and does "
      "nothing."};
  const bool allocates = options.tvm->workspace == Tvm::Workspace::kAllocator;
  if (options.tvm->interface == Tvm::Interface::kPacked) {
    lines.push_back(
        "args: a DLTensor * for each input, then for each output, in the order of the model, with "
        "the type codes of tensors. Each must be on the CPU, of the model's shape and element "
        "type, row-major without gaps, at byte offset 0. out_ret_value is not written; "
        "out_ret_tcode, unless NULL, becomes kTVMNullptr.");
    lines.push_back(allocates ? "resource_handle is not read."
                              : "resource_handle is the work memory: " + names.upper +
                                    "_WORKSPACE_SIZE bytes, aligned to " + names.upper +
                                    "_WORKSPACE_ALIGNMENT.");
  }
  if (allocates && options.arena_bytes > 0) {
    lines.push_back("Re-entrant as far as TVMBackendAllocWorkspace is.");
  } else {
    lines.push_back("Re-entrant for different work memory.");
  }
  return lines;
}

}  // namespace

const std::vector<TvmError>& tvm_errors() {
  static const std::vector<TvmError> errors = {
      {"NUM_ARGS", -16, "not as many arguments as tensors"},
      {"TYPE_CODE", -17, "an argument is no tensor"},
      {"DEVICE", -18, "a tensor is not on the CPU"},
      {"DTYPE", -19, "other elements than the model's"},
      {"NDIM", -20, "another rank than the model's"},
      {"SHAPE", -21, "another shape than the model's"},
      {"STRIDES", -22, "not row-major, or with gaps"},
      {"BYTE_OFFSET", -23, "only 0 is taken"},
      {"WORKSPACE_ALLOC", -24, "TVMBackendAllocWorkspace has no memory"},
      {"WORKSPACE_FREE", -25, "after the run: memory was not taken back"},
  };
  return errors;
}

TvmNames tvm_names(const loop::Program& program, const EmitOptions& options,
                   const Symbols& symbols) {
  const std::string name = options.tvm->name.empty() ? symbols.name : options.tvm->name;
  TvmNames names{"tvmgen_" + name, "TVMGEN_" + upper_case(name), {}, {}, {}};
  std::vector<std::string> own = {
      "h",          "workspace_size",      "workspace_alignment", "num_inputs",     "num_outputs",
      "num_params", "lookup_linked_param", "error_null_pointer",  "error_alignment"};
  for (const TvmError& error : tvm_errors()) {
    std::string stem = "error_" + std::string(error.name);
    std::ranges::transform(stem, stem.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    own.push_back(stem);
  }
  NameTable table(own);
  const auto macro = [&](const std::string& stem) {
    return names.upper + "_" + upper_case(table.add_suffix(stem));
  };
  for (const Buffer& buffer : program.buffers) {
    const bool io = buffer.kind == BufferKind::kInput || buffer.kind == BufferKind::kOutput;
    if (io) names.size_macros[buffer.name] = macro(buffer.name + "_size");
  }
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind != BufferKind::kConstant || buffer.num_elements == 0) continue;
    names.params.push_back(&buffer);
    names.param_macros.push_back(macro("param_" + buffer.name));
  }
  return names;
}

int64_t tvm_workspace_bytes(const EmitOptions& options) {
  const bool allocates = options.tvm->workspace == Tvm::Workspace::kAllocator;
  if (options.arena_bytes == 0 || !allocates) return options.arena_bytes;
  const int64_t slack = std::max<int64_t>(options.arena_alignment - kLeastAlignment, 0);
  const int64_t bytes = options.arena_bytes + slack;
  return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

std::string tvm_prototype(const EmitOptions& options, const TvmNames& names) {
  if (options.tvm->interface == Tvm::Interface::kPacked) {
    return "int32_t " + names.prefix +
           "_run(TVMValue *args, int *type_codes, int num_args, TVMValue *out_ret_value, "
           "int *out_ret_tcode, void *resource_handle)";
  }
  if (options.io == EmitOptions::Io::kArena) {
    return "int32_t " + names.prefix + "_run(struct " + names.prefix +
           "_workspace_pools *workspace_pools)";
  }
  std::string parameters =
      "struct " + names.prefix + "_inputs *inputs, struct " + names.prefix + "_outputs *outputs";
  if (options.tvm->workspace == Tvm::Workspace::kCaller) {
    parameters += ", struct " + names.prefix + "_workspace_pools *workspace_pools";
  }
  return "int32_t " + names.prefix + "_run(" + parameters + ")";
}

std::string tvm_map_prototype(const TvmNames& names, bool inputs) {
  const std::string what = inputs ? "inputs" : "outputs";
  return "struct " + names.prefix + "_" + what + " " + names.prefix + "_map_" + what + "(struct " +
         names.prefix + "_workspace_pools *workspace_pools)";
}

std::string tvm_lookup_prototype(const std::string& function) {
  return "int32_t " + function +
         "(TVMValue *args, int *type_codes, int num_args, TVMValue *out_ret_value, "
         "int *out_ret_tcode, void *resource_handle)";
}

std::string emit_tvm_header(const loop::Program& program, const EmitOptions& options,
                            const Symbols& symbols) {
  const TvmNames names = tvm_names(program, options, symbols);
  CText out;
  print_head(out, program, options, "the model in TVM's forms.");
  out.raw("#ifndef " + names.upper + "_H");
  out.raw("#define " + names.upper + "_H");
  out.blank();
  out.raw("#include <stdint.h>");
  out.blank();
  out.raw("#include \"" + symbols.name + "_tvm_abi.h\"");
  out.blank();
  print_macros(out, program, options, names);
  out.blank();
  print_params(out, names);
  out.blank();
  out.raw("#ifdef __cplusplus\nextern \"C\" {\n#endif");
  if (options.tvm->interface == Tvm::Interface::kC) {
    out.blank();
    print_struct(out, program, BufferKind::kInput, names.prefix + "_inputs");
    out.blank();
    print_struct(out, program, BufferKind::kOutput, names.prefix + "_outputs");
    if (options.tvm->workspace == Tvm::Workspace::kCaller) {
      out.blank();
      out.open("struct " + names.prefix + "_workspace_pools");
      out.comment(names.upper + (options.io == EmitOptions::Io::kArena
                                     ? "_WORKSPACE_SIZE bytes; inputs and outputs are among them."
                                     : "_WORKSPACE_SIZE bytes; what they hold does not matter."));
      out.line("void *arena;");
      out.close(";");
    }
    if (options.io == EmitOptions::Io::kArena) print_maps(out, names);
  }
  out.blank();
  out.comment(run_comment(options, names));
  out.line(tvm_prototype(options, names) + ";");
  out.blank();
  out.comment(
      {"The address of the linked parameter whose id is args[0], in out_ret_value, with "
       "kTVMOpaqueHandle in out_ret_tcode; for an unknown id NULL and kTVMNullptr. Returns "
       "0, or a negative error and does nothing.",
       "TVM's own name is _lookup_linked_param, which one program can hold once only: "
       "the file that defines it is compiled with -D" +
           names.upper + "_LOOKUP_LINKED_PARAM."});
  out.line(tvm_lookup_prototype(names.prefix + "_lookup_linked_param") + ";");
  out.raw("#ifdef " + names.upper + "_LOOKUP_LINKED_PARAM");
  out.line(tvm_lookup_prototype("_lookup_linked_param") + ";");
  out.raw("#endif");
  out.blank();
  out.raw("#ifdef __cplusplus\n}\n#endif");
  out.blank();
  out.raw("#endif");
  return out.str();
}

}  // namespace ingot
