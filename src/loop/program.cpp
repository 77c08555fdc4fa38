// SPDX-License-Identifier: Apache-2.0
#include "loop/program.h"

#include <algorithm>

#include "loop/text.h"

namespace ingot::loop {
namespace {

template <class T>
const T* find_named(const std::vector<T>& items, const std::string& name) {
  const auto found = std::ranges::find(items, name, &T::name);
  return found == items.end() ? nullptr : &*found;
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

// The text form says everything, so equal texts are equal programs.
bool equal(const Block& a, const Block& b) { return print(a) == print(b); }
bool equal(const Program& a, const Program& b) { return print(a) == print(b); }

}  // namespace ingot::loop
