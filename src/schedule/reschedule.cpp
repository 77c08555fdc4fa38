// SPDX-License-Identifier: Apache-2.0
#include "schedule/reschedule.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "loop/rewrite.h"
#include "support/check.h"

namespace ingot {
namespace {

size_t index_of_param(const loop::Kernel& kernel, const std::string& name) {
  const auto found = std::ranges::find(kernel.params, name, &loop::Param::name);
  CHECK(found != kernel.params.end());
  return static_cast<size_t>(found - kernel.params.begin());
}

template <class F>
void for_each_call_of(loop::Block& block, const std::string& kernel, const F& f) {
  for (loop::Stmt& s : block) {
    if (auto* call = std::get_if<loop::CallKernel>(&s.kind)) {
      if (call->kernel == kernel) f(*call);
    } else if (auto* loop = std::get_if<loop::For>(&s.kind)) {
      for_each_call_of(loop->body, kernel, f);
    } else if (auto* branch = std::get_if<loop::If>(&s.kind)) {
      for_each_call_of(branch->then_body, kernel, f);
      for_each_call_of(branch->else_body, kernel, f);
    }
  }
}

using FindBuffer = std::function<const loop::Buffer*(const std::string& name)>;

// The constants that a call binds to parameter `param`.
Bytes bound_constants(const FindBuffer& find, const loop::CallKernel& call,
                      const loop::Kernel& kernel, const std::string& param) {
  const size_t p = index_of_param(kernel, param);
  const loop::BufferRef& ref = call.args.at(p);
  const loop::Buffer* buffer = find(ref.buffer);
  CHECK(buffer && buffer->data);
  const int64_t size = size_in_bytes(kernel.params[p].dtype);
  const auto bytes =
      buffer->data->view().subspan(static_cast<size_t>(ref.offset_elements * size),
                                   static_cast<size_t>(kernel.params[p].num_elements * size));
  return Bytes(std::vector<uint8_t>(bytes.begin(), bytes.end()));
}

std::vector<Bytes> bound_constants(const FindBuffer& find, const loop::CallKernel& call,
                                   const loop::Kernel& kernel,
                                   const std::vector<std::string>& params) {
  std::vector<Bytes> all;
  for (const std::string& param : params) {
    all.push_back(bound_constants(find, call, kernel, param));
  }
  return all;
}

}  // namespace

// Binds the parameters of one kernel's new form at its calls.
class KernelReplacer::Binder {
 public:
  Binder(KernelReplacer& all, const loop::Kernel& old_kernel, const Rescheduled& r)
      : all_(all), old_(old_kernel), r_(r) {}

  void rebind(loop::CallKernel& call) {
    std::vector<loop::BufferRef> args;
    for (const loop::Param& param : r_.kernel.params) {
      if (std::ranges::find(r_.scratch, param.name) != r_.scratch.end()) {
        args.push_back({scratch(param), 0});
        continue;
      }
      const auto derived = std::ranges::find(r_.constants, param.name, &DerivedConstant::param);
      if (derived == r_.constants.end()) {
        args.push_back(call.args.at(index_of_param(old_, param.name)));
      } else {
        args.push_back({constant(call, *derived, param), 0});
      }
    }
    call.args = std::move(args);
  }

 private:
  std::string scratch(const loop::Param& param) {
    loop::Buffer buffer;
    buffer.name = loop::fresh_name("s_" + param.name, all_.names_);
    buffer.dtype = param.dtype;
    buffer.num_elements = param.num_elements;
    buffer.alignment = std::max<int64_t>(param.alignment, size_in_bytes(param.dtype));
    all_.add(buffer);
    return buffer.name;
  }

  // Calls with equal constants share what is derived from them.
  std::string constant(const loop::CallKernel& call, const DerivedConstant& derived,
                       const loop::Param& param) {
    std::vector<std::pair<std::string, int64_t>> key;
    for (const std::string& source : derived.sources) {
      const loop::BufferRef& ref = call.args.at(index_of_param(old_, source));
      key.emplace_back(ref.buffer, ref.offset_elements);
    }
    const std::string& first = key.front().first;
    std::string& name = made_[{key, param.name}];
    if (!name.empty()) return name;
    const std::string& source = derived.sources.front();
    const std::string suffix = param.name.substr(std::min(source.size(), param.name.size()));
    name = loop::fresh_name(first + suffix, all_.names_);
    loop::Buffer buffer;
    buffer.name = name;
    buffer.dtype = param.dtype;
    buffer.num_elements = param.num_elements;
    buffer.kind = loop::BufferKind::kConstant;
    buffer.alignment = std::max<int64_t>(param.alignment, size_in_bytes(param.dtype));
    const FindBuffer find = [this](const std::string& b) { return all_.find(b); };
    buffer.tensor = find(first)->tensor;
    buffer.data = derived.make(bound_constants(find, call, old_, derived.sources));
    CHECK(buffer.data->size() == buffer.size_bytes());
    all_.add(std::move(buffer));
    return name;
  }

  KernelReplacer& all_;
  const loop::Kernel& old_;
  const Rescheduled& r_;
  using Sources = std::vector<std::pair<std::string, int64_t>>;  // buffers and offsets there
  std::map<std::pair<Sources, std::string>, std::string> made_;
};

bool fits_all_calls(const loop::Program& program, const std::string& kernel, const Rescheduled& r) {
  if (!r.fits) return true;
  const loop::Kernel* old = loop::find_kernel(program, kernel);
  bool all = true;
  loop::for_each_stmt(program.runner, [&](const loop::Stmt& s) {
    const auto* call = std::get_if<loop::CallKernel>(&s.kind);
    if (!call || call->kernel != kernel) return;
    const FindBuffer find = [&](const std::string& b) { return loop::find_buffer(program, b); };
    all = all && r.fits(bound_constants(find, *call, *old, r.sources));
  });
  return all;
}

KernelReplacer::KernelReplacer(loop::Program& program) : program_(program) {
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    names_.insert(program.buffers[b].name);
    buffers_.emplace(program.buffers[b].name, b);
  }
  for (size_t k = 0; k < program.kernels.size(); ++k) kernels_.emplace(program.kernels[k].name, k);
  add_calls(program.runner);
}

void KernelReplacer::add_calls(loop::Block& block) {
  for (loop::Stmt& s : block) {
    if (auto* call = std::get_if<loop::CallKernel>(&s.kind)) {
      calls_[call->kernel].push_back(call);
    } else if (auto* loop = std::get_if<loop::For>(&s.kind)) {
      add_calls(loop->body);
    } else if (auto* branch = std::get_if<loop::If>(&s.kind)) {
      add_calls(branch->then_body);
      add_calls(branch->else_body);
    }
  }
}

void KernelReplacer::add(loop::Buffer buffer) {
  buffers_.emplace(buffer.name, program_.buffers.size());
  program_.buffers.push_back(std::move(buffer));
}

const loop::Buffer* KernelReplacer::find(const std::string& name) const {
  const auto found = buffers_.find(name);
  return found == buffers_.end() ? nullptr : &program_.buffers[found->second];
}

void KernelReplacer::replace(const std::string& kernel, const Rescheduled& r) {
  const auto found = kernels_.find(kernel);
  CHECK(found != kernels_.end());
  loop::Kernel& old = program_.kernels[found->second];
  Binder binder(*this, old, r);
  for (loop::CallKernel* call : calls_[kernel]) binder.rebind(*call);
  old = r.kernel;
  for (const loop::Function& f : r.functions) {
    if (!loop::find_function(program_, f.name)) program_.functions.push_back(f);
  }
}

void replace_kernel(loop::Program& program, const std::string& kernel, const Rescheduled& r) {
  KernelReplacer(program).replace(kernel, r);
}

void remove_unread_constants(loop::Program& program,
                             std::vector<std::optional<loop::Kernel>>& reversed) {
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    loop::Kernel& kernel = program.kernels[k];
    std::set<std::string> named = loop::names_of(kernel.body);
    if (reversed[k]) named.merge(loop::names_of(reversed[k]->body));
    const std::vector<loop::Param> params = kernel.params;
    const auto is_unread = [&](const loop::Param& p) {
      return p.constant && !named.contains(p.name);
    };
    if (std::erase_if(kernel.params, is_unread) == 0) continue;
    if (reversed[k]) std::erase_if(reversed[k]->params, is_unread);
    for_each_call_of(program.runner, kernel.name, [&](loop::CallKernel& call) {
      for (size_t p = params.size(); p-- > 0;) {
        if (is_unread(params[p])) call.args.erase(call.args.begin() + static_cast<int64_t>(p));
      }
    });
  }
}

void remove_unused_constants(loop::Program& program) {
  std::set<std::string> used;
  loop::for_each_stmt(program.runner, [&](const loop::Stmt& s) {
    const auto* call = std::get_if<loop::CallKernel>(&s.kind);
    if (!call) return;
    for (const loop::BufferRef& ref : call->args) used.insert(ref.buffer);
  });
  std::set<std::string> removed;
  std::erase_if(program.buffers, [&](const loop::Buffer& b) {
    const bool is_unused = b.kind == loop::BufferKind::kConstant && !used.contains(b.name);
    if (is_unused) removed.insert(b.name);
    return is_unused;
  });
  const auto forget = [&](std::string& table) {
    if (removed.contains(table)) table.clear();
  };
  for (loop::CallNote& note : program.notes) {
    if (note.requantization) {
      forget(note.requantization->multipliers_table);
      forget(note.requantization->offsets_table);
      forget(note.requantization->bends_table);
    }
    for (loop::ProvedSum& sum : note.sums) forget(sum.z_offsets_table);
  }
}

}  // namespace ingot
