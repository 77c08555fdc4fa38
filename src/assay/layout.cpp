// SPDX-License-Identifier: Apache-2.0
#include "assay/layout.h"

#include <algorithm>
#include <utility>

#include "assay/claims.h"
#include "assay/code.h"

namespace ingot::assay {
namespace {

using Span = std::pair<int64_t, int64_t>;

// By call, when what it touches must be there: all calls of a loop for the whole loop.
void add_spans(const std::vector<Stmt>& stmts, std::vector<Span>& spans) {
  for (const Stmt& s : stmts) {
    const auto begin = static_cast<int64_t>(spans.size());
    if (s.kind == Stmt::Kind::kCall) spans.emplace_back(begin, begin + 1);
    add_spans(s.body, spans);
    add_spans(s.otherwise, spans);
    const auto end = static_cast<int64_t>(spans.size());
    if (s.kind == Stmt::Kind::kFor) std::fill(spans.begin() + begin, spans.end(), Span{begin, end});
  }
}

// What moves as one, and what has bytes in common: parts live as long as the whole.
void relate(Layout& layout) {
  std::map<int64_t, std::vector<size_t>> units;
  for (size_t i = 0; i < layout.lives.size(); ++i) {
    const int64_t group = layout.lives[i].buffer->tie_group;
    units[group < 0 ? -1 - static_cast<int64_t>(i) : group].push_back(i);
  }
  layout.parts.resize(layout.lives.size());
  layout.kin.resize(layout.lives.size());
  for (const auto& [group, members] : units) {
    for (const size_t whole : members) {
      const Life& w = layout.lives[whole];
      for (const size_t part : members) {
        Life& p = layout.lives[part];
        p.unit = members.front();
        if (p.first_byte() < w.end_byte() && w.first_byte() < p.end_byte())
          layout.kin[whole].push_back(part);
        if (p.first_byte() < w.first_byte() || p.end_byte() > w.end_byte()) continue;
        layout.parts[whole].push_back(part);
        if (p.begin >= p.end) continue;
        p.begin = std::min(p.begin, w.begin);
        p.end = std::max(p.end, w.end);
      }
    }
  }
}

// The arena, the pools, and what the caller lends, which becomes a pool of its own.
void find_regions(Layout& layout, Loops& loops) {
  const Json& options = layout.json["options"];
  layout.regions[""] = {"the arena", layout.json["arena_bytes"].integer().value_or(-1)};
  for (const Json& pool : options["pools"].array()) {
    const std::string name = pool["name"].text();
    const Region region{"the pool " + name, pool["capacity_bytes"].integer().value_or(-1)};
    expect(layout.regions.emplace(name, region).second, "two memories of a name");
  }
  for (Buffer& b : loops.buffers) {
    const bool is_outside = is_callers(b) && options["io"].text() != "arena";
    const bool is_lent = is_outside && b.size_bytes > 0 &&
                         says(options[b.kind == "input" ? "reuse_inputs" : "scratch_in_outputs"]);
    refuse_if(is_outside && b.alignment > b.element->bytes,
              {b.name, " asks the caller for more alignment than its elements have"});
    if (!is_lent && b.lender.empty()) continue;
    refuse_if(!b.pool.empty() || (b.kind != "arena" && !is_lent),
              {b.name, " lies in two memories"});
    b.pool = "caller's " + (is_lent ? b.name : b.lender);
    if (!is_lent) continue;
    b.offset_bytes = 0;
    layout.regions[b.pool] = {"the " + b.pool, b.size_bytes, &b};
  }
}

void find_lives(Layout& layout, const Loops& loops) {
  const Json& options = layout.json["options"];
  std::vector<Span> spans;
  add_spans(loops.runner.stmts, spans);
  for (const Buffer& b : loops.buffers) {
    if (b.kind == "constant") continue;
    const bool is_planned = !is_callers(b) || options["io"].text() == "arena" || !b.pool.empty();
    const auto region = layout.regions.find(b.pool);
    refuse_if(is_planned && region == layout.regions.end(),
              {b.name, " lies in the pool ", b.pool, ", which does not exist"});
    const bool is_input = b.kind == "input";
    layout.lives.push_back(
        {.buffer = &b,
         .region = is_planned ? &region->second : nullptr,
         .begin = is_input ? 0 : INT64_MAX,
         .end = is_input ? 1 : 0,
         .is_kept = is_callers(b) && !(is_input && says(options["reuse_inputs"]))});
  }
  std::ranges::stable_sort(layout.lives, {}, [](const Life& life) {
    return !life.region ? 2 : life.region->port == life.buffer ? 1 : 0;
  });
  for (size_t i = 0; i < layout.lives.size(); ++i) layout.by_name[layout.lives[i].buffer->name] = i;
  for (size_t c = 0; c < spans.size(); ++c) {
    std::map<size_t, Use>& uses = layout.uses.emplace_back();
    const std::vector<Place>& places = loops.kernels.at(loops.calls[c].kernel).body.places;
    for (size_t p = 0; p < loops.calls[c].args.size(); ++p) {
      const auto known = layout.by_name.find(loops.calls[c].args[p].buffer);
      if (known == layout.by_name.end()) continue;
      Use& use = uses[known->second];
      use = {use.reads || places[p].reads, use.writes || places[p].writes};
      Life& life = layout.lives[known->second];
      life.begin = std::min(life.begin, spans[c].first);
      life.end = std::max(life.end, spans[c].second);
    }
  }
  for (Life& life : layout.lives) {
    if (life.begin == INT64_MAX) life.begin = 0;
    if (life.is_kept) life.end = std::max<int64_t>(1, static_cast<int64_t>(spans.size()));
  }
  relate(layout);
}

// Places of buffers, and with them how large the memories are.
void check_places(Layout& layout) {
  const auto begin_of_unit = [](const Buffer& b) {
    return static_cast<uint64_t>(*b.offset_bytes) - static_cast<uint64_t>(b.tie_offset_bytes);
  };
  for (const Life& life : layout.lives) {
    if (life.region == nullptr) continue;
    const Buffer& b = *life.buffer;
    Region& region = *life.region;
    const Element* own = region.port ? region.port->element : b.element;
    const std::string placed = layout.json["options"]["places"][b.tensor].text();
    refuse_if(!b.pool.empty() && b.kind != "arena" && !region.port,
              {b.name, " is the caller's and lies in a pool"});
    refuse_if(b.kind == "arena" && !placed.empty() && placed != (b.pool.empty() ? "arena" : b.pool),
              {b.name, " does not lie in ", placed, ", where the options place it"});
    refuse_if(!b.offset_bytes, {b.name, " has no place in ", region.title});
    refuse_if(*b.offset_bytes < 0 || *b.offset_bytes > region.most_bytes - b.size_bytes,
              {b.name, " is outside ", region.title});
    refuse_if(!may_stand_in(b.element, own), {b.name, " is of another type than ", region.title});
    refuse_if(*b.offset_bytes % b.alignment != 0 || (region.port && own->bytes % b.alignment != 0),
              {b.name, " is misaligned"});
    region.bytes = std::max(region.bytes, *b.offset_bytes + b.size_bytes);
    region.alignment = std::max(region.alignment, b.alignment);
    const Life& first = layout.lives[life.unit];
    refuse_if(life.region != first.region || begin_of_unit(b) != begin_of_unit(*first.buffer),
              {b.name, " and others are tied, but not at their distance"});
  }
}

Json number(int64_t n) { return {static_cast<double>(n)}; }

void check_memories(const Layout& layout) {
  std::vector<std::string> names = {""};
  for (const Json& pool : layout.json["options"]["pools"].array())
    names.push_back(pool["name"].text());
  JsonArray memory;
  for (const std::string& name : names) {
    const Region& region = layout.regions.at(name);
    const std::string kind = name.empty() ? "arena" : "pool";
    JsonObject expected = {{"name", {name.empty() ? kind : name}},
                           {"kind", {kind}},
                           {"bytes", number(region.bytes)},
                           {"alignment", number(region.alignment)}};
    expected["capacity_bytes"] = name.empty() ? Json() : number(region.most_bytes);
    memory.push_back({expected});
  }
  JsonObject expected = {{"arena_bytes", number(layout.regions.at("").bytes)},
                         {"arena_alignment", number(layout.regions.at("").alignment)}};
  if (names.size() > 1 || !layout.json["memory"].is_null()) expected["memory"] = {memory};
  expect_same(layout.json, {expected}, "the program");
}

void check_buffers(const Layout& layout) {
  const JsonArray& stated = layout.json["plan"]["buffers"].array();
  expect(std::ssize(stated) == std::ranges::count_if(layout.lives, &Life::region),
         "another number of arena buffers");
  for (size_t i = 0; i < stated.size(); ++i) {
    const Life& life = layout.lives[i];
    const Buffer& b = *life.buffer;
    const Buffer* port = life.region->port;
    JsonObject expected = {{"name", {b.name}},
                           {"tensor", {b.tensor}},
                           {"size_bytes", number(b.size_bytes)},
                           {"alignment", number(b.alignment)},
                           {"first", number(life.begin)},
                           {"last", number(life.end)},
                           {"offset_bytes", number(*b.offset_bytes)},
                           {"pool", {}},
                           {"inside", {}},
                           {"tie_group", {}},
                           {"tie_offset_bytes", {}}};
    if (!b.pool.empty()) expected[port ? "inside" : "pool"] = {port ? port->name : b.pool};
    if (b.tie_group >= 0) expected["tie_group"] = number(b.tie_group);
    if (b.tie_group >= 0) expected["tie_offset_bytes"] = number(b.tie_offset_bytes);
    expect_same(stated[i], {expected}, b.name);
  }
}

}  // namespace

bool says(const Json& flag) { return flag.boolean().value_or(false); }

bool is_callers(const Buffer& b) { return b.kind == "input" || b.kind == "output"; }

bool may_stand_in(const Element* e, const Element* object) {
  return e == object || e->name == "int8" || e->name == "uint8" || e->name == "bool";
}

Layout lay_out(Loops& loops, const Json& json) {
  refuse_if(says(json["plan"]["within"]["streaming"]),
            {"the plan claims streaming, which no program of this kind has"});
  Layout layout{.json = json};
  find_regions(layout, loops);
  find_lives(layout, loops);
  check_places(layout);
  check_memories(layout);
  check_buffers(layout);
  return layout;
}

}  // namespace ingot::assay
