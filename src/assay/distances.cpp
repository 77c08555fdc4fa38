// SPDX-License-Identifier: Apache-2.0
#include "assay/distances.h"

#include <algorithm>

#include "assay/code.h"

namespace ingot::assay {
namespace {

std::string title_of(const Distances::Names& names) {
  return "the distance of " + names.first + " to " + names.second;
}

bool share_bytes(const Buffer& a, const Buffer& b) {
  return *a.offset_bytes < *b.offset_bytes + b.size_bytes &&
         *b.offset_bytes < *a.offset_bytes + a.size_bytes;
}

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

}  // namespace

// The run has seen addresses; with one byte more than the greatest between them they are safe.
Least least_seen(const Distance& seen, const Buffer& output, const Buffer& input, Direction runs) {
  const int64_t behind = *input.offset_bytes - *output.offset_bytes;
  const auto least = [](std::optional<int64_t> greatest, int64_t moved, int64_t before,
                        int64_t after) {
    return greatest ? std::clamp(*greatest + moved + 1, -before, after) : -before;
  };
  const bool forward = runs == kForward;
  return {least(forward ? seen.forward : seen.turned_forward, behind, input.size_bytes,
                output.size_bytes),
          least(forward ? seen.turned_reverse : seen.reverse, -behind, output.size_bytes,
                input.size_bytes)};
}

int64_t most_shared(const Least& least, int64_t output, int64_t input, int64_t cell_bytes) {
  // With the one's start `behind` cells behind that of the other, of `first` cells.
  const auto shared = [&](const std::optional<int64_t>& distance, int64_t first, int64_t second) {
    if (!distance) return int64_t{0};
    const int64_t behind =
        std::clamp(ceil_div(*distance, cell_bytes), std::min<int64_t>(0, first - second), first);
    return std::max<int64_t>(0, std::min(first, behind + second) - std::max<int64_t>(0, behind));
  };
  return std::max(shared(least[kForward], output, input), shared(least[kReverse], input, output));
}

Distances::Distances(const Json& json) {
  for (const Json& d : json.array()) {
    const Names names = {d["output"].text(), d["input"].text()};
    const std::string runs = d["runs"].text();
    const Stated stated{d["step"].integer().value_or(-1),
                        {d["forward"].integer(), d["reverse"].integer()},
                        runs == "forward" ? kForward : kReverse};
    if (runs != "forward" && runs != "reverse") throw Lie(title_of(names) + " has no direction");
    if (!stated_.emplace(names, stated).second) throw Lie(title_of(names) + " is stated twice");
    if (runs_.emplace(stated.step, stated.runs).first->second != stated.runs)
      throw Lie(title_of(names) + " has another direction than others of its step");
  }
}

const Distances::Stated* Distances::find(const Buffer& output, const Buffer& input) const {
  const auto found = stated_.find({output.name, input.name});
  return found == stated_.end() ? nullptr : &found->second;
}

std::optional<Direction> Distances::direction_of(int64_t step) const {
  const auto found = runs_.find(step);
  return found == runs_.end() ? std::optional<Direction>() : found->second;
}

void Distances::check(const Layout& layout) const {
  if (!layout.claims.overlap && !stated_.empty())
    throw Lie("distances are stated where no overlap is allowed");
  for (const auto& [names, d] : stated_) {
    const std::string title = title_of(names);
    const auto out = layout.by_name.find(names.first);
    const auto in = layout.by_name.find(names.second);
    if (out == layout.by_name.end() || in == layout.by_name.end())
      throw Lie(title + " is of no arena buffers");
    if (d.step < 0 || d.step >= static_cast<int64_t>(layout.touches.size()))
      throw Lie(title + " is of no step");
    if (out->second->begin != d.step || in->second->end != d.step + 1)
      throw Lie(title + " is of buffers that do not begin and end in its step");
    const Buffer& input = *in->second->buffer;
    if (is_kept(input, layout.claims)) throw Lie(title + " would overwrite what must survive");
    bool is_written = false;
    bool is_read = false;
    for (const auto& [name, touch] : layout.touches[static_cast<size_t>(d.step)]) {
      const auto touched = layout.by_name.find(name);
      if (touched == layout.by_name.end()) continue;
      is_written |= touch.only_writes() && name == names.first;
      is_read |= touch.only_reads() && contains(*touched->second->buffer, input);
    }
    if (!is_written || !is_read)
      throw Lie(title + " is of buffers that its step does not write and read");
  }
}

bool Distances::allow(const Buffer& a, const Buffer& b) const {
  if (a.tie_group >= 0 && a.tie_group == b.tie_group) return true;
  for (const auto& [output, input] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const Stated* d = find(*output, *input);
    if (d == nullptr || !d->least[d->runs] || !may_share(a, b)) continue;
    const int64_t behind = *input->offset_bytes - *output->offset_bytes;
    if ((d->runs == kForward ? behind : -behind) >= *d->least[d->runs]) return true;
  }
  return false;
}

void Distances::check_pairs(std::vector<Life> lives) const {
  std::erase_if(lives, [](const Life& life) { return !life.takes_space(); });
  std::ranges::stable_sort(lives, {}, &Life::begin);
  std::vector<Life> alive;
  for (const Life& life : lives) {
    std::erase_if(alive, [&](const Life& other) { return other.end <= life.begin; });
    for (const Life& other : alive) {
      if (share_bytes(*other.buffer, *life.buffer) && !allow(*other.buffer, *life.buffer))
        throw Lie(other.buffer->name + " and " + life.buffer->name +
                  " are alive together and share bytes");
    }
    alive.push_back(life);
  }
}

std::vector<Distance> Distances::wanted(const Layout& layout) const {
  std::vector<Distance> wanted;
  if (!layout.claims.overlap) return wanted;
  for (const auto& [names, d] : stated_) wanted.push_back({names.first, names.second, d.step});
  for (size_t c = 0; c < layout.touches.size(); ++c) {
    for (const auto& [output, of_output] : layout.touches[c]) {
      const auto out = layout.by_name.find(output);
      if (!of_output.only_writes() || out == layout.by_name.end()) continue;
      for (const auto& [input, of_input] : layout.touches[c]) {
        const auto in = layout.by_name.find(input);
        if (!of_input.only_reads() || in == layout.by_name.end()) continue;
        const Buffer& y = *out->second->buffer;
        const Buffer& x = *in->second->buffer;
        if (may_share(y, x) && !find(y, x))
          wanted.push_back({output, input, static_cast<int64_t>(c)});
      }
    }
  }
  return wanted;
}

void Distances::check_against(const std::vector<Distance>& derived, const Layout& layout) const {
  const bool is_optimal = layout.claims.optimal || layout.claims.packing_optimal;
  for (const Distance& seen : derived) {
    const Life& out = *layout.by_name.at(seen.output);
    const Life& in = *layout.by_name.at(seen.input);
    const Buffer& output = *out.buffer;
    const Buffer& input = *in.buffer;
    const bool meets = out.begin == seen.step && in.end == seen.step + 1;
    if (!meets || is_kept(input, layout.claims)) continue;
    const bool tied = output.tie_group >= 0 || input.tie_group >= 0;
    const Stated* stated = find(output, input);
    const Direction runs = direction_of(seen.step).value_or(kForward);
    const Least needed = least_seen(seen, output, input, runs);
    for (const Direction d : {kForward, kReverse}) {
      // At this distance they do not overlap.
      const int64_t apart = d == kForward ? output.size_bytes : input.size_bytes;
      const int64_t is =
          (stated ? stated->least[d] : std::nullopt).value_or(d == runs ? apart : *needed[d]);
      const std::string title = title_of({seen.output, seen.input}) + " in step " +
                                std::to_string(seen.step) + (d == runs ? "" : ", turned round,") +
                                " is " + std::to_string(is);
      if (d == runs && is < *needed[d])
        throw Lie(title + ", but the run needs " + std::to_string(*needed[d]));
      if (is_optimal && !tied && is > *needed[d])
        throw Lie(title + " where " + std::to_string(*needed[d]) +
                  " is enough, and still the plan is called optimal");
    }
  }
}

}  // namespace ingot::assay
