// SPDX-License-Identifier: Apache-2.0
#include "assay/order.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "assay/code.h"
#include "assay/load.h"

namespace ingot::assay {
namespace {

struct Step {                    // a call
  std::set<size_t> lives = {};   // that it touches, with their parts
  std::set<size_t> before = {};  // calls that must come before
  std::vector<size_t> after = {};
};

// Some calls are done.
struct State {
  std::vector<bool> is_done = {};  // calls
  std::set<size_t> ready = {};     // that can be done next, which tells what has been done
  std::set<size_t> alive = {};     // lives
  int64_t bytes = 0;               // that they need
};

class Orders {
 public:
  Orders(const Layout& layout, const Pairs& pairs)
      : layout_(layout),
        pairs_(pairs),
        load_(layout, &Pair::needed, {}),
        calls_(layout.lives.size()),
        start_{.is_done = std::vector<bool>(layout.uses.size())} {
    for (size_t i = 0; i < layout.lives.size(); ++i) {
      if (layout.lives[i].buffer->kind == "input") start_.alive.insert(i);
    }
    start_.bytes = load_.of(start_.alive, {});
    std::vector<std::set<size_t>> writers(layout.lives.size());  // the last
    std::vector<std::set<size_t>> readers(layout.lives.size());  // since then
    for (size_t s = 0; s < layout.uses.size(); ++s) {
      Step& step = steps_.emplace_back();
      for (const auto& [life, use] : layout.uses[s]) {
        step.lives.insert(layout.parts[life].begin(), layout.parts[life].end());
        for (const size_t i : layout.kin[life]) {
          step.before.insert(writers[i].begin(), writers[i].end());
          if (use.writes) step.before.insert(readers[i].begin(), readers[i].end());
        }
      }
      for (const auto& [life, use] : layout.uses[s]) {
        if (use.writes) readers[life].clear();
        (use.writes ? writers[life] = {} : readers[life]).insert(s);
      }
      for (const size_t i : step.lives) calls_[i].push_back(s);
      for (const size_t b : step.before) steps_[b].after.push_back(s);
      if (step.before.empty()) start_.ready.insert(s);
      is_only_one = is_only_one && (s == 0 || step.before.contains(s - 1));
      least_bytes = std::max(least_bytes, load_.of(step.lives, pairs[s]));
    }
  }

  // A call comes after those that wrote what it reads, and after those that read or wrote what it
  // writes: whether no other order is possible.
  bool is_only_one = true;
  // What some call needs whatever else is alive.
  int64_t least_bytes = 0;

  // Whether all calls can be done in an order in which none needs more than `limit` bytes.
  bool fit(int64_t limit) {
    std::set<std::set<size_t>> seen;                                    // what was ready
    std::vector<std::pair<std::shared_ptr<const State>, size_t>> open;  // calls to be done next
    std::optional<State> state = start_;
    while (true) {
      if (state) {
        run_free(*state, limit);
        if (state->ready.empty()) return true;
        if (seen.insert(state->ready).second) {
          const auto before = std::make_shared<const State>(*state);
          for (const size_t next : before->ready) open.emplace_back(before, next);
        }
      }
      if (open.empty()) return false;
      const auto [before, next] = std::move(open.back());
      open.pop_back();
      state = after(*before, next, limit);
    }
  }

 private:
  // What one call more leaves; nothing if it needs more than `limit` bytes.
  std::optional<State> after(const State& before, size_t s, int64_t limit) {
    State state = before;
    state.is_done[s] = true;
    const auto are_done = [&](const auto& calls) {
      return std::all_of(calls.rbegin(), calls.rend(), [&](size_t c) { return state.is_done[c]; });
    };
    std::set<size_t> all = before.alive;
    std::set<size_t> kept;
    for (const size_t i : steps_[s].lives) {
      all.insert(i);
      const bool dies = are_done(calls_[i]) && !layout_.lives[i].is_kept;
      dies ? void(state.alive.erase(i)) : void(state.alive.insert(i));
      if (!dies && before.alive.contains(i)) kept.insert(i);
    }
    state.ready.erase(s);
    for (const size_t next : steps_[s].after) {
      if (are_done(steps_[next].before)) state.ready.insert(next);
    }
    work_left_ -= std::ssize(all) + std::ssize(state.ready);
    if (work_left_ < 0) throw TooLarge("there are too many orders of the calls to be judged");
    state.bytes = load_.of(state.alive, {});
    const int64_t during = load_.of(all, pairs_[s], kept);
    if (std::max({before.bytes, during, state.bytes}) > limit) return {};
    return state;
  }

  // Does calls that leave no more than there was: every other call then sees as much memory as
  // before or less.
  void run_free(State& state, int64_t limit) {
    for (bool changed = true; std::exchange(changed, false);) {
      for (auto at = state.ready.begin(); at != state.ready.end();) {
        const size_t s = *at;
        std::optional<State> next = after(state, s, limit);
        if (next && next->bytes <= state.bytes) {
          state = *std::move(next);
          changed = true;
        }
        at = state.ready.upper_bound(s);
      }
    }
  }

  const Layout& layout_;
  const Pairs& pairs_;
  const Load load_;
  std::vector<Step> steps_;
  std::vector<std::vector<size_t>> calls_;  // by life, that touch it
  State start_;
  int64_t work_left_ = 100'000'000;
};

}  // namespace

void check_order(const Loops& loops, const Layout& layout, const Pairs& pairs) {
  const Json& plan = layout.json["plan"];
  const int64_t less = layout.regions.at("").bytes - 1;
  if (!says(plan["order_optimal"]) || less < 0) return;
  Orders orders(layout, pairs);
  const bool is_straight = std::ranges::all_of(
      loops.runner.stmts, [](const Stmt& s) { return s.kind == Stmt::Kind::kCall; });
  // What a call needs may lie in other memories.
  const bool is_arena_all = std::ranges::all_of(layout.lives, [](const Life& life) {
    return life.region == nullptr || life.buffer->pool.empty();
  });
  const bool is_proved = (says(plan["packing_optimal"]) && orders.is_only_one) ||
                         (is_arena_all && (orders.least_bytes > less || !orders.fit(less)));
  refuse_if(!is_straight || !is_proved,
            {"the order is called optimal, but other orders may need less"});
}

}  // namespace ingot::assay
