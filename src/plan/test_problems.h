// SPDX-License-Identifier: Apache-2.0
// Random problems and a brute-force oracle for the tests of plan/. The oracle knows nothing of the
// planner: it tries every offset.
#pragma once
#include <fmt/format.h>

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
  bool dead = false;    // some buffers take no space: of no bytes, or never alive
  bool padded = false;  // all alignments are multiples of 4, most sizes are not
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
      for (int64_t i = 0; i < n; ++i)
        problem.buffers.push_back(make_buffer(fmt::format("b{}", i), n, span, largest, features));
      if (features.overlaps) add_overlaps(problem);
      if (find_fault(problem).empty()) return problem;
    }
  }

 private:
  Buffer make_buffer(std::string name, int64_t n, int64_t span, int64_t largest,
                     Features features) {
    const int64_t begin = pick(0, span - 1);
    const int64_t end = std::min(span, begin + pick(1, std::max<int64_t>(2, span / 2)));
    Buffer buffer{std::move(name), {begin, end}, pick(1, largest)};
    if (features.padded) buffer.alignment = 4;
    if (features.alignments && pick(0, 1) == 0) buffer.alignment <<= pick(0, 2);
    if (features.fixed && pick(0, 7) == 0)
      buffer.fixed_offset = pick(0, largest / buffer.alignment) * buffer.alignment;
    if (features.groups && pick(0, 2) == 0) {
      buffer.group = pick(0, std::max<int64_t>(0, n / 4));
      buffer.group_offset = pick(-largest, largest);
    }
    if (features.dead && pick(0, 3) == 0) {
      if (pick(0, 1) == 0)
        buffer.size_bytes = 0;
      else
        buffer.lifetime.end = begin;
    }
    return buffer;
  }

  // Pairs that meet in one time point, the input's last, as operators make them.
  void add_overlaps(Problem& problem) {
    const auto n = static_cast<int64_t>(problem.buffers.size());
    for (int64_t out = 0; out < n; ++out) {
      for (int64_t in = 0; in < n; ++in) {
        const Buffer& o = problem.buffers[static_cast<size_t>(out)];
        const Buffer& i = problem.buffers[static_cast<size_t>(in)];
        if (in == out || o.lifetime.begin + 1 != i.lifetime.end || pick(0, 3) == 0) continue;
        if (i.lifetime.begin >= o.lifetime.begin) continue;
        Overlap overlap{out, in, pick(0, 4) == 0 ? 0 : out};
        if (pick(0, 3) != 0) overlap.forward = pick(-3, o.size_bytes);
        if (pick(0, 3) != 0) overlap.reverse = pick(-3, i.size_bytes);
        problem.overlaps.push_back(overlap);
      }
    }
  }

  std::mt19937_64 random_;
};

// Whether a problem with one pool fits into a height, by trying every offset of every buffer and
// every direction of every step.
class BruteForce {
 public:
  explicit BruteForce(const Problem& problem) : problem_(problem), n_(problem.buffers.size()) {
    for (const Overlap& overlap : problem.overlaps) steps_.insert(overlap.step);
    offsets_.assign(n_, 0);
  }

  bool fits(int64_t height) {
    if (height < 0) return false;
    for (uint64_t mask = 0; mask < uint64_t{1} << steps_.size(); ++mask) {
      uint64_t bit = 0;
      for (const int64_t step : steps_) reversed_[step] = (mask >> bit++ & 1U) != 0;
      tabulate(height);
      if (place(0, height)) return true;
    }
    return false;
  }

 private:
  // right_[(a * n + b) * 2 * height + height + d]: a and b are right with b d bytes above a.
  void tabulate(int64_t height) {
    right_.assign(n_ * n_ * static_cast<size_t>(2 * height + 1), 0);
    for (size_t b = 0; b < n_; ++b)
      for (size_t a = 0; a < b; ++a)
        for (int64_t d = -height; d <= height; ++d)
          right_[place_of(a, b, height, d)] = pair_is_right(a, b, d) ? 1 : 0;
  }

  size_t place_of(size_t a, size_t b, int64_t height, int64_t d) const {
    return (a * n_ + b) * static_cast<size_t>(2 * height + 1) + static_cast<size_t>(height + d);
  }

  bool place(size_t b, int64_t height) {
    if (b == n_) return true;
    const Buffer& buffer = problem_.buffers[b];
    for (int64_t offset = 0; offset + buffer.size_bytes <= height; offset += buffer.alignment) {
      if (buffer.fixed_offset && *buffer.fixed_offset != offset) continue;
      offsets_[b] = offset;
      bool right = true;
      for (size_t other = 0; other < b && right; ++other)
        right = right_[place_of(other, b, height, offset - offsets_[other])] != 0;
      if (right && place(b + 1, height)) return true;
    }
    return false;
  }

  // With b `d` bytes above a.
  bool pair_is_right(size_t a, size_t b, int64_t d) const {
    const Buffer& x = problem_.buffers[a];
    const Buffer& y = problem_.buffers[b];
    if (x.group >= 0 && x.group == y.group) return d == y.group_offset - x.group_offset;
    if (!x.lifetime.meets(y.lifetime) || x.size_bytes == 0 || y.size_bytes == 0) return true;
    if (x.size_bytes <= d || d + y.size_bytes <= 0) return true;
    for (const Overlap& overlap : problem_.overlaps) {
      const auto out = static_cast<size_t>(overlap.output);
      const auto in = static_cast<size_t>(overlap.input);
      if (std::minmax(out, in) != std::minmax(a, b)) continue;
      const int64_t distance = out == a ? d : -d;
      if (reversed_.at(overlap.step)) return overlap.reverse && -distance >= *overlap.reverse;
      return overlap.forward && distance >= *overlap.forward;
    }
    return false;
  }

  const Problem& problem_;
  size_t n_;
  std::set<int64_t> steps_;
  std::map<int64_t, bool> reversed_;
  std::vector<int64_t> offsets_;
  std::vector<char> right_;
};

}  // namespace ingot::plan
