// SPDX-License-Identifier: Apache-2.0
#include "assay/bound.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "assay/claims.h"
#include "assay/code.h"
#include "assay/search.h"

namespace ingot::assay {
namespace {

using Span = std::pair<int64_t, int64_t>;

int64_t length_of_union(std::vector<Span> spans) {
  std::ranges::sort(spans);
  int64_t length = 0;
  int64_t reached = INT64_MIN;
  for (const auto& [begin, end] : spans) {
    length += std::max<int64_t>(0, end - std::max(begin, reached));
    reached = std::max(reached, end);
  }
  return length;
}

class Load {
 public:
  Load(const std::vector<Life>& lives, const Distances& distances)
      : lives_(lives), distances_(distances) {
    for (const Life& life : lives) {
      if (life.takes_space()) cell_bytes_ = std::gcd(cell_bytes_, life.buffer->alignment);
    }
  }

  // What must be there at once, in bytes. The last cell of one buffer may stick out of the arena.
  int64_t at(int64_t time) const {
    std::map<std::string, const Life*> alive;
    std::map<std::string, std::vector<Span>> covered;  // in cells, by what moves as one
    int64_t padding = 0;
    for (const Life& life : lives_) {
      if (!life.is_alive(time)) continue;
      const Buffer& b = *life.buffer;
      alive[b.name] = &life;
      const int64_t first = *b.offset_bytes / cell_bytes_;
      covered[unit_of(b)].emplace_back(first, first + cells(b));
      padding = std::max(padding, cells(b) * cell_bytes_ - b.size_bytes);
    }
    int64_t total = -saved_by(alive);
    for (const auto& [unit, spans] : covered) total += length_of_union(spans);
    return std::max<int64_t>(0, total * cell_bytes_ - padding);
  }

  int64_t greatest() const {
    int64_t most = 0;
    for (const Life& life : lives_) {
      if (life.takes_space()) most = std::max(most, at(life.begin));
    }
    return most;
  }

 private:
  int64_t cells(const Buffer& b) const { return (b.size_bytes + cell_bytes_ - 1) / cell_bytes_; }

  // In cells: as much as distances let pairs share, at most the whole output where inputs are older
  // than outputs (else two outputs might count each other's bytes).
  int64_t saved_by(const std::map<std::string, const Life*>& alive) const {
    std::map<std::string, int64_t> saved;  // by output
    int64_t others = 0;
    for (const auto& [names, d] : distances_.all()) {
      const auto out = alive.find(names.first);
      const auto in = alive.find(names.second);
      if (out == alive.end() || in == alive.end()) continue;
      const Buffer& output = *out->second->buffer;
      const Buffer& input = *in->second->buffer;
      const bool tied = output.tie_group >= 0 || input.tie_group >= 0;
      const bool is_older = in->second->begin < out->second->begin;
      (is_older && !tied ? saved[output.name] : others) +=
          most_shared(d.least, cells(output), cells(input), cell_bytes_);
    }
    for (const auto& [output, shared] : saved) {
      others += std::min(shared, cells(*alive.at(output)->buffer));
    }
    return others;
  }

  const std::vector<Life>& lives_;
  const Distances& distances_;
  int64_t cell_bytes_ = 0;
};

// Those in the arena that could lie in no other region, nor could what moves with them.
std::vector<Life> bound_to_arena(const Layout& layout, const Json& places,
                                 const Distances& distances) {
  std::map<std::string, std::vector<Life>> units;
  for (const Life& life : layout.lives) {
    if (life.buffer->pool.empty()) units[unit_of(*life.buffer)].push_back(life);
  }
  const auto may_lie = [&](const Life& life, const std::string& name, const Region& region) {
    const Buffer& b = *life.buffer;
    if (name.empty() || b.kind != "arena" || !places[b.tensor].text().empty() ||
        b.size_bytes > region.most_bytes)
      return false;
    if (region.element == nullptr) return true;
    return may_stand_in(b.element, region.element) &&
           std::ranges::none_of(layout.lives, [&](const Life& port) {
             const Buffer& p = *port.buffer;
             return is_callers(p) && p.pool == name && port.meets(life) && !distances.find(p, b) &&
                    !distances.find(b, p);
           });
  };
  std::vector<Life> bound;
  for (const auto& [key, unit] : units) {
    bool is_free = false;
    for (const auto& named : layout.regions) {
      is_free |= std::ranges::all_of(
          unit, [&](const Life& life) { return may_lie(life, named.first, named.second); });
    }
    if (!is_free) bound.insert(bound.end(), unit.begin(), unit.end());
  }
  return bound;
}

}  // namespace

void check_bound(const Json& json, const Layout& layout, const Distances& distances) {
  const Claims& claims = layout.claims;
  const int64_t arena = layout.regions.at("").bytes;
  const Json& plan = json["plan"];
  const Json& witness = plan["witness"];
  const auto lower = plan["lower_bound_bytes"].integer();
  const auto time = witness["time"].integer();
  expect(lower && time, "no lower bound with a witness");
  if (*lower > arena) throw Lie("the lower bound is above the arena");
  std::vector<Life> in_arena;
  std::vector<std::string> alive;
  for (const Life& life : layout.lives) {
    if (!life.buffer->pool.empty()) continue;
    in_arena.push_back(life);
    if (life.is_alive(*time)) alive.push_back(life.buffer->name);
  }
  if (!std::ranges::equal(witness["buffers"].array(), alive, {}, &Json::text))
    throw Lie("the witness does not name what is alive then");
  const int64_t needed = Load(in_arena, distances).at(*time);
  if (witness["load_bytes"].integer() != needed)
    throw Lie("the witness needs " + std::to_string(needed) + " bytes, not what is stated");
  if (!witness["searched"].boolean().value_or(false) && !witness["search"].array().empty())
    throw Lie("the witness has a search and says that it has none");
  if (*lower > needed && !is_refuted(in_arena, distances, *lower - 1, plan))
    throw Lie("the lower bound has no witness: it shows " + std::to_string(needed) +
              " bytes, and the search does not show that fewer than are stated are too few");
  if ((claims.optimal || claims.packing_optimal) && arena != *lower)
    throw Lie("the plan is called optimal, but the arena is above its lower bound");
  if (claims.optimal && !(claims.packing_optimal && claims.order_optimal))
    throw Lie("optimal is claimed without an optimal packing and order");
  if (!claims.optimal || layout.regions.size() == 1) return;
  const std::vector<Life> bound = bound_to_arena(layout, json["options"]["places"], distances);
  if (arena > Load(bound, distances).greatest())
    throw Lie("optimal is claimed of an arena whose buffers might lie elsewhere");
}

}  // namespace ingot::assay
