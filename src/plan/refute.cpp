// SPDX-License-Identifier: Apache-2.0
#include "plan/refute.h"

#include <algorithm>
#include <map>

#include "plan/congruence.h"
#include "support/arithmetic.h"

namespace ingot::plan {
namespace {

// Beyond so many, of buffers too, nothing is tried.
constexpr size_t kMostPairs = 2'000;

size_t index(int64_t i) { return static_cast<size_t>(i); }

// A buffer or a tied group; the ends of its base, which is the offset of its group_offset 0.
struct Ends {
  int64_t low = INT64_MIN;
  int64_t high = INT64_MAX;
  Congruence places;

  void round() {
    low += floor_mod(places.residue - low, places.modulus);
    high -= floor_mod(high - places.residue, places.modulus);
  }
};

// base(b) - base(a) >= after, or base(a) - base(b) >= before; the smaller numbers only in the
// direction of `step` that allows them.
struct Pair {
  size_t a = 0, b = 0;  // ends
  int64_t first_buffer = 0, second_buffer = 0;
  int64_t after = 0, before = 0;
  int64_t apart_after = 0, apart_before = 0;
  std::optional<size_t> step = {};
  bool forward_is_after = false;
};

enum class Way : uint8_t { kOpen, kAfter, kBefore };
enum class Turn : uint8_t { kAny, kForward, kReverse };

struct State {
  std::vector<Ends> ends;
  std::vector<Way> ways;
  std::vector<Turn> turns;
};

class Refuter {
 public:
  Refuter(const Problem& problem, std::span<const int64_t> buffers, int64_t height, int64_t nodes)
      : problem_(problem), nodes_left_(nodes) {
    for (const Overlap& o : problem.overlaps) overlaps_[{o.output, o.input}] = &o;
    std::vector<int64_t> placed;
    for (const int64_t b : buffers) {
      if (buffer(b).size_bytes == 0) continue;
      placed.push_back(b);
      ends_of_.push_back(add_ends(buffer(b), height));
    }
    if (placed.size() > kMostPairs) return;
    for (size_t i = 0; i < placed.size() && pairs_.size() <= kMostPairs; ++i)
      for (size_t j = 0; j < i && pairs_.size() <= kMostPairs; ++j)
        if (ends_of_[i] != ends_of_[j] &&
            buffer(placed[i]).lifetime.meets(buffer(placed[j]).lifetime))
          add_pair(placed[j], ends_of_[j], placed[i], ends_of_[i]);
    start_.ways.assign(pairs_.size(), Way::kOpen);
    start_.turns.assign(steps_.size(), Turn::kAny);
    for (Ends& ends : start_.ends) ends.round();
  }

  std::optional<std::vector<Decision>> run() {
    constexpr int64_t kMostWork = 20'000'000;  // each node looks at every pair
    if (ends_of_.size() > kMostPairs || pairs_.size() > kMostPairs) return std::nullopt;
    nodes_left_ = std::min(nodes_left_, kMostWork / (std::ssize(pairs_) + 1));
    if (!refuted(start_)) return std::nullopt;
    return std::move(log_);
  }

 private:
  const Buffer& buffer(int64_t b) const { return problem_.buffers[index(b)]; }

  size_t add_ends(const Buffer& b, int64_t height) {
    const int64_t within = b.group < 0 ? 0 : b.group_offset;
    size_t e = start_.ends.size();
    if (b.group >= 0) e = groups_.emplace(b.group, e).first->second;
    if (e == start_.ends.size()) start_.ends.emplace_back();
    Ends& ends = start_.ends[e];
    ends.low = std::max(ends.low, b.fixed_offset.value_or(0) - within);
    ends.high = std::min(ends.high, height - b.size_bytes - within);
    if (b.fixed_offset) ends.high = std::min(ends.high, *b.fixed_offset - within);
    const Congruence own{floor_mod(-within, b.alignment), b.alignment};
    ends.places = intersect(ends.places, own).value_or(own);
    return e;
  }

  const Overlap* overlap(int64_t output, int64_t input) const {
    const auto found = overlaps_.find({output, input});
    return found == overlaps_.end() ? nullptr : found->second;
  }

  void add_pair(int64_t x, size_t a, int64_t y, size_t b) {
    const auto within = [&](int64_t i) { return buffer(i).group < 0 ? 0 : buffer(i).group_offset; };
    const int64_t shift = within(x) - within(y);
    Pair pair{.a = a, .b = b, .first_buffer = x, .second_buffer = y};
    pair.after = pair.apart_after = buffer(x).size_bytes + shift;
    pair.before = pair.apart_before = buffer(y).size_bytes - shift;
    for (const bool y_is_output : {false, true}) {
      const Overlap* o = y_is_output ? overlap(y, x) : overlap(x, y);
      if (o == nullptr) continue;
      pair.step = step_of(o->step);
      // Forward the input follows the output, in reverse the output the input.
      const std::optional<int64_t> after = y_is_output ? o->reverse : o->forward;
      const std::optional<int64_t> before = y_is_output ? o->forward : o->reverse;
      if (after) pair.after = std::min(pair.after, *after + shift);
      if (before) pair.before = std::min(pair.before, *before - shift);
      pair.forward_is_after = !y_is_output;
    }
    pairs_.push_back(pair);
  }

  size_t step_of(int64_t step) {
    const auto [known, is_new] = step_index_.emplace(step, steps_.size());
    if (is_new) steps_.push_back(step);
    return known->second;
  }

  std::pair<int64_t, int64_t> least(const State& state, const Pair& pair) const {
    if (!pair.step) return {pair.after, pair.before};
    const Turn turn = state.turns[*pair.step];
    const Turn for_after = pair.forward_is_after ? Turn::kForward : Turn::kReverse;
    const bool any = turn == Turn::kAny;
    return {any || turn == for_after ? pair.after : pair.apart_after,
            any || turn != for_after ? pair.before : pair.apart_before};
  }

  // False if the ends of some base have met.
  bool push(State& state) {
    if (std::ranges::any_of(state.ends, [](const Ends& e) { return e.low > e.high; })) return false;
    for (bool changed = true; changed && --rounds_left_ >= 0;) {
      changed = false;
      for (size_t p = 0; p < pairs_.size(); ++p) {
        Ends& a = state.ends[pairs_[p].a];
        Ends& b = state.ends[pairs_[p].b];
        const auto [after, before] = least(state, pairs_[p]);
        if (state.ways[p] == Way::kOpen) {
          const bool can_after = a.low + after <= b.high;
          const bool can_before = b.low + before <= a.high;
          if (!can_after && !can_before) return false;
          if (can_after && can_before) continue;
          state.ways[p] = can_after ? Way::kAfter : Way::kBefore;
          changed = true;
        }
        const bool is_after = state.ways[p] == Way::kAfter;
        Ends& first = is_after ? a : b;
        Ends& second = is_after ? b : a;
        const int64_t distance = is_after ? after : before;
        const int64_t low = second.low;
        const int64_t high = first.high;
        second.low = std::max(second.low, first.low + distance);
        first.high = std::min(first.high, second.high - distance);
        first.round();
        second.round();
        changed = changed || second.low > low || first.high < high;
        if (first.low > first.high || second.low > second.high) return false;
      }
    }
    return true;
  }

  // The open pair with the least room that the lowest places break; nothing if there is none.
  std::optional<size_t> most_urgent(const State& state) const {
    std::optional<size_t> urgent;
    int64_t least_room = INT64_MAX;
    for (size_t p = 0; p < pairs_.size(); ++p) {
      if (state.ways[p] != Way::kOpen) continue;
      const Ends& a = state.ends[pairs_[p].a];
      const Ends& b = state.ends[pairs_[p].b];
      const auto [after, before] = least(state, pairs_[p]);
      if (b.low - a.low >= after || a.low - b.low >= before) continue;
      const int64_t room = std::min(b.high - a.low - after, a.high - b.low - before);
      if (room < least_room) urgent = p;
      least_room = std::min(least_room, room);
    }
    return urgent;
  }

  bool suits(State state, size_t step, Turn turn) const {
    state.turns[step] = turn;
    return std::ranges::all_of(pairs_, [&](const Pair& pair) {
      if (pair.step != step) return true;
      const auto [after, before] = least(state, pair);
      const int64_t between = state.ends[pair.b].low - state.ends[pair.a].low;
      return between >= after || -between >= before;
    });
  }

  // A step whose direction is open, while no direction suits all lowest places.
  std::optional<size_t> undirected(const State& state) const {
    for (size_t s = 0; s < state.turns.size(); ++s) {
      if (state.turns[s] != Turn::kAny) continue;
      if (!suits(state, s, Turn::kForward) && !suits(state, s, Turn::kReverse)) return s;
    }
    return std::nullopt;
  }

  // Recursion is as deep as there are pairs and steps.
  bool refuted(State state) {
    if (--nodes_left_ < 0) return false;
    if (!push(state)) return true;
    if (rounds_left_ < 0) return false;
    State other = state;
    if (const std::optional<size_t> p = most_urgent(state)) {
      log_.push_back({.first = pairs_[*p].first_buffer, .second = pairs_[*p].second_buffer});
      state.ways[*p] = Way::kAfter;
      other.ways[*p] = Way::kBefore;
    } else if (const std::optional<size_t> s = undirected(state)) {
      log_.push_back({.step = steps_[*s]});
      state.turns[*s] = Turn::kForward;
      other.turns[*s] = Turn::kReverse;
    } else {
      return false;  // the lowest places are right
    }
    return refuted(std::move(state)) && refuted(std::move(other));
  }

  const Problem& problem_;
  std::map<std::pair<int64_t, int64_t>, const Overlap*> overlaps_;  // output, input
  std::vector<size_t> ends_of_;                                     // by placed buffer
  std::map<int64_t, size_t> groups_;
  State start_;
  std::vector<Pair> pairs_;
  std::vector<int64_t> steps_;
  std::map<int64_t, size_t> step_index_;
  std::vector<Decision> log_;
  int64_t nodes_left_;
  int64_t rounds_left_ = 100'000;  // pushes by single bytes may need very many
};

}  // namespace

std::optional<std::vector<Decision>> refutation(const Problem& problem,
                                                std::span<const int64_t> buffers, int64_t height,
                                                int64_t nodes) {
  return Refuter(problem, buffers, height, nodes).run();
}

}  // namespace ingot::plan
