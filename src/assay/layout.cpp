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

void stretch_parts(Layout& layout) {
  std::map<int64_t, std::vector<size_t>> groups;
  for (size_t i = 0; i < layout.lives.size(); ++i) {
    groups[layout.lives[i].buffer->tie_group].push_back(i);
    layout.parts.push_back({i});
  }
  groups.erase(-1);
  for (const auto& [group, members] : groups) {
    for (const size_t whole : members) {
      for (const size_t part : members) {
        Life& life = layout.lives[part];
        if (part == whole || !contains(*layout.lives[whole].buffer, *life.buffer)) continue;
        layout.parts[whole].push_back(part);
        if (life.begin < life.end) life.end = std::max(life.end, layout.lives[whole].end);
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
    layout.by_name[b.name] = layout.lives.size();
    layout.lives.push_back(
        {.buffer = &b,
         .region = is_planned ? &region->second : nullptr,
         .begin = is_input ? 0 : INT64_MAX,
         .end = is_input ? 1 : 0,
         .is_kept = is_callers(b) && !(is_input && says(options["reuse_inputs"]))});
  }
  for (size_t c = 0; c < spans.size(); ++c) {
    std::map<size_t, Use> uses;
    const std::vector<Place>& places = loops.kernels.at(loops.calls[c].kernel).body.places;
    for (size_t p = 0; p < loops.calls[c].args.size(); ++p) {
      const auto known = layout.by_name.find(loops.calls[c].args[p].buffer);
      if (known == layout.by_name.end()) continue;
      Use& use = uses[known->second];
      use = {known->second, use.reads || places[p].reads, use.writes || places[p].writes};
      Life& life = layout.lives[use.life];
      life.begin = std::min(life.begin, spans[c].first);
      life.end = std::max(life.end, spans[c].second);
    }
    std::vector<Use>& all = layout.uses.emplace_back();
    for (const auto& [life, use] : uses) all.push_back(use);
  }
  for (Life& life : layout.lives) {
    if (life.begin == INT64_MAX) life.begin = 0;
    if (life.is_kept) life.end = std::max<int64_t>(1, static_cast<int64_t>(spans.size()));
  }
  stretch_parts(layout);
}

// Places of buffers, and with them how large the memories are.
void check_places(Layout& layout) {
  std::map<std::string, std::pair<std::string, uint64_t>> units;  // where they begin
  for (const Life& life : layout.lives) {
    if (life.region == nullptr) continue;
    const Buffer& b = *life.buffer;
    Region& region = layout.regions.at(b.pool);
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
    const std::pair begin(
        b.pool, static_cast<uint64_t>(*b.offset_bytes) - static_cast<uint64_t>(begin_in_unit(b)));
    refuse_if(units.emplace(unit_of(b), begin).first->second != begin,
              {b.name, " and others are tied, but not at their distance"});
  }
}

Json number(int64_t n) { return {static_cast<double>(n)}; }

void check_memories(const Layout& layout) {
  const JsonArray& pools = layout.json["options"]["pools"].array();
  const auto memory_of = [&](const std::string& name, const char* kind, const Json& capacity) {
    const Region& region = layout.regions.at(name);
    return Json{JsonObject{{"name", {name.empty() ? "arena" : name}},
                           {"kind", {std::string(kind)}},
                           {"bytes", number(region.bytes)},
                           {"alignment", number(region.alignment)},
                           {"capacity_bytes", capacity}}};
  };
  JsonArray memory = {memory_of("", "arena", {})};
  for (const Json& pool : pools) {
    memory.push_back(memory_of(pool["name"].text(), "pool", pool["capacity_bytes"]));
  }
  JsonObject expected = {{"arena_bytes", number(layout.regions.at("").bytes)},
                         {"arena_alignment", number(layout.regions.at("").alignment)}};
  if (!pools.empty() || !layout.json["memory"].is_null()) expected["memory"] = {memory};
  expect_same(layout.json, {expected}, "the program");
}

void check_buffers(const Layout& layout) {
  JsonObject stated;  // by name
  const JsonArray& buffers = layout.json["plan"]["buffers"].array();
  for (const Json& b : buffers) stated[b["name"].text()] = b;
  const auto is_planned = [](const Life& life) { return life.region != nullptr; };
  const auto num_planned = std::ranges::count_if(layout.lives, is_planned);
  expect(std::ssize(stated) == num_planned && std::ssize(buffers) == num_planned,
         "another number of arena buffers");
  for (const Life& life : layout.lives) {
    if (!is_planned(life)) continue;
    const Buffer& b = *life.buffer;
    JsonObject expected = {{"tensor", {b.tensor}},
                           {"size_bytes", number(b.size_bytes)},
                           {"alignment", number(b.alignment)},
                           {"first", number(life.begin)},
                           {"last", number(life.end)},
                           {"offset_bytes", number(*b.offset_bytes)},
                           {"pool", {}},
                           {"inside", {}}};
    if (!b.pool.empty()) {
      expected[life.region->port ? "inside" : "pool"] = {life.region->port ? life.region->port->name
                                                                           : b.pool};
    }
    if (b.tie_group >= 0) {
      expected["tie_group"] = number(b.tie_group);
      expected["tie_offset_bytes"] = number(b.tie_offset_bytes);
    }
    expect(stated.contains(b.name), "nothing of " + b.name);
    expect_same(stated[b.name], {expected}, b.name);
  }
}

}  // namespace

bool says(const Json& flag) { return flag.boolean().value_or(false); }

bool is_callers(const Buffer& b) { return b.kind == "input" || b.kind == "output"; }

bool may_stand_in(const Element* e, const Element* object) {
  return e == object || e->name == "int8" || e->name == "uint8" || e->name == "bool";
}

bool may_share(const Buffer& a, const Buffer& b) {
  return may_stand_in(a.element, b.element) || may_stand_in(b.element, a.element);
}

std::string unit_of(const Buffer& b) {
  return b.tie_group < 0 ? b.name : " " + std::to_string(b.tie_group);
}

int64_t begin_in_unit(const Buffer& b) { return b.tie_group < 0 ? 0 : b.tie_offset_bytes; }

bool contains(const Buffer& whole, const Buffer& part) {
  return whole.tie_group == part.tie_group && (whole.tie_group >= 0 || whole.name == part.name) &&
         whole.tie_offset_bytes <= part.tie_offset_bytes &&
         part.tie_offset_bytes + part.size_bytes <= whole.tie_offset_bytes + whole.size_bytes;
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
