// SPDX-License-Identifier: Apache-2.0
#include "assay/order.h"

#include <algorithm>
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

// All parts of a buffer.
struct Parts {
  size_t begin = 0;
  size_t end = 0;
};

// What an output of a call may take of an input that dies there.
struct Shared {
  Parts output;
  Parts input;
  int64_t bytes = 0;
};

struct CallParts {
  std::vector<size_t> parts;
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
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
      const Buffer& y = *layout.by_name.at(d.output)->buffer;
      const Buffer& x = *layout.by_name.at(d.input)->buffer;
      if (is_kept(x, layout.claims) || !layout.touches[call].contains(d.input)) continue;
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

  // Whether some call needs more than `limit` bytes in every order: all it reads is there at once,
  // and all it writes; and all of both, but for what may be shared.
  bool is_hopeless(int64_t limit) const {
    return std::ranges::any_of(calls_, [&](const CallParts& call) {
      int64_t bytes = 0;
      for (const size_t p : call.parts) bytes += parts_[p].bytes;
      for (const Shared& s : call.shared) bytes -= s.bytes;
      return std::max({bytes, call.bytes_read, call.bytes_written}) > limit;
    });
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
    std::vector<int64_t> cuts;
    for (const Buffer* b : members) {
      cuts.insert(cuts.end(), {begin_in_unit(*b), begin_in_unit(*b) + b->size_bytes});
    }
    std::ranges::sort(cuts);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    const auto part_at = [&, first = parts_.size()](int64_t cut) {
      return first + static_cast<size_t>(std::ranges::lower_bound(cuts, cut) - cuts.begin());
    };
    for (const Buffer* b : members) {
      const int64_t begin = begin_in_unit(*b);
      of_buffer_[b->name] = {part_at(begin), part_at(begin + b->size_bytes)};
    }
    const Buffer& first = *members.front();
    const bool is_planned = layout.by_name.contains(first.name);
    for (size_t c = 1; c < cuts.size(); ++c) {
      parts_.push_back({is_planned ? cuts[c] - cuts[c - 1] : 0, is_kept(first, layout.claims)});
      start_.begun.push_back(first.kind == "input");
      start_.live_bytes += start_.begun.back() ? parts_.back().bytes : 0;
    }
  }

  // A call comes after those that wrote what it reads, and after those that read or wrote what it
  // writes.
  void add_call(size_t c, const std::map<std::string, Touch>& touches, std::vector<Past>& past) {
    std::map<size_t, Touch> touched;  // parts
    for (const auto& [name, touch] : touches) {
      const Parts parts = of_buffer_[name];  // none of constants
      for (size_t p = parts.begin; p < parts.end; ++p) {
        touched[p].reads |= touch.reads;
        touched[p].writes |= touch.writes;
      }
    }
    CallParts& call = calls_[c];
    for (const auto& [p, touch] : touched) {
      call.parts.push_back(p);
      call.bytes_read += touch.reads ? parts_[p].bytes : 0;
      call.bytes_written += touch.writes ? parts_[p].bytes : 0;
      call.before.insert(past[p].written_by.begin(), past[p].written_by.end());
      if (touch.writes) call.before.insert(past[p].read_by.begin(), past[p].read_by.end());
      if (touch.writes) past[p] = {{c}, {}};
      if (!touch.writes) past[p].read_by.insert(c);
      ++start_.calls_left[p];
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
    const auto any = [](Parts parts, const auto& holds) {
      while (parts.begin < parts.end && !holds(parts.begin)) ++parts.begin;
      return parts.begin < parts.end;
    };
    for (const Shared& s : call.shared) {
      if (any(s.output, begins) && any(s.input, dies)) all -= s.bytes;
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

  std::map<std::string, Parts> of_buffer_;
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
