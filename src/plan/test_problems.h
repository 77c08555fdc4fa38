// SPDX-License-Identifier: Apache-2.0
// Random problems and a brute-force oracle for the tests of plan/. The oracle knows nothing of the
// planner: it tries every offset.
#pragma once
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace ingot::plan {

struct Features {
  bool alignments = false;
  bool fixed = false;
  bool groups = false;
  bool overlaps = false;
};

class ProblemGenerator {
 public:
  explicit ProblemGenerator(uint64_t seed) : random_(seed) {}

  // In [low, high].
  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }

  // `n` buffers within `span` time points, of at most `largest` bytes; free of faults.
  Problem make(int64_t n, int64_t span, int64_t largest, Features features) {
    while (true) {
      Problem problem;
      for (int64_t i = 0; i < n; ++i) {
        const int64_t begin = pick(0, span - 1);
        const int64_t end = std::min(span, begin + pick(1, std::max<int64_t>(2, span / 2)));
        Buffer buffer{"b" + std::to_string(i), {begin, end}, pick(1, largest)};
        if (features.alignments && pick(0, 1) == 0) buffer.alignment = int64_t{1} << pick(0, 2);
        if (features.fixed && pick(0, 7) == 0)
          buffer.fixed_offset = pick(0, largest / buffer.alignment) * buffer.alignment;
        if (features.groups && pick(0, 2) == 0) {
          buffer.group = pick(0, std::max<int64_t>(0, n / 4));
          buffer.group_offset = pick(-largest, largest);
        }
        problem.buffers.push_back(buffer);
      }
      if (features.overlaps) add_overlaps(problem);
      if (find_fault(problem).empty()) return problem;
    }
  }

 private:
  // Pairs that meet in one time point, the input's last, as operators make them.
  void add_overlaps(Problem& problem) {
    const auto n = static_cast<int64_t>(problem.buffers.size());
    for (int64_t out = 0; out < n; ++out) {
      for (int64_t in = 0; in < n; ++in) {
        const Buffer& o = problem.buffers[static_cast<size_t>(out)];
        const Buffer& i = problem.buffers[static_cast<size_t>(in)];
        if (in == out || o.lifetime.begin + 1 != i.lifetime.end || pick(0, 3) == 0) continue;
        if (i.lifetime.begin >= o.lifetime.begin) continue;
        Overlap overlap{out, in, out};
        if (pick(0, 3) != 0) overlap.forward = pick(-3, o.size_bytes);
        if (pick(0, 3) != 0) overlap.reverse = pick(-3, i.size_bytes);
        problem.overlaps.push_back(overlap);
      }
    }
  }

  std::mt19937_64 random_;
};

// The least height of a problem with one pool, by trying every offset of every buffer.
class BruteForce {
 public:
  explicit BruteForce(const Problem& problem) : problem_(problem) {
    for (const Overlap& overlap : problem.overlaps) steps_.insert(overlap.step);
    offsets_.assign(problem.buffers.size(), -1);
  }

  int64_t least_height() {
    for (int64_t height = 0;; ++height)
      if (fits(height)) return height;
  }

 private:
  bool fits(int64_t height) {
    for (uint64_t mask = 0; mask < uint64_t{1} << steps_.size(); ++mask) {
      uint64_t bit = 0;
      for (const int64_t step : steps_) reversed_[step] = (mask >> bit++ & 1U) != 0;
      if (place(0, height)) return true;
    }
    return false;
  }

  bool place(size_t b, int64_t height) {
    if (b == problem_.buffers.size()) return true;
    const Buffer& buffer = problem_.buffers[b];
    for (int64_t offset = 0; offset + buffer.size_bytes <= height; offset += buffer.alignment) {
      if (buffer.fixed_offset && *buffer.fixed_offset != offset) continue;
      offsets_[b] = offset;
      bool right = true;
      for (size_t other = 0; other < b && right; ++other) right = pair_is_right(other, b);
      if (right && place(b + 1, height)) return true;
    }
    offsets_[b] = -1;
    return false;
  }

  bool pair_is_right(size_t a, size_t b) const {
    const Buffer& x = problem_.buffers[a];
    const Buffer& y = problem_.buffers[b];
    if (x.group >= 0 && x.group == y.group)
      return offsets_[a] - x.group_offset == offsets_[b] - y.group_offset;
    if (!x.lifetime.meets(y.lifetime)) return true;
    if (offsets_[a] + x.size_bytes <= offsets_[b] || offsets_[b] + y.size_bytes <= offsets_[a])
      return true;
    for (const Overlap& overlap : problem_.overlaps) {
      const auto out = static_cast<size_t>(overlap.output);
      const auto in = static_cast<size_t>(overlap.input);
      if (std::minmax(out, in) != std::minmax(a, b)) continue;
      const int64_t distance = offsets_[in] - offsets_[out];
      if (reversed_.at(overlap.step)) return overlap.reverse && -distance >= *overlap.reverse;
      return overlap.forward && distance >= *overlap.forward;
    }
    return false;
  }

  const Problem& problem_;
  std::set<int64_t> steps_;
  std::map<int64_t, bool> reversed_;
  std::vector<int64_t> offsets_;
};

}  // namespace ingot::plan
