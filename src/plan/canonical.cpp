// SPDX-License-Identifier: Apache-2.0
#include "plan/canonical.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "support/arithmetic.h"
#include "support/check.h"

namespace ingot::plan {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr size_t kRemembered = size_t{1} << 18;
constexpr int64_t kNodesPerClock = 256;    // between looks at the clock
constexpr int64_t kSectionsPerNode = 256;  // a node over more sections counts as several
// Lists of so many pairs take 100 MB; the recursion is as deep as there are items.
constexpr int64_t kMostPairs = int64_t{1} << 21;
constexpr int64_t kMostItems = 10'000;
// Starting over where there are more pairs than the first counts as a node for each of the second.
constexpr int64_t kFreePairs = 100'000;
constexpr int64_t kPairsPerNode = 4'000;

size_t index(int64_t i) { return static_cast<size_t>(i); }

uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

}  // namespace

bool Canonical::applies(const Instance& instance) {
  if (!instance.overlaps().empty() || instance.size() > kMostItems) return false;
  if (instance.num_pairs() > kMostPairs) return false;
  for (int64_t i = 0; i < instance.size(); ++i) {
    const Item& item = instance[i];
    if (item.members.size() > 1 || item.residue != 0) return false;
    // A tied group of which but one member takes space may reach beyond it.
    if (!item.members.empty() &&
        (item.members[0].start != 0 || item.members[0].size != item.extent))
      return false;
  }
  return true;
}

Canonical::Canonical(const Instance& instance) : instance_(instance), n_(instance.size()) {
  choose_unit(instance);
  for (int64_t i = 0; i < n_; ++i) {
    const Item& item = instance[i];
    Given given;
    given.size = ceil_div(item.extent, unit_);
    given.alignment = std::max<int64_t>(1, item.alignment / unit_);
    given.fixed = item.fixed ? *item.fixed / unit_ : -1;
    given.bytes = item.extent;
    given.hash = mix(static_cast<uint64_t>(i));
    given_.push_back(given);
  }
  add_sections(instance);
  add_equals();
}

void Canonical::choose_unit(const Instance& instance) {
  // Without alignments, offsets are sums of sizes and so multiples of their common divisor.
  bool all_sizes = true;
  int64_t divisor = 0;
  for (int64_t i = 0; i < n_; ++i) {
    const Item& item = instance[i];
    unit_ = i == 0 ? item.alignment : std::gcd(unit_, item.alignment);
    divisor = std::gcd(divisor, item.extent);
    all_sizes = all_sizes && item.alignment == 1 && !item.fixed;
  }
  if (all_sizes) unit_ = std::max<int64_t>(1, divisor);
}

void Canonical::add_sections(const Instance& instance) {
  // A section closes when an item ends after another one has begun.
  struct Event {
    int64_t time;
    bool begins;
    int64_t item;
    auto operator<=>(const Event&) const = default;
  };
  std::vector<Event> events;
  for (int64_t i = 0; i < n_; ++i) {
    if (instance[i].members.empty()) continue;
    events.push_back({instance[i].lifetime.begin, true, i});
    events.push_back({instance[i].lifetime.end, false, i});
  }
  std::ranges::sort(events);
  bool open = false;
  for (const Event& event : events) {
    Given& given = given_[index(event.item)];
    if (event.begins) {
      given.first = num_sections_;
      open = true;
      continue;
    }
    if (open) ++num_sections_;
    open = false;
    given.last = num_sections_;
  }
  load_.assign(index(num_sections_), 0);
  for (const Given& given : given_)
    for (int64_t s = given.first; s < given.last; ++s) load_[index(s)] += given.size;
  blame_.assign(index(num_sections_), 1);
}

void Canonical::add_equals() {
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, int64_t> seen;
  for (int64_t i = 0; i < n_; ++i) {
    Given& given = given_[index(i)];
    given.equals = i;
    if (given.fixed >= 0) continue;
    const std::tuple key(given.first, given.last, given.bytes, given.alignment);
    given.equals = seen.emplace(key, i).first->second;
    given.hash = mix(static_cast<uint64_t>(given.equals));
  }
}

// Items of loaded sections first, then long ones; some runs put it another way. Every other run
// weighs loads by blame, little or much, and all but the first two disturb the order.
std::vector<int64_t> Canonical::preorder(int64_t variant) const {
  constexpr double kNoise = 0.1;
  const bool long_first = variant % 16 == 8;
  const bool area_second = variant % 16 == 4;
  const double most_blame = blame_.empty() ? 1 : *std::max_element(blame_.begin(), blame_.end());
  const auto weight = [&](int64_t section) {
    if (variant % 4 == 0) return 1.0;
    const double blame = blame_[index(section)] / most_blame;
    return variant % 4 == 2 ? 1 + blame / 2 : std::sqrt(blame);
  };
  uint64_t random = mix(static_cast<uint64_t>(variant));
  std::vector<std::tuple<double, double, double, int64_t>> keys;
  for (int64_t i = 0; i < n_; ++i) {
    const Given& given = given_[index(i)];
    double load = 0;
    for (int64_t s = given.first; s < given.last; ++s)
      load = std::max(load, static_cast<double>(load_[index(s)]) * weight(s));
    random = mix(random);
    const double noise =
        variant < 2 ? 0 : kNoise * (static_cast<double>(random % 1024) / 1024 - 0.5);
    const double length = static_cast<double>(given.last - given.first) * (1 + noise);
    const double area = length * static_cast<double>(given.size);
    if (long_first)
      keys.emplace_back(-length, -area, -load, i);
    else if (area_second)
      keys.emplace_back(-load, -area, -length, i);
    else
      keys.emplace_back(-load, -length, -area, i);
  }
  std::ranges::sort(keys);
  std::vector<int64_t> order;
  for (const auto& key : keys) order.push_back(std::get<3>(key));
  return order;
}

void Canonical::reset_items(int64_t height) {
  std::map<int64_t, int64_t> last_equal;
  next_equal_.assign(index(n_), -1);
  first_.clear(), last_.clear(), size_.clear(), alignment_.clear(), fixed_.clear();
  highest_.clear(), base_.clear();
  for (int64_t k = 0; k < n_; ++k) {
    const Given& given = given_[index(order_[index(k)])];
    first_.push_back(given.first);
    last_.push_back(given.last);
    size_.push_back(given.size);
    alignment_.push_back(given.alignment);
    fixed_.push_back(given.fixed);
    highest_.push_back(floor_div(height - given.bytes, unit_));
    base_.push_back(std::max<int64_t>(0, given.fixed));
    const auto [equal, is_new] = last_equal.emplace(given.equals, k);
    if (!is_new) next_equal_[index(std::exchange(equal->second, k))] = k;
  }
  lowest_ = base_;
  placed_.assign(index(n_), 0);
  support_.assign(index(n_), -1);
  reset_neighbours();
}

// The rows of the instance in preorder, each ascending: every item is entered in turn.
void Canonical::reset_neighbours() {
  std::vector<int64_t> scratch;
  std::vector<int64_t> rank(index(n_));
  first_neighbour_.assign(1, 0);
  for (int64_t i = 0; i < n_; ++i) {
    const int64_t item = order_[index(i)];
    rank[index(item)] = i;
    first_neighbour_.push_back(first_neighbour_.back() +
                               std::ssize(instance_.neighbours(item, scratch)));
  }
  neighbours_.resize(index(first_neighbour_.back()));
  std::vector<int64_t> filled(first_neighbour_.begin(), first_neighbour_.end() - 1);
  for (int64_t j = 0; j < n_; ++j)
    for (const int64_t other : instance_.neighbours(order_[index(j)], scratch))
      neighbours_[index(filled[index(rank[index(other)])]++)] = j;
}

void Canonical::reset_rows() {
  floor_.assign(index(num_sections_), 0);
  total_.assign(index(num_sections_), 0);
  count_.assign(index(num_sections_), 0);
  crossing_.assign(index(num_sections_ + 1), 0);
  queued_.assign(index(num_sections_), 0);
  queue_.clear();
  for (int64_t i = 0; i < n_; ++i) {
    for (int64_t s = first_[index(i)]; s < last_[index(i)]; ++s) {
      total_[index(s)] += size_[index(i)];
      ++count_[index(s)];
      if (s > first_[index(i)]) ++crossing_[index(s)];
    }
  }
  row_.assign(1, 0);
  for (int64_t s = 0; s < num_sections_; ++s) row_.push_back(row_.back() + count_[index(s)]);
  row_items_.resize(index(row_.back()));
  slot_.resize(index(row_.back()));
  first_slot_.clear();
  std::vector<int64_t> filled(row_.begin(), row_.end());
  int64_t num_slots = 0;
  for (int64_t i = 0; i < n_; ++i) {
    first_slot_.push_back(num_slots - first_[index(i)]);
    num_slots += last_[index(i)] - first_[index(i)];
    for (int64_t s = first_[index(i)]; s < last_[index(i)]; ++s) {
      slot_[index(first_slot_.back() + s)] = filled[index(s)];
      row_items_[index(filled[index(s)]++)] = i;
    }
  }
}

// False if the height is impossible at first sight.
bool Canonical::reset(int64_t height, int64_t variant) {
  if (height != height_bytes_) failed_.assign(kRemembered, 0);
  height_bytes_ = height;
  height_ = ceil_div(height, unit_);
  order_ = preorder(variant);
  reset_items(height);
  reset_rows();
  trail_.clear();
  parts_.clear();
  pool_.clear();
  bool possible = true;
  for (int64_t i = 0; i < n_; ++i) {
    possible = possible && lowest_[index(i)] <= highest_[index(i)];
    if (first_[index(i)] < last_[index(i)]) pool_.push_back(i);
  }
  for (int64_t s = 0; s < num_sections_; ++s) {
    possible = possible && total_[index(s)] <= height_;
    queued_[index(s)] = 1;
    queue_.push_back(s);
  }
  return possible;
}

void Canonical::undo(size_t mark) {
  while (trail_.size() > mark) {
    *trail_.back().where = trail_.back().old;
    trail_.pop_back();
  }
}

void Canonical::raise(int64_t item, int64_t offset) {
  const int64_t old = lowest_[index(item)];
  set(lowest_[index(item)], offset);
  for (int64_t s = first_[index(item)]; s < last_[index(item)]; ++s) {
    if (floor_[index(s)] < old || queued_[index(s)] != 0) continue;
    queued_[index(s)] = 1;
    queue_.push_back(s);
  }
}

// Moves a placed item behind the unplaced ones. Undoing the count takes it back in.
void Canonical::remove_from_row(int64_t section, int64_t item) {
  const int64_t last = row_[index(section)] + count_[index(section)] - 1;
  int64_t& slot = slot_[index(first_slot_[index(item)] + section)];
  const int64_t other = row_items_[index(last)];
  int64_t& other_slot = slot_[index(first_slot_[index(other)] + section)];
  std::swap(row_items_[index(slot)], row_items_[index(last)]);
  std::swap(slot, other_slot);
  set(count_[index(section)], count_[index(section)] - 1);
}

// Lifts a waiting item - it cannot be at its base - to the lowest top of an unplaced neighbour.
bool Canonical::raise_one(int64_t item, int64_t from) {
  const int64_t lowest = lowest_[index(item)];
  const auto top = [&](int64_t j) { return std::max(lowest_[index(j)], from) + size_[index(j)]; };
  int64_t& support = support_[index(item)];
  if (support >= 0 && placed_[index(support)] == 0 && top(support) <= lowest) return true;
  int64_t least = kNever;
  for (int64_t k = first_neighbour_[index(item)]; k < first_neighbour_[index(item) + 1]; ++k) {
    const int64_t j = neighbours_[index(k)];
    if (placed_[index(j)] != 0 || top(j) >= least) continue;
    least = top(j);
    support = j;
    if (least <= lowest) return true;
  }
  if (least == kNever || fixed_[index(item)] >= 0) return false;
  least = round_up(least, alignment_[index(item)]);
  if (least > highest_[index(item)]) return false;
  if (least > lowest) raise(item, least);
  return true;
}

// To a fixed point, as a waiting item may be the support of another.
bool Canonical::raise_waiting(const Part& part, int64_t from) {
  for (bool again = true; again;) {
    const size_t before = trail_.size();
    for (int64_t k = part.begin; k < part.end; ++k) {
      const int64_t i = pool_[index(k)];
      if (lowest_[index(i)] != base_[index(i)] && !raise_one(i, from)) return false;
    }
    again = trail_.size() > before;
  }
  return true;
}

// Draws all conclusions; no unplaced item of the part is below `from`.
bool Canonical::propagate(const Part& part, int64_t from) {
  bool possible = raise_waiting(part, from);
  for (const int64_t s : queue_) {
    queued_[index(s)] = 0;
    if (!possible || count_[index(s)] == 0) continue;
    const int64_t old = floor_[index(s)];
    int64_t floor = kNever;
    const int64_t begin = row_[index(s)];
    for (int64_t r = begin; r < begin + count_[index(s)] && floor > old; ++r)
      floor = std::min(floor, lowest_[index(row_items_[index(r)])]);
    if (floor > old) set(floor_[index(s)], floor);
  }
  queue_.clear();
  for (int64_t s = part.first; s < part.last && possible; ++s) {
    if (count_[index(s)] == 0 || std::max(floor_[index(s)], from) + total_[index(s)] <= height_)
      continue;
    blame_[index(s)] += 1;
    possible = false;
  }
  return possible;
}

// Places an item at its base; `part` no longer holds it.
bool Canonical::place(int64_t item, const Part& part) {
  set(placed_[index(item)], 1);
  cut_ = false;
  const int64_t offset = base_[index(item)];
  const int64_t top = offset + size_[index(item)];
  for (int64_t s = first_[index(item)]; s < last_[index(item)]; ++s) {
    remove_from_row(s, item);
    set(total_[index(s)], total_[index(s)] - size_[index(item)]);
    if (s > first_[index(item)]) {
      set(crossing_[index(s)], crossing_[index(s)] - 1);
      cut_ = cut_ || crossing_[index(s)] == 0;
    }
    if (floor_[index(s)] < offset || queued_[index(s)] != 0) continue;
    queued_[index(s)] = 1;
    queue_.push_back(s);
  }
  bool possible = true;
  for (int64_t k = first_neighbour_[index(item)]; k < first_neighbour_[index(item) + 1] && possible;
       ++k) {
    const int64_t j = neighbours_[index(k)];
    if (placed_[index(j)] != 0 || base_[index(j)] >= top) continue;
    const int64_t base = round_up(top, alignment_[index(j)]);
    possible = base <= highest_[index(j)] && fixed_[index(j)] < 0;
    set(base_[index(j)], base);
    if (lowest_[index(j)] < base) raise(j, base);
  }
  if (possible) return propagate(part, offset);
  for (const int64_t s : queue_) queued_[index(s)] = 0;
  queue_.clear();
  return false;
}

// Excludes the base of an item, and so that of its equals.
bool Canonical::pass(int64_t item, const Part& part) {
  const int64_t offset = base_[index(item)];
  for (int64_t i = item; i >= 0; i = next_equal_[index(i)])
    if (placed_[index(i)] == 0 && lowest_[index(i)] == offset) raise(i, offset + 1);
  return propagate(part, offset);
}

uint64_t Canonical::key_of(const Part& part, int64_t from) const {
  uint64_t key = 0;
  for (int64_t k = part.begin; k < part.end; ++k) {
    const int64_t i = pool_[index(k)];
    const int64_t lowest = std::max(lowest_[index(i)], from);
    const auto state = static_cast<uint64_t>(2 * lowest + (lowest == base_[index(i)] ? 1 : 0));
    key += mix(given_[index(order_[index(i)])].hash ^ state);
  }
  return key;
}

// Solves the parts between which no unplaced item crosses, one after the other. Recursion is as
// deep as there are items.
Verdict Canonical::solve(Part part, int64_t from) {
  if (part.begin == part.end) return Verdict::kPacked;
  if (!cut_) return branch(part, from);
  const size_t begin = parts_.size();
  const auto items = pool_.begin();
  int64_t first = part.first;
  int64_t rest = part.begin;
  for (int64_t s = part.first; s < part.last; ++s) {
    if (s + 1 < part.last && crossing_[index(s + 1)] > 0) continue;
    const auto middle = std::partition(items + rest, items + part.end,
                                       [&](int64_t i) { return last_[index(i)] <= s + 1; });
    const int64_t end = middle - items;
    if (end > rest) parts_.push_back({first, s + 1, rest, end});
    rest = end;
    first = s + 1;
  }
  std::ranges::sort(parts_.begin() + static_cast<int64_t>(begin), parts_.end(), {},
                    [](const Part& p) { return std::pair(p.last - p.first, p.first); });
  Verdict verdict = Verdict::kPacked;
  for (size_t p = begin; p < parts_.size() && verdict == Verdict::kPacked; ++p)
    verdict = branch(parts_[p], from);
  parts_.resize(begin);
  return verdict;
}

int64_t Canonical::least_top_of(const Part& part) const {
  int64_t least = kNever;
  for (int64_t k = part.begin; k < part.end; ++k) {
    const int64_t i = pool_[index(k)];
    least = std::min(least, base_[index(i)] + size_[index(i)]);
  }
  return least;
}

// Where in the pool the first item by (offset, preorder) stands that may lie at its base; -1: none.
int64_t Canonical::next_candidate(const Part& part) const {
  int64_t least = kNever;
  for (int64_t k = part.begin; k < part.end; ++k) {
    const int64_t i = pool_[index(k)];
    const int64_t base = base_[index(i)];
    // Without branches, as nobody can foresee them.
    const int64_t key = lowest_[index(i)] == base ? base * n_ + i : kNever;
    least = std::min(least, key);
  }
  if (least == kNever) return -1;
  const auto begin = pool_.begin() + part.begin;
  return std::find(begin, pool_.begin() + part.end, least % n_) - pool_.begin();
}

Verdict Canonical::branch(Part part, int64_t from) {
  visited_ += 1 + (part.last - part.first) / kSectionsPerNode;
  if (visited_ > limit_) return Verdict::kOutOfNodes;
  if (deadline_ && --until_clock_ <= 0) {
    until_clock_ = kNodesPerClock;
    if (is_over(deadline_)) limit_ = visited_;
  }
  const uint64_t key = key_of(part, from);
  if (failed_[key % kRemembered] == key) return Verdict::kImpossible;
  const size_t start = trail_.size();
  const int64_t least_top = least_top_of(part);  // an offset at or above it would be dominated
  while (true) {
    const int64_t at = next_candidate(part);
    if (at < 0) break;
    const int64_t next = pool_[index(at)];
    if (base_[index(next)] >= least_top) break;
    const size_t mark = trail_.size();
    std::swap(pool_[index(at)], pool_[index(part.end - 1)]);
    const Part rest{part.first, part.last, part.begin, part.end - 1};
    const Verdict verdict =
        place(next, rest) ? solve(rest, base_[index(next)]) : Verdict::kImpossible;
    if (verdict != Verdict::kImpossible) return verdict;
    undo(mark);
    if (!pass(next, part)) break;
  }
  undo(start);
  failed_[key % kRemembered] = key;
  return Verdict::kImpossible;
}

Verdict Canonical::search(int64_t height, int64_t nodes, int64_t variant, Deadline deadline) {
  deadline_ = deadline;
  limit_ = visited_ + nodes;
  visited_ += std::max<int64_t>(0, instance_.num_pairs() - kFreePairs) / kPairsPerNode;
  bool possible = reset(height, variant);
  const Part all{0, num_sections_, 0, static_cast<int64_t>(pool_.size())};
  possible = propagate(all, 0) && possible;
  cut_ = true;
  const Verdict verdict = possible ? solve(all, 0) : Verdict::kImpossible;
  if (verdict == Verdict::kPacked) {
    bases_.assign(index(n_), 0);
    for (int64_t k = 0; k < n_; ++k) bases_[index(order_[index(k)])] = base_[index(k)] * unit_;
  }
  return verdict;
}

}  // namespace ingot::plan
