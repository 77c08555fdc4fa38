// SPDX-License-Identifier: Apache-2.0
#include "plan/live_set.h"

#include <algorithm>
#include <numeric>

#include "support/arithmetic.h"

namespace ingot::plan {
namespace {

size_t index(int64_t i) { return static_cast<size_t>(i); }

// The most cells the two buffers of an overlap can share; sizes in cells.
int64_t most_shared(const Overlap& overlap, int64_t out, int64_t in, int64_t cell) {
  // For a distance d from output to input, the shared cells are [max(0, d), min(out, d + in)),
  // most of them while d is between 0 and out - in.
  const auto shared = [&](int64_t d) {
    return std::max<int64_t>(0, std::min(out, d + in) - std::max<int64_t>(0, d));
  };
  int64_t most = 0;
  if (overlap.forward)
    most = shared(std::max(ceil_div(*overlap.forward, cell), std::min<int64_t>(0, out - in)));
  if (overlap.reverse) {
    const int64_t highest = -ceil_div(*overlap.reverse, cell);
    most = std::max(most, shared(std::min(highest, std::max<int64_t>(0, out - in))));
  }
  return most;
}

}  // namespace

LiveSet::LiveSet(const Problem& problem, std::span<const int64_t> buffers) : problem_(problem) {
  for (const int64_t b : buffers)
    if (takes_space(b)) cell_ = std::gcd(cell_, buffer(b).alignment);
  const size_t n = problem.buffers.size();
  alive_.assign(n, false);
  saved_.assign(n, 0);
  overlaps_of_.resize(n);
  for (size_t o = 0; o < problem.overlaps.size(); ++o) {
    overlaps_of_[index(problem.overlaps[o].output)].push_back(o);
    overlaps_of_[index(problem.overlaps[o].input)].push_back(o);
  }
}

void LiveSet::add(int64_t b) {
  change(b, true);
  paddings_.insert(cells(b) * cell_ - buffer(b).size_bytes);
}

void LiveSet::remove(int64_t b) {
  change(b, false);
  paddings_.erase(paddings_.find(cells(b) * cell_ - buffer(b).size_bytes));
}

int64_t LiveSet::needed_bytes() const {
  if (paddings_.empty()) return 0;
  return std::max<int64_t>(0, total_ * cell_ - *paddings_.rbegin());
}

int64_t LiveSet::cells(int64_t b) const { return ceil_div(buffer(b).size_bytes, cell_); }

void LiveSet::change(int64_t b, bool begins) {
  const int64_t group = buffer(b).group;
  if (group >= 0) {
    std::set<int64_t>& members = groups_[group];
    total_ -= union_of(members);
    begins ? void(members.insert(b)) : void(members.erase(b));
    total_ += union_of(members);
  } else {
    total_ += begins ? cells(b) : -cells(b);
  }
  // The pairs of which both are alive, before the end or after the beginning of b.
  for (const size_t o : overlaps_of_[index(b)]) {
    const Overlap& overlap = problem_.overlaps[o];
    const int64_t other = overlap.output == b ? overlap.input : overlap.output;
    if (alive_[index(other)]) save(overlap, begins ? 1 : -1);
  }
  alive_[index(b)] = begins;
}

int64_t LiveSet::union_of(const std::set<int64_t>& members) const {
  std::vector<Interval> parts;
  int64_t lowest = 0;
  for (const int64_t b : members) lowest = std::min(lowest, buffer(b).group_offset);
  // Members are whole cells apart: each offset is a multiple of the cell.
  for (const int64_t b : members) {
    const int64_t first = floor_div(buffer(b).group_offset - lowest, cell_);
    parts.push_back({first, first + cells(b)});
  }
  std::ranges::sort(parts, {}, &Interval::begin);
  int64_t covered = 0;
  int64_t end = 0;
  for (const Interval& part : parts) {
    covered += std::max<int64_t>(0, part.end - std::max(end, part.begin));
    end = std::max(end, part.end);
  }
  return covered;
}

void LiveSet::save(const Overlap& overlap, int64_t sign) {
  const Buffer& out = buffer(overlap.output);
  const Buffer& in = buffer(overlap.input);
  const int64_t shared = most_shared(overlap, cells(overlap.output), cells(overlap.input), cell_);
  // An output cannot be overlaid by more than itself. This counts once per output as long as no
  // cycle of overlaps lets two outputs cover each other; an older input excludes cycles.
  if (out.group >= 0 || in.group >= 0 || in.lifetime.begin >= out.lifetime.begin) {
    total_ -= sign * shared;
    return;
  }
  int64_t& saved = saved_[index(overlap.output)];
  total_ += std::min(saved, cells(overlap.output));
  saved += sign * shared;
  total_ -= std::min(saved, cells(overlap.output));
}

std::vector<LifeEvent> life_events(const Problem& problem, std::span<const int64_t> buffers) {
  std::vector<LifeEvent> events;
  for (const int64_t b : buffers) {
    const Buffer& buffer = problem.buffers[index(b)];
    if (buffer.size_bytes == 0 || buffer.lifetime.begin >= buffer.lifetime.end) continue;
    events.push_back({buffer.lifetime.begin, true, b});
    events.push_back({buffer.lifetime.end, false, b});
  }
  std::ranges::sort(events);
  return events;
}

}  // namespace ingot::plan
