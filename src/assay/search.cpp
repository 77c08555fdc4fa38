// SPDX-License-Identifier: Apache-2.0
#include "assay/search.h"

#include <algorithm>
#include <array>
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

// A choice between two: of a pair of items, which lies behind, or of a step, which way it runs.
// What has not been excluded is a set of bits.
using Open = uint8_t;
constexpr Open kFirst = 1;   // b behind a; forward
constexpr Open kSecond = 2;  // a behind b; in reverse
constexpr Open kBoth = kFirst | kSecond;

struct Pair {
  size_t a = 0;
  size_t b = 0;
  // By direction of the step: base(b) - base(a), or base(a) - base(b), at least.
  std::array<int64_t, 2> after = {};
  std::array<int64_t, 2> before = {};
  size_t choice = 0;                // between the two
  std::optional<size_t> step = {};  // choice of its direction; without, that does not matter

  static int64_t least(const std::array<int64_t, 2>& by_direction, Open directions) {
    if (directions == kBoth) return std::min(by_direction[kForward], by_direction[kReverse]);
    return by_direction[directions == kFirst ? kForward : kReverse];
  }
};

struct State {
  std::vector<Item> items;
  std::vector<Open> open;  // choices
};

class Search {
 public:
  Search(const std::vector<Life>& lives, const Distances& distances, int64_t height,
         const Json& plan)
      : distances_(distances),
        log_(plan["witness"]["search"].array()),
        names_(plan["buffers"].array()) {
    for (const Life& life : lives) {
      if (life.buffer->size_bytes == 0) continue;
      lives_.push_back(life);
      item_of_.push_back(item_for(*life.buffer, height));
    }
    for (Item& item : start_.items) {
      item.low = item.up(item.low);
      item.high = item.down(item.high);
    }
  }

  // All of the log is about something.
  bool run() {
    const bool has_room =
        std::ranges::all_of(start_.items, [](const Item& i) { return i.low <= i.high; });
    if (has_room) add_pairs();
    return (!has_room || refuted(start_)) && next_ == log_.size();
  }

 private:
  // Ties are kept and alignments are powers of two: of the places that the plan has, the greatest
  // alignment says which others there are.
  size_t item_for(const Buffer& b, int64_t height) {
    const int64_t within = begin_in_unit(b);
    const Item own{-within, height - within - b.size_bytes, b.alignment, *b.offset_bytes - within};
    const auto [known, is_new] = units_.emplace(unit_of(b), start_.items.size());
    if (is_new) start_.items.push_back(own);
    Item& item = start_.items[known->second];
    item.low = std::max(item.low, own.low);
    item.high = std::min(item.high, own.high);
    item.modulus = std::max(item.modulus, own.modulus);
    return known->second;
  }

  void add_pairs() {
    for (size_t i = 0; i < lives_.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (item_of_[i] != item_of_[j] && lives_[i].meets(lives_[j])) add_pair(j, i);
      }
    }
  }

  size_t new_choice() {
    start_.open.push_back(kBoth);
    return start_.open.size() - 1;
  }

  void add_pair(size_t first, size_t second) {
    const Buffer& x = *lives_[first].buffer;
    const Buffer& y = *lives_[second].buffer;
    const int64_t shift = begin_in_unit(x) - begin_in_unit(y);
    if (pairs_.size() == kMostPairs)
      throw TooLarge("the lower bound has a search for its witness, of too many buffers");
    Pair& pair = pairs_.emplace_back(Pair{item_of_[first], item_of_[second]});
    pair.choice = new_choice();
    by_names_[{x.name, y.name}] = pair.choice;
    pair.after.fill(x.size_bytes + shift);
    pair.before.fill(y.size_bytes - shift);
    for (const bool y_is_output : {false, true}) {
      const Distances::Stated* d = y_is_output ? distances_.find(y, x) : distances_.find(x, y);
      if (d == nullptr) continue;
      if (!steps_.contains(d->step)) steps_[d->step] = new_choice();
      pair.step = steps_.at(d->step);
      for (const Direction run : {kForward, kReverse}) {
        if (!d->least[run]) continue;
        // Forward the input follows the output, in reverse the output the input.
        const bool is_after = (run == kForward) != y_is_output;
        int64_t& least = (is_after ? pair.after : pair.before)[run];
        least = std::min(least, *d->least[run] + (is_after ? shift : -shift));
      }
    }
  }

  // False if the ends of some offset have met.
  bool push(State& state) {
    for (bool changed = true; changed;) {
      if (--rounds_left_ < 0) throw TooLarge("the search that is a witness takes too many steps");
      changed = false;
      for (size_t p = 0; p < pairs_.size(); ++p) {
        const Pair& pair = pairs_[p];
        Item& a = state.items[pair.a];
        Item& b = state.items[pair.b];
        const Open directions = pair.step ? state.open[*pair.step] : kBoth;
        const int64_t after = Pair::least(pair.after, directions);
        const int64_t before = Pair::least(pair.before, directions);
        const Open possible = static_cast<Open>((a.low + after <= b.high ? kFirst : 0) |
                                                (b.low + before <= a.high ? kSecond : 0));
        const Open open = state.open[pair.choice] & possible;
        if (open == 0) return false;
        changed = changed || open != state.open[pair.choice];
        state.open[pair.choice] = open;
        if (open == kBoth) continue;
        Item& first = open == kFirst ? a : b;
        Item& second = open == kFirst ? b : a;
        const int64_t distance = open == kFirst ? after : before;
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
    const std::optional<size_t> choice = choice_of(log_[next_++]);
    if (!choice || state.open[*choice] != kBoth) return false;
    State other = state;
    state.open[*choice] = kFirst;
    other.open[*choice] = kSecond;
    return refuted(std::move(state)) && refuted(std::move(other));
  }

  std::optional<size_t> choice_of(const Json& decision) const {
    const auto found = [](const auto& map, const auto& key) {
      const auto at = map.find(key);
      return at == map.end() ? std::optional<size_t>() : at->second;
    };
    if (const auto step = decision.integer()) return found(steps_, *step);
    const JsonArray& both = decision.array();
    if (both.size() != 2) return std::nullopt;
    return found(by_names_, std::pair(name_of(both[0]), name_of(both[1])));
  }

  std::string name_of(const Json& place) const {
    const int64_t at = place.integer().value_or(-1);
    if (at < 0 || at >= static_cast<int64_t>(names_.size())) return "";
    return names_[static_cast<size_t>(at)]["name"].text();
  }

  const Distances& distances_;
  const JsonArray& log_;
  const JsonArray& names_;  // of buffers
  std::vector<Life> lives_;
  std::vector<size_t> item_of_;          // by life
  std::map<std::string, size_t> units_;  // items
  std::vector<Pair> pairs_;
  std::map<std::pair<std::string, std::string>, size_t> by_names_;  // choices
  std::map<int64_t, size_t> steps_;                                 // choices
  State start_;
  size_t next_ = 0;  // in the log
  int64_t rounds_left_ = 1'000'000;
};

}  // namespace

bool is_refuted(const std::vector<Life>& lives, const Distances& distances, int64_t height,
                const Json& plan) {
  return Search(lives, distances, height, plan).run();
}

}  // namespace ingot::assay
