// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
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

  // At the time when most must be there.
  int64_t greatest_need() const {
    int64_t most = 0;
    for (const Life& life : lives_) {
      if (life.takes_space()) most = std::max(most, needed_at(life.begin));
    }
    return most;
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

}  // namespace

std::vector<Life> bound_to_arena(const std::vector<Life>& lives, const std::vector<Region>& regions,
                                 const Json& options, const Distances& distances) {
  const auto may_lie = [&](const Life& life, const Region& region) {
    const Buffer& b = *life.buffer;
    if (b.size_bytes > region.most_bytes) return false;
    if (region.element == nullptr) return true;
    if (b.element != region.element && !is_of_bytes(*b.element)) return false;
    return std::ranges::none_of(lives, [&](const Life& other) {
      const Buffer& o = *other.buffer;
      return o.kind != "arena" && o.pool == region.name && other.meets(life) &&
             distances.find(o, b) == nullptr && distances.find(b, o) == nullptr;
    });
  };
  // What is tied lies in one region.
  std::map<std::pair<std::string, int64_t>, std::vector<const Life*>> units;
  for (const Life& life : lives) {
    if (life.buffer->kind != "arena" && !life.buffer->pool.empty()) continue;
    const int64_t group = life.buffer->tie_group;
    units[{group < 0 ? life.buffer->name : "", group}].push_back(&life);
  }
  std::vector<Life> bound;
  for (const auto& [key, unit] : units) {
    const bool is_callers = unit.front()->buffer->kind != "arena";
    const bool is_placed = std::ranges::any_of(
        unit, [&](const Life* l) { return !options["places"][l->buffer->tensor].text().empty(); });
    bool is_free = false;
    for (size_t r = 1; r < regions.size() && !is_callers && !is_placed; ++r) {
      is_free = is_free ||
                std::ranges::all_of(unit, [&](const Life* l) { return may_lie(*l, regions[r]); });
    }
    const bool lies_there = unit.front()->buffer->pool.empty();
    for (const Life* life : unit) {
      if (!is_free && lies_there) bound.push_back(*life);
    }
  }
  return bound;
}

void check_bound(const Json& json, const std::vector<Life>& lives,
                 const std::vector<Life>& bound_to_arena, const Distances& distances,
                 const Options& options) {
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
    if (!is_refuted(lives, distances, *lower - 1, plan))
      throw Lie("the lower bound is none: the search does not show that fewer bytes are too few");
  }
  const bool is_optimal = is_true("optimal");
  if ((is_optimal || is_true("packing_optimal")) && arena != *lower)
    throw Lie("the plan is called optimal, but the arena is above its lower bound");
  if (is_optimal && !(is_true("packing_optimal") && is_true("order_optimal")))
    throw Lie("optimal is claimed without an optimal packing and order");
  const bool lends = options.scratch_in_outputs || options.reuse_inputs;
  const bool has_pools =
      json["options"]["pools"].array().size() > 0 || (lends && !options.io_in_arena);
  if (is_optimal && has_pools && arena > Bound(bound_to_arena, distances).greatest_need())
    throw Lie("optimal is claimed of an arena whose buffers might lie elsewhere");
}

}  // namespace ingot::assay
