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

struct CallParts {
  struct Output {
    int64_t bytes = 0;
    std::vector<size_t> parts;
    // Of an input: its parts, and how many bytes of it the output may take.
    std::vector<std::pair<std::vector<size_t>, int64_t>> shared;
  };
  std::vector<size_t> parts;
  std::map<std::string, Output> outputs;
  std::vector<size_t> followers;  // calls that must come later
};

// What follows from the set of calls that have been done.
struct State {
  std::vector<bool> done;           // by call
  std::vector<int64_t> before;      // by call: how many must still come before it
  std::vector<bool> begun;          // by part
  std::vector<int64_t> calls_left;  // by part
  int64_t live_bytes = 0;
};

class Orders {
 public:
  Orders(const Claims& claims, const Loops& loops, const std::vector<Touches>& touches,
         const std::vector<Life>& lives)
      : calls_(loops.calls.size()) {
    std::set<std::string> planned;
    for (const Life& life : lives) planned.insert(life.buffer->name);
    std::map<std::string, std::vector<const Buffer*>> units;
    for (const Buffer& b : loops.buffers) {
      buffers_[b.name] = &b;
      if (b.kind != "constant") units[unit_of(b)].push_back(&b);
    }
    for (const auto& [name, members] : units) {
      add_parts(members, planned.contains(members.front()->name), claims);
    }
    start_.done.resize(calls_.size());
    start_.before.resize(calls_.size());
    start_.calls_left.resize(parts_.size());
    std::vector<size_t> writer(parts_.size(), SIZE_MAX);
    std::vector<std::vector<size_t>> read_since(parts_.size());
    for (size_t c = 0; c < calls_.size(); ++c) add_call(c, touches[c], writer, read_since);
  }

  // What outputs may share with inputs, in each direction in which their call can run.
  void add_shared(const std::vector<Touches>& touches, const std::vector<Distance>& derived,
                  const Distances& stated) {
    for (const Distance& d : derived) {
      const auto call = static_cast<size_t>(d.step);
      if (!touches[call].contains(d.input)) continue;
      const Buffer& y = *buffers_.at(d.output);
      const Buffer& x = *buffers_.at(d.input);
      int64_t most = 0;
      for (const Direction runs : {kForward, kReverse}) {
        if (stated.direction_of(d.step).value_or(runs) == runs)
          most =
              std::max(most, most_shared(least_seen(d, y, x, runs), y.size_bytes, x.size_bytes, 1));
      }
      calls_[call].outputs.at(d.output).shared.emplace_back(of_buffer_.at(d.input), most);
    }
  }

  bool is_only_one() const {
    for (size_t c = 1; c < calls_.size(); ++c) {
      const std::vector<size_t>& followers = calls_[c - 1].followers;
      if (followers.empty() || followers.front() != c) return false;
    }
    return true;
  }

  // Whether some call needs more than `limit` bytes even if nothing is alive but what it touches,
  // and all of its inputs die there.
  bool is_hopeless(int64_t limit) const {
    State alone = start_;
    alone.calls_left.assign(parts_.size(), 1);
    for (const CallParts& call : calls_) {
      alone.begun.assign(parts_.size(), true);
      alone.live_bytes = 0;
      for (const auto& [name, output] : call.outputs) {
        for (const size_t p : output.parts) alone.begun[p] = false;
      }
      for (const size_t p : call.parts) alone.live_bytes += alone.begun[p] ? parts_[p].bytes : 0;
      if (need(alone, call) > limit) return true;
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
        if (!can_run(state, c, limit)) continue;
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
  void add_parts(const std::vector<const Buffer*>& members, bool is_planned, const Claims& claims) {
    std::set<int64_t> cuts;
    for (const Buffer* b : members) {
      cuts.insert({begin_in_unit(*b), begin_in_unit(*b) + b->size_bytes});
      of_buffer_[b->name];
    }
    for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
      for (const Buffer* b : members) {
        if (begin_in_unit(*b) <= *cut && *cut < begin_in_unit(*b) + b->size_bytes)
          of_buffer_[b->name].push_back(parts_.size());
      }
      const Buffer& first = *members.front();
      parts_.push_back({is_planned ? *std::next(cut) - *cut : 0, is_kept(first, claims)});
      start_.begun.push_back(first.kind == "input");
      start_.live_bytes += start_.begun.back() ? parts_.back().bytes : 0;
    }
  }

  // A call comes after those that wrote what it reads, and after those that read or wrote what it
  // writes.
  void add_call(size_t c, const Touches& touches, std::vector<size_t>& writer,
                std::vector<std::vector<size_t>>& read_since) {
    std::map<size_t, bool> written;  // by part that is touched
    for (const auto& [name, touch] : touches) {
      const auto parts = of_buffer_.find(name);
      if (parts == of_buffer_.end()) continue;
      for (const size_t part : parts->second) written[part] |= touch.writes;
      if (touch.only_writes())
        calls_[c].outputs[name] = {buffers_.at(name)->size_bytes, parts->second, {}};
    }
    std::set<size_t> before;
    for (const auto& [part, is_written] : written) {
      calls_[c].parts.push_back(part);
      ++start_.calls_left[part];
      if (writer[part] != SIZE_MAX) before.insert(writer[part]);
      if (is_written) {
        before.insert(read_since[part].begin(), read_since[part].end());
        read_since[part].clear();
        writer[part] = c;
      } else {
        read_since[part].push_back(c);
      }
    }
    for (const size_t b : before) calls_[b].followers.push_back(c);
    start_.before[c] = static_cast<int64_t>(before.size());
  }

  bool dies(const State& state, size_t part) const {
    return state.calls_left[part] == 1 && !parts_[part].is_kept;
  }

  // What is alive while the call runs.
  int64_t need(const State& state, const CallParts& call) const {
    const auto begins = [&](size_t p) { return !state.begun[p]; };
    int64_t need = state.live_bytes;
    for (const size_t p : call.parts) need += begins(p) ? parts_[p].bytes : 0;
    for (const auto& [name, output] : call.outputs) {
      if (std::ranges::none_of(output.parts, begins)) continue;
      int64_t saved = 0;
      for (const auto& [parts, bytes] : output.shared) {
        if (std::ranges::any_of(parts, [&](size_t p) { return dies(state, p); })) saved += bytes;
      }
      need -= std::min(saved, output.bytes);
    }
    return need;
  }

  // And after it.
  int64_t left_by(const State& state, size_t c) const {
    int64_t left = state.live_bytes;
    for (const size_t p : calls_[c].parts) {
      left += (state.begun[p] ? 0 : parts_[p].bytes) - (dies(state, p) ? parts_[p].bytes : 0);
    }
    return left;
  }

  bool can_run(const State& state, size_t c, int64_t limit) const {
    return !state.done[c] && state.before[c] == 0 && need(state, calls_[c]) <= limit;
  }

  void run(State& state, size_t c) const {
    state.live_bytes = left_by(state, c);
    for (const size_t p : calls_[c].parts) {
      state.begun[p] = true;
      --state.calls_left[p];
    }
    for (const size_t follower : calls_[c].followers) --state.before[follower];
    state.done[c] = true;
  }

  // Calls that leave no more than there was may come first: every other call then sees as much
  // memory as before or less.
  void run_free(State& state, int64_t limit) const {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t c = 0; c < calls_.size(); ++c) {
        if (!can_run(state, c, limit) || left_by(state, c) > state.live_bytes) continue;
        run(state, c);
        changed = true;
      }
    }
  }

  std::map<std::string, const Buffer*> buffers_;
  std::map<std::string, std::vector<size_t>> of_buffer_;  // parts
  std::vector<Part> parts_;
  std::vector<CallParts> calls_;
  State start_;
};

}  // namespace

void check_order(const Claims& claims, const Loops& loops, const std::vector<Touches>& touches,
                 const std::vector<Life>& lives, const std::vector<Distance>& derived,
                 const Distances& stated) {
  if (!claims.order_optimal || claims.arena_bytes <= 0) return;
  Orders orders(claims, loops, touches, lives);
  if (claims.overlap) orders.add_shared(touches, derived, stated);
  const bool is_straight = std::ranges::all_of(
      loops.runner.stmts, [](const Stmt& s) { return s.kind == Stmt::Kind::kCall; });
  // What a call needs may lie in other memories.
  const bool is_arena_all =
      std::ranges::all_of(lives, [](const Life& life) { return life.buffer->pool.empty(); });
  const int64_t less = claims.arena_bytes - 1;
  const bool is_proved = (claims.packing_optimal && orders.is_only_one()) ||
                         (is_arena_all && (orders.is_hopeless(less) || !orders.fit(less)));
  if (!is_straight || !is_proved)
    throw Lie("the order is called optimal, but other orders may need less");
}

}  // namespace ingot::assay
