// SPDX-License-Identifier: Apache-2.0
// NAME_tvm.c: takes arguments in TVM's forms, checks them, finds work memory and calls NAME_run.
#include "emit/literals.h"
#include "emit/runtime_files.h"
#include "emit/tvm.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::Buffer;
using loop::BufferKind;
using Tvm = EmitOptions::Tvm;

// A DLDataType without its lanes.
struct ElementCode {
  int64_t code;
  int64_t bits;
  bool operator==(const ElementCode&) const = default;
};

ElementCode element_code(DType dtype) {
  const int64_t bits = 8 * size_in_bytes(dtype);
  if (is_float(dtype)) return {2, bits};
  return {is_signed_integer(dtype) ? 0 : 1, bits};
}

// Bools are spelled as unsigned integers of one bit, or of eight.
ElementCode other_element_code(DType dtype) {
  return dtype == DType::kBool ? ElementCode{1, 1} : element_code(dtype);
}

class Adapter {
 public:
  Adapter(const loop::Program& program, const EmitOptions& options, const Symbols& symbols)
      : program_(program),
        options_(options),
        symbols_(symbols),
        names_(tvm_names(program, options, symbols)) {
    for (const Buffer& buffer : program.buffers) {
      if (names_.size_macros.contains(buffer.name)) tensors_.push_back(&buffer);
    }
  }
  std::string text();

 private:
  bool allocates() const {
    return options_.tvm->workspace == Tvm::Workspace::kAllocator && options_.arena_bytes > 0;
  }
  std::string error(std::string_view name) const {
    return names_.upper + "_ERROR_" + std::string(name);
  }
  void return_if(const std::string& condition, std::string_view error_name);
  void print_assumptions();
  void print_expectations();
  void print_run_in_workspace();
  void print_packed_runner();
  void print_c_runner();
  void print_map(bool inputs);
  void print_arena_runner();
  void print_lookup();
  void set_member(const Buffer& buffer, const std::string& value);
  void print_final_run(const std::string& arena);

  const loop::Program& program_;
  const EmitOptions& options_;
  const Symbols& symbols_;
  const TvmNames names_;
  std::vector<const Buffer*> tensors_;  // inputs, then outputs
  CText out_;
};

void Adapter::return_if(const std::string& condition, std::string_view error_name) {
  out_.open("if (" + condition + ")");
  out_.line("return " + error(error_name) + ";");
  out_.close();
}

// The adapter and the model must stem from one run of the compiler.
void Adapter::print_assumptions() {
  out_.blank();
  out_.comment("This file and " + symbols_.name +
               ".h belong together; an array of negative size "
               "if they do not.");
  const std::string name = symbols_.name + "_assert_";
  out_.line("typedef char " + name + "tvm_arena[" + symbols_.upper +
            "_ARENA_BYTES == " + std::to_string(options_.arena_bytes) + " ? 1 : -1];");
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Buffer& buffer = *tensors_[i];
    const std::string kind = buffer.kind == BufferKind::kInput ? "_INPUT_" : "_OUTPUT_";
    out_.line("typedef char " + name + "tvm_tensor_" + std::to_string(i) + "[" + symbols_.upper +
              kind + upper_case(buffer.name) + "_BYTES == " + names_.size_macros.at(buffer.name) +
              " ? 1 : -1];");
  }
}

void Adapter::print_expectations() {
  std::string table;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Buffer& buffer = *tensors_[i];
    const Shape shape = buffer.type ? buffer.type->shape : Shape{buffer.num_elements};
    std::string extents;
    for (const int64_t extent : shape) {
      extents += (extents.empty() ? "" : ", ") + std::to_string(extent);
    }
    const std::string symbol = "shape_" + std::to_string(i);
    if (!shape.empty()) out_.line("static const int64_t " + symbol + "[] = {" + extents + "};");
    const ElementCode one = element_code(buffer.dtype);
    const ElementCode other = other_element_code(buffer.dtype);
    table += std::string(i == 0 ? "" : ", ") + "{" + std::to_string(one.code) + ", " +
             std::to_string(one.bits) + ", " + std::to_string(other.code) + ", " +
             std::to_string(other.bits) + ", " + std::to_string(shape.size()) + ", " +
             (shape.empty() ? "NULL" : symbol) + "}";
  }
  out_.line("static const expected_tensor expected_tensors[] = {" + table + "};");
}

// The call of the core, with an arena from wherever the options say.
void Adapter::print_run_in_workspace() {
  out_.blank();
  out_.open("static int32_t run_in_workspace(const " + symbols_.name + "_inputs *inputs, const " +
            symbols_.name + "_outputs *outputs)");
  const std::string size = names_.upper + "_WORKSPACE_SIZE";
  const std::string alignment = symbols_.upper + "_ARENA_ALIGNMENT";
  out_.comment("1, 8: the elements are bytes.");
  out_.line("void *const workspace = TVMBackendAllocWorkspace(kDLCPU, 0, " + size + ", 1, 8);");
  const bool aligns = options_.arena_alignment > 8;
  if (aligns) out_.line("uintptr_t excess;");
  out_.line("int32_t status;");
  return_if("workspace == NULL", "WORKSPACE_ALLOC");
  std::string arena = "workspace";
  if (aligns) {
    out_.line("excess = (uintptr_t)workspace & (" + alignment + " - 1u);");
    out_.line("excess = excess == 0u ? 0u : " + alignment + " - excess;");
    out_.comment("There is room to align what is aligned to 8 bytes.");
    arena = "(uint8_t *)workspace + excess";
    out_.line("status = excess > " + size + " - " + symbols_.upper + "_ARENA_BYTES ? " +
              error("ALIGNMENT") + " : " + symbols_.name + "_run(inputs, outputs, " + arena + ");");
  } else {
    out_.line("status = " + symbols_.name + "_run(inputs, outputs, " + arena + ");");
  }
  out_.open("if (TVMBackendFreeWorkspace(kDLCPU, 0, workspace) != 0 && status == 0)");
  out_.line("status = " + error("WORKSPACE_FREE") + ";");
  out_.close();
  out_.line("return status;");
  out_.close();
}

void Adapter::set_member(const Buffer& buffer, const std::string& value) {
  const bool input = buffer.kind == BufferKind::kInput;
  const std::string qualifier = input && !options_.reuse_inputs ? "const " : "";
  out_.line((input ? "core_inputs." : "core_outputs.") + buffer.name + " = (" + qualifier +
            c_element_type(buffer.dtype) + " *)" + value + ";");
}

void Adapter::print_final_run(const std::string& arena) {
  const std::string arguments = "&core_inputs, &core_outputs";
  out_.line(allocates() ? "status = run_in_workspace(" + arguments + ");"
                        : "status = " + symbols_.name + "_run(" + arguments + ", " + arena + ");");
}

void Adapter::print_packed_runner() {
  const std::string count = std::to_string(tensors_.size());
  if (!tensors_.empty()) print_expectations();
  if (allocates()) print_run_in_workspace();
  out_.blank();
  out_.open(tvm_prototype(options_, names_));
  out_.line(symbols_.name + "_inputs core_inputs;");
  out_.line(symbols_.name + "_outputs core_outputs;");
  if (!tensors_.empty()) out_.line("void *data[" + count + "];");
  if (!tensors_.empty()) out_.line("int i;");
  out_.line("int32_t status;");
  out_.line("(void)out_ret_value;");
  const bool takes_arena =
      options_.tvm->workspace == Tvm::Workspace::kCaller && options_.arena_bytes > 0;
  if (!takes_arena) out_.line("(void)resource_handle;");
  return_if("num_args != " + count, "NUM_ARGS");
  if (tensors_.empty()) {
    out_.line("(void)args;");
    out_.line("(void)type_codes;");
  } else {
    return_if("args == NULL || type_codes == NULL", "NULL_POINTER");
    out_.open("for (i = 0; i < " + count + "; ++i)");
    out_.line("status = read_tensor(&args[i], type_codes[i], &expected_tensors[i], &data[i]);");
    out_.line("if (status != 0) return status;");
    out_.close();
  }
  bool has_input = false;
  bool has_output = false;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    set_member(*tensors_[i], "data[" + std::to_string(i) + "]");
    (tensors_[i]->kind == BufferKind::kInput ? has_input : has_output) = true;
  }
  if (!has_input) out_.line("core_inputs.unused = 0;");
  if (!has_output) out_.line("core_outputs.unused = 0;");
  print_final_run(takes_arena ? "resource_handle" : "NULL");
  out_.line("if (status == 0 && out_ret_tcode != NULL) *out_ret_tcode = kTVMNullptr;");
  out_.line("return status;");
  out_.close();
}

void Adapter::print_c_runner() {
  if (allocates()) print_run_in_workspace();
  out_.blank();
  out_.open(tvm_prototype(options_, names_));
  out_.line(symbols_.name + "_inputs core_inputs;");
  out_.line(symbols_.name + "_outputs core_outputs;");
  out_.line("int32_t status;");
  bool has_input = false;
  bool has_output = false;
  for (const Buffer* buffer : tensors_) {
    (buffer->kind == BufferKind::kInput ? has_input : has_output) = true;
  }
  const bool has_pools = options_.tvm->workspace == Tvm::Workspace::kCaller;
  const bool takes_arena = has_pools && options_.arena_bytes > 0;
  if (!has_input) out_.line("(void)inputs;");
  if (!has_output) out_.line("(void)outputs;");
  if (has_pools && !takes_arena) out_.line("(void)workspace_pools;");
  std::string nulls;
  const auto check_null = [&](bool needed, const std::string& parameter) {
    if (needed) nulls += (nulls.empty() ? "" : " || ") + parameter + " == NULL";
  };
  check_null(has_input, "inputs");
  check_null(has_output, "outputs");
  check_null(takes_arena, "workspace_pools");
  if (!nulls.empty()) return_if(nulls, "NULL_POINTER");
  for (const Buffer* buffer : tensors_) {
    set_member(*buffer,
               (buffer->kind == BufferKind::kInput ? "inputs->" : "outputs->") + buffer->name);
  }
  if (!has_input) out_.line("core_inputs.unused = 0;");
  if (!has_output) out_.line("core_outputs.unused = 0;");
  print_final_run(takes_arena ? "workspace_pools->arena" : "NULL");
  out_.line("return status;");
  out_.close();
}

// The struct of pointers into the caller's arena.
void Adapter::print_map(bool inputs) {
  const std::string what = inputs ? "inputs" : "outputs";
  out_.blank();
  out_.open(tvm_map_prototype(names_, inputs));
  out_.line("struct " + names_.prefix + "_" + what + " " + what + ";");
  out_.line("uint8_t *arena = NULL;");
  out_.line("if (workspace_pools != NULL) arena = (uint8_t *)workspace_pools->arena;");
  bool empty = true;
  for (const Buffer* buffer : tensors_) {
    if ((buffer->kind == BufferKind::kInput) != inputs) continue;
    empty = false;
    const std::string offset =
        symbols_.upper + (inputs ? "_INPUT_" : "_OUTPUT_") + upper_case(buffer->name) + "_OFFSET";
    out_.line(what + "." + buffer->name + " = arena == NULL ? NULL : arena + " + offset + ";");
  }
  if (empty) {
    out_.line("(void)arena;");
    out_.line(what + ".unused = NULL;");
  }
  out_.line("return " + what + ";");
  out_.close();
}

void Adapter::print_arena_runner() {
  print_map(true);
  print_map(false);
  out_.blank();
  out_.open(tvm_prototype(options_, names_));
  if (options_.arena_bytes > 0) return_if("workspace_pools == NULL", "NULL_POINTER");
  out_.line("return " + symbols_.name + "_run(workspace_pools" +
            (options_.arena_bytes > 0 ? "->arena" : "") + ");");
  out_.close();
}

void Adapter::print_lookup() {
  const bool any = !names_.params.empty();
  if (any) {
    out_.blank();
    out_.comment("By id.");
    std::string list;
    for (const Buffer* buffer : names_.params) {
      list += (list.empty() ? "" : ", ") + constant_pointer(*buffer, symbols_);
    }
    out_.line("static const void *const linked_params[] = {" + list + "};");
  }
  const std::string function = names_.prefix + "_lookup_linked_param";
  out_.blank();
  out_.open(tvm_lookup_prototype(function));
  out_.line("int64_t id;");
  out_.line("(void)resource_handle;");
  return_if("num_args != 1", "NUM_ARGS");
  return_if("args == NULL || type_codes == NULL || out_ret_value == NULL || out_ret_tcode == NULL",
            "NULL_POINTER");
  return_if("type_codes[0] != kTVMArgInt", "TYPE_CODE");
  out_.line("id = args[0].v_int64;");
  out_.comment("All 64 bits of the value are set, also where a pointer has fewer.");
  out_.line("out_ret_value->v_int64 = 0;");
  if (any) {
    out_.open("if (id >= 0 && id < " + names_.upper + "_NUM_PARAMS)");
    out_.comment("TVM's value has no place for a const.");
    out_.line("out_ret_value->v_handle = (void *)(uintptr_t)linked_params[id];");
    out_.line("*out_ret_tcode = kTVMOpaqueHandle;");
    out_.line("return 0;");
    out_.close();
  } else {
    out_.line("(void)id;");
  }
  out_.line("out_ret_value->v_handle = NULL;");
  out_.line("*out_ret_tcode = kTVMNullptr;");
  out_.line("return 0;");
  out_.close();
  out_.blank();
  out_.raw("#ifdef " + names_.upper + "_LOOKUP_LINKED_PARAM");
  out_.open(tvm_lookup_prototype("_lookup_linked_param"));
  out_.line("return " + function +
            "(args, type_codes, num_args, out_ret_value, out_ret_tcode, resource_handle);");
  out_.close();
  out_.raw("#endif");
}

// tvm_check.c below its line, for this model.
std::string checks_text(const std::string& upper) {
  std::string text(text_of(runtime_files(), "tvm_check.c"));
  const std::string mark = "/* ---- */\n";
  const size_t begin = text.find(mark);
  CHECK(begin != std::string::npos);
  text.erase(0, begin + mark.size());
  const std::string name = "TVMGEN_MODEL";
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += upper.size()) {
    text.replace(at, name.size(), upper);
  }
  return text;
}

std::string Adapter::text() {
  print_head(out_, program_, options_, "calls in TVM's forms become calls of the model.");
  out_.raw("#include \"" + symbols_.name + "_tvm.h\"");
  out_.blank();
  out_.raw("#include <stddef.h>");
  out_.blank();
  out_.raw("#include \"" + symbols_.name + ".h\"");
  print_assumptions();
  print_constant_declarations(out_, program_, symbols_);
  const bool packed = options_.tvm->interface == Tvm::Interface::kPacked;
  if (packed && !tensors_.empty()) {
    out_.blank();
    out_.raw(checks_text(names_.upper));
  }
  if (packed) {
    print_packed_runner();
  } else if (options_.io == EmitOptions::Io::kArena) {
    print_arena_runner();
  } else {
    print_c_runner();
  }
  print_lookup();
  return out_.str();
}

// The header under the name that TVM gives it.
std::string forwarding_header(const Symbols& symbols) {
  CText out;
  out.comment("The interface of " + symbols.name + " under the name that TVM gives it.");
  out.raw("#include \"" + symbols.name + "_tvm.h\"");
  return out.str();
}

}  // namespace

std::string emit_tvm_code(const loop::Program& program, const EmitOptions& options,
                          const Symbols& symbols) {
  return Adapter(program, options, symbols).text();
}

std::vector<CFile> emit_tvm(const loop::Program& program, const EmitOptions& options,
                            const Symbols& symbols) {
  CHECK(options.tvm.has_value());
  CHECK(options.io == EmitOptions::Io::kCaller ||
        (options.tvm->interface == Tvm::Interface::kC &&
         options.tvm->workspace == Tvm::Workspace::kCaller));
  return {{program.name + "_tvm.h", emit_tvm_header(program, options, symbols)},
          {program.name + "_tvm.c", emit_tvm_code(program, options, symbols)},
          {program.name + "_tvm_abi.h", std::string(text_of(runtime_files(), "tvm_abi.h"))},
          {tvm_names(program, options, symbols).prefix + ".h", forwarding_header(symbols)}};
}

}  // namespace ingot
