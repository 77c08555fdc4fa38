// SPDX-License-Identifier: Apache-2.0
#include "assay/order.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "assay/code.h"

namespace ingot::assay {
namespace {

// Bytes that no buffer divides: a buffer, or a part of a tied group.
struct Part {
  int64_t bytes = 0;
  bool is_kept = false;  // to the end
};

// What an output of a call may take of an input that dies there.
struct Shared {
  std::vector<size_t> output;  // parts
  std::vector<size_t> input;
  int64_t bytes = 0;
};

struct CallParts {
  std::vector<size_t> parts;
  std::vector<Shared> shared;
  std::set<size_t> before;  // calls that must come before
};

// Of a part: the last call that wrote it, and those that have read it since.
struct Past {
  std::set<size_t> written_by;
  std::set<size_t> read_by;
};

// What follows from the set of calls that have been done.
struct State {
  std::vector<bool> done;           // by call
  std::vector<bool> begun;          // by part
  std::vector<int64_t> calls_left;  // by part
  int64_t live_bytes = 0;
};

// Of a call: bytes that are alive while it runs, and after it.
struct Need {
  int64_t during = 0;
  int64_t after = 0;
};

class Orders {
 public:
  Orders(const Loops& loops, const Layout& layout) : calls_(loops.calls.size()) {
    std::map<std::string, std::vector<const Buffer*>> units;
    for (const Buffer& b : loops.buffers) {
      if (b.kind != "constant") units[unit_of(b)].push_back(&b);
    }
    for (const auto& [name, members] : units) add_parts(members, layout);
    start_.done.resize(calls_.size());
    start_.calls_left.resize(parts_.size());
    std::vector<Past> past(parts_.size());
    for (size_t c = 0; c < calls_.size(); ++c) add_call(c, layout.touches[c], past);
  }

  // In each direction in which the call can run.
  void add_shared(const Layout& layout, const std::vector<Distance>& derived,
                  const Distances& stated) {
    for (const Distance& d : derived) {
      const auto call = static_cast<size_t>(d.step);
      if (!layout.touches[call].contains(d.input)) continue;
      const Buffer& y = *layout.by_name.at(d.output)->buffer;
      const Buffer& x = *layout.by_name.at(d.input)->buffer;
      int64_t bytes = 0;
      for (const Direction runs : {kForward, kReverse}) {
        if (stated.direction_of(d.step).value_or(runs) != runs) continue;
        bytes =
            std::max(bytes, most_shared(least_seen(d, y, x, runs), y.size_bytes, x.size_bytes, 1));
      }
      calls_[call].shared.push_back({of_buffer_.at(d.output), of_buffer_.at(d.input), bytes});
    }
  }

  bool is_only_one() const {
    for (size_t c = 1; c < calls_.size(); ++c) {
      if (!calls_[c].before.contains(c - 1)) return false;
    }
    return true;
  }

  // Whether some call needs more than `limit` bytes even if nothing is alive but what it touches,
  // and all of its inputs die there.
  bool is_hopeless(int64_t limit) const {
    State alone{
        {}, std::vector<bool>(parts_.size(), true), std::vector<int64_t>(parts_.size(), 1), 0};
    for (const CallParts& call : calls_) {
      const auto set_outputs = [&](bool begun, int64_t calls_left) {
        for (const Shared& s : call.shared) {
          for (const size_t p : s.output) {
            alone.begun[p] = begun;
            alone.calls_left[p] = calls_left;
          }
        }
      };
      set_outputs(false, 2);
      alone.live_bytes = 0;
      for (const size_t p : call.parts) alone.live_bytes += alone.begun[p] ? parts_[p].bytes : 0;
      if (need(alone, call).during > limit) return true;
      set_outputs(true, 1);
    }
    return false;
  }

  // Whether all calls can be done in an order in which none needs more than `limit` bytes.
  bool fit(int64_t limit) const {
    int64_t work_left = 200'000'000;
    std::set<std::vector<bool>> seen;
    std::vector<std::vector<bool>> sets = {start_.done};
    while (!sets.empty()) {
      State state = start_;
      for (size_t c = 0; c < calls_.size(); ++c) {
        if (sets.back()[c]) run(state, c);
      }
      sets.pop_back();
      run_free(state, limit);
      if (std::ranges::count(state.done, false) == 0) return true;
      if (!seen.insert(state.done).second) continue;
      for (size_t c = calls_.size(); c-- > 0;) {
        if (!is_ready(state, c) || need(state, calls_[c]).during > limit) continue;
        sets.push_back(state.done);
        sets.back()[c] = true;
        work_left -= static_cast<int64_t>(calls_.size() + 1000);
        if (work_left < 0) throw TooLarge("there are too many orders of the calls to be judged");
      }
    }
    return false;
  }

 private:
  // What moves as one is cut where any of its members begins or ends.
  void add_parts(const std::vector<const Buffer*>& members, const Layout& layout) {
    std::set<int64_t> cuts;
    for (const Buffer* b : members) {
      cuts.insert({begin_in_unit(*b), begin_in_unit(*b) + b->size_bytes});
      of_buffer_[b->name];
    }
    const Buffer& first = *members.front();
    const bool is_planned = layout.by_name.contains(first.name);
    for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
      for (const Buffer* b : members) {
        if (begin_in_unit(*b) <= *cut && *cut < begin_in_unit(*b) + b->size_bytes)
          of_buffer_[b->name].push_back(parts_.size());
      }
      parts_.push_back({is_planned ? *std::next(cut) - *cut : 0, is_kept(first, layout.claims)});
      start_.begun.push_back(first.kind == "input");
      start_.live_bytes += start_.begun.back() ? parts_.back().bytes : 0;
    }
  }

  // A call comes after those that wrote what it reads, and after those that read or wrote what it
  // writes.
  void add_call(size_t c, const std::map<std::string, Touch>& touches, std::vector<Past>& past) {
    std::map<size_t, bool> touched;  // by part: whether it is written
    for (const auto& [name, touch] : touches) {
      if (!of_buffer_.contains(name)) continue;
      for (const size_t p : of_buffer_.at(name)) touched[p] |= touch.writes;
    }
    std::set<size_t>& before = calls_[c].before;
    for (const auto& [p, is_written] : touched) {
      calls_[c].parts.push_back(p);
      ++start_.calls_left[p];
      before.insert(past[p].written_by.begin(), past[p].written_by.end());
      if (is_written) before.insert(past[p].read_by.begin(), past[p].read_by.end());
      if (is_written) past[p] = {{c}, {}};
      if (!is_written) past[p].read_by.insert(c);
    }
  }

  bool is_ready(const State& state, size_t c) const {
    return !state.done[c] &&
           std::ranges::all_of(calls_[c].before, [&](size_t b) { return bool{state.done[b]}; });
  }

  // At least what was alive before and what is after, as outputs share bytes with inputs only.
  Need need(const State& state, const CallParts& call) const {
    const auto begins = [&](size_t p) { return !state.begun[p]; };
    const auto dies = [&](size_t p) { return state.calls_left[p] == 1 && !parts_[p].is_kept; };
    int64_t all = state.live_bytes;
    int64_t after = state.live_bytes;
    for (const size_t p : call.parts) {
      all += begins(p) ? parts_[p].bytes : 0;
      after += (begins(p) ? parts_[p].bytes : 0) - (dies(p) ? parts_[p].bytes : 0);
    }
    for (const Shared& s : call.shared) {
      if (std::ranges::any_of(s.output, begins) && std::ranges::any_of(s.input, dies))
        all -= s.bytes;
    }
    return {std::max({all, after, state.live_bytes}), after};
  }

  void run(State& state, size_t c) const {
    state.live_bytes = need(state, calls_[c]).after;
    for (const size_t p : calls_[c].parts) {
      state.begun[p] = true;
      --state.calls_left[p];
    }
    state.done[c] = true;
  }

  // Calls that leave no more than there was may come first: every other call then sees as much
  // memory as before or less.
  void run_free(State& state, int64_t limit) const {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t c = 0; c < calls_.size(); ++c) {
        if (!is_ready(state, c)) continue;
        const Need needed = need(state, calls_[c]);
        if (needed.during > limit || needed.after > state.live_bytes) continue;
        run(state, c);
        changed = true;
      }
    }
  }

  std::map<std::string, std::vector<size_t>> of_buffer_;  // parts
  std::vector<Part> parts_;
  std::vector<CallParts> calls_;
  State start_;
};

}  // namespace

void check_order(const Loops& loops, const Layout& layout, const std::vector<Distance>& derived,
                 const Distances& stated) {
  const int64_t less = layout.regions.at("").bytes - 1;
  if (!layout.claims.order_optimal || less < 0) return;
  Orders orders(loops, layout);
  orders.add_shared(layout, derived, stated);
  const bool is_straight = std::ranges::all_of(
      loops.runner.stmts, [](const Stmt& s) { return s.kind == Stmt::Kind::kCall; });
  // What a call needs may lie in other memories.
  const bool is_arena_all =
      std::ranges::all_of(layout.lives, [](const Life& life) { return life.buffer->pool.empty(); });
  const bool is_proved = (layout.claims.packing_optimal && orders.is_only_one()) ||
                         (is_arena_all && (orders.is_hopeless(less) || !orders.fit(less)));
  if (!is_straight || !is_proved)
    throw Lie("the order is called optimal, but other orders may need less");
}

}  // namespace ingot::assay
