// SPDX-License-Identifier: Apache-2.0
#include "assay/bound.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "assay/claims.h"
#include "assay/code.h"
#include "assay/intervals.h"
#include "assay/load.h"
#include "assay/search.h"

namespace ingot::assay {
namespace {

// A cell is what all alignments are multiples of.
Load load_by_cells(const Layout& layout, const Distances& distances,
                   const std::vector<size_t>& lives) {
  int64_t cell_bytes = 0;
  for (const size_t i : lives) cell_bytes = std::gcd(cell_bytes, layout.lives[i].buffer->alignment);
  return {layout, distances, &Pair::stated, std::max<int64_t>(cell_bytes, 1)};
}

// Those in the arena that could lie in no other region, nor could what moves with them.
std::vector<size_t> bound_to_arena(const Layout& layout, const Distances& distances) {
  const auto may_lie = [&](size_t i, const Region& region) {
    const Life& life = layout.lives[i];
    const Buffer& b = *life.buffer;
    const bool is_placed = !layout.json["options"]["places"][b.tensor].text().empty();
    if (b.kind != "arena" || is_placed || b.size_bytes > region.most_bytes) return false;
    if (region.port == nullptr) return true;
    const size_t port = layout.by_name.at(region.port->name);
    const bool meets = life.begin < layout.lives[port].end && layout.lives[port].begin < life.end;
    return may_stand_in(b.element, region.port->element) &&
           (!meets || distances.find(port, i) || distances.find(i, port));
  };
  std::map<std::string, std::vector<size_t>> units;
  for (size_t i = 0; i < layout.lives.size(); ++i) {
    if (layout.lives[i].is_in_arena()) units[unit_of(*layout.lives[i].buffer)].push_back(i);
  }
  std::vector<size_t> bound;
  for (const auto& named_unit : units) {
    const std::vector<size_t>& unit = named_unit.second;
    const bool is_free = std::ranges::any_of(layout.regions, [&](const auto& named) {
      return !named.first.empty() &&
             std::ranges::all_of(unit, [&](size_t i) { return may_lie(i, named.second); });
    });
    if (!is_free) bound.insert(bound.end(), unit.begin(), unit.end());
  }
  return bound;
}

}  // namespace

void check_bound(const Layout& layout, const Distances& distances) {
  const int64_t arena = layout.regions.at("").bytes;
  const Json& plan = layout.json["plan"];
  const Json& witness = plan["witness"];
  const auto lower = plan["lower_bound_bytes"].integer();
  const auto time = witness["time"].integer();
  expect(lower && time, "no lower bound with a witness");
  refuse_if(*lower > arena, {"the lower bound is above the arena"});
  const Load load = load_by_cells(
      layout, distances, select(layout, [](const Life& life) { return life.is_in_arena(); }));
  const auto alive = select(layout, [&](const Life& life) {
    return life.is_in_arena() && life.begin <= *time && *time < life.end;
  });
  const auto name_of = [&](size_t i) { return layout.lives[i].buffer->name; };
  refuse_if(!std::ranges::equal(witness["buffers"].array(), alive, {}, &Json::text, name_of),
            {"the witness does not name what is alive then"});
  const int64_t needed = load.of({alive.begin(), alive.end()}, *time);
  refuse_if(witness["load_bytes"].integer() != needed,
            {"the witness needs ", std::to_string(needed), " bytes, not what is stated"});
  refuse_if(!says(witness["searched"]) && !witness["search"].array().empty(),
            {"the witness has a search and says that it has none"});
  refuse_if(*lower > needed && !is_refuted(layout, distances.all(), *lower - 1),
            {"the lower bound has no witness: it shows ", std::to_string(needed),
             " bytes, and the search does not show that fewer than are stated are too few"});
  const bool optimal = says(plan["optimal"]);
  refuse_if((optimal || says(plan["packing_optimal"])) && arena != *lower,
            {"the plan is called optimal, but the arena is above its lower bound"});
  refuse_if(optimal && !(says(plan["packing_optimal"]) && says(plan["order_optimal"])),
            {"optimal is claimed without an optimal packing and order"});
  if (!optimal || layout.regions.size() == 1) return;
  const std::vector<size_t> bound = bound_to_arena(layout, distances);
  const Load load_of_bound = load_by_cells(layout, distances, bound);
  int64_t most = 0;
  sweep(layout.lives, bound, [&](size_t i, const std::vector<size_t>& others) {
    std::set<size_t> all(others.begin(), others.end());
    all.insert(i);
    most = std::max(most, load_of_bound.of(all, layout.lives[i].begin));
  });
  refuse_if(arena > most, {"optimal is claimed of an arena whose buffers might lie elsewhere"});
}

}  // namespace ingot::assay
