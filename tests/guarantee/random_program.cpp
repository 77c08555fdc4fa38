// SPDX-License-Identifier: Apache-2.0
#include "tests/guarantee/random_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "loop/interpret.h"
#include "loop/memory.h"
#include "tests/support/random.h"

namespace ingot::testing {
namespace {

using loop::BufferKind;

class ProgramMaker {
 public:
  explicit ProgramMaker(uint64_t seed) : random_(seed) {}

  loop::Program run() {
    program_.name = "net";
    add_buffers("input", BufferKind::kInput, random_.integer(1, 2));
    add_buffers("output", BufferKind::kOutput, random_.integer(1, 3));
    add_buffers("t", BufferKind::kArena, random_.integer(0, 6));
    add_buffers("c", BufferKind::kConstant, random_.integer(0, 1));
    if (random_.chance(1, 3)) add_tied_group();
    for (const loop::Buffer& buffer : program_.buffers) {
      const bool has_bytes =
          buffer.kind == BufferKind::kInput || buffer.kind == BufferKind::kConstant;
      if (has_bytes) written_.insert(buffer.name);
      if (buffer.kind == BufferKind::kOutput) unwritten_outputs_.push_back(buffer.name);
    }
    program_.runner = block(0);
    while (!unwritten_outputs_.empty()) {
      program_.runner.emplace_back(call(unwritten_outputs_.back()));
      written_.insert(unwritten_outputs_.back());
      unwritten_outputs_.pop_back();
      if (random_.chance(1, 2)) program_.runner.emplace_back(call(any_writable()));
    }
    return std::move(program_);
  }

 private:
  loop::Buffer& add(const std::string& name, BufferKind kind, int64_t num_elements) {
    static const std::vector<DType> dtypes = {DType::kInt8, DType::kInt16, DType::kInt32,
                                              DType::kFloat32};
    loop::Buffer b;
    b.name = name;
    b.dtype = random_.pick(dtypes);
    b.num_elements = num_elements;
    b.kind = kind;
    b.alignment = std::max(size_in_bytes(b.dtype), int64_t{1} << random_.integer(0, 4));
    program_.buffers.push_back(b);
    return program_.buffers.back();
  }

  void add_buffers(const std::string& prefix, BufferKind kind, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      add(fmt::format("{}{}", prefix, i), kind, random_.integer(1, 20));
    }
  }

  // A whole and the pieces that lie one behind the other in it; the first may have pieces too.
  void add_tied_group() {
    int64_t offset = 0;
    const int64_t num_pieces = random_.integer(1, 3);
    for (int64_t i = 0; i < num_pieces; ++i) {
      loop::Buffer& piece = add(fmt::format("p{}", i), BufferKind::kArena, random_.integer(1, 9));
      pieces_.push_back(piece.name);
      tie(piece, offset);
      offset += piece.num_elements;
    }
    if (random_.chance(1, 3)) {
      tie(add("inner_whole", BufferKind::kArena, offset), 0);
      inner_pieces_ = pieces_;
    }
    const int64_t rest = random_.chance(1, 2) ? random_.integer(1, 9) : 0;
    if (rest > 0) {
      tie(add("p_last", BufferKind::kArena, rest), offset);
      pieces_.push_back("p_last");
    }
    tie(add("whole", BufferKind::kArena, offset + rest), 0);
  }

  void tie(loop::Buffer& buffer, int64_t offset) {
    buffer.dtype = DType::kInt8;
    buffer.alignment = buffer.name == "whole" ? 8 : 1;
    buffer.tie_group = 0;
    buffer.tie_offset_bytes = offset;
  }

  // Wholes are written by their pieces.
  std::string any_writable() {
    std::vector<std::string> names;
    for (const loop::Buffer& b : program_.buffers) {
      const bool may_be = b.kind == BufferKind::kArena || b.kind == BufferKind::kOutput;
      const bool is_whole = b.name == "whole" || b.name == "inner_whole";
      if (may_be && !is_whole) names.push_back(b.name);
    }
    return random_.pick(names);
  }

  loop::CallKernel call(const std::string& result) {
    loop::CallKernel call;
    call.args.push_back({result, 0});
    for (int64_t i = random_.integer(0, 3); i > 0; --i) {
      const std::vector<std::string> readable(written_.begin(), written_.end());
      const std::string& name = random_.pick(readable);
      // A piece and its whole may not be written and read at once.
      if (name != result && !(is_tied(name) && is_tied(result))) call.args.push_back({name, 0});
    }
    call.kernel = fmt::format("k{}", program_.kernels.size());
    loop::Kernel kernel;
    kernel.name = call.kernel;
    for (size_t i = 0; i < call.args.size(); ++i) {
      const loop::Buffer& b = *loop::find_buffer(program_, call.args[i].buffer);
      kernel.params.push_back({fmt::format("a{}", i), b.dtype, b.num_elements,
                               i == 0 ? loop::Access::kWrite : loop::Access::kRead, b.alignment});
    }
    kernel.body = random_.chance(1, 2) ? element_by_element(kernel) : writes_then_reads(kernel);
    program_.kernels.push_back(std::move(kernel));
    program_.notes.push_back({call.kernel, "copy", {}, 0});
    return call;
  }

  static loop::Stmt read(const loop::Param& param, const loop::Expr& index) {
    return loop::Let{param.name + "_value", loop::load(param.name, index, {param.dtype})};
  }
  static loop::Stmt write(const loop::Param& param, const loop::Expr& index) {
    const loop::Type type{param.dtype};
    const loop::Expr zero = is_float(param.dtype) ? loop::float_lit(0, type) : loop::lit(0, type);
    return loop::Store{param.name, index, zero};
  }

  // Step i reads element i of each argument and writes element i of the result, where they have
  // one: as much may overlap as the sizes allow.
  static loop::Block element_by_element(const loop::Kernel& kernel) {
    const loop::Expr i = loop::var("i");
    int64_t count = 0;
    loop::Block body;
    for (const loop::Param& p : kernel.params) count = std::max(count, p.num_elements);
    for (size_t p = kernel.params.size(); p-- > 0;) {
      const loop::Param& param = kernel.params[p];
      body.emplace_back(loop::If{loop::less(i, loop::lit(param.num_elements)),
                                 {p > 0 ? read(param, i) : write(param, i)},
                                 {}});
    }
    return {loop::For{"i", loop::lit(0), loop::lit(count), 1, false, std::move(body)}};
  }

  // The result is there before arguments are read: they may not share a byte.
  static loop::Block writes_then_reads(const loop::Kernel& kernel) {
    loop::Block body;
    for (size_t p = 0; p < kernel.params.size(); ++p) {
      const loop::Param& param = kernel.params[p];
      const std::string i = "i" + std::to_string(p);
      const loop::Expr index = loop::var(i);
      body.emplace_back(loop::For{i,
                                  loop::lit(0),
                                  loop::lit(param.num_elements),
                                  1,
                                  false,
                                  {p > 0 ? read(param, index) : write(param, index)}});
    }
    return body;
  }

  bool is_tied(const std::string& name) const {
    return loop::find_buffer(program_, name)->tie_group >= 0;
  }

  void mark_written(const std::string& name) {
    written_.insert(name);
    const auto has = [&](const std::string& piece) { return written_.contains(piece); };
    if (std::ranges::all_of(pieces_, has) && !pieces_.empty()) written_.insert("whole");
    if (std::ranges::all_of(inner_pieces_, has) && !inner_pieces_.empty()) {
      written_.insert("inner_whole");
    }
  }

  loop::Block block(int64_t depth) {
    loop::Block result;
    for (int64_t i = random_.integer(1, depth == 0 ? 7 : 3); i > 0; --i) {
      if (depth < 2 && random_.chance(1, 6)) {
        result.emplace_back(loop::For{fmt::format("i{}", num_loops_++), loop::lit(0), loop::lit(2),
                                      1, false, block(depth + 1)});
      } else if (depth < 2 && random_.chance(1, 6)) {
        // What only one branch writes may not be read behind it.
        const std::set<std::string> before = written_;
        loop::Block then_body = block(depth + 1);
        written_ = before;
        loop::Block else_body = random_.chance(1, 2) ? block(depth + 1) : loop::Block();
        written_ = before;
        result.emplace_back(loop::If{loop::lit(1, loop::kBool), then_body, else_body});
      } else {
        loop::CallKernel next = call(any_writable());
        mark_written(next.args.front().buffer);
        result.emplace_back(std::move(next));
      }
    }
    return result;
  }

  Random random_;
  loop::Program program_;
  std::set<std::string> written_;          // at the point that is being made
  std::vector<std::string> pieces_;        // of whole, if there is one
  std::vector<std::string> inner_pieces_;  // of inner_whole
  std::vector<std::string> unwritten_outputs_;
  int64_t num_loops_ = 0;
};

// The arena and the caller's inputs and outputs, which know of each byte which buffer it was last
// written for.
class Execution {
 public:
  Execution(const loop::Program& program, const StorageOptions& options, uint64_t seed,
            int64_t chance)
      : program_(program), options_(options), random_(seed), chance_(chance) {}

  std::string run() {
    for (const loop::Buffer& b : program_.buffers) {
      if (b.kind == BufferKind::kInput) write(b);
    }
    run_block(program_.runner);
    for (const loop::Buffer& b : program_.buffers) {
      const bool is_result =
          b.kind == BufferKind::kOutput || (b.kind == BufferKind::kInput && !options_.reuse_inputs);
      if (is_result) check(b, "at the end the caller reads");
    }
    return fault_;
  }

 private:
  // Where a buffer lies. What the caller gave ends where his buffer ends.
  struct Place {
    std::vector<const loop::Buffer*>* owners;
    size_t offset;
  };

  std::optional<Place> place_of(const loop::Buffer& b) {
    if (b.kind == BufferKind::kConstant) return std::nullopt;
    const bool is_callers = is_input_or_output(b) && !options_.io_in_arena;
    const std::string memory = is_callers ? loop::memory_of_port(b.name) : b.pool;
    std::vector<const loop::Buffer*>& owners = owners_[memory];
    const auto offset = static_cast<size_t>(is_callers ? 0 : b.offset_bytes.value());
    const auto end = offset + static_cast<size_t>(b.size_bytes());
    const std::string port = is_callers ? b.name : loop::lender_of(b);
    if (port.empty()) {
      owners.resize(std::max(owners.size(), end));
    } else {
      const auto size = loop::find_buffer(program_, port)->size_bytes();
      owners.resize(static_cast<size_t>(size));
      if (end > owners.size()) {
        fault_ = fmt::format("{} ends {} bytes behind {}", b.name, end - owners.size(), port);
        return std::nullopt;
      }
    }
    return Place{&owners, offset};
  }

  void write(const loop::Buffer& b) { write(b, 0, b.size_bytes()); }
  void check(const loop::Buffer& b, const std::string& reader) {
    check(b, 0, b.size_bytes(), reader);
  }

  // Bytes [first, last) of a buffer.
  void write(const loop::Buffer& b, int64_t first, int64_t last) {
    const std::optional<Place> place = place_of(b);
    if (!place) return;
    const auto begin = place->owners->begin() + static_cast<std::ptrdiff_t>(place->offset);
    std::fill(begin + first, begin + last, &b);
  }

  void check(const loop::Buffer& b, int64_t first, int64_t last, const std::string& reader) {
    const std::optional<Place> place = place_of(b);
    for (int64_t i = first; place && i < last; ++i) {
      const loop::Buffer* owner = place->owners->at(place->offset + static_cast<size_t>(i));
      const bool is_tied = owner && owner->tie_group >= 0 && owner->tie_group == b.tie_group;
      if (owner == &b || is_tied || !fault_.empty()) continue;
      fault_ = fmt::format("{} {}, which {} has overwritten", reader, b.name,
                           owner ? owner->name : "nobody");
    }
  }

  // Access by access, as the kernel's loops say. Without a body, results are written before
  // arguments are read.
  void run_call(const loop::CallKernel& call) {
    const std::string reader = fmt::format("call {} reads", num_calls_++);
    const loop::Kernel& kernel = *loop::find_kernel(program_, call.kernel);
    std::vector<const loop::Buffer*> args;
    for (const loop::BufferRef& arg : call.args) {
      args.push_back(loop::find_buffer(program_, arg.buffer));
    }
    if (kernel.body.empty()) {
      write(*args.front());
      for (size_t i = 1; i < args.size(); ++i) check(*args[i], reader);
      return;
    }
    for (const loop::MemoryAccess& access : accesses_of(kernel)) {
      const loop::Buffer& b = *args[static_cast<size_t>(access.param)];
      const int64_t size = size_in_bytes(b.dtype);
      const int64_t first = access.element * size;
      if (access.is_store) {
        write(b, first, first + size);
      } else {
        check(b, first, first + size, reader);
      }
    }
  }

  const std::vector<loop::MemoryAccess>& accesses_of(const loop::Kernel& kernel) {
    const auto [known, is_new] = accesses_.try_emplace(kernel.name);
    if (!is_new) return known->second;
    std::vector<std::vector<uint8_t>> memory;
    std::vector<std::span<uint8_t>> spans;
    for (const loop::Param& p : kernel.params) {
      memory.emplace_back(static_cast<size_t>(p.num_elements * size_in_bytes(p.dtype)));
    }
    for (std::vector<uint8_t>& m : memory) spans.emplace_back(m);
    loop::interpret(program_, kernel, spans, {.on_access = [&](const loop::MemoryAccess& access) {
                      known->second.push_back(access);
                    }});
    return known->second;
  }

  void run_block(const loop::Block& block) {
    for (const loop::Stmt& stmt : block) {
      if (const auto* call = std::get_if<loop::CallKernel>(&stmt.kind)) {
        run_call(*call);
      } else if (const auto* loop_stmt = std::get_if<loop::For>(&stmt.kind)) {
        run_block(loop_stmt->body);
        run_block(loop_stmt->body);
      } else if (const auto* branch = std::get_if<loop::If>(&stmt.kind)) {
        run_block(random_.chance(chance_, 2) ? branch->then_body : branch->else_body);
      }
    }
  }

  const loop::Program& program_;
  const StorageOptions& options_;
  Random random_;
  int64_t chance_;
  std::map<std::string, std::vector<const loop::Buffer*>> owners_;   // by memory
  std::map<std::string, std::vector<loop::MemoryAccess>> accesses_;  // by kernel
  int64_t num_calls_ = 0;
  std::string fault_;
};

}  // namespace

bool is_input_or_output(const loop::Buffer& buffer) {
  return buffer.kind == BufferKind::kInput || buffer.kind == BufferKind::kOutput;
}

loop::Program random_program(uint64_t seed) { return ProgramMaker(seed).run(); }

std::string execution_fault(const loop::Program& program, const StorageOptions& options,
                            uint64_t seed, int64_t chance) {
  return Execution(program, options, seed, chance).run();
}

}  // namespace ingot::testing
