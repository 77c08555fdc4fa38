// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "assay/claims.h"
#include "assay/search.h"

namespace ingot::assay {
namespace {

using Span = std::pair<int64_t, int64_t>;

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

int64_t length_of_union(std::vector<Span> spans) {
  std::ranges::sort(spans);
  int64_t length = 0;
  int64_t reached = spans.empty() ? 0 : spans.front().first;
  for (const auto& [begin, end] : spans) {
    length += std::max<int64_t>(0, end - std::max(begin, reached));
    reached = std::max(reached, end);
  }
  return length;
}

class Bound {
 public:
  Bound(const std::vector<Life>& lives, const Distances& distances)
      : lives_(lives), distances_(distances) {
    for (const Life& life : lives) {
      by_name_[life.buffer->name] = &life;
      if (life.takes_space()) cell_ = std::gcd(cell_, life.buffer->alignment);
    }
  }

  std::vector<const Life*> alive_at(int64_t time) const {
    std::vector<const Life*> alive;
    for (const Life& life : lives_) {
      if (life.is_alive(time)) alive.push_back(&life);
    }
    return alive;
  }

  // What must be there at once, in bytes.
  int64_t needed_at(int64_t time) const {
    const std::vector<const Life*> alive = alive_at(time);
    if (alive.empty()) return 0;
    std::map<std::string, std::vector<Span>> covered;  // in cells, by buffer or tied group
    int64_t padding = 0;
    for (const Life* life : alive) {
      const Buffer& b = *life->buffer;
      const int64_t first = *b.offset_bytes / cell_;
      covered[key_of(b)].emplace_back(first, first + cells(b));
      padding = std::max(padding, cells(b) * cell_ - b.size_bytes);
    }
    int64_t total = 0;
    for (const auto& [key, spans] : covered) total += length_of_union(spans);
    return std::max<int64_t>(0, (total - saved_at(time)) * cell_ - padding);
  }

  // Of the largest tied group or buffer.
  int64_t greatest_extent() const {
    std::map<std::string, Span> extents;
    for (const Life& life : lives_) {
      const Buffer& b = *life.buffer;
      const Span span{*b.offset_bytes, *b.offset_bytes + b.size_bytes};
      Span& extent = extents.try_emplace(key_of(b), span).first->second;
      extent = {std::min(extent.first, span.first), std::max(extent.second, span.second)};
    }
    int64_t most = 0;
    for (const auto& [key, extent] : extents) most = std::max(most, extent.second - extent.first);
    return most;
  }

 private:
  static std::string key_of(const Buffer& b) {
    return b.tie_group < 0 ? b.name : " " + std::to_string(b.tie_group);
  }
  int64_t cells(const Buffer& b) const { return ceil_div(b.size_bytes, cell_); }

  // In cells: as much as distances let pairs share, at most the whole output where inputs are older
  // than outputs (else two outputs might count each other's bytes).
  int64_t saved_at(int64_t time) const {
    std::map<std::string, int64_t> saved;
    int64_t others = 0;
    for (const Distances::Stated& d : distances_.all()) {
      // Not of those in pools.
      if (!by_name_.contains(d.output) || !by_name_.contains(d.input)) continue;
      const Life& out = *by_name_.at(d.output);
      const Life& in = *by_name_.at(d.input);
      if (!out.is_alive(time) || !in.is_alive(time)) continue;
      const int64_t shared = most_shared(d, *out.buffer, *in.buffer);
      const bool tied = out.buffer->tie_group >= 0 || in.buffer->tie_group >= 0;
      (tied || in.begin >= out.begin ? others : saved[d.output]) += shared;
    }
    for (const auto& [output, shared] : saved) {
      others += std::min(shared, cells(*by_name_.at(output)->buffer));
    }
    return others;
  }

  int64_t most_shared(const Distances::Stated& d, const Buffer& output, const Buffer& input) const {
    const int64_t out = cells(output);
    const int64_t in = cells(input);
    // With the input `behind` cells behind the output's start.
    const auto shared = [&](int64_t behind) {
      return std::max<int64_t>(0, std::min(out, behind + in) - std::max<int64_t>(0, behind));
    };
    int64_t most = 0;
    if (d.forward)
      most = shared(std::max(ceil_div(*d.forward, cell_), std::min<int64_t>(0, out - in)));
    if (d.reverse) {
      const int64_t behind = -ceil_div(*d.reverse, cell_);
      most = std::max(most, shared(std::min(behind, std::max<int64_t>(0, out - in))));
    }
    return most;
  }

  const std::vector<Life>& lives_;
  const Distances& distances_;
  std::map<std::string, const Life*> by_name_;
  int64_t cell_ = 0;
};

// What a call reads and writes of the arena.
struct Needs {
  std::set<std::string> read;
  std::set<std::string> written;
};

class Order {
 public:
  Order(const Loops& loops, const std::vector<Life>& lives) {
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

}  // namespace

void check_bound(const Json& json, const Loops& loops, const std::vector<Life>& lives,
                 const Distances& distances, const Options& options) {
  const Json& plan = json["plan"];
  const Json& witness = plan["witness"];
  const int64_t arena = json["arena_bytes"].integer().value_or(0);
  const auto lower = plan["lower_bound_bytes"].integer();
  const auto time = witness["time"].integer();
  if (!lower || !time) throw Lie("the JSON states no lower bound with a witness");
  if (*lower > arena) throw Lie("the lower bound is above the arena");
  const Bound bound(lives, distances);
  const JsonArray& names = witness["buffers"].array();
  const std::vector<const Life*> alive = bound.alive_at(*time);
  bool is_live_set = names.size() == alive.size();
  for (size_t i = 0; i < alive.size() && is_live_set; ++i) {
    is_live_set = names[i].text() == alive[i]->buffer->name;
  }
  if (!is_live_set) throw Lie("the witness does not name what is alive then");
  const int64_t needed = bound.needed_at(*time);
  if (witness["load_bytes"].integer() != needed)
    throw Lie("the witness needs " + std::to_string(needed) + " bytes, not what is stated");
  const auto is_true = [&](const char* key) { return plan[key].boolean().value_or(false); };
  if (*lower > std::max(needed, bound.greatest_extent())) {
    if (!witness["searched"].boolean().value_or(false))
      throw Lie("the lower bound has no witness: it shows " + std::to_string(needed) + " bytes");
    if (fits(lives, distances, *lower - 1))
      throw Lie("the lower bound is none: the buffers can be placed in fewer bytes");
  }
  const bool is_optimal = is_true("optimal");
  if ((is_optimal || is_true("packing_optimal")) && arena != *lower)
    throw Lie("the plan is called optimal, but the arena is above its lower bound");
  if (is_optimal && !(is_true("packing_optimal") && is_true("order_optimal")))
    throw Lie("optimal is claimed without an optimal packing and order");
  const bool has_pools = json["options"]["pools"].array().size() > 0;
  if (is_optimal && has_pools && arena > 0)
    throw Lie("optimal is claimed of an arena whose buffers might lie in pools");
  if (!is_true("order_optimal")) return;
  const Order order(loops, lives);
  // What a call needs may lie in pools.
  const int64_t least = has_pools ? 0 : order.bound(options.overlap);
  const bool is_proved = arena <= least || (is_true("packing_optimal") && order.is_only_one());
  if (!is_proved) throw Lie("the order is called optimal, but other orders may need less");
}

}  // namespace ingot::assay
