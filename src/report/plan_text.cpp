// SPDX-License-Identifier: Apache-2.0
#include "report/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "report/inspect.h"

namespace ingot {
namespace {

constexpr int64_t kRows = 24;
constexpr int64_t kMostColumns = 72;
constexpr std::string_view kLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

class PlanText {
 public:
  PlanText(const loop::Program& program, const ArenaFacts& arena)
      : program_(program), arena_(arena), buffers_(arena.problem.buffers) {
    for (const plan::Buffer& b : buffers_) num_steps_ = std::max(num_steps_, b.lifetime.end);
    for (size_t b = 0; b < buffers_.size(); ++b) {
      const plan::Interval life = buffers_[b].lifetime;
      if (buffers_[b].size_bytes == 0 || life.begin >= life.end) continue;
      (arena.plan.pool_of.at(b) == 0 ? shown_ : elsewhere_).push_back(b);
    }
    std::ranges::stable_sort(shown_, {}, [&](size_t b) { return buffers_[b].lifetime.begin; });
  }

  std::string print() const {
    if (shown_.empty() && elsewhere_.empty())
      return "The arena is empty: all buffers are the caller's.\n";
    if (shown_.empty()) return "The arena is empty.\n\n" + pools();
    // What was saved is known for the arena alone.
    return head() + drawing() + legend() + peak() + (has_pools() ? pools() : savings());
  }

 private:
  int64_t begin_of(size_t b) const { return arena_.plan.offsets.at(b); }
  int64_t end_of(size_t b) const { return begin_of(b) + buffers_[b].size_bytes; }
  char letter_of(size_t shown) const { return kLetters[shown % kLetters.size()]; }

  std::string name_of(size_t b) const {
    const std::string& tensor = program_.buffers.at(arena_.buffers[b]).tensor;
    return tensor.empty() ? "scratch " + buffers_[b].name : short_name(tensor);
  }

  int64_t peak_time() const { return arena_.plan.pools.at(0).witness_time; }

  std::string step_name(int64_t time) const {
    if (time < 0 || time >= static_cast<int64_t>(program_.notes.size())) return "";
    const loop::CallNote& note = program_.notes[static_cast<size_t>(time)];
    return " (" + note.kind + (note.name.empty() ? "" : " " + short_name(note.name)) + ")";
  }

  std::string head() const {
    return fmt::format("arena {} bytes, {} buffers, {} steps\n\n", grouped(arena_.bytes),
                       shown_.size(), num_steps_);
  }

  // What is in the bytes [low, high) during the steps [first, last).
  char cell(int64_t low, int64_t high, int64_t first, int64_t last) const {
    char found = '.';
    for (size_t s = 0; s < shown_.size(); ++s) {
      const size_t b = shown_[s];
      if (begin_of(b) >= high || end_of(b) <= low) continue;
      if (!buffers_[b].lifetime.meets({first, last})) continue;
      if (found != '.') return '*';
      found = letter_of(s);
    }
    return found;
  }

  bool has_pools() const { return arena_.plan.pools.size() > 1; }

  std::string pools() const {
    std::string text;
    for (size_t p = 1; p < arena_.plan.pools.size(); ++p) {
      const std::string& name = arena_.problem.pools.at(p).name;
      const std::string bytes = grouped(arena_.plan.pools[p].height_bytes);
      text += arena_.is_lent(static_cast<int64_t>(p))
                  ? fmt::format("{}: {} bytes, the caller's\n", name, bytes)
                  : fmt::format("pool {}: {} bytes of {}\n", name, bytes,
                                grouped(arena_.problem.pools[p].capacity_bytes.value_or(0)));
      for (const size_t b : elsewhere_) {
        if (arena_.plan.pool_of[b] != static_cast<int64_t>(p)) continue;
        text += fmt::format("   {:>8}  {:>10}   {:>3}-{:<3}  {}\n", grouped(begin_of(b)),
                            grouped(buffers_[b].size_bytes), buffers_[b].lifetime.begin,
                            buffers_[b].lifetime.end - 1, name_of(b));
      }
    }
    return text;
  }

  std::string drawing() const {
    const int64_t steps_per_column = (num_steps_ + kMostColumns - 1) / kMostColumns;
    const int64_t columns = (num_steps_ + steps_per_column - 1) / steps_per_column;
    const std::string space(columns * 3 <= kMostColumns ? 2 : 0, ' ');
    const int64_t rows = std::min(kRows, arena_.bytes);
    const auto address = [&](int64_t row) { return arena_.bytes * row / rows; };
    std::string text;
    for (int64_t row = rows - 1; row >= 0; --row) {
      text += fmt::format("{:>9} |", grouped(address(row)));
      for (int64_t c = 0; c < columns; ++c) {
        text += space + cell(address(row), address(row + 1), c * steps_per_column,
                             (c + 1) * steps_per_column);
      }
      text += "\n";
    }
    text += fmt::format("{:>9} +{}\n", "byte",
                        std::string(static_cast<size_t>(columns) * (space.size() + 1), '-'));
    const int64_t peak_column = peak_time() / steps_per_column;
    text += fmt::format("{:>10} {}{}^ peak, step {}{}\n", "step",
                        std::string(static_cast<size_t>(peak_column) * (space.size() + 1), ' '),
                        space, peak_time(), step_name(peak_time()));
    if (steps_per_column > 1) text += fmt::format("one column is {} steps\n", steps_per_column);
    return text + "* two buffers share bytes\n\n";
  }

  std::string legend() const {
    std::string text = "     offset       bytes   steps    tensor\n";
    for (size_t s = 0; s < shown_.size(); ++s) {
      const plan::Buffer& buffer = buffers_[shown_[s]];
      text += fmt::format("{}  {:>8}  {:>10}   {:>3}-{:<3}  {}\n", letter_of(s),
                          grouped(begin_of(shown_[s])), grouped(buffer.size_bytes),
                          buffer.lifetime.begin, buffer.lifetime.end - 1, name_of(shown_[s]));
    }
    return text + "\n";
  }

  std::string peak() const {
    const plan::PoolPlan& pool = arena_.plan.pools.at(0);
    std::string text =
        fmt::format("alive together at step {}{}:\n", peak_time(), step_name(peak_time()));
    for (const int64_t b : pool.witness) {
      text +=
          fmt::format("  {:>10} bytes  {}\n", grouped(buffers_[static_cast<size_t>(b)].size_bytes),
                      name_of(static_cast<size_t>(b)));
    }
    text += fmt::format(
        "they need {} bytes at least; {}\n\n", grouped(pool.load_bytes),
        pool.optimal ? "no plan for this order of steps is lower"
                     : fmt::format("proved is a bound of {}", grouped(pool.lower_bound_bytes)));
    return text;
  }

  std::string savings() const {
    const int64_t sum =
        std::accumulate(shown_.begin(), shown_.end(), int64_t{0},
                        [&](int64_t total, size_t b) { return total + buffers_[b].size_bytes; });
    plan::Problem without = arena_.problem;
    without.overlaps.clear();
    const int64_t apart = plan::solve(without).pools.at(0).height_bytes;
    return fmt::format(
        "{:>11} bytes if every buffer had a place of its own\n"
        "{:>11} saved by buffers that follow one another in one place\n"
        "{:>11} saved by outputs that overlap inputs which die in the same step\n"
        "{:>11} bytes are left\n",
        grouped(sum), grouped(sum - apart), grouped(apart - arena_.bytes), grouped(arena_.bytes));
  }

  const loop::Program& program_;
  const ArenaFacts& arena_;
  const std::vector<plan::Buffer>& buffers_;
  std::vector<size_t> shown_;      // indices of buffers that have bytes and time, by first step
  std::vector<size_t> elsewhere_;  // the same of those in pools
  int64_t num_steps_ = 0;
};

}  // namespace

std::string plan_text(const loop::Program& program, const ArenaFacts& arena) {
  return PlanText(program, arena).print();
}

}  // namespace ingot
