// SPDX-License-Identifier: Apache-2.0
#include "assay/bound.h"

#include <algorithm>
#include <set>
#include <string>

#include "assay/claims.h"
#include "assay/code.h"
#include "assay/load.h"
#include "assay/search.h"

namespace ingot::assay {
namespace {

// Whether a buffer in the arena could lie in `region` as well.
bool may_lie(const Layout& layout, const Pairs& pairs, size_t i, const Region& region) {
  const Life& life = layout.lives[i];
  const Buffer& b = *life.buffer;
  const bool is_placed = !layout.json["options"]["places"][b.tensor].text().empty();
  if (b.kind != "arena" || is_placed || b.size_bytes > region.most_bytes) return false;
  if (region.port == nullptr) return true;
  const size_t port = layout.by_name.at(region.port->name);
  const bool meets = life.begin < layout.lives[port].end && layout.lives[port].begin < life.end;
  return may_stand_in(b.element, region.port->element) &&
         (!meets || find_stated(layout, pairs, port, i) || find_stated(layout, pairs, i, port));
}

// What must be in the arena at some time by those that could lie in no other region, nor could what
// moves with them.
int64_t load_bound_to_arena(const Layout& layout, const Pairs& pairs) {
  std::set<size_t> units;
  for (size_t i = 0; i < layout.lives.size(); ++i) {
    if (layout.lives[i].is_in_arena() &&
        std::ranges::none_of(layout.regions, [&](const auto& named) {
          return !named.first.empty() && may_lie(layout, pairs, i, named.second);
        }))
      units.insert(layout.lives[i].unit);
  }
  const auto bound = select(
      layout, [&](const Life& life) { return life.is_in_arena() && units.contains(life.unit); });
  const Load load(layout, &Pair::stated, bound);
  int64_t most = 0;
  sweep(layout, bound, [&](size_t i, const std::vector<size_t>& others) {
    std::set<size_t> all(others.begin(), others.end());
    all.insert(i);
    most = std::max(most, load.of(all, pairs_of(pairs, layout.lives[i].begin)));
  });
  return most;
}

}  // namespace

void check_bound(const Layout& layout, const Pairs& pairs) {
  const int64_t arena = layout.regions.at("").bytes;
  const Json& plan = layout.json["plan"];
  const Json& witness = plan["witness"];
  const auto lower = plan["lower_bound_bytes"].integer();
  const auto time = witness["time"].integer();
  expect(lower && time, "no lower bound with a witness");
  refuse_if(*lower > arena, {"the lower bound is above the arena"});
  const auto alive = select(layout, [&](const Life& life) {
    return life.is_in_arena() && life.begin <= *time && *time < life.end;
  });
  const auto name_of = [&](size_t i) { return layout.lives[i].buffer->name; };
  refuse_if(!std::ranges::equal(witness["buffers"].array(), alive, {}, &Json::text, name_of),
            {"the witness does not name what is alive then"});
  const Load load(layout, &Pair::stated, select(layout, &Life::is_in_arena));
  const int64_t needed = load.of({alive.begin(), alive.end()}, pairs_of(pairs, *time));
  refuse_if(witness["load_bytes"].integer() != needed,
            {"the witness needs ", std::to_string(needed), " bytes, not what is stated"});
  refuse_if(!says(witness["searched"]) && !witness["search"].array().empty(),
            {"the witness has a search and says that it has none"});
  refuse_if(*lower > needed && !is_refuted(layout, pairs, *lower - 1),
            {"the lower bound has no witness: it shows ", std::to_string(needed),
             " bytes, and the search does not show that fewer than are stated are too few"});
  const bool optimal = says(plan["optimal"]);
  refuse_if((optimal || says(plan["packing_optimal"])) && arena != *lower,
            {"the plan is called optimal, but the arena is above its lower bound"});
  refuse_if(optimal && !(says(plan["packing_optimal"]) && says(plan["order_optimal"])),
            {"optimal is claimed without an optimal packing and order"});
  refuse_if(optimal && layout.regions.size() > 1 && arena > load_bound_to_arena(layout, pairs),
            {"optimal is claimed of an arena whose buffers might lie elsewhere"});
}

}  // namespace ingot::assay
