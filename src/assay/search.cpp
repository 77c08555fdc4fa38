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

// What moves as one: a buffer or a tied group. The bases of all places are `residue` modulo
// `modulus`.
struct Item {
  int64_t low = INT64_MIN;
  int64_t high = INT64_MAX;
  int64_t modulus = 1;
  int64_t residue = 0;

  int64_t up(int64_t base) const { return residue - floor_div(residue - base, modulus) * modulus; }
  int64_t down(int64_t base) const {
    return residue + floor_div(base - residue, modulus) * modulus;
  }
};

// A choice between two: of a pair of items, which lies behind, or of a step, which way it runs.
// What has not been excluded is a set of bits.
using Open = uint8_t;
constexpr Open kFirst = 1;   // b behind a; forward
constexpr Open kSecond = 2;  // a behind b; in reverse
constexpr Open kBoth = kFirst | kSecond;

struct Apart {
  size_t a = 0;  // items
  size_t b = 0;
  size_t choice = 0;
  // Of which of them lies behind, and by direction of the step: at least how far behind its base.
  std::array<std::array<int64_t, 2>, 2> behind = {};
  std::optional<size_t> step = {};  // choice of its direction; without, that does not matter

  int64_t least(size_t which, Open directions) const {
    if (directions == kBoth) return std::min(behind[which][kForward], behind[which][kReverse]);
    return behind[which][directions == kFirst ? kForward : kReverse];
  }
};

struct State {
  std::vector<Item> items;
  std::vector<Open> open;  // choices
};

class Search {
 public:
  Search(const Layout& layout, const Pairs& pairs, int64_t height)
      : layout_(layout), pairs_(pairs), log_(layout.json["plan"]["witness"]["search"].array()) {
    const auto lives = select(layout, &Life::is_in_arena);
    for (const size_t i : lives) add_to_item(layout.lives[i], height);
    int64_t place = 0;
    for (const Life& life : layout.lives)
      place_of_.push_back(life.region && !life.is_lent() ? place++ : -1);
    sweep(layout, lives, [&](size_t i, const std::vector<size_t>& alive) {
      for (const size_t j : alive) add_pair(std::min(i, j), std::max(i, j));
    });
  }

  // All of the log is about something.
  bool run() { return refuted(start_) && next_ == log_.size(); }

 private:
  // Ties are kept and alignments are powers of two: of the places that the plan has, the greatest
  // alignment says which others there are.
  void add_to_item(const Life& life, int64_t height) {
    const auto [known, is_new] = items_.emplace(life.unit, start_.items.size());
    if (is_new) start_.items.emplace_back();
    Item& item = start_.items[known->second];
    item = {std::max(item.low, -life.first_byte()), std::min(item.high, height - life.end_byte()),
            std::max(item.modulus, life.buffer->alignment),
            *life.buffer->offset_bytes - life.first_byte()};
  }

  // The choice that decisions of the log name so: two places in plan.buffers, or a step and -1.
  size_t choice_of(int64_t first, int64_t second) {
    const auto [known, is_new] = choices_.emplace(std::pair(first, second), start_.open.size());
    if (is_new) start_.open.push_back(kBoth);
    return known->second;
  }

  void add_pair(size_t i, size_t j) {
    const Life& x = layout_.lives[i];
    const Life& y = layout_.lives[j];
    if (x.unit == y.unit) return;
    if (apart_.size() == kMostPairs)
      throw TooLarge("the lower bound has a search for its witness, of too many buffers");
    Apart pair = {items_.at(x.unit), items_.at(y.unit), choice_of(place_of_[i], place_of_[j])};
    pair.behind[0].fill(x.end_byte() - y.first_byte());
    pair.behind[1].fill(y.end_byte() - x.first_byte());
    for (const auto& [output, input] : {std::pair(i, j), std::pair(j, i)}) {
      const Pair* stated = find_stated(layout_, pairs_, output, input);
      if (stated == nullptr) continue;
      pair.step = choice_of(stated->step, -1);
      for (const Direction run : {kForward, kReverse}) {
        // Forward the input follows the output, in reverse the output the input.
        const size_t which = (run == kForward) == (output == i) ? 0 : 1;
        const int64_t shift = x.first_byte() - y.first_byte();
        int64_t& least = pair.behind[which][run];
        least = std::min(least, stated->stated[run] + (which == 0 ? shift : -shift));
      }
    }
    apart_.push_back(pair);
  }

  // False if the ends of some offset have met.
  bool push(State& state) {
    for (Item& item : state.items) {
      item = {item.up(item.low), item.down(item.high), item.modulus, item.residue};
      if (item.low > item.high) return false;
    }
    for (bool changed = true; std::exchange(changed, false);) {
      if (--rounds_left_ < 0) throw TooLarge("the search that is a witness takes too many steps");
      for (const Apart& pair : apart_) {
        Item* const items[] = {&state.items[pair.a], &state.items[pair.b]};
        const Open directions = pair.step ? state.open[*pair.step] : kBoth;
        const int64_t least[] = {pair.least(0, directions), pair.least(1, directions)};
        Open possible = 0;
        if (items[0]->low + least[0] <= items[1]->high) possible |= kFirst;
        if (items[1]->low + least[1] <= items[0]->high) possible |= kSecond;
        Open& open = state.open[pair.choice];
        changed = changed || (open & ~possible) != 0;
        open &= possible;
        if (open == 0) return false;
        if (open == kBoth) continue;
        const size_t which = open == kFirst ? 0 : 1;
        Item& first = *items[which];
        Item& second = *items[1 - which];
        const int64_t low = second.up(first.low + least[which]);
        const int64_t high = first.down(second.high - least[which]);
        changed = changed || low > second.low || high < first.high;
        second.low = std::max(second.low, low);
        first.high = std::min(first.high, high);
        if (first.low > first.high || second.low > second.high) return false;
      }
    }
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
  std::vector<int64_t> place_of_;    // in plan.buffers, by life
  std::map<int64_t, size_t> items_;  // by unit
  std::vector<Apart> apart_;
  std::map<std::pair<int64_t, int64_t>, size_t> choices_;
  State start_;
  size_t next_ = 0;  // in the log
  int64_t rounds_left_ = 1'000'000;
};

}  // namespace

bool is_refuted(const Layout& layout, const Pairs& pairs, int64_t height) {
  return Search(layout, pairs, height).run();
}

}  // namespace ingot::assay
