// SPDX-License-Identifier: Apache-2.0
#include "loop/shadow.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "loop/interpret.h"
#include "loop/memory.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

// What a byte holds: byte `byte` of a value. Tied buffers are parts of one value.
struct Tag {
  int64_t value = -1;  // -1: nothing
  int64_t byte = 0;
  bool operator==(const Tag&) const = default;
};

class Shadow {
 public:
  Shadow(const Program& program, int64_t arena_bytes) : program_(program) {
    tags_[""].resize(static_cast<size_t>(arena_bytes));
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      if (!is_watched(b)) continue;
      const Buffer& buffer = program.buffers[b];
      std::vector<Tag>& tags = tags_[memory_of(buffer)];
      const auto end = static_cast<size_t>(begin_of(buffer) + buffer.size_bytes());
      if (tags.size() < end) tags.resize(end);
    }
    tags_of_.resize(program.buffers.size());
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      if (is_watched(b)) tags_of_[b] = &tags_.at(memory_of(program.buffers[b]));
    }
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      if (is_watched(b) && program.buffers[b].kind == BufferKind::kInput) set(b);
    }
  }

  void access(const BufferAccess& a) {
    if (!is_watched(a.buffer)) return;
    for (int64_t i = a.first_byte; i < a.first_byte + a.size_bytes; ++i) {
      if (a.is_store) {
        at(a.buffer, i) = tag(a.buffer, i);
      } else if (at(a.buffer, i) != tag(a.buffer, i)) {
        fault(a.call, a.buffer, i);
      }
    }
  }

  // The buffer must be there whole.
  void expect_whole(BufferKind kind) {
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      if (!is_watched(b) || program_.buffers[b].kind != kind) continue;
      for (int64_t i = 0; i < program_.buffers[b].size_bytes(); ++i) {
        if (at(b, i) != tag(b, i)) fault(-1, b, i);
      }
    }
  }

  std::vector<std::string> take_faults() && { return std::move(faults_); }

 private:
  bool is_watched(size_t b) const {
    const Buffer& buffer = program_.buffers[b];
    return buffer.kind != BufferKind::kConstant &&
           (buffer.offset_bytes.has_value() || is_callers(buffer));
  }

  // The caller's inputs and outputs are memories of their own, which others may borrow.
  static std::string memory_of(const Buffer& buffer) {
    return is_callers(buffer) ? memory_of_port(buffer.name) : buffer.pool;
  }
  static int64_t begin_of(const Buffer& buffer) { return buffer.offset_bytes.value_or(0); }

  void set(size_t b) {
    for (int64_t i = 0; i < program_.buffers[b].size_bytes(); ++i) at(b, i) = tag(b, i);
  }

  Tag& at(size_t b, int64_t byte) {
    return tags_of_[b]->at(static_cast<size_t>(begin_of(program_.buffers[b]) + byte));
  }

  // Groups count downwards from -2, buffers outside any are their own index.
  Tag tag(size_t b, int64_t byte) const {
    const Buffer& buffer = program_.buffers[b];
    if (buffer.tie_group < 0) return {static_cast<int64_t>(b), byte};
    return {-2 - buffer.tie_group, buffer.tie_offset_bytes + byte};
  }

  std::string name_of(Tag tag) const {
    if (tag.value == -1) return "nothing";
    if (tag.value < -1) return fmt::format("tied group {}", -2 - tag.value);
    return program_.buffers[static_cast<size_t>(tag.value)].name;
  }

  void fault(int64_t call, size_t b, int64_t byte) {
    constexpr size_t kMostFaults = 16;
    if (faults_.size() >= kMostFaults || !known_.insert({call, b}).second) return;
    const std::string where = call < 0 ? "in the end" : fmt::format("call {} reads", call);
    faults_.push_back(fmt::format("{}: byte {} of {} holds byte {} of {}", where, byte,
                                  program_.buffers[b].name, at(b, byte).byte,
                                  name_of(at(b, byte))));
  }

  const Program& program_;
  std::map<std::string, std::vector<Tag>> tags_;  // by memory_of
  std::vector<std::vector<Tag>*> tags_of_;        // by buffer
  std::set<std::pair<int64_t, size_t>> known_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> shadow_faults(const Program& program,
                                       std::span<const std::vector<uint8_t>> inputs,
                                       int64_t arena_bytes, bool inputs_writable) {
  for (const Buffer& b : program.buffers) {
    CHECK(b.kind != BufferKind::kArena || b.offset_bytes);
    CHECK(!b.offset_bytes || !b.pool.empty() || *b.offset_bytes + b.size_bytes() <= arena_bytes);
  }
  Shadow shadow(program, arena_bytes);
  interpret(program, inputs, arena_bytes, [&](const BufferAccess& a) { shadow.access(a); });
  shadow.expect_whole(BufferKind::kOutput);
  if (!inputs_writable) shadow.expect_whole(BufferKind::kInput);
  return std::move(shadow).take_faults();
}

}  // namespace ingot::loop
