// SPDX-License-Identifier: Apache-2.0
#include "assay/order.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>

namespace ingot::assay {
namespace {

// What a call reads and writes of the arena.
struct Needs {
  std::set<std::string> read;
  std::set<std::string> written;
};

// What follows from single calls.
class Calls {
 public:
  Calls(const Loops& loops, const std::vector<Life>& lives) {
    for (const Life& life : lives) buffers_[life.buffer->name] = life.buffer;
    for (const Stmt& s : loops.runner.stmts) is_straight_ &= s.kind == Stmt::Kind::kCall;
    for (const Call& call : loops.calls) {
      const std::vector<Place>& places = loops.kernels.at(call.kernel).body.places;
      Needs& needs = needs_.emplace_back();
      for (size_t p = 0; p < call.args.size(); ++p) {
        if (places[p].reads) needs.read.insert(call.args[p].buffer);
        if (places[p].writes) needs.written.insert(call.args[p].buffer);
      }
    }
  }

  // What every order needs: what a call reads exists at once, and so does what it writes; if they
  // may not overlap, all of it.
  int64_t bound(bool overlap) const {
    if (!is_straight_) return 0;
    int64_t most = 0;
    for (const Needs& needs : needs_) {
      std::set<std::string> all = needs.read;
      all.insert(needs.written.begin(), needs.written.end());
      most =
          std::max(most, overlap ? std::max(bytes(needs.read), bytes(needs.written)) : bytes(all));
    }
    return most;
  }

  bool is_straight() const { return is_straight_; }

  bool is_only_one() const {
    if (!is_straight_ || needs_.empty()) return false;
    for (size_t i = 1; i < needs_.size(); ++i) {
      const bool needs_previous = std::ranges::any_of(
          needs_[i - 1].written,
          [&](const std::string& name) { return needs_[i].read.contains(name); });
      if (!needs_previous) return false;
    }
    return true;
  }

 private:
  // Of tied buffers only the largest counts.
  int64_t bytes(const std::set<std::string>& names) const {
    int64_t bytes = 0;
    std::map<int64_t, int64_t> largest;
    for (const std::string& name : names) {
      const auto found = buffers_.find(name);
      if (found == buffers_.end()) continue;
      const Buffer& b = *found->second;
      if (b.tie_group < 0) {
        bytes += b.size_bytes;
      } else {
        largest[b.tie_group] = std::max(largest[b.tie_group], b.size_bytes);
      }
    }
    for (const auto& [group, size] : largest) bytes += size;
    return bytes;
  }

  std::map<std::string, const Buffer*> buffers_;
  std::vector<Needs> needs_;
  bool is_straight_ = true;
};

// Bytes that no buffer divides: a buffer, or a part of a tied group.
struct Part {
  int64_t bytes = 0;
  bool begun = false;
  bool kept = false;  // to the end
  int64_t calls_left = 0;
};

struct CallParts {
  struct Output {
    int64_t bytes = 0;
    std::vector<size_t> parts;
    // Of an input: its parts, and how many bytes of it the output may take.
    std::vector<std::pair<std::vector<size_t>, int64_t>> shared;
  };
  std::vector<size_t> parts;
  std::vector<Output> outputs;
  std::vector<size_t> followers;  // calls that must come later
  int64_t before_left = 0;        // calls that must come before
};

// Walks through the sets of calls that have been done.
class OrderSearch {
 public:
  OrderSearch(const Loops& loops, const std::vector<Life>& lives,
              const std::vector<Distance>& derived, const Distances& stated, const Options& options)
      : loops_(loops), calls_(loops.calls.size()), is_done_(loops.calls.size(), false) {
    std::map<std::string, const Life*> planned;
    for (const Life& life : lives) planned[life.buffer->name] = &life;
    for (const Buffer& b : loops.buffers) {
      buffers_[b.name] = &b;
      if (b.kind != "constant") add_parts(b, planned.contains(b.name), options);
    }
    std::vector<std::vector<size_t>> read_since(parts_.size());
    std::vector<size_t> writer(parts_.size(), SIZE_MAX);
    for (size_t c = 0; c < calls_.size(); ++c) add_call(c, writer, read_since);
    for (const Distances::Stated& d : stated.all()) runs_[d.step] = d.runs;
    if (options.overlap) add_shared(derived);
    for (const Part& part : parts_) {
      if (part.begun) live_ += part.bytes;
    }
  }

  // Whether all calls can be done in an order in which none needs more than `limit` bytes.
  bool fits(int64_t limit) {
    std::set<std::vector<bool>> seen;
    std::vector<Level> levels(1);
    run_free(limit, levels.back());
    int64_t work_left = 200'000'000;
    while (!levels.empty()) {
      Level& level = levels.back();
      if (level.next == 0) {
        if (num_done_ == calls_.size()) return true;
        level.choices = ready(limit);
        if (!seen.insert(is_done_).second) level.choices.clear();
      }
      if (level.next == level.choices.size()) {
        for (; !level.done.empty(); level.done.pop_back()) undo(level.done.back());
        levels.pop_back();
        continue;
      }
      work_left -= static_cast<int64_t>(calls_.size() + 1000);
      if (work_left < 0) throw TooLarge("there are too many orders of the calls to be judged");
      const size_t call = level.choices[level.next++];
      Level& below = levels.emplace_back();
      run(call);
      below.done.push_back(call);
      run_free(limit, below);
    }
    return false;
  }

 private:
  struct Level {
    std::vector<size_t> done;  // since the level above
    std::vector<size_t> choices;
    size_t next = 0;
  };

  // Tied buffers are cut where any of them begins or ends.
  void add_parts(const Buffer& b, bool is_planned, const Options& options) {
    const bool kept = b.kind == "output" || (b.kind == "input" && !options.reuse_inputs);
    const Part part{is_planned ? b.size_bytes : 0, b.kind == "input", kept};
    if (b.tie_group < 0) {
      of_buffer_[b.name] = {parts_.size()};
      parts_.push_back(part);
      return;
    }
    if (of_buffer_.contains(b.name)) return;
    std::set<int64_t> cuts;
    std::vector<const Buffer*> members;
    for (const Buffer& other : loops_.buffers) {
      if (other.tie_group != b.tie_group) continue;
      members.push_back(&other);
      cuts.insert(other.tie_offset_bytes);
      cuts.insert(other.tie_offset_bytes + other.size_bytes);
    }
    for (const Buffer* member : members) of_buffer_[member->name];
    for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
      bool used = false;
      for (const Buffer* m : members) {
        const bool inside =
            m->tie_offset_bytes <= *cut && *std::next(cut) <= m->tie_offset_bytes + m->size_bytes;
        if (inside) of_buffer_[m->name].push_back(parts_.size());
        used = used || inside;
      }
      if (used) parts_.push_back({*std::next(cut) - *cut});
    }
  }

  // A call comes after those that wrote what it reads, and after those that read or wrote what it
  // writes.
  void add_call(size_t c, std::vector<size_t>& writer,
                std::vector<std::vector<size_t>>& read_since) {
    const Call& call = loops_.calls[c];
    const std::vector<Place>& places = loops_.kernels.at(call.kernel).body.places;
    std::map<size_t, bool> touched;  // part: whether it is written
    std::map<std::string, bool> outputs;
    for (size_t p = 0; p < call.args.size(); ++p) {
      const auto parts = of_buffer_.find(call.args[p].buffer);
      if (parts == of_buffer_.end()) continue;
      for (const size_t part : parts->second) touched[part] |= places[p].writes;
      if (places[p].writes) outputs[call.args[p].buffer] |= places[p].reads;
    }
    std::set<size_t> before;
    for (const auto& [part, writes] : touched) {
      calls_[c].parts.push_back(part);
      ++parts_[part].calls_left;
      if (writer[part] != SIZE_MAX) before.insert(writer[part]);
      if (writes) before.insert(read_since[part].begin(), read_since[part].end());
    }
    for (const auto& [part, writes] : touched) {
      if (writes) {
        writer[part] = c;
        read_since[part].clear();
      } else {
        read_since[part].push_back(c);
      }
    }
    for (const size_t b : before) calls_[b].followers.push_back(c);
    calls_[c].before_left = static_cast<int64_t>(before.size());
    for (const auto& [name, reads] : outputs) {
      const Buffer& b = *buffers_.at(name);
      if (!reads) calls_[c].outputs.push_back({b.size_bytes, of_buffer_.at(name), {}});
    }
  }

  // An output of a call may take all of an input, where the run has shown nothing else.
  void add_shared(const std::vector<Distance>& derived) {
    std::map<std::pair<std::string, std::string>, const Distance*> known;
    for (const Distance& d : derived) known[{d.output, d.input}] = &d;
    for (size_t c = 0; c < calls_.size(); ++c) {
      const Call& call = loops_.calls[c];
      for (CallParts::Output& output : calls_[c].outputs) {
        std::set<std::string> inputs;
        const auto is_output = [&](const std::string& name) {
          return of_buffer_.at(name) == output.parts;
        };
        std::string name;
        for (const Call::Arg& arg : call.args) {
          if (!of_buffer_.contains(arg.buffer)) continue;
          if (is_output(arg.buffer)) {
            name = arg.buffer;
          } else {
            inputs.insert(arg.buffer);
          }
        }
        for (const std::string& input : inputs) {
          const auto d = known.find({name, input});
          const Buffer& y = *buffers_.at(name);
          const Buffer& x = *buffers_.at(input);
          const int64_t shared = d == known.end() ? std::min(x.size_bytes, y.size_bytes)
                                                  : most_shared(*d->second, y, x);
          output.shared.emplace_back(of_buffer_.at(input), shared);
        }
      }
    }
  }

  int64_t most_shared(const Distance& d, const Buffer& y, const Buffer& x) const {
    const int64_t behind = *x.offset_bytes - *y.offset_bytes;
    const auto least = [](std::optional<int64_t> seen, int64_t shift, int64_t lowest) {
      return seen ? std::max(lowest, *seen + shift + 1) : lowest;
    };
    // Forward the one run goes and in reverse the other; which is which may not be known.
    const auto runs = runs_.find(d.step);
    const bool may_seen = runs == runs_.end() || runs->second == "forward";
    const bool may_turned = runs == runs_.end() || runs->second != "forward";
    int64_t forward = INT64_MAX;
    int64_t reverse = INT64_MAX;
    if (may_seen) {
      forward = least(d.forward, behind, -x.size_bytes);
      reverse = least(d.turned_reverse, -behind, -y.size_bytes);
    }
    if (may_turned) {
      forward = std::min(forward, least(d.turned_forward, behind, -x.size_bytes));
      reverse = std::min(reverse, least(d.reverse, -behind, -y.size_bytes));
    }
    const auto shared = [&](int64_t at) {
      return std::max<int64_t>(
          0, std::min(y.size_bytes, at + x.size_bytes) - std::max<int64_t>(0, at));
    };
    return std::max(shared(std::max(forward, std::min<int64_t>(0, y.size_bytes - x.size_bytes))),
                    shared(std::min(-reverse, std::max<int64_t>(0, y.size_bytes - x.size_bytes))));
  }

  int64_t need(size_t c) const {
    int64_t need = live_;
    for (const size_t p : calls_[c].parts) need += parts_[p].begun ? 0 : parts_[p].bytes;
    for (const CallParts::Output& output : calls_[c].outputs) {
      const auto begins = [&](size_t p) { return !parts_[p].begun; };
      const auto dies = [&](size_t p) { return parts_[p].calls_left == 1 && !parts_[p].kept; };
      if (std::ranges::none_of(output.parts, begins)) continue;
      int64_t saved = 0;
      for (const auto& [parts, bytes] : output.shared) {
        if (std::ranges::any_of(parts, dies)) saved += bytes;
      }
      need -= std::min(saved, output.bytes);
    }
    return need;
  }

  int64_t left_by(size_t c) const {
    int64_t left = live_;
    for (const size_t p : calls_[c].parts) {
      const bool dies = parts_[p].calls_left == 1 && !parts_[p].kept;
      left += (parts_[p].begun ? 0 : parts_[p].bytes) - (dies ? parts_[p].bytes : 0);
    }
    return left;
  }

  bool is_ready(size_t c) const { return !is_done_[c] && calls_[c].before_left == 0; }

  std::vector<size_t> ready(int64_t limit) const {
    std::vector<size_t> found;
    for (size_t c = 0; c < calls_.size(); ++c) {
      if (is_ready(c) && need(c) <= limit) found.push_back(c);
    }
    return found;
  }

  // Calls that leave no more than there was may come first: every other call then sees as much
  // memory as before or less.
  void run_free(int64_t limit, Level& level) {
    const auto is_free = [&](size_t c) {
      return is_ready(c) && need(c) <= limit && left_by(c) <= live_;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t c = 0; c < calls_.size(); ++c) {
        if (!is_free(c)) continue;
        run(c);
        level.done.push_back(c);
        changed = true;
      }
    }
  }

  void run(size_t c) {
    live_ = left_by(c);
    for (const size_t p : calls_[c].parts) {
      begun_by_.emplace_back(p, parts_[p].begun);
      parts_[p].begun = true;
      --parts_[p].calls_left;
    }
    for (const size_t follower : calls_[c].followers) --calls_[follower].before_left;
    is_done_[c] = true;
    ++num_done_;
  }

  void undo(size_t c) {
    for (size_t i = calls_[c].parts.size(); i-- > 0; begun_by_.pop_back()) {
      Part& part = parts_[begun_by_.back().first];
      part.begun = begun_by_.back().second;
      ++part.calls_left;
    }
    for (const size_t follower : calls_[c].followers) ++calls_[follower].before_left;
    is_done_[c] = false;
    --num_done_;
    live_ -= left_by(c) - live_;
  }

  const Loops& loops_;
  std::map<int64_t, std::string> runs_;  // by step, where it is stated
  std::map<std::string, const Buffer*> buffers_;
  std::map<std::string, std::vector<size_t>> of_buffer_;  // parts
  std::vector<Part> parts_;
  std::vector<CallParts> calls_;
  std::vector<bool> is_done_;
  size_t num_done_ = 0;
  int64_t live_ = 0;
  std::vector<std::pair<size_t, bool>> begun_by_;  // parts touched by calls, with what they were
};

}  // namespace

void check_order(const Json& json, const Loops& loops, const std::vector<Life>& lives,
                 const std::vector<Distance>& derived, const Distances& stated,
                 const Options& options) {
  const Json& plan = json["plan"];
  if (!plan["order_optimal"].boolean().value_or(false)) return;
  const int64_t arena = json["arena_bytes"].integer().value_or(0);
  const Calls calls(loops, lives);
  if (plan["packing_optimal"].boolean().value_or(false) && calls.is_only_one()) return;
  const bool elsewhere =
      std::ranges::any_of(lives, [](const Life& life) { return !life.buffer->pool.empty(); });
  // What a call needs may lie in other memories.
  const bool is_proved =
      arena <= 0 || (!elsewhere && calls.is_straight() &&
                     (arena <= calls.bound(options.overlap) ||
                      !OrderSearch(loops, lives, derived, stated, options).fits(arena - 1)));
  if (!is_proved) throw Lie("the order is called optimal, but other orders may need less");
}

}  // namespace ingot::assay
