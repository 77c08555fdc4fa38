// SPDX-License-Identifier: Apache-2.0
#include "plan/items.h"

#include <algorithm>
#include <limits>
#include <map>

#include "plan/congruence.h"
#include "support/arithmetic.h"
#include "support/check.h"

namespace ingot::plan {
namespace {

// Above this many entries the rows of neighbours are not stored but found again when asked for.
constexpr int64_t kMostStoredNeighbours = int64_t{1} << 23;

size_t index(int64_t i) { return static_cast<size_t>(i); }

Item item_of(const Problem& problem, std::span<const int64_t> buffers) {
  Item item;
  int64_t lowest = std::numeric_limits<int64_t>::max();
  for (const int64_t b : buffers) {
    const Buffer& buffer = problem.buffers[index(b)];
    lowest = std::min(lowest, buffer.group < 0 ? 0 : buffer.group_offset);
  }
  item.lifetime = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  Congruence where;
  for (const int64_t b : buffers) {
    const Buffer& buffer = problem.buffers[index(b)];
    const int64_t start = buffer.group < 0 ? 0 : buffer.group_offset - lowest;
    const std::optional<Congruence> both =
        intersect(where, {floor_mod(-start, buffer.alignment), buffer.alignment});
    CHECK(both.has_value());
    where = *both;
    item.extent = std::max(item.extent, start + buffer.size_bytes);
    item.parts.push_back({b, start});
    if (buffer.fixed_offset) item.fixed = *buffer.fixed_offset - start;
    if (buffer.size_bytes == 0 || buffer.lifetime.begin >= buffer.lifetime.end) continue;
    item.members.push_back({b, buffer.lifetime, start, buffer.size_bytes});
    item.lifetime.begin = std::min(item.lifetime.begin, buffer.lifetime.begin);
    item.lifetime.end = std::max(item.lifetime.end, buffer.lifetime.end);
  }
  item.alignment = where.modulus;
  item.residue = where.residue;
  if (item.members.empty()) item.lifetime = {};
  return item;
}

bool meet(const Item& a, const Item& b) {
  if (!a.lifetime.meets(b.lifetime)) return false;
  if (a.members.size() == 1 && b.members.size() == 1) return true;
  for (const Member& x : a.members)
    for (const Member& y : b.members)
      if (x.lifetime.meets(y.lifetime)) return true;
  return false;
}

}  // namespace

int64_t Item::align(int64_t offset) const {
  return round_up(offset - residue, alignment) + residue;
}

Instance::Instance(const Problem& problem, std::span<const int64_t> buffers,
                   std::span<const StepDirection> decided) {
  add_items(problem, buffers);
  add_overlaps(problem, decided);
  add_neighbours();
}

void Instance::add_items(const Problem& problem, std::span<const int64_t> buffers) {
  std::map<int64_t, std::vector<int64_t>> groups;
  for (const int64_t b : buffers)
    if (problem.buffers[index(b)].group >= 0) groups[problem.buffers[index(b)].group].push_back(b);
  item_of_.assign(problem.buffers.size(), -1);
  member_of_.assign(problem.buffers.size(), -1);
  for (const int64_t b : buffers) {
    const Buffer& buffer = problem.buffers[index(b)];
    const std::vector<int64_t> alone = {b};
    const std::vector<int64_t>& members = buffer.group >= 0 ? groups[buffer.group] : alone;
    if (members.front() != b) continue;
    Item item = item_of(problem, members);
    for (size_t m = 0; m < item.members.size(); ++m) {
      item_of_[index(item.members[m].buffer)] = size();
      member_of_[index(item.members[m].buffer)] = static_cast<int64_t>(m);
    }
    const bool is_plain = item.members.size() == 1 && item.members.front().start == 0;
    lifetimes_.push_back(item.lifetime);
    plain_size_.push_back(is_plain ? item.members.front().size : -1);
    items_.push_back(std::move(item));
  }
}

void Instance::add_overlaps(const Problem& problem, std::span<const StepDirection> decided) {
  std::map<int64_t, int64_t> index_of_step;
  for (const Overlap& overlap : problem.overlaps) {
    const int64_t out = item_of_[index(overlap.output)];
    const int64_t in = item_of_[index(overlap.input)];
    if (out < 0 || in < 0 || out == in) continue;
    const auto [step, is_new] =
        index_of_step.emplace(overlap.step, static_cast<int64_t>(steps_.size()));
    if (is_new) {
      steps_.push_back(overlap.step);
      decided_.push_back(Run::kFree);
      overlaps_of_step_.emplace_back();
    }
    overlaps_of_step_[index(step->second)].push_back(static_cast<int64_t>(overlaps_.size()));
    overlaps_.push_back({out, in, member_of_[index(overlap.output)],
                         member_of_[index(overlap.input)], step->second, overlap.forward,
                         overlap.reverse});
  }
  for (const StepDirection& choice : decided) {
    const auto step = index_of_step.find(choice.step);
    if (step == index_of_step.end()) continue;
    decided_[index(step->second)] =
        choice.direction == Direction::kForward ? Run::kForward : Run::kReverse;
  }
  overlaps_of_item_.resize(items_.size());
  coupled_steps_of_.resize(items_.size());
  partners_of_.resize(items_.size());
  for (size_t o = 0; o < overlaps_.size(); ++o) {
    const ItemOverlap& overlap = overlaps_[o];
    const bool coupled = overlaps_of_step_[index(overlap.step)].size() > 1;
    for (const int64_t item : {overlap.output_item, overlap.input_item}) {
      overlaps_of_item_[index(item)].push_back(static_cast<int64_t>(o));
      std::vector<int64_t>& steps = coupled_steps_of_[index(item)];
      if (coupled && std::ranges::find(steps, overlap.step) == steps.end())
        steps.push_back(overlap.step);
    }
    partners_of_[index(overlap.output_item)].push_back(overlap.input_item);
    partners_of_[index(overlap.input_item)].push_back(overlap.output_item);
  }
  for (std::vector<int64_t>& partners : partners_of_) std::ranges::sort(partners);
}

void Instance::add_neighbours() {
  // Sweep over the hulls of the lifetimes; `live` holds the items alive, in no special order.
  std::vector<int64_t> order(items_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::ranges::stable_sort(order, {}, [&](int64_t i) { return (*this)[i].lifetime.begin; });
  const auto for_each_pair = [&](const auto& visit) {
    std::vector<int64_t> live;
    for (const int64_t i : order) {
      if ((*this)[i].members.empty()) continue;
      const int64_t now = (*this)[i].lifetime.begin;
      std::erase_if(live, [&](int64_t j) { return (*this)[j].lifetime.end <= now; });
      for (const int64_t j : live)
        if (meet((*this)[i], (*this)[j])) visit(i, j);
      live.push_back(i);
    }
  };
  // Counted first, so that the rows take no more memory than they need.
  std::vector<int64_t> begins(items_.size() + 1, 0);
  for_each_pair([&](int64_t i, int64_t j) {
    ++num_pairs_;
    num_member_pairs_ += std::ssize((*this)[i].members) * std::ssize((*this)[j].members);
    ++begins[index(i) + 1];
    ++begins[index(j) + 1];
  });
  if (2 * num_pairs_ > kMostStoredNeighbours) return;
  for (size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  first_neighbour_ = begins;
  neighbours_.resize(index(begins.back()));
  for_each_pair([&](int64_t i, int64_t j) {
    neighbours_[index(begins[index(i)]++)] = j;
    neighbours_[index(begins[index(j)]++)] = i;
  });
  for (size_t i = 0; i < items_.size(); ++i) {
    const auto row = neighbours_.begin();
    std::sort(row + first_neighbour_[i], row + first_neighbour_[i + 1]);
  }
}

std::span<const int64_t> Instance::neighbours(int64_t item, std::vector<int64_t>& scratch) const {
  if (!first_neighbour_.empty()) {
    const int64_t first = first_neighbour_[index(item)];
    const int64_t last = first_neighbour_[index(item + 1)];
    return std::span(neighbours_).subspan(index(first), index(last - first));
  }
  scratch.clear();
  const Interval lifetime = lifetimes_[index(item)];
  for (int64_t j = 0; j < size(); ++j) {
    if (j == item || !lifetime.meets(lifetimes_[index(j)])) continue;
    const bool are_plain = plain_size_[index(item)] >= 0 && plain_size_[index(j)] >= 0;
    if (are_plain || meet((*this)[item], (*this)[j])) scratch.push_back(j);
  }
  return scratch;
}

std::span<const int64_t> Instance::overlaps_of_step(int64_t step) const {
  return overlaps_of_step_[index(step)];
}

std::span<const int64_t> Instance::coupled_steps_of(int64_t item) const {
  return coupled_steps_of_[index(item)];
}

Gap Instance::gap_of(const ItemOverlap& overlap, Run run) const {
  const Member& out = (*this)[overlap.output_item].members[index(overlap.output_member)];
  const Member& in = (*this)[overlap.input_item].members[index(overlap.input_member)];
  // Of the distance from the output's first byte to the input's.
  Gap gap{-in.size, out.size};
  const bool forward = run != Run::kReverse && overlap.forward;
  const bool reverse = run != Run::kForward && overlap.reverse;
  if (forward) gap.above = std::min(gap.above, *overlap.forward);
  if (reverse) gap.below = std::max(gap.below, -*overlap.reverse);
  // From the members' distance to the bases'.
  const int64_t shift = out.start - in.start;
  return {gap.below + shift, gap.above + shift};
}

void Instance::add_gaps_around(int64_t i, std::span<const int64_t> bases, std::span<const Run> runs,
                               std::vector<int64_t>& scratch, std::vector<Gap>& gaps) const {
  const std::vector<int64_t>& partners = partners_of_[index(i)];
  auto partner = partners.begin();
  const int64_t size = plain_size_[index(i)];
  for (const int64_t other : neighbours(i, scratch)) {
    const int64_t base = bases[index(other)];
    if (base < 0) continue;
    const int64_t other_size = plain_size_[index(other)];
    while (partner != partners.end() && *partner < other) ++partner;
    const bool is_partner = partner != partners.end() && *partner == other;
    // Nearly all pairs of large instances: the planner's time is that of this line.
    if (size >= 0 && other_size >= 0 && !is_partner) {
      gaps.push_back({base - size, base + other_size});
      continue;
    }
    const size_t first = gaps.size();
    add_gaps(other, i, runs, gaps);
    for (size_t g = first; g < gaps.size(); ++g) {
      gaps[g].below += base;
      gaps[g].above += base;
    }
  }
}

void Instance::add_gaps(int64_t i, int64_t j, std::span<const Run> runs,
                        std::vector<Gap>& gaps) const {
  const std::vector<int64_t>& of_i = overlaps_of_item_[index(i)];
  const std::vector<int64_t>& of_j = overlaps_of_item_[index(j)];
  // By the buffer of i: groups have thousands of members, each of which may have a partner.
  using Between = std::pair<int64_t, const ItemOverlap*>;
  std::vector<Between> between;
  for (const int64_t o : of_i.size() < of_j.size() ? of_i : of_j) {
    const ItemOverlap& overlap = overlaps_[index(o)];
    if (overlap.output_item == i && overlap.input_item == j) {
      between.emplace_back((*this)[i].members[index(overlap.output_member)].buffer, &overlap);
    } else if (overlap.output_item == j && overlap.input_item == i) {
      between.emplace_back((*this)[i].members[index(overlap.input_member)].buffer, &overlap);
    }
  }
  std::ranges::stable_sort(between, {}, &Between::first);
  const auto partner_of = [&](const ItemOverlap& overlap) {
    const bool is_output = overlap.output_item == j;
    const int64_t member = is_output ? overlap.output_member : overlap.input_member;
    return (*this)[j].members[index(member)].buffer;
  };
  for (const Member& x : (*this)[i].members) {
    const auto first = std::ranges::lower_bound(between, x.buffer, {}, &Between::first);
    const auto last = std::ranges::upper_bound(between, x.buffer, {}, &Between::first);
    for (const Member& y : (*this)[j].members) {
      if (!x.lifetime.meets(y.lifetime)) continue;
      const auto found = std::find_if(
          first, last, [&](const Between& b) { return partner_of(*b.second) == y.buffer; });
      const ItemOverlap* overlap = found == last ? nullptr : found->second;
      Gap gap{x.start - y.start - y.size, x.start - y.start + x.size};
      if (overlap != nullptr) {
        gap = gap_of(*overlap, runs[index(overlap->step)]);
        if (overlap->output_item == j) gap = {-gap.above, -gap.below};
      }
      if (!gap.empty()) gaps.push_back(gap);
    }
  }
}

bool Instance::step_allows(int64_t step, Run run, std::span<const int64_t> bases) const {
  return std::ranges::all_of(overlaps_of_step(step), [&](int64_t o) {
    const ItemOverlap& overlap = overlaps_[index(o)];
    const int64_t out = bases[index(overlap.output_item)];
    const int64_t in = bases[index(overlap.input_item)];
    return out < 0 || in < 0 || !gap_of(overlap, run).holds(in - out);
  });
}

int64_t height_of(const Instance& instance, std::span<const int64_t> bases) {
  int64_t height = 0;
  for (int64_t i = 0; i < instance.size(); ++i)
    height = std::max(height, bases[index(i)] + instance[i].extent);
  return height;
}

}  // namespace ingot::plan
