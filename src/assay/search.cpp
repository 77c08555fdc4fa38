// SPDX-License-Identifier: Apache-2.0
#include "assay/search.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace ingot::assay {
namespace {

constexpr size_t kMostPairs = 3000;

int64_t floor_to(int64_t n, int64_t multiple) { return n - ((n % multiple) + multiple) % multiple; }

// What moves as one: a buffer or a tied group. The bases of all places are `residue` modulo
// `modulus`.
struct Item {
  int64_t low = 0;
  int64_t high = 0;
  int64_t modulus = 1;
  int64_t residue = 0;

  int64_t up(int64_t base) const { return -floor_to(residue - base, modulus) + residue; }
  int64_t down(int64_t base) const { return floor_to(base - residue, modulus) + residue; }
};

// base(b) - base(a) >= after, or base(a) - base(b) >= before. Where an overlap is allowed, one of
// them holds only while `step` runs forward, the other only in reverse.
struct Pair {
  size_t a = 0;
  size_t b = 0;
  int64_t after = 0;
  int64_t before = 0;
  std::optional<size_t> step = {};
  int64_t apart_after = 0;  // where the direction does not allow less
  int64_t apart_before = 0;
  bool forward_is_after = false;
};

enum class Way : uint8_t { kOpen, kAfter, kBefore };
enum class Direction : uint8_t { kAny, kForward, kReverse };

struct State {
  std::vector<Item> items;
  std::vector<Way> ways;              // by pair
  std::vector<Direction> directions;  // by step
};

class Search {
 public:
  Search(const std::vector<Life>& lives, const Distances& distances, int64_t height,
         const Json& plan)
      : log_(plan["witness"]["search"].array()), names_(plan["buffers"].array()) {
    std::vector<const Life*> placed;
    std::vector<size_t> item_of;
    for (const Life& life : lives) {
      if (life.buffer->size_bytes == 0) continue;
      placed.push_back(&life);
      item_of.push_back(item_for(*life.buffer, height));
    }
    for (size_t i = 0; i < placed.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (item_of[i] != item_of[j] && placed[i]->meets(*placed[j]))
          add_pair(*placed[j]->buffer, item_of[j], *placed[i]->buffer, item_of[i], distances);
      }
    }
    start_.ways.assign(pairs_.size(), Way::kOpen);
    start_.directions.assign(steps_.size(), Direction::kAny);
    for (Item& item : start_.items) {
      item.low = item.up(item.low);
      item.high = item.down(item.high);
    }
  }

  // All of the log is about something.
  bool run() { return refuted(start_) && next_ == log_.size(); }

 private:
  // Ties are kept and alignments are powers of two: of the places that the plan has, the greatest
  // alignment says which others there are.
  size_t item_for(const Buffer& b, int64_t height) {
    const bool tied = b.tie_group >= 0;
    const int64_t base = *b.offset_bytes - (tied ? b.tie_offset_bytes : 0);
    const int64_t within = *b.offset_bytes - base;
    const Item own{-within, height - within - b.size_bytes, b.alignment, base};
    if (tied) {
      const auto [known, is_new] = groups_.emplace(b.tie_group, start_.items.size());
      if (!is_new) {
        Item& item = start_.items[known->second];
        item.low = std::max(item.low, own.low);
        item.high = std::min(item.high, own.high);
        item.modulus = std::max(item.modulus, own.modulus);
        return known->second;
      }
    }
    start_.items.push_back(own);
    return start_.items.size() - 1;
  }

  static int64_t within(const Buffer& b) { return b.tie_group >= 0 ? b.tie_offset_bytes : 0; }

  void add_pair(const Buffer& x, size_t a, const Buffer& y, size_t b, const Distances& distances) {
    const int64_t shift = within(x) - within(y);
    by_names_[{x.name, y.name}] = pairs_.size();
    Pair pair{a, b, x.size_bytes + shift, y.size_bytes - shift};
    pair.apart_after = pair.after;
    pair.apart_before = pair.before;
    for (const bool y_is_output : {false, true}) {
      const Distances::Stated* d = y_is_output ? distances.find(y, x) : distances.find(x, y);
      if (d == nullptr) continue;
      pair.step = steps_.emplace(d->step, steps_.size()).first->second;
      // Forward the input follows the output, in reverse the output the input.
      std::optional<int64_t> after = y_is_output ? d->reverse : d->forward;
      std::optional<int64_t> before = y_is_output ? d->forward : d->reverse;
      if (after) pair.after = std::min(pair.after, *after + shift);
      if (before) pair.before = std::min(pair.before, *before - shift);
      pair.forward_is_after = !y_is_output;
    }
    pairs_.push_back(pair);
    if (pairs_.size() > kMostPairs)
      throw TooLarge("the lower bound has a search for its witness, of too many buffers");
  }

  // The least distances of pair p in the two ways, in the directions that are still allowed.
  std::pair<int64_t, int64_t> least(const State& state, size_t p) const {
    const Pair& pair = pairs_[p];
    if (!pair.step) return {pair.after, pair.before};
    const Direction direction = state.directions[*pair.step];
    const Direction for_after = pair.forward_is_after ? Direction::kForward : Direction::kReverse;
    const bool any = direction == Direction::kAny;
    return {any || direction == for_after ? pair.after : pair.apart_after,
            any || direction != for_after ? pair.before : pair.apart_before};
  }

  // False if the ends of some offset have met.
  bool push(State& state) {
    for (const Item& item : state.items) {
      if (item.low > item.high) return false;
    }
    for (bool changed = true; changed;) {
      if (--rounds_left_ < 0) throw TooLarge("the search that is a witness takes too many steps");
      changed = false;
      for (size_t p = 0; p < pairs_.size(); ++p) {
        Item& a = state.items[pairs_[p].a];
        Item& b = state.items[pairs_[p].b];
        const auto [after, before] = least(state, p);
        if (state.ways[p] == Way::kOpen) {
          const bool can_after = a.low + after <= b.high;
          const bool can_before = b.low + before <= a.high;
          if (!can_after && !can_before) return false;
          if (can_after && can_before) continue;
          state.ways[p] = can_after ? Way::kAfter : Way::kBefore;
          changed = true;
        }
        const bool is_after = state.ways[p] == Way::kAfter;
        Item& first = is_after ? a : b;
        Item& second = is_after ? b : a;
        const int64_t distance = is_after ? after : before;
        const int64_t low = second.up(first.low + distance);
        const int64_t high = first.down(second.high - distance);
        changed = changed || low > second.low || high < first.high;
        second.low = std::max(second.low, low);
        first.high = std::min(first.high, high);
        if (a.low > a.high || b.low > b.high) return false;
      }
    }
    return true;
  }

  // Whether the log from next_ on leaves nothing of `state`.
  bool refuted(State state) {
    if (!push(state)) return true;
    if (next_ == log_.size()) return false;
    const Json& decision = log_[next_++];
    State other = state;
    if (const std::optional<int64_t> number = decision.integer()) {
      const auto step = steps_.find(*number);
      if (step == steps_.end() || state.directions[step->second] != Direction::kAny) return false;
      state.directions[step->second] = Direction::kForward;
      other.directions[step->second] = Direction::kReverse;
    } else {
      const auto pair = by_names_.find({name_of(decision, 0), name_of(decision, 1)});
      if (pair == by_names_.end() || state.ways[pair->second] != Way::kOpen) return false;
      state.ways[pair->second] = Way::kAfter;
      other.ways[pair->second] = Way::kBefore;
    }
    return refuted(std::move(state)) && refuted(std::move(other));
  }

  std::string name_of(const Json& decision, size_t which) const {
    const JsonArray& both = decision.array();
    const std::optional<int64_t> at =
        which < both.size() ? both[which].integer() : std::optional<int64_t>();
    if (!at || *at < 0 || *at >= static_cast<int64_t>(names_.size())) return "";
    return names_[static_cast<size_t>(*at)]["name"].text();
  }

  State start_;
  std::vector<Pair> pairs_;
  std::map<int64_t, size_t> groups_;
  std::map<int64_t, size_t> steps_;
  const JsonArray& log_;
  const JsonArray& names_;                                          // of buffers
  size_t next_ = 0;                                                 // in the log
  std::map<std::pair<std::string, std::string>, size_t> by_names_;  // pairs
  int64_t rounds_left_ = 1'000'000;
};

}  // namespace

bool is_refuted(const std::vector<Life>& lives, const Distances& distances, int64_t height,
                const Json& plan) {
  return Search(lives, distances, height, plan).run();
}

}  // namespace ingot::assay
