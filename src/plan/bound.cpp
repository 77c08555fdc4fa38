// SPDX-License-Identifier: Apache-2.0
#include "plan/bound.h"

#include <algorithm>

#include "plan/items.h"
#include "plan/live_set.h"

namespace ingot::plan {
namespace {

size_t index(int64_t i) { return static_cast<size_t>(i); }

}  // namespace

Load greatest_load(const Problem& problem, std::span<const int64_t> buffers) {
  LiveSet live(problem, buffers);
  const std::vector<LifeEvent> events = life_events(problem, buffers);
  Load load;
  for (size_t e = 0; e < events.size(); ++e) {
    events[e].begins ? live.add(events[e].buffer) : live.remove(events[e].buffer);
    const bool last_of_time = e + 1 == events.size() || events[e + 1].time != events[e].time;
    if (last_of_time && live.needed_bytes() > load.bytes)
      load = {live.needed_bytes(), events[e].time};
  }
  for (const int64_t b : buffers) {
    const Interval lifetime = problem.buffers[index(b)].lifetime;
    if (live.takes_space(b) && lifetime.begin <= load.time && load.time < lifetime.end)
      load.alive.push_back(b);
  }
  std::ranges::sort(load.alive);
  return load;
}

int64_t forced_height(const Problem& problem, std::span<const int64_t> buffers) {
  return forced_height(Instance(problem, buffers, {}));
}

int64_t forced_height(const Instance& instance) {
  int64_t height = 0;
  for (int64_t i = 0; i < instance.size(); ++i) {
    const Item& item = instance[i];
    height = std::max(height, item.fixed.value_or(0) + item.extent);
  }
  return height;
}

}  // namespace ingot::plan
