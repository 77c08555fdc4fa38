// SPDX-License-Identifier: Apache-2.0
#include "loop/program.h"

#include <algorithm>

namespace ingot::loop {
namespace {

template <class T>
const T* find_named(const std::vector<T>& items, const std::string& name) {
  const auto found = std::ranges::find(items, name, &T::name);
  return found == items.end() ? nullptr : &*found;
}

bool same(const For& a, const For& b) {
  return a.variable == b.variable && equal(a.begin, b.begin) && equal(a.end, b.end) &&
         a.step == b.step && a.reverse == b.reverse && equal(a.body, b.body);
}
bool same(const If& a, const If& b) {
  return equal(a.condition, b.condition) && equal(a.then_body, b.then_body) &&
         equal(a.else_body, b.else_body);
}
bool same(const Let& a, const Let& b) {
  return a.name == b.name && equal(a.value, b.value) && a.register_name == b.register_name;
}
bool same(const Assign& a, const Assign& b) { return a.name == b.name && equal(a.value, b.value); }
bool same(const LocalArray& a, const LocalArray& b) {
  return a.name == b.name && a.dtype == b.dtype && a.num_elements == b.num_elements;
}
// The bytes that an alignment stands for: none stated is that of the element.
int64_t alignment_of(const Store& s) {
  return std::max(s.alignment, size_in_bytes(s.value->type.dtype));
}
bool same(const Store& a, const Store& b) {
  return a.buffer == b.buffer && equal(a.index, b.index) && equal(a.value, b.value) &&
         alignment_of(a) == alignment_of(b);
}
bool same(const Comment& a, const Comment& b) { return a.text == b.text; }
bool same(const CallKernel& a, const CallKernel& b) {
  const auto same_value = [](const Expr& x, const Expr& y) { return equal(x, y); };
  return a.kernel == b.kernel && a.args == b.args &&
         std::ranges::equal(a.scalars, b.scalars, same_value);
}

bool same(const Stmt& a, const Stmt& b) {
  if (a.kind.index() != b.kind.index()) return false;
  return std::visit(
      [&](const auto& x) { return same(x, std::get<std::remove_cvref_t<decltype(x)>>(b.kind)); },
      a.kind);
}

bool same(const Buffer& a, const Buffer& b) {
  return a.name == b.name && a.dtype == b.dtype && a.num_elements == b.num_elements &&
         a.kind == b.kind && a.alignment == b.alignment && a.tensor == b.tensor &&
         a.type == b.type && a.data == b.data && a.offset_bytes == b.offset_bytes &&
         a.pool == b.pool && a.tie_group == b.tie_group && a.tie_offset_bytes == b.tie_offset_bytes;
}

bool same_parameter(const Function::Parameter& a, const Function::Parameter& b) {
  return a.name == b.name && a.type == b.type;
}

bool same(const Function& a, const Function& b) {
  return a.name == b.name && std::ranges::equal(a.params, b.params, same_parameter) &&
         equal(a.body, b.body) && equal(a.result, b.result) && a.comment == b.comment &&
         a.spelling == b.spelling && a.assembly == b.assembly && a.condition == b.condition &&
         a.movable == b.movable && a.constraints == b.constraints && a.expression == b.expression;
}

bool same(const Kernel& a, const Kernel& b) {
  return a.name == b.name && a.params == b.params &&
         std::ranges::equal(a.scalars, b.scalars, same_parameter) && equal(a.body, b.body) &&
         a.comment == b.comment;
}

bool same(const CallNote& a, const CallNote& b) {
  return a.name == b.name && a.kind == b.kind && a.operators == b.operators && a.macs == b.macs;
}

template <class T>
bool all_same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(a, b, [](const T& x, const T& y) { return same(x, y); });
}

}  // namespace

const Buffer* find_buffer(const Program& program, const std::string& name) {
  return find_named(program.buffers, name);
}
const Kernel* find_kernel(const Program& program, const std::string& name) {
  return find_named(program.kernels, name);
}
const Function* find_function(const Program& program, const std::string& name) {
  return find_named(program.functions, name);
}

int64_t constant_bytes(const Program& program) {
  int64_t bytes = 0;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind == BufferKind::kConstant) bytes += buffer.size_bytes();
  }
  return bytes;
}

// Not by comparing texts, so that the tests of printing and parsing can rely on it.
bool equal(const Block& a, const Block& b) { return all_same(a, b); }

bool equal(const Program& a, const Program& b) {
  return a.name == b.name && all_same(a.buffers, b.buffers) && all_same(a.functions, b.functions) &&
         all_same(a.kernels, b.kernels) && equal(a.runner, b.runner) && all_same(a.notes, b.notes);
}

}  // namespace ingot::loop
