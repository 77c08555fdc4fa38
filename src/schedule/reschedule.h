// SPDX-License-Identifier: Apache-2.0
// Replaces kernels of a program by what a schedule made of them, with the constants that go with
// it.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "loop/program.h"
#include "schedule/rescheduled.h"

namespace ingot {

// Whether `r` is right for the constants of every call of `kernel`.
bool fits_all_calls(const loop::Program& program, const std::string& kernel, const Rescheduled& r);

// Replaces kernels of one program, of which nothing else changes meanwhile: names and calls are
// looked up once for all of them.
class KernelReplacer {
 public:
  explicit KernelReplacer(loop::Program& program);

  // Puts `r` in the place of the kernel of that name, binds the derived constants at each call, and
  // adds the functions. Constants that nothing takes any more stay (see remove_unused_constants).
  void replace(const std::string& kernel, const Rescheduled& r);

 private:
  class Binder;
  void add_calls(loop::Block& block);
  void add(loop::Buffer buffer);
  const loop::Buffer* find(const std::string& name) const;

  loop::Program& program_;
  std::set<std::string> names_;  // of buffers
  std::map<std::string, size_t> buffers_;
  std::map<std::string, size_t> kernels_;
  std::map<std::string, std::vector<loop::CallKernel*>> calls_;  // by kernel
};

// The same for one kernel.
void replace_kernel(loop::Program& program, const std::string& kernel, const Rescheduled& r);

// Takes from kernels, and from the calls of them, the constant parameters that neither the kernel
// nor its reversed form reads.
void remove_unread_constants(loop::Program& program,
                             std::vector<std::optional<loop::Kernel>>& reversed);

// Removes constants that no call binds, and what notes say of such tables.
void remove_unused_constants(loop::Program& program);

}  // namespace ingot
