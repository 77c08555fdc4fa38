// SPDX-License-Identifier: Apache-2.0
#include "assay/layout.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "assay/claims.h"
#include "assay/code.h"

namespace ingot::assay {
namespace {

using Span = std::pair<int64_t, int64_t>;

std::string memory_of_port(const std::string& port) { return "caller's " + port; }

void lend_ports(Loops& loops, const Claims& claims) {
  for (Buffer& b : loops.buffers) {
    const bool is_lent = is_callers(b) && !claims.io_in_arena && b.size_bytes > 0 &&
                         (b.kind == "input" ? claims.reuse_inputs : claims.scratch_in_outputs);
    if (is_callers(b) && !claims.io_in_arena && b.alignment > b.element->bytes)
      throw Lie(b.name + " asks the caller for more alignment than its elements have");
    const std::string& lender = is_lent ? b.name : b.lender;
    if (lender.empty()) continue;
    if (!b.pool.empty() || (b.kind != "arena" && !is_lent))
      throw Lie(b.name + " lies in two memories");
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

std::vector<Life> find_lives(const Loops& loops, const Claims& claims) {
  std::vector<Span> spans;
  add_spans(loops.runner.stmts, spans);
  std::map<std::string, Span> touched;
  for (size_t c = 0; c < spans.size(); ++c) {
    for (const Call::Arg& arg : loops.calls[c].args) {
      Span& when = touched.emplace(arg.buffer, spans[c]).first->second;
      when = {std::min(when.first, spans[c].first), std::max(when.second, spans[c].second)};
    }
  }
  const auto end = std::max<int64_t>(1, static_cast<int64_t>(spans.size()));
  std::vector<Life> lives;
  for (const Buffer& b : loops.buffers) {
    const bool is_planned = is_callers(b) && (claims.io_in_arena || !b.pool.empty());
    if (b.kind != "arena" && !is_planned) continue;
    const auto [first, last] = touched[b.name];
    const int64_t until = b.kind == "input" ? std::max<int64_t>(last, 1) : last;
    lives.push_back({&b, b.kind == "input" ? 0 : first, is_kept(b, claims) ? end : until});
  }
  stretch_parts(lives);
  return lives;
}

std::map<std::string, Region> read_regions(const Json& json, const Loops& loops) {
  const JsonArray& memory = json["memory"].array();
  const JsonArray& pools = json["options"]["pools"].array();
  const auto arena_bytes = json["arena_bytes"].integer();
  const auto arena_alignment = json["arena_alignment"].integer();
  if (!arena_bytes || arena_alignment.value_or(0) < 1)
    throw Lie("the JSON does not state arena_bytes and arena_alignment");
  expect(std::max<size_t>(memory.size(), 1) == pools.size() + 1, "other pools than its options");
  std::map<std::string, Region> regions;
  regions[""] = {"the arena", *arena_bytes, *arena_alignment, INT64_MAX};
  for (size_t m = 0; m < memory.size(); ++m) {
    const bool is_arena = m == 0;
    const std::string name = memory[m]["name"].text();
    const auto bytes = memory[m]["bytes"].integer();
    const auto alignment = memory[m]["alignment"].integer();
    const bool is_kind = memory[m]["kind"].text() == (is_arena ? "arena" : "pool");
    expect(!name.empty() && bytes && alignment.value_or(0) > 0 && is_kind,
           "no name, kind, bytes or alignment of memory " + name);
    expect(!is_arena || (bytes == arena_bytes && alignment == arena_alignment),
           "two sizes of the arena");
    if (is_arena) continue;
    const Json& pool = pools[m - 1];
    const int64_t most_bytes = pool["capacity_bytes"].integer().value_or(-1);
    const Region region{"the pool " + name, *bytes, *alignment, most_bytes};
    expect(pool["name"].text() == name && regions.emplace(name, region).second,
           "other pools than its options");
    if (*bytes > most_bytes) throw Lie(region.title + " is larger than its limit");
    expect(memory[m]["capacity_bytes"].integer().value_or(most_bytes) == most_bytes,
           "another limit of " + region.title);
  }
  for (const Buffer& b : loops.buffers) {
    if (!is_callers(b) || b.pool.empty()) continue;
    regions.emplace(
        b.pool, Region{"the " + b.pool, b.size_bytes, b.element->bytes, b.size_bytes, b.element});
  }
  return regions;
}

void check_place(const Buffer& b, const Region& region, const Json& options) {
  if (!b.pool.empty() && b.kind != "arena" && !region.element)
    throw Lie(b.name + " is the caller's and lies in a pool");
  const std::string placed = options["places"][b.tensor].text();
  if (b.kind == "arena" && !placed.empty() && placed != (b.pool.empty() ? "arena" : b.pool))
    throw Lie(b.name + " does not lie in " + placed + ", where the options place it");
  if (!b.offset_bytes) throw Lie(b.name + " has no place in " + region.title);
  if (*b.offset_bytes < 0 || *b.offset_bytes > region.bytes - b.size_bytes)
    throw Lie(b.name + " is outside " + region.title);
  if (region.element && !may_stand_in(b.element, region.element))
    throw Lie(b.name + " is of another type than " + region.title);
  if (*b.offset_bytes % b.alignment != 0 || region.alignment % b.alignment != 0)
    throw Lie(b.name + " is misaligned");
}

void check_places(const Layout& layout, const Json& options) {
  std::map<std::string, int64_t> reached;
  std::map<std::string, std::pair<std::string, int64_t>> units;  // where they begin
  for (const Life& life : layout.lives) {
    const Buffer& b = *life.buffer;
    const auto region = layout.regions.find(b.pool);
    if (region == layout.regions.end())
      throw Lie(b.name + " lies in the pool " + b.pool + ", which does not exist");
    check_place(b, region->second, options);
    reached[b.pool] = std::max(reached[b.pool], *b.offset_bytes + b.size_bytes);
    std::pair<std::string, int64_t> begin = {b.pool, 0};
    if (__builtin_sub_overflow(*b.offset_bytes, begin_in_unit(b), &begin.second) ||
        units.emplace(unit_of(b), begin).first->second != begin)
      throw Lie(b.name + " and others are tied, but not at their distance");
  }
  for (const auto& [name, region] : layout.regions) {
    if (region.bytes != reached[name])
      throw Lie(region.title + " is not as high as its highest buffer reaches");
  }
}

void check_buffers(const JsonArray& buffers, const Layout& layout) {
  std::map<std::string, const Json*> stated;
  for (const Json& b : buffers) stated[b["name"].text()] = &b;
  expect(stated.size() == layout.lives.size() && buffers.size() == stated.size(),
         "another number of arena buffers");
  for (const Life& life : layout.lives) {
    const Buffer& b = *life.buffer;
    const auto found = stated.find(b.name);
    expect(found != stated.end(), "nothing of " + b.name);
    const Json& json = *found->second;
    const auto expect_same = [&](const std::string& what, const std::string& key,
                                 std::optional<int64_t> value) {
      expect(json[key].integer() == value, "another " + what + " of " + b.name);
    };
    expect_same("size", "size_bytes", b.size_bytes);
    expect_same("place", "offset_bytes", b.offset_bytes);
    expect_same("alignment", "alignment", b.alignment);
    expect_same("lifetime", "first", life.begin);
    expect_same("lifetime", "last", life.end);
    if (b.tie_group >= 0) {
      expect_same("tie", "tie_group", b.tie_group);
      expect_same("tie", "tie_offset_bytes", b.tie_offset_bytes);
    }
    const std::string lender = json["inside"].text();
    const std::string pool = lender.empty() ? json["pool"].text() : memory_of_port(lender);
    expect(pool == b.pool, "another pool of " + b.name);
    expect(is_same_text(json["tensor"].text(), b.tensor), "another tensor of " + b.name);
  }
}

void put_side_by_side(Loops& loops, const std::map<std::string, Region>& regions) {
  constexpr int64_t kMost = int64_t{1} << 40;
  std::map<std::string, int64_t> begins;
  int64_t end = 0;
  for (const auto& [name, region] : regions) {
    if (region.bytes > kMost) throw Lie("memories of that size cannot be judged");
    begins[name] = end;
    end += region.bytes;
  }
  for (Buffer& b : loops.buffers) {
    if (b.offset_bytes) *b.offset_bytes += begins[b.pool];
  }
}

}  // namespace

Claims::Claims(const Json& json) {
  const auto says = [](const Json& value) { return value.boolean().value_or(false); };
  const Json& options = json["options"];
  const Json& plan = json["plan"];
  io_in_arena = options["io"].text() == "arena";
  reuse_inputs = says(options["reuse_inputs"]);
  scratch_in_outputs = says(options["scratch_in_outputs"]);
  overlap = says(plan["within"]["overlap"]);
  optimal = says(plan["optimal"]);
  packing_optimal = says(plan["packing_optimal"]);
  order_optimal = says(plan["order_optimal"]);
}

bool is_callers(const Buffer& b) { return b.kind == "input" || b.kind == "output"; }

bool is_kept(const Buffer& b, const Claims& claims) {
  return b.kind == "output" || (b.kind == "input" && !claims.reuse_inputs);
}

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
  Layout layout{Claims(json), {}, {}, {}, {}};
  if (json["plan"]["within"]["streaming"].boolean().value_or(false))
    throw Lie("the plan claims streaming, which no program of this kind has");
  lend_ports(loops, layout.claims);
  for (const Call& call : loops.calls) {
    std::map<std::string, Touch>& touches = layout.touches.emplace_back();
    const std::vector<Place>& places = loops.kernels.at(call.kernel).body.places;
    for (size_t p = 0; p < call.args.size(); ++p) {
      Touch& touch = touches[call.args[p].buffer];
      touch.reads |= places[p].reads;
      touch.writes |= places[p].writes;
    }
  }
  layout.lives = find_lives(loops, layout.claims);
  for (const Life& life : layout.lives) layout.by_name[life.buffer->name] = &life;
  layout.regions = read_regions(json, loops);
  check_places(layout, json["options"]);
  check_buffers(json["plan"]["buffers"].array(), layout);
  put_side_by_side(loops, layout.regions);
  return layout;
}

}  // namespace ingot::assay
