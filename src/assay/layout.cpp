// SPDX-License-Identifier: Apache-2.0
#include "assay/layout.h"

#include <algorithm>
#include <utility>

#include "assay/claims.h"
#include "assay/code.h"

namespace ingot::assay {
namespace {

using Span = std::pair<int64_t, int64_t>;

std::string memory_of_port(const std::string& port) { return "caller's " + port; }

void lend_ports(Loops& loops, const Json& options) {
  const bool io_in_arena = options["io"].text() == "arena";
  for (Buffer& b : loops.buffers) {
    const bool is_outside = is_callers(b) && !io_in_arena;
    const bool is_lent = is_outside && b.size_bytes > 0 &&
                         says(options[b.kind == "input" ? "reuse_inputs" : "scratch_in_outputs"]);
    refuse_if(is_outside && b.alignment > b.element->bytes,
              {b.name, " asks the caller for more alignment than its elements have"});
    const std::string& lender = is_lent ? b.name : b.lender;
    if (lender.empty()) continue;
    refuse_if(!b.pool.empty() || (b.kind != "arena" && !is_lent),
              {b.name, " lies in two memories"});
    b.pool = memory_of_port(lender);
    if (is_lent) b.offset_bytes = 0;
  }
}

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

void stretch_parts(std::vector<Life>& lives) {
  std::map<int64_t, std::vector<Life*>> groups;
  for (Life& life : lives) {
    if (life.buffer->tie_group >= 0 && life.begin < life.end)
      groups[life.buffer->tie_group].push_back(&life);
  }
  for (auto& [group, members] : groups) {
    for (Life* part : members) {
      for (const Life* whole : members) {
        if (contains(*whole->buffer, *part->buffer)) part->end = std::max(part->end, whole->end);
      }
    }
  }
}

void find_regions(Layout& layout, const Loops& loops) {
  const auto arena_bytes = layout.json["arena_bytes"].integer();
  refuse_if(!arena_bytes, {"the JSON does not state arena_bytes"});
  layout.regions[""] = {"the arena", *arena_bytes};
  for (const Json& pool : layout.json["options"]["pools"].array()) {
    const std::string name = pool["name"].text();
    const Region region{"the pool " + name, pool["capacity_bytes"].integer().value_or(-1)};
    expect(layout.regions.emplace(name, region).second, "two memories of a name");
  }
  for (const Buffer& b : loops.buffers) {
    if (is_callers(b) && !b.pool.empty())
      layout.regions.emplace(b.pool, Region{"the " + b.pool, b.size_bytes, &b});
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
  stretch_parts(layout.lives);
}

void check_place(const Buffer& b, const Region& region, const Json& places) {
  refuse_if(!b.pool.empty() && b.kind != "arena" && !region.port,
            {b.name, " is the caller's and lies in a pool"});
  const std::string placed = places[b.tensor].text();
  refuse_if(b.kind == "arena" && !placed.empty() && placed != (b.pool.empty() ? "arena" : b.pool),
            {b.name, " does not lie in ", placed, ", where the options place it"});
  refuse_if(!b.offset_bytes, {b.name, " has no place in ", region.title});
  refuse_if(*b.offset_bytes < 0 || *b.offset_bytes > region.most_bytes - b.size_bytes,
            {b.name, " is outside ", region.title});
  refuse_if(region.port && !may_stand_in(b.element, region.port->element),
            {b.name, " is of another type than ", region.title});
  refuse_if(*b.offset_bytes % b.alignment != 0 ||
                (region.port && region.port->element->bytes % b.alignment != 0),
            {b.name, " is misaligned"});
}

// Places of buffers, and with them how large the memories are.
void check_places(Layout& layout) {
  std::map<std::string, std::pair<std::string, int64_t>> units;  // where they begin
  for (const Life& life : layout.lives) {
    if (life.region == nullptr) continue;
    const Buffer& b = *life.buffer;
    Region& region = layout.regions.at(b.pool);
    check_place(b, region, layout.json["options"]["places"]);
    region.bytes = std::max(region.bytes, *b.offset_bytes + b.size_bytes);
    region.alignment = std::max(region.alignment, b.alignment);
    std::pair<std::string, int64_t> begin = {b.pool, 0};
    refuse_if(__builtin_sub_overflow(*b.offset_bytes, begin_in_unit(b), &begin.second) ||
                  units.emplace(unit_of(b), begin).first->second != begin,
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
  lend_ports(loops, json["options"]);
  Layout layout{json, {}, {}, {}, {}};
  find_regions(layout, loops);
  find_lives(layout, loops);
  check_places(layout);
  check_memories(layout);
  check_buffers(layout);
  return layout;
}

}  // namespace ingot::assay
