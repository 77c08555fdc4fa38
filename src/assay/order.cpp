// SPDX-License-Identifier: Apache-2.0
#include "assay/order.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "assay/code.h"
#include "assay/load.h"

namespace ingot::assay {
namespace {

struct Step {                    // a call
  std::set<size_t> lives = {};   // that it touches, with their parts
  std::set<size_t> before = {};  // calls that must come before
  std::vector<size_t> after = {};
  size_t waits_for = 0;  // of those before
};

class Orders {
 public:
  Orders(const Layout& layout, const Distances& distances)
      : layout_(layout),
        load_(layout, distances, &Pair::needed, 1),
        num_calls_(layout.lives.size()),
        num_done_(layout.lives.size()) {
    for (size_t i = 0; i < layout.lives.size(); ++i) {
      if (layout.lives[i].buffer->kind == "input") alive_.insert(i);
    }
    std::vector<std::vector<size_t>> writers(load_.pieces().lengths.size());  // the last
    std::vector<std::vector<size_t>> readers(writers.size());                 // since then
    for (size_t s = 0; s < layout.uses.size(); ++s) {
      Step& step = steps_.emplace_back();
      for (const Use& use : layout.uses[s]) {
        step.lives.insert(layout.parts[use.life].begin(), layout.parts[use.life].end());
        for (const size_t p : load_.pieces().of[use.life]) {
          step.before.insert(writers[p].begin(), writers[p].end());
          if (use.writes) step.before.insert(readers[p].begin(), readers[p].end());
        }
      }
      for (const Use& use : layout.uses[s]) {
        for (const size_t p : load_.pieces().of[use.life]) {
          if (use.writes) readers[p].clear();
          (use.writes ? writers[p] = {} : readers[p]).push_back(s);
        }
      }
      for (const size_t i : step.lives) ++num_calls_[i];
      for (const size_t b : step.before) steps_[b].after.push_back(s);
      step.waits_for = step.before.size();
      if (step.before.empty()) ready_.insert(s);
      is_only_one = is_only_one && (s == 0 || step.before.contains(s - 1));
      least_bytes = std::max(least_bytes, load_.of(step.lives, static_cast<int64_t>(s)));
    }
  }

  // A call comes after those that wrote what it reads, and after those that read or wrote what it
  // writes: whether no other order is possible.
  bool is_only_one = true;
  // What some call needs whatever else is alive.
  int64_t least_bytes = 0;

  // Whether all calls can be done in an order in which none needs more than `limit` bytes. What is
  // ready tells what has been done.
  bool fit(int64_t limit) {
    struct Choice {
      std::vector<size_t> done;  // by it, in order
      std::vector<size_t> left;  // what else can be done next
    };
    std::vector<Choice> path;
    std::set<std::set<size_t>> seen;
    std::vector<size_t> done;
    while (true) {
      run_free(limit, done);
      if (ready_.empty()) return true;
      path.push_back({std::exchange(done, {}), {}});
      if (seen.insert(ready_).second) path.back().left = {ready_.rbegin(), ready_.rend()};
      while (done.empty()) {
        Choice& last = path.back();
        if (!last.left.empty()) {
          if (need(last.left.back()).first <= limit) done = {last.left.back()};
          last.left.pop_back();
          continue;
        }
        for (; !last.done.empty(); last.done.pop_back()) set_done(last.done.back(), false);
        path.pop_back();
        if (path.empty()) return false;
      }
      set_done(done.front(), true);
    }
  }

 private:
  // What is alive while a call runs, and whether no more is after it than before.
  std::pair<int64_t, bool> need(size_t s) {
    std::set<size_t> all = alive_;
    std::set<size_t> left = alive_;
    for (const size_t i : steps_[s].lives) {
      all.insert(i);
      is_alive(i, num_done_[i] + 1) ? void(left.insert(i)) : void(left.erase(i));
    }
    work_left_ -= std::ssize(all) + std::ssize(ready_);
    if (work_left_ < 0) throw TooLarge("there are too many orders of the calls to be judged");
    const int64_t before = load_.of(alive_, -1);
    const int64_t after = load_.of(left, -1);
    // Outputs share bytes with inputs only.
    const int64_t during = load_.of(all, static_cast<int64_t>(s), [&](const Pair& pair) {
      return !alive_.contains(pair.output) && !left.contains(pair.input);
    });
    return {std::max({before, during, after}), after <= before};
  }

  bool is_alive(size_t i, size_t num_done) const {
    return (num_done > 0 || layout_.lives[i].buffer->kind == "input") &&
           (num_done < num_calls_[i] || layout_.lives[i].is_kept);
  }

  void set_done(size_t s, bool done) {
    const size_t one_more = done ? 1 : static_cast<size_t>(-1);
    for (const size_t i : steps_[s].lives) {
      num_done_[i] += one_more;
      is_alive(i, num_done_[i]) ? void(alive_.insert(i)) : void(alive_.erase(i));
    }
    for (const size_t next : steps_[s].after) {
      steps_[next].waits_for -= one_more;
      steps_[next].waits_for == 0 ? void(ready_.insert(next)) : void(ready_.erase(next));
    }
    done ? void(ready_.erase(s)) : void(ready_.insert(s));
  }

  // Does, and adds to `done`, calls that leave no more than there was: every other call then sees
  // as much memory as before or less.
  void run_free(int64_t limit, std::vector<size_t>& done) {
    for (bool changed = true; std::exchange(changed, false);) {
      for (auto next = ready_.begin(); next != ready_.end();) {
        const size_t s = *next++;
        const auto [bytes, is_free] = need(s);
        if (bytes > limit || !is_free) continue;
        set_done(s, true);
        done.push_back(s);
        changed = true;
      }
    }
  }

  const Layout& layout_;
  const Load load_;
  std::vector<Step> steps_;
  std::vector<size_t> num_calls_;  // by life, that touch it
  std::vector<size_t> num_done_;   // of them
  std::set<size_t> alive_;
  std::set<size_t> ready_;
  int64_t work_left_ = 100'000'000;
};

}  // namespace

void check_order(const Loops& loops, const Layout& layout, const Distances& distances) {
  const Json& plan = layout.json["plan"];
  const int64_t less = layout.regions.at("").bytes - 1;
  if (!says(plan["order_optimal"]) || less < 0) return;
  Orders orders(layout, distances);
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
