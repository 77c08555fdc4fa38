// SPDX-License-Identifier: Apache-2.0
// The buffers alive at one time point of a sweep over time, and how many bytes they need at least:
// plan/bound.h says how that is counted.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace ingot::plan {

class LiveSet {
 public:
  // Of the buffers listed, which must be whole groups; none is alive yet.
  LiveSet(const Problem& problem, std::span<const int64_t> buffers);

  bool takes_space(int64_t b) const {
    return buffer(b).size_bytes > 0 && buffer(b).lifetime.begin < buffer(b).lifetime.end;
  }
  void add(int64_t b);
  void remove(int64_t b);
  bool is_alive(int64_t b) const { return alive_[static_cast<size_t>(b)]; }
  int64_t needed_bytes() const;
  // What all offsets are a multiple of.
  int64_t cell_bytes() const { return cell_; }

 private:
  const Buffer& buffer(int64_t b) const { return problem_.buffers[static_cast<size_t>(b)]; }
  int64_t cells(int64_t b) const;
  void change(int64_t b, bool begins);
  int64_t union_of(const std::set<int64_t>& members) const;
  void save(const Overlap& overlap, int64_t sign);

  const Problem& problem_;
  int64_t cell_ = 0;
  int64_t total_ = 0;  // cells
  std::vector<bool> alive_;
  std::vector<int64_t> saved_;  // by output
  std::vector<std::vector<size_t>> overlaps_of_;
  std::map<int64_t, std::set<int64_t>> groups_;
  std::multiset<int64_t> paddings_;
};

// A buffer begins or ends; in a sorted list, ends of a time come first.
struct LifeEvent {
  int64_t time;
  bool begins;
  int64_t buffer;
  auto operator<=>(const LifeEvent&) const = default;
};

// Of the buffers listed that take space, sorted.
std::vector<LifeEvent> life_events(const Problem& problem, std::span<const int64_t> buffers);

}  // namespace ingot::plan
