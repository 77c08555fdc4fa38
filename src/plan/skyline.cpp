// SPDX-License-Identifier: Apache-2.0
#include "plan/skyline.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "support/arithmetic.h"
#include "support/check.h"

namespace ingot::plan {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr size_t kRemembered = size_t{1} << 20;
constexpr int64_t kNodesPerClock = 1024;   // between looks at the clock
constexpr int64_t kSectionsPerNode = 256;  // a node over more sections counts as several

size_t index(int64_t i) { return static_cast<size_t>(i); }

uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

}  // namespace

bool Skyline::applies(const Instance& instance) {
  if (!instance.overlaps().empty()) return false;
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

Skyline::Skyline(const Instance& instance) : n_(instance.size()) {
  for (int64_t i = 0; i < n_; ++i) {
    const Item& item = instance[i];
    unit_ = i == 0 ? item.alignment : std::gcd(unit_, item.alignment);
  }
  // Without alignments, offsets are sums of sizes and so multiples of their common divisor.
  bool all_sizes = true;
  int64_t divisor = 0;
  for (int64_t i = 0; i < n_; ++i) {
    divisor = std::gcd(divisor, instance[i].extent);
    all_sizes = all_sizes && instance[i].alignment == 1 && !instance[i].fixed;
  }
  if (all_sizes) unit_ = std::max<int64_t>(1, divisor);
  for (int64_t i = 0; i < n_; ++i) {
    const Item& item = instance[i];
    byte_size_.push_back(item.extent);
    size_.push_back(ceil_div(item.extent, unit_));
    alignment_.push_back(std::max<int64_t>(1, item.alignment / unit_));
    fixed_.push_back(item.fixed ? *item.fixed / unit_ : -1);
    item_hash_.push_back(mix(static_cast<uint64_t>(2 * i)));
  }
  add_sections(instance);
  std::map<std::pair<int64_t, int64_t>, int64_t> kinds;
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, int64_t> last_equal;
  for (int64_t i = 0; i < n_; ++i) {
    const size_t at = index(i);
    // Swapping a stack keeps its height only if no item ends in padding.
    const bool plain = alignment_[at] == 1 && fixed_[at] < 0 && size_[at] * unit_ == byte_size_[at];
    const auto next_kind = static_cast<int64_t>(kinds.size());
    kind_.push_back(plain ? kinds.emplace(std::pair(first_[at], last_[at]), next_kind).first->second
                          : -1 - i);
    int64_t twin = -1;
    if (fixed_[at] < 0) {
      const std::tuple key(first_[at], last_[at], byte_size_[at], alignment_[at]);
      const auto found = last_equal.find(key);
      if (found != last_equal.end()) twin = found->second;
      last_equal[key] = i;
    }
    twin_.push_back(twin);
  }
  failed_.assign(kRemembered, 0);
  blame_.assign(index(num_sections_), 1);
}

void Skyline::add_sections(const Instance& instance) {
  // A section closes when an item ends after another one has begun.
  struct Event {
    int64_t time;
    bool begins;
    int64_t item;
    auto operator<=>(const Event&) const = default;
  };
  std::vector<Event> events;
  first_.assign(index(n_), 0);
  last_.assign(index(n_), 0);
  for (int64_t i = 0; i < n_; ++i) {
    if (instance[i].members.empty()) continue;
    events.push_back({instance[i].lifetime.begin, true, i});
    events.push_back({instance[i].lifetime.end, false, i});
  }
  std::ranges::sort(events);
  bool open = false;
  for (const Event& event : events) {
    if (event.begins) {
      first_[index(event.item)] = num_sections_;
      open = true;
      continue;
    }
    if (open) ++num_sections_;
    open = false;
    last_[index(event.item)] = num_sections_;
  }
  std::vector<std::vector<int64_t>> rows(index(num_sections_));
  for (int64_t i = 0; i < n_; ++i)
    for (int64_t s = first_[index(i)]; s < last_[index(i)]; ++s) rows[index(s)].push_back(i);
  row_.push_back(0);
  for (const std::vector<int64_t>& row : rows) {
    row_items_.insert(row_items_.end(), row.begin(), row.end());
    row_.push_back(static_cast<int64_t>(row_items_.size()));
  }
  for (int64_t i = 0; i < n_; ++i) {
    first_slot_.push_back(static_cast<int64_t>(slot_.size()));
    slot_.resize(slot_.size() + index(last_[index(i)] - first_[index(i)]));
  }
  for (int64_t s = 0; s < num_sections_; ++s) {
    for (int64_t r = row_[index(s)]; r < row_[index(s + 1)]; ++r) {
      const int64_t i = row_items_[index(r)];
      slot_[index(first_slot_[index(i)] + s - first_[index(i)])] = r;
    }
  }
}

std::span<const int64_t> Skyline::unplaced(int64_t section) const {
  return std::span(row_items_).subspan(index(row_[index(section)]), index(count_[index(section)]));
}

// Moves a placed item behind the unplaced ones. Undoing the count takes it back in.
void Skyline::remove_from_row(int64_t section, int64_t item) {
  const int64_t last = row_[index(section)] + count_[index(section)] - 1;
  int64_t& slot = slot_[index(first_slot_[index(item)] + section - first_[index(item)])];
  const int64_t other = row_items_[index(last)];
  int64_t& other_slot = slot_[index(first_slot_[index(other)] + section - first_[index(other)])];
  std::swap(row_items_[index(slot)], row_items_[index(last)]);
  std::swap(slot, other_slot);
  set(count_[index(section)], count_[index(section)] - 1);
}

int64_t Skyline::floor_key(int64_t section, int64_t floor) const {
  const uint64_t place = mix(static_cast<uint64_t>(2 * section + 1));
  return static_cast<int64_t>(mix(place ^ static_cast<uint64_t>(floor)));
}

void Skyline::reset(int64_t height) {
  if (height != height_bytes_) failed_.assign(kRemembered, 0);
  height_bytes_ = height;
  height_ = ceil_div(height, unit_);
  answers_.clear();
  parts_.clear();
  lowest_.assign(index(n_), 0);
  highest_.assign(index(n_), 0);
  placed_.assign(index(n_), 0);
  offset_.assign(index(n_), 0);
  floor_.assign(index(num_sections_), 0);
  total_.assign(index(num_sections_), 0);
  count_.assign(index(num_sections_), 0);
  top_.assign(index(num_sections_), -1);
  crossing_.assign(index(num_sections_ + 1), 0);
  queued_.assign(index(num_sections_), 0);
  queue_.clear();
  trail_.clear();
  for (int64_t i = 0; i < n_; ++i) {
    const size_t at = index(i);
    highest_[at] = floor_div(height - byte_size_[at], unit_);
    if (fixed_[at] >= 0) lowest_[at] = fixed_[at];
    for (int64_t s = first_[at]; s < last_[at]; ++s) {
      total_[index(s)] += size_[at];
      ++count_[index(s)];
      if (s > first_[at]) ++crossing_[index(s)];
    }
  }
  key_.assign(index(num_sections_), 0);
  for (int64_t s = 0; s < num_sections_; ++s) key_[index(s)] = floor_key(s, 0);
  for (int64_t i = 0; i < n_; ++i)
    if (first_[index(i)] < last_[index(i)])
      key_[index(first_[index(i)])] ^= static_cast<int64_t>(item_hash_[index(i)]);
}

void Skyline::undo(size_t mark) {
  while (trail_.size() > mark) {
    *trail_.back().where = trail_.back().old;
    trail_.pop_back();
  }
}

// Raises a floor and with it the least offsets of the section's items; false if one does not fit.
bool Skyline::raise_floor(int64_t section, int64_t floor) {
  const int64_t old_key = floor_key(section, floor_[index(section)]);
  set(key_[index(section)], key_[index(section)] ^ old_key ^ floor_key(section, floor));
  set(floor_[index(section)], floor);
  if (count_[index(section)] == 0) return true;
  if (floor + total_[index(section)] > height_) {
    blame_[index(section)] += 1;
    return false;
  }
  for (const int64_t i : unplaced(section)) {
    if (lowest_[index(i)] >= floor) continue;
    if (fixed_[index(i)] >= 0) return false;
    const int64_t lowest = round_up(floor, alignment_[index(i)]);
    if (lowest > highest_[index(i)]) return false;
    set(lowest_[index(i)], lowest);
    for (int64_t s = first_[index(i)]; s < last_[index(i)]; ++s) {
      if (queued_[index(s)] != 0) continue;
      queued_[index(s)] = 1;
      queue_.push_back(s);
    }
  }
  return true;
}

bool Skyline::propagate() {
  bool possible = true;
  while (!queue_.empty()) {
    const int64_t s = queue_.back();
    queue_.pop_back();
    queued_[index(s)] = 0;
    if (!possible || count_[index(s)] == 0) continue;
    int64_t least = kNever;
    for (const int64_t i : unplaced(s)) least = std::min(least, lowest_[index(i)]);
    if (least > floor_[index(s)]) possible = raise_floor(s, least);
  }
  return possible;
}

bool Skyline::place(int64_t item) {
  const size_t at = index(item);
  const int64_t base = lowest_[at];
  set(placed_[at], 1);
  set(key_[index(first_[at])], key_[index(first_[at])] ^ static_cast<int64_t>(item_hash_[at]));
  offset_[at] = base;
  bool possible = true;
  for (int64_t s = first_[at]; s < last_[at]; ++s) {
    set(total_[index(s)], total_[index(s)] - size_[at]);
    remove_from_row(s, item);
    set(top_[index(s)], item);
    if (s > first_[at]) set(crossing_[index(s)], crossing_[index(s)] - 1);
    if (queued_[index(s)] == 0) {
      queued_[index(s)] = 1;
      queue_.push_back(s);
    }
  }
  for (int64_t s = first_[at]; s < last_[at] && possible; ++s)
    possible = raise_floor(s, base + size_[at]);
  return propagate() && possible;
}

// Of equal items only the first that is left may be placed, and on an item of the same sections
// only one with a greater index.
bool Skyline::is_first_of_its_kind(int64_t item) const {
  const size_t at = index(item);
  if (twin_[at] >= 0 && placed_[index(twin_[at])] == 0) return false;
  const int64_t below = top_[index(first_[at])];
  return below < 0 || kind_[index(below)] != kind_[at] || below < item ||
         offset_[index(below)] + size_[index(below)] != lowest_[at];
}

int64_t Skyline::num_answers(int64_t section) const {
  const int64_t floor = floor_[index(section)];
  int64_t answers = floor + total_[index(section)] < height_ ? 1 : 0;
  for (const int64_t i : unplaced(section))
    if (lowest_[index(i)] == floor && is_first_of_its_kind(i)) ++answers;
  return answers;
}

// Appends the items that may lie at the section's floor, in the order of the style.
void Skyline::add_answers(int64_t section) {
  const size_t begin = answers_.size();
  for (const int64_t i : unplaced(section))
    if (lowest_[index(i)] == floor_[index(section)] && is_first_of_its_kind(i))
      answers_.push_back(i);
  const std::span<int64_t> answers = std::span(answers_).subspan(begin);
  std::ranges::sort(answers, std::greater<>(), [&](int64_t i) {
    const int64_t width = last_[index(i)] - first_[index(i)];
    const int64_t size = size_[index(i)];
    switch (style_.first) {
      case Style::Answer::kWide:
        return std::tuple(width, size, -i);
      case Style::Answer::kLargeArea:
        return std::tuple(width * size, width, -i);
      default:
        return std::tuple(size, width, -i);
    }
  });
  if (style_.noise == 0) return;
  random_ = mix(random_);
  for (size_t k = 0; k + 1 < answers.size(); ++k)
    if ((random_ >> k % 60) % 8 < style_.noise) std::swap(answers[k], answers[k + 1]);
}

// The least floor of the section if nothing lies at its present one.
int64_t Skyline::floor_after_waste(int64_t section) const {
  const int64_t floor = floor_[index(section)];
  int64_t result = kNever;
  for (const int64_t i : unplaced(section)) {
    if (lowest_[index(i)] > floor) {
      result = std::min(result, lowest_[index(i)]);
      continue;
    }
    if (fixed_[index(i)] >= 0) continue;  // it is at the floor or nowhere
    // The item rests on one that is not placed yet and does not cover the section.
    int64_t support = kNever;
    for (int64_t s = first_[index(i)]; s < last_[index(i)]; ++s) {
      for (const int64_t k : unplaced(s)) {
        if (first_[index(k)] <= section && section < last_[index(k)]) continue;
        support = std::min(support, lowest_[index(k)] + size_[index(k)]);
      }
    }
    if (support != kNever) result = std::min(result, round_up(support, alignment_[index(i)]));
  }
  return result;
}

// The section of a niche that leaves the least choice.
int64_t Skyline::choose(Range range) const {
  int64_t best = -1;
  double best_score = 0;
  for (int64_t s = range.first; s < range.last;) {
    if (count_[index(s)] == 0) {
      ++s;
      continue;
    }
    // A run of equal floors, up to where no item crosses or the floor changes.
    const int64_t floor = floor_[index(s)];
    const auto lower = [&](int64_t neighbour) { return floor_[index(neighbour)] < floor; };
    int64_t end = s + 1;
    while (end < range.last && floor_[index(end)] == floor && crossing_[index(end)] > 0) ++end;
    const bool open_left = s > range.first && crossing_[index(s)] > 0 && lower(s - 1);
    const bool open_right = end < range.last && crossing_[index(end)] > 0 && lower(end);
    for (int64_t t = s; t < end && !open_left && !open_right; ++t) {
      const int64_t answers = num_answers(t);
      if (answers <= 1) return t;
      double score = static_cast<double>(answers);
      if (style_.by_blame)
        score /= blame_[index(t)];
      else
        score += style_.lowness * static_cast<double>(floor) / static_cast<double>(height_);
      if (best >= 0 && score >= best_score) continue;
      best = t;
      best_score = score;
    }
    s = end;
  }
  return best;
}

uint64_t Skyline::key_of(Range range) const {
  uint64_t key = 0;
  for (int64_t s = range.first; s < range.last; ++s)
    if (count_[index(s)] > 0) key += mix(static_cast<uint64_t>(key_[index(s)]));
  return key;
}

// Solves the parts of the range between which no unplaced item crosses, one after the other.
// Recursion is as deep as there are items and wasted floors.
Verdict Skyline::solve(Range range) {
  const size_t begin = parts_.size();
  int64_t first = range.first;
  bool any = false;
  for (int64_t s = range.first; s < range.last; ++s) {
    any = any || count_[index(s)] > 0;
    if (s + 1 < range.last && crossing_[index(s + 1)] > 0) continue;
    if (any) parts_.push_back({first, s + 1});
    any = false;
    first = s + 1;
  }
  std::ranges::sort(parts_.begin() + static_cast<int64_t>(begin), parts_.end(), {},
                    [](Range part) { return std::pair(part.last - part.first, part.first); });
  Verdict verdict = Verdict::kPacked;
  for (size_t p = begin; p < parts_.size() && verdict == Verdict::kPacked; ++p)
    verdict = branch(parts_[p]);
  parts_.resize(begin);
  return verdict;
}

// Leaves the section's floor empty up to where the next item can lie.
bool Skyline::waste(int64_t section) {
  const int64_t total = total_[index(section)];
  if (floor_[index(section)] + total >= height_) return false;
  const int64_t next = floor_after_waste(section);
  if (next == kNever || next + total > height_) return false;
  set(top_[index(section)], -1);
  const bool possible = raise_floor(section, next);
  return propagate() && possible;
}

Verdict Skyline::branch(Range range) {
  visited_ += 1 + (range.last - range.first) / kSectionsPerNode;
  if (visited_ > limit_) return Verdict::kOutOfNodes;
  if (deadline_ && --until_clock_ <= 0) {
    until_clock_ = kNodesPerClock;
    if (std::chrono::steady_clock::now() > *deadline_) limit_ = visited_;
  }
  const uint64_t key = key_of(range);
  if (failed_[key % kRemembered] == key) return Verdict::kImpossible;
  const int64_t section = choose(range);
  CHECK(section >= 0);
  const size_t begin = answers_.size();
  add_answers(section);
  const size_t end = answers_.size();
  const size_t mark = trail_.size();
  Verdict verdict = Verdict::kImpossible;
  bool hatless = false;  // an item with nothing above it cannot be what makes a state fail
  for (size_t a = begin; a < end && !hatless && verdict == Verdict::kImpossible; ++a) {
    const int64_t item = answers_[a];
    if (place(item)) {
      hatless = true;
      for (int64_t s = first_[index(item)]; s < last_[index(item)]; ++s)
        hatless = hatless && count_[index(s)] == 0;
      verdict = solve(range);
    }
    if (verdict != Verdict::kPacked) undo(mark);
  }
  if (!hatless && verdict == Verdict::kImpossible) {
    if (waste(section)) verdict = solve(range);
    if (verdict != Verdict::kPacked) undo(mark);
  }
  answers_.resize(begin);
  if (verdict == Verdict::kImpossible) failed_[key % kRemembered] = key;
  return verdict;
}

Verdict Skyline::search(int64_t height, int64_t nodes, int64_t variant, Deadline deadline) {
  reset(height);
  constexpr double kLowness[] = {2, 0.5, 8, 0};
  style_ = {static_cast<Style::Answer>(variant % 3), variant / 3 % 2 != 0,
            kLowness[variant / 6 % 4],
            variant < 3            ? 0U
            : variant / 2 % 2 != 0 ? 1U
                                   : 3U};
  random_ = mix(static_cast<uint64_t>(variant));
  deadline_ = deadline;
  limit_ = visited_ + nodes;
  bool possible = true;
  for (int64_t i = 0; i < n_; ++i) {
    possible = possible && lowest_[index(i)] <= highest_[index(i)];
    offset_[index(i)] = lowest_[index(i)];
  }
  for (int64_t s = 0; s < num_sections_; ++s) {
    possible = possible && total_[index(s)] <= height_;
    queued_[index(s)] = 1;
    queue_.push_back(s);
  }
  possible = propagate() && possible;
  const Verdict verdict = possible ? solve({0, num_sections_}) : Verdict::kImpossible;
  if (verdict == Verdict::kPacked)
    for (int64_t& offset : offset_) offset *= unit_;
  return verdict;
}

}  // namespace ingot::plan
