// SPDX-License-Identifier: Apache-2.0
// NAME_run: checks its arguments, then calls the kernels in order.
#include <set>

#include "emit/block_printer.h"
#include "emit/expr_printer.h"
#include "emit/literals.h"
#include "emit/symbols.h"
#include "loop/memory.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::Buffer;
using loop::BufferKind;
using Io = EmitOptions::Io;

class Runner {
 public:
  Runner(CText& out, const loop::Program& program, const EmitOptions& options,
         const Symbols& symbols, Needs& needs)
      : out_(out), program_(program), options_(options), symbols_(symbols), needs_(needs) {
    for (const Buffer& buffer : program_.buffers) buffers_[buffer.name] = &buffer;
    for (const loop::Kernel& kernel : program_.kernels) kernels_[kernel.name] = &kernel;
  }

  void print();

 private:
  bool is_caller_owned(const Buffer& buffer) const {
    const bool io = buffer.kind == BufferKind::kInput || buffer.kind == BufferKind::kOutput;
    return io && options_.io == Io::kCaller;
  }
  std::string member(const Buffer& buffer) const {
    return (buffer.kind == BufferKind::kInput ? "inputs->" : "outputs->") + buffer.name;
  }
  void check_arguments();
  // The checks of the memory that the run works in; its places once they have passed.
  void add_memory_checks(std::vector<std::string>& null_checks, std::vector<std::string>& members,
                         std::vector<std::string>& alignment_checks);
  void print_memory_locals();
  // The C variable that points to a buffer's memory, and how many bytes that has.
  std::string memory_of(const Buffer& buffer) const;
  int64_t bytes_of_memory(const Buffer& buffer) const;
  std::string pointer_into_lender(const Buffer& buffer, int64_t offset_bytes, bool is_const) const;
  // Returns with `error` if any of `faults` holds.
  void check(const std::vector<std::string>& faults, const std::string& error);
  // An expression of type pointer to (const) element, a primary or prefix expression or a sum.
  std::string pointer(const Buffer& buffer, int64_t offset_elements, bool is_const) const;
  void print_call(const loop::CallKernel& call);
  std::vector<std::string> about(const loop::CallNote& note) const;

  CText& out_;
  const loop::Program& program_;
  const EmitOptions& options_;
  const Symbols& symbols_;
  Needs& needs_;
  std::map<std::string, const Buffer*> buffers_;
  std::map<std::string, const loop::Kernel*> kernels_;
  size_t next_note_ = 0;
};

std::string Runner::pointer(const Buffer& buffer, int64_t offset_elements, bool is_const) const {
  const std::string plus = offset_elements == 0 ? "" : " + " + std::to_string(offset_elements);
  if (buffer.kind == BufferKind::kConstant) {
    if (buffer.num_elements == 0) return "NULL";
    return constant_pointer(buffer, symbols_) + plus;
  }
  if (is_caller_owned(buffer)) return member(buffer) + plus;
  CHECK(buffer.offset_bytes.has_value());
  const int64_t offset = *buffer.offset_bytes + offset_elements * size_in_bytes(buffer.dtype);
  if (buffer.num_elements > 0) {
    CHECK(*buffer.offset_bytes >= 0 &&
          *buffer.offset_bytes + buffer.size_bytes() <= bytes_of_memory(buffer));
  }
  if (!loop::lender_of(buffer).empty()) return pointer_into_lender(buffer, offset, is_const);
  const std::string memory = memory_of(buffer);
  const std::string place =
      offset == 0 ? memory : "(" + memory + " + " + std::to_string(offset) + ")";
  if (buffer.dtype == DType::kUInt8 || buffer.dtype == DType::kBool) {
    return offset == 0 ? place : place.substr(1, place.size() - 2);
  }
  const std::string type = (is_const ? "const " : "") + c_element_type(buffer.dtype);
  const bool byte = size_in_bytes(buffer.dtype) == 1;
  return "(" + type + " *)" + (byte ? "" : is_const ? "(const void *)" : "(void *)") + place;
}

// Of the lender's own type where that is the buffer's, else of bytes.
std::string Runner::pointer_into_lender(const Buffer& buffer, int64_t offset_bytes,
                                        bool is_const) const {
  const Buffer& lender = *buffers_.at(loop::lender_of(buffer));
  CHECK(is_caller_owned(lender) && (lender.kind == BufferKind::kOutput || options_.reuse_inputs));
  const std::string type = c_element_type(buffer.dtype);
  const bool is_same = type == c_element_type(lender.dtype);
  CHECK(is_same || loop::is_of_bytes(buffer.dtype));
  const int64_t elements = offset_bytes / size_in_bytes(buffer.dtype);
  const std::string plus = elements == 0 ? "" : " + " + std::to_string(elements);
  if (is_same) return member(lender) + plus;
  return "(" + std::string(is_const ? "const " : "") + type + " *)" + member(lender) + plus;
}

void Runner::check(const std::vector<std::string>& faults, const std::string& error) {
  if (faults.empty()) return;
  std::string condition;
  for (const std::string& fault : faults) condition += (condition.empty() ? "" : " || ") + fault;
  out_.open("if (" + condition + ")");
  out_.line("return " + symbols_.upper + "_ERROR_" + error + ";");
  out_.close();
}

void Runner::check_arguments() {
  std::vector<std::string> members;
  std::vector<std::string> null_checks;
  std::vector<std::string> alignment_checks;
  bool has_input = false;
  bool has_output = false;
  for (const Buffer& buffer : program_.buffers) {
    if (!is_caller_owned(buffer) || buffer.num_elements == 0) continue;
    has_input = has_input || buffer.kind == BufferKind::kInput;
    has_output = has_output || buffer.kind == BufferKind::kOutput;
    members.push_back(member(buffer) + " == NULL");
    const int64_t size = size_in_bytes(buffer.dtype);
    if (size == 1) continue;
    // ABIs with 32-bit pointers align 8-byte types to 4 bytes or to 8.
    const std::string mask = size == 8 ? "(sizeof(void *) - 1u)" : std::to_string(size - 1) + "u";
    alignment_checks.push_back("((uintptr_t)" + member(buffer) + " & " + mask + ") != 0u");
  }
  const bool from_caller = options_.io == Io::kCaller;
  if (from_caller && !has_input) out_.line("(void)inputs;");
  if (from_caller && !has_output) out_.line("(void)outputs;");
  if (has_input) null_checks.push_back("inputs == NULL");
  if (has_output) null_checks.push_back("outputs == NULL");
  add_memory_checks(null_checks, members, alignment_checks);
  check(null_checks, "NULL_POINTER");
  check(members, "NULL_POINTER");
  check(alignment_checks, "ALIGNMENT");
}

void Runner::add_memory_checks(std::vector<std::string>& null_checks,
                               std::vector<std::string>& members,
                               std::vector<std::string>& alignment_checks) {
  std::vector<std::string> alignments;
  const auto add = [&](int64_t bytes, int64_t alignment, const std::string& pointer,
                       const std::string& macro, std::vector<std::string>& nulls) {
    if (bytes == 0) return;
    nulls.push_back(pointer + " == NULL");
    if (alignment > 1) {
      alignments.push_back("((uintptr_t)" + pointer + " & (" + symbols_.upper + macro +
                           "_ALIGNMENT - 1u)) != 0u");
    }
  };
  if (options_.pools.empty()) {
    add(options_.arena_bytes, options_.arena_alignment, "arena", "_ARENA", null_checks);
    if (options_.arena_bytes == 0) out_.line("(void)arena;");
  } else {
    const size_t num_members = members.size();
    add(options_.arena_bytes, options_.arena_alignment, "memory->arena", "_ARENA", members);
    for (const EmitOptions::Pool& pool : options_.pools) {
      add(pool.bytes, pool.alignment, "memory->" + pool.name, "_POOL_" + upper_case(pool.name),
          members);
    }
    const bool is_used = members.size() > num_members;
    if (is_used) null_checks.push_back("memory == NULL");
    if (!is_used) out_.line("(void)memory;");
  }
  alignment_checks.insert(alignment_checks.begin(), alignments.begin(), alignments.end());
}

std::string Runner::memory_of(const Buffer& buffer) const {
  if (options_.pools.empty()) return "memory";
  return buffer.pool.empty() ? "arena" : "pool_" + buffer.pool;
}

int64_t Runner::bytes_of_memory(const Buffer& buffer) const {
  const std::string lender = loop::lender_of(buffer);
  if (!lender.empty()) return buffers_.at(lender)->size_bytes();
  if (buffer.pool.empty()) return options_.arena_bytes;
  for (const EmitOptions::Pool& pool : options_.pools) {
    if (pool.name == buffer.pool) return pool.bytes;
  }
  return -1;
}

void Runner::print_memory_locals() {
  std::set<std::string> used;
  for (const Buffer& buffer : program_.buffers) {
    const bool constant = buffer.kind == BufferKind::kConstant;
    const bool is_lent = !loop::lender_of(buffer).empty();
    if (!constant && !is_lent && !is_caller_owned(buffer) && buffer.num_elements > 0) {
      used.insert(memory_of(buffer));
    }
  }
  if (options_.pools.empty()) {
    if (!used.empty()) out_.line("uint8_t *const memory = (uint8_t *)arena;");
    return;
  }
  if (used.contains("arena")) out_.line("uint8_t *const arena = (uint8_t *)memory->arena;");
  for (const EmitOptions::Pool& pool : options_.pools) {
    if (!used.contains("pool_" + pool.name)) continue;
    out_.line("uint8_t *const pool_" + pool.name + " = (uint8_t *)memory->" + pool.name + ";");
  }
}

std::vector<std::string> Runner::about(const loop::CallNote& note) const {
  std::string line = model_text(note.name) + (note.name.empty() ? "" : ": ") + note.kind;
  const std::string plural = note.operators.size() > 1 ? ", operators " : ", operator ";
  for (size_t i = 0; i < note.operators.size() && i < 8; ++i) {
    line += (i == 0 ? plural : ", ") + std::to_string(note.operators[i]);
  }
  if (note.operators.size() > 8) line += " ...";
  return {line};
}

void Runner::print_call(const loop::CallKernel& call) {
  out_.blank();
  if (next_note_ > 0 && !options_.step_mark.empty()) out_.line(options_.step_mark);
  if (next_note_ < program_.notes.size()) out_.comment(about(program_.notes[next_note_]));
  ++next_note_;
  const loop::Kernel& kernel = *kernels_.at(call.kernel);
  CHECK(kernel.params.size() == call.args.size());
  std::string code = kernel_symbol(program_, kernel) + "(";
  for (size_t i = 0; i < call.args.size(); ++i) {
    const loop::BufferRef& argument = call.args[i];
    const bool is_const = kernel.params[i].access == loop::Access::kRead;
    if (i > 0) code += ", ";
    code += pointer(*buffers_.at(argument.buffer), argument.offset_elements, is_const);
  }
  const Names no_names;
  const Ranges no_ranges;
  for (size_t i = 0; i < call.scalars.size(); ++i) {
    if (!call.args.empty() || i > 0) code += ", ";
    code += ExprPrinter(no_names, no_ranges, needs_).print(call.scalars[i]);
  }
  out_.line(code + ");");
}

void Runner::print() {
  Names names;
  for (const Buffer& buffer : program_.buffers) {
    const bool constant = buffer.kind == BufferKind::kConstant;
    if (constant || is_caller_owned(buffer) || buffer.offset_bytes) {
      names.arrays[buffer.name] = "(" + pointer(buffer, 0, true) + ")";
    }
  }
  names.functions = symbols_.functions;
  for (const loop::Function& function : program_.functions) {
    for (const auto& parameter : function.params) {
      names.parameters[function.name].push_back(parameter.type);
    }
  }
  out_.open(runner_prototype(options_, symbols_));
  if (options_.pools.empty()) print_memory_locals();
  check_arguments();
  if (!options_.pools.empty()) print_memory_locals();
  std::vector<std::string> taken = {"inputs", "outputs", "arena", "memory"};
  for (const EmitOptions::Pool& pool : options_.pools) taken.push_back("pool_" + pool.name);
  BlockPrinter body(out_, std::move(names), NameTable(taken), usage_of(program_.runner), needs_,
                    [&](const loop::CallKernel& call) { print_call(call); });
  body.print(program_.runner);
  out_.blank();
  out_.line("return 0;");
  out_.close();
}

}  // namespace

void print_runner(CText& out, const loop::Program& program, const EmitOptions& options,
                  const Symbols& symbols, Needs& needs) {
  Runner(out, program, options, symbols, needs).print();
}

}  // namespace ingot
