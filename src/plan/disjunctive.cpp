// SPDX-License-Identifier: Apache-2.0
#include "plan/disjunctive.h"

#include <algorithm>
#include <set>

namespace ingot::plan {
namespace {

constexpr int64_t kPairsPerNode = 500;  // a node over more pairs counts as several

size_t index(int64_t i) { return static_cast<size_t>(i); }

}  // namespace

Disjunctive::Disjunctive(const Instance& instance) : instance_(instance) {
  std::vector<int64_t> scratch;
  for (int64_t i = 0; i < instance.size(); ++i)
    for (const int64_t j : instance.neighbours(i, scratch))
      if (i < j) pairs_.emplace_back(i, j);
  add_cliques();
}

void Disjunctive::add_cliques() {
  struct Event {
    int64_t time;
    bool begins;
    int64_t item, member;
    auto operator<=>(const Event&) const = default;
  };
  std::vector<Event> events;
  for (int64_t i = 0; i < instance_.size(); ++i) {
    for (size_t m = 0; m < instance_[i].members.size(); ++m) {
      const Interval lifetime = instance_[i].members[m].lifetime;
      events.push_back({lifetime.begin, true, i, static_cast<int64_t>(m)});
      events.push_back({lifetime.end, false, i, static_cast<int64_t>(m)});
    }
  }
  std::ranges::sort(events);
  std::set<std::pair<int64_t, int64_t>> overlapping;  // items
  for (const ItemOverlap& overlap : instance_.overlaps())
    overlapping.insert(std::minmax(overlap.output_item, overlap.input_item));
  std::set<std::pair<int64_t, int64_t>> live;  // item, member
  bool grown = false;
  for (const Event& event : events) {
    if (event.begins) {
      live.emplace(event.item, event.member);
      grown = true;
      continue;
    }
    if (grown) {
      Clique clique;
      for (const auto& part : live) {
        const int64_t item = part.first;
        const bool free = std::ranges::none_of(clique.items, [&](int64_t other) {
          return other == item || overlapping.contains(std::minmax(other, item));
        });
        if (!free) continue;
        clique.items.push_back(item);
        clique.members.push_back(instance_[item].members[index(part.second)]);
      }
      cliques_.push_back(std::move(clique));
    }
    grown = false;
    live.erase({event.item, event.member});
  }
}

void Disjunctive::undo(const Mark& mark) {
  for (; changes_.size() > mark.changes; changes_.pop_back())
    bases_[index(changes_.back().item)] = changes_.back().old_base;
  for (; arcs_from_.size() > mark.arcs; arcs_from_.pop_back())
    arcs_[index(arcs_from_.back())].pop_back();
  for (; decided_.size() > mark.runs; decided_.pop_back())
    runs_[index(decided_.back())] = Run::kFree;
}

bool Disjunctive::raise(int64_t item, int64_t base) {
  if (base <= bases_[index(item)]) return true;
  const Item& it = instance_[item];
  base = it.align(base);
  if (it.fixed || base + it.extent > height_) return false;
  changes_.push_back({item, bases_[index(item)]});
  bases_[index(item)] = base;
  if (!queued_[index(item)]) queue_.push_back(item);
  queued_[index(item)] = true;
  return true;
}

bool Disjunctive::propagate() {
  bool possible = true;
  int64_t patience = 64 * instance_.size() + 1024;  // a cycle of small steps ends at the height
  for (size_t head = 0; head < queue_.size(); ++head) {
    const int64_t item = queue_[head];
    queued_[index(item)] = false;
    if (!possible) continue;
    if (--patience < 0) {
      gave_up_ = true;
      possible = false;
      continue;
    }
    for (const Arc& arc : arcs_[index(item)])
      possible = possible && raise(arc.to, bases_[index(item)] + arc.weight);
  }
  queue_.clear();
  return possible && cliques_fit();
}

// Whether the members of each clique can be stacked from where they may begin.
bool Disjunctive::cliques_fit() {
  std::vector<std::pair<int64_t, int64_t>> parts;
  for (const Clique& clique : cliques_) {
    parts.clear();
    for (size_t m = 0; m < clique.members.size(); ++m)
      parts.emplace_back(bases_[index(clique.items[m])] + clique.members[m].start,
                         clique.members[m].size);
    std::ranges::sort(parts);
    int64_t top = 0;
    for (const auto& [begin, size] : parts) top = std::max(top, begin) + size;
    if (top > height_) return false;
  }
  return true;
}

bool Disjunctive::add_arc(int64_t from, int64_t to, int64_t weight) {
  arcs_[index(from)].push_back({to, weight});
  arcs_from_.push_back(from);
  return raise(to, bases_[index(from)] + weight) && propagate();
}

// The broken pair whose cheaper way out raises a base most; else a step that cannot run.
Disjunctive::Break Disjunctive::find_break() {
  Break worst;
  int64_t worst_cost = -1;
  for (const auto& [i, j] : pairs_) {
    gaps_.clear();
    instance_.add_gaps(i, j, runs_, gaps_);
    const int64_t x = bases_[index(j)] - bases_[index(i)];
    for (const Gap& gap : gaps_) {
      if (!gap.holds(x)) continue;
      const int64_t cost = std::min(gap.above - x, x - gap.below);
      if (cost <= worst_cost) continue;
      worst_cost = cost;
      worst = {i, j, gap};
    }
  }
  for (size_t s = 0; worst.first < 0 && worst.step < 0 && s < runs_.size(); ++s) {
    const auto step = static_cast<int64_t>(s);
    if (runs_[s] == Run::kFree && !instance_.step_allows(step, Run::kForward, bases_) &&
        !instance_.step_allows(step, Run::kReverse, bases_))
      worst.step = step;
  }
  return worst;
}

Verdict Disjunctive::follow(Placement& best, int64_t bound, bool possible) {
  return possible ? search(best, bound) : Verdict::kImpossible;
}

// Recursion is as deep as there are pairs and steps.
Verdict Disjunctive::search(Placement& best, int64_t bound) {
  visited_ += 1 + static_cast<int64_t>(pairs_.size()) / kPairsPerNode;
  if (visited_ > limit_) return Verdict::kOutOfNodes;
  if (deadline_ && ++until_clock_ % 64 == 0 && is_over(deadline_)) limit_ = visited_;
  if (height_of(instance_, bases_) > height_) return Verdict::kImpossible;
  const Break broken = find_break();
  const Mark here = mark();
  if (broken.step >= 0) {
    for (const Run run : {Run::kForward, Run::kReverse}) {
      runs_[index(broken.step)] = run;
      decided_.push_back(broken.step);
      const Verdict verdict = search(best, bound);
      undo(here);
      if (verdict != Verdict::kImpossible) return verdict;
    }
    return Verdict::kImpossible;
  }
  if (broken.first < 0) {
    best = {bases_, runs_, height_of(instance_, bases_)};
    height_ = best.height - 1;
    return best.height <= bound ? Verdict::kPacked : Verdict::kImpossible;
  }
  const int64_t x = bases_[index(broken.second)] - bases_[index(broken.first)];
  const bool second_first = broken.gap.above - x <= x - broken.gap.below;
  for (const bool up : {second_first, !second_first}) {
    const bool possible = up ? add_arc(broken.first, broken.second, broken.gap.above)
                             : add_arc(broken.second, broken.first, -broken.gap.below);
    const Verdict verdict = follow(best, bound, possible);
    undo(here);
    if (verdict != Verdict::kImpossible) return verdict;
  }
  return Verdict::kImpossible;
}

Verdict Disjunctive::improve(Placement& best, int64_t bound, int64_t nodes, Deadline deadline) {
  if (best.height <= bound) return Verdict::kPacked;
  return start(best, best.height - 1, bound, nodes, deadline);
}

Verdict Disjunctive::decide(Placement& best, int64_t height, int64_t nodes, Deadline deadline) {
  return start(best, height, height, nodes, deadline);
}

// Looks for placements of at most `height`, then lower ones down to `bound`.
Verdict Disjunctive::start(Placement& best, int64_t height, int64_t bound, int64_t nodes,
                           Deadline deadline) {
  const size_t n = index(instance_.size());
  bases_.assign(n, 0);
  runs_ = instance_.decided();
  arcs_.assign(n, {});
  changes_.clear();
  arcs_from_.clear();
  decided_.clear();
  queue_.clear();
  queued_.assign(n, false);
  height_ = height;
  limit_ = visited_ + nodes;
  deadline_ = deadline;
  gave_up_ = false;
  bool possible = true;
  for (int64_t i = 0; i < instance_.size(); ++i) {
    const Item& item = instance_[i];
    bases_[index(i)] = item.fixed ? *item.fixed : item.align(0);
    possible = possible && bases_[index(i)] + item.extent <= height_;
  }
  const Verdict verdict = follow(best, bound, possible && cliques_fit());
  return verdict == Verdict::kImpossible && gave_up_ ? Verdict::kOutOfNodes : verdict;
}

}  // namespace ingot::plan
