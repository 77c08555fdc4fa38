// SPDX-License-Identifier: Apache-2.0
#include "driver/c_names.h"

#include <map>
#include <string>

#include "emit/names.h"
#include "support/check.h"

namespace ingot {
namespace {

bool is_port(const loop::Buffer& buffer) {
  return buffer.kind == loop::BufferKind::kInput || buffer.kind == loop::BufferKind::kOutput;
}

// Runners are nested only as deep as lowering nests them.
void rename(loop::Block& runner, const std::map<std::string, std::string>& names) {
  for (loop::Stmt& stmt : runner) {
    if (auto* call = std::get_if<loop::CallKernel>(&stmt.kind)) {
      for (loop::BufferRef& arg : call->args) arg.buffer = names.at(arg.buffer);
    } else if (auto* loop = std::get_if<loop::For>(&stmt.kind)) {
      rename(loop->body, names);
    } else if (auto* branch = std::get_if<loop::If>(&stmt.kind)) {
      rename(branch->then_body, names);
      rename(branch->else_body, names);
    }
  }
}

}  // namespace

loop::Program with_c_names(loop::Program program) {
  NameTable table;
  std::map<std::string, std::string> names;
  for (const loop::Buffer& buffer : program.buffers) {
    if (is_port(buffer)) names[buffer.name] = table.add(buffer.tensor);
  }
  for (const loop::Buffer& buffer : program.buffers) {
    if (!is_port(buffer)) names[buffer.name] = table.add_identifier(buffer.name);
  }
  for (loop::Buffer& buffer : program.buffers) buffer.name = names.at(buffer.name);
  rename(program.runner, names);
  return program;
}

}  // namespace ingot
