// SPDX-License-Identifier: Apache-2.0
#include "assay/search.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace ingot::assay {
namespace {

constexpr size_t kMostPairs = 3000;
constexpr int64_t kFar = int64_t{1} << 60;

// What moves as one: a buffer or a tied group. The bases of all places are `residue` modulo
// `modulus`.
struct Item {
  int64_t low = -kFar;
  int64_t high = kFar;
  int64_t modulus = 1;
  int64_t residue = 0;

  // False if no place is left.
  bool narrow() {
    low = residue - floor_div(residue - low, modulus) * modulus;
    high = residue + floor_div(high - residue, modulus) * modulus;
    return low <= high;
  }
  bool operator==(const Item&) const = default;
};

// A choice between two: of a pair of buffers, which lies behind, or of a step, which way it runs.
// What has not been excluded is a set of bits.
using Open = uint8_t;
constexpr Open kFirst = 1;   // b behind a; forward
constexpr Open kSecond = 2;  // a behind b; in reverse
constexpr Open kBoth = kFirst | kSecond;

// One buffer behind another.
struct Way {
  size_t front = 0;  // items
  size_t behind = 0;
  Least least = {};  // between their bases, by direction of the step

  int64_t distance(Open directions) const {
    if (directions == kBoth) return std::min(least[kForward], least[kReverse]);
    return least[directions == kFirst ? kForward : kReverse];
  }
};

struct Apart {
  std::array<Way, 2> ways;
  size_t choice = 0;
  std::optional<size_t> step = {};  // choice of its direction; without, that does not matter
};

struct State {
  std::vector<Item> items;
  std::vector<Open> open;  // choices
  bool operator==(const State&) const = default;
};

class Search {
 public:
  Search(const Layout& layout, const Pairs& pairs, int64_t height)
      : layout_(layout), pairs_(pairs), log_(layout.json["plan"]["witness"]["search"].array()) {
    start_.items.resize(layout.lives.size());
    const auto lives = select(layout, &Life::is_in_arena);
    for (const size_t i : lives) {
      // Ties are kept and alignments are powers of two: of the places that the plan has, the
      // greatest alignment says which others there are.
      const Life& life = layout.lives[i];
      Item& item = start_.items[life.unit];
      item = {std::max(item.low, -life.first_byte()), std::min(item.high, height - life.end_byte()),
              std::max(item.modulus, life.buffer->alignment),
              *life.buffer->offset_bytes - life.first_byte()};
    }
    sweep(layout, lives, [&](size_t i, const std::vector<size_t>& alive) {
      for (const size_t j : alive) add_pair(std::min(i, j), std::max(i, j));
    });
  }

  // All of the log is about something.
  bool run() { return refuted(start_) && next_ == log_.size(); }

 private:
  // The choice that decisions of the log name so: two places in plan.buffers, or a step and -1.
  size_t choice_of(int64_t first, int64_t second) {
    const auto [known, is_new] = choices_.emplace(std::pair(first, second), start_.open.size());
    if (is_new) start_.open.push_back(kBoth);
    return known->second;
  }

  void add_pair(size_t a, size_t b) {
    if (layout_.lives[a].unit == layout_.lives[b].unit) return;
    if (apart_.size() == kMostPairs)
      throw TooLarge("the lower bound has a search for its witness, of too many buffers");
    Apart& pair = apart_.emplace_back();
    pair = {{way(a, b), way(b, a)}, choice_of(static_cast<int64_t>(a), static_cast<int64_t>(b))};
    for (const Pair* stated :
         {find_stated(layout_, pairs_, a, b), find_stated(layout_, pairs_, b, a)}) {
      if (stated) pair.step = choice_of(stated->step, -1);
    }
  }

  Way way(size_t front, size_t behind) const {
    const Life& x = layout_.lives[front];
    const Life& y = layout_.lives[behind];
    Least least = {x.buffer->size_bytes, x.buffer->size_bytes};
    // Forward the input follows the output, in reverse the output the input.
    if (const Pair* stated = find_stated(layout_, pairs_, front, behind))
      least[kForward] = std::min(least[kForward], stated->stated[kForward]);
    if (const Pair* stated = find_stated(layout_, pairs_, behind, front))
      least[kReverse] = std::min(least[kReverse], stated->stated[kReverse]);
    for (int64_t& distance : least) distance += x.first_byte() - y.first_byte();
    return {x.unit, y.unit, least};
  }

  // False if the ends of some offset have met.
  bool push(State& state) {
    State before;
    do {
      before = state;
      if (--rounds_left_ < 0) throw TooLarge("the search that is a witness takes too many steps");
      for (Item& item : state.items) {
        if (!item.narrow()) return false;
      }
      for (const Apart& pair : apart_) {
        const Open directions = pair.step ? state.open[*pair.step] : kBoth;
        Open& open = state.open[pair.choice];
        for (const Open which : {kFirst, kSecond}) {
          const Way& way = pair.ways[which - kFirst];
          const int64_t distance = way.distance(directions);
          Item& front = state.items[way.front];
          Item& behind = state.items[way.behind];
          if (front.low + distance > behind.high) open &= kBoth - which;
          if (open != which) continue;
          behind.low = std::max(behind.low, front.low + distance);
          front.high = std::min(front.high, behind.high - distance);
        }
        if (open == 0) return false;
      }
    } while (state != before);
    return true;
  }

  // Whether the log from next_ on leaves nothing of `state`.
  bool refuted(State state) {
    if (!push(state)) return true;
    if (next_ == log_.size()) return false;
    const Json& decision = log_[next_++];
    const JsonArray& both = decision.array();
    const auto choice = choices_.find(
        both.size() == 2 ? std::pair(both[0].integer().value_or(-1), both[1].integer().value_or(-1))
                         : std::pair(decision.integer().value_or(-1), int64_t{-1}));
    if (choice == choices_.end() || state.open[choice->second] != kBoth) return false;
    State other = state;
    state.open[choice->second] = kFirst;
    other.open[choice->second] = kSecond;
    return refuted(std::move(state)) && refuted(std::move(other));
  }

  const Layout& layout_;
  const Pairs& pairs_;
  const JsonArray& log_;
  std::vector<Apart> apart_;
  std::map<std::pair<int64_t, int64_t>, size_t> choices_;
  State start_;      // items by unit
  size_t next_ = 0;  // in the log
  int64_t rounds_left_ = 1'000'000;
};

}  // namespace

bool is_refuted(const Layout& layout, const Pairs& pairs, int64_t height) {
  return Search(layout, pairs, height).run();
}

}  // namespace ingot::assay
