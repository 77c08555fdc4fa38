// SPDX-License-Identifier: Apache-2.0
#include "driver/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "driver/shrinking_json.h"
#include "driver/stack.h"
#include "emit/symbols.h"
#include "loop/text.h"
#include "report/metadata.h"
#include "support/check.h"

namespace ingot {
namespace {

std::string_view name_of(EmitOptions::Io io) {
  return io == EmitOptions::Io::kArena ? "arena" : "caller";
}

using Tvm = EmitOptions::Tvm;

std::string_view name_of(Tvm::Interface interface) {
  return interface == Tvm::Interface::kPacked ? "packed" : "c";
}

std::string_view name_of(Tvm::Workspace workspace) {
  return workspace == Tvm::Workspace::kCaller ? "caller" : "allocator";
}

Json options_json(const CompileOptions& options) {
  Json json = {{"rounding", name_of(options.rounding)},
               {"optimize", name_of(options.optimize)},
               {"io", name_of(options.io)},
               {"reuse_inputs", options.reuse_inputs},
               {"scratch_in_outputs", options.scratch_in_outputs},
               {"weights", "c"},
               {"api", options.tvm ? "tvm" : "c"},
               {"dims", options.dims}};
  if (options.flash_limit) {
    json["flash_limit"] = *options.flash_limit;
    if (options.arena_limit) json["arena_limit"] = *options.arena_limit;
  }
  if (!options.pools.empty()) {
    json["pools"] = Json::array();
    for (const PoolOption& pool : options.pools) {
      json["pools"].push_back({{"name", pool.name}, {"capacity_bytes", pool.capacity_bytes}});
    }
    json["places"] = options.places;
  }
  if (options.tvm) {
    json["tvm_interface"] = name_of(options.tvm->interface);
    json["tvm_name"] = options.tvm->name.empty() ? options.name : options.tvm->name;
    json["tvm_workspace"] = name_of(options.tvm->workspace);
  }
  return json;
}

// The options that differ from their defaults, as they stand on a command line.
std::string options_text(const CompileOptions& options) {
  std::string text = "--target " + options.target;
  if (options.rounding != Rounding::kDouble) {
    text += fmt::format(" --rounding {}", name_of(options.rounding));
  }
  if (options.optimize != CompileOptions::Optimize::kSpeed) {
    text += fmt::format(" --optimize {}", name_of(options.optimize));
  }
  if (options.flash_limit) {
    text += fmt::format(" --flash-limit {}", *options.flash_limit);
    if (options.arena_limit) text += fmt::format(" --arena-limit {}", *options.arena_limit);
  }
  if (options.io != EmitOptions::Io::kCaller) text += fmt::format(" --io {}", name_of(options.io));
  if (options.reuse_inputs) text += " --reuse-inputs";
  if (options.scratch_in_outputs) text += " --scratch-in-outputs";
  if (options.tvm) {
    text += fmt::format(" --api tvm --tvm-interface {} --tvm-workspace {}",
                        name_of(options.tvm->interface), name_of(options.tvm->workspace));
    if (!options.tvm->name.empty()) text += " --tvm-name " + options.tvm->name;
  }
  for (const PoolOption& pool : options.pools) {
    text += fmt::format(" --pool {}:{}", pool.name, pool.capacity_bytes);
  }
  for (const auto& [tensor, pool] : options.places) {
    text += fmt::format(" --place {}={}", tensor, pool);
  }
  for (const auto& [dim, extent] : options.dims) text += fmt::format(" --dim {}={}", dim, extent);
  return text;
}

bool all_differ(const std::vector<OutputFile>& files) {
  std::set<std::string> names;
  return std::ranges::all_of(
      files, [&](const OutputFile& file) { return names.insert(upper_case(file.name)).second; });
}

}  // namespace

EmitOptions emit_options(const Compiled& compiled, const CompileOptions& options,
                         const Target& target) {
  EmitOptions emit;
  emit.io = options.io;
  emit.reuse_inputs = options.reuse_inputs;
  emit.tvm = options.tvm;
  emit.ingot_version = version();
  emit.model_sha256 = compiled.sha256;
  emit.options_text = options_text(options);
  emit.arena_bytes = compiled.storage.arena_bytes;
  emit.arena_alignment = compiled.storage.arena_alignment;
  for (const PoolUse& pool : compiled.storage.pools) {
    emit.pools.push_back({pool.name, pool.bytes, pool.alignment});
  }
  emit.headers = target.headers;
  emit.vectors = target.vectors;
  emit.step_mark = options.step_mark;
  return emit;
}

std::vector<OutputFile> output_files(const Compiled& compiled, const CompileOptions& options,
                                     const Target& target) {
  const Storage& storage = compiled.storage;
  std::vector<OutputFile> files;
  for (CFile& file : emit_c(storage.program, emit_options(compiled, options, target))) {
    files.push_back({std::move(file.name), std::move(file.text)});
  }
  const ArenaFacts arena{
      storage.problem,         storage.plan,         storage.buffers,    storage.arena_bytes,
      storage.arena_alignment, storage.pools.size(), storage.refutation, storage.order_bound_bytes};
  const ModelFacts facts{.ingot_version = std::string(version()),
                         .model_sha256 = compiled.sha256,
                         .options = options_json(options),
                         .target = target.name,
                         .compile_flags = compiled.compile_flags,
                         .stack_bytes = stack_bound(storage.program, target),
                         .macs_removed = compiled.shrinking.macs_removed(),
                         .shrinking = shrinking_json(compiled.shrinking)};
  files.push_back({options.name + ".json", to_text(metadata(storage.program, arena, facts))});
  files.push_back({options.name + ".loops", loop::print_file(storage.program)});
  CHECK(all_differ(files));
  return files;
}

Diagnostics find_equal_files(const CompileOptions& options) {
  // TVM's header has the name that its callers expect.
  const std::string header = options.tvm ? "tvmgen_" + options.tvm->name : "";
  if (upper_case(options.name) != upper_case(header)) return {};
  return {{Code::kUsage, "",
           fmt::format("with --name {} and --tvm-name {} two files are called {}.h", options.name,
                       options.tvm->name, options.name),
           "choose another --name; --tvm-name alone says what follows tvmgen_"}};
}

toolchain::ModelInterface interface_of(const Storage& storage, const CompileOptions& options) {
  toolchain::ModelInterface interface { .name = options.name };
  for (const loop::Buffer& buffer : storage.program.buffers) {
    const toolchain::Port port{buffer.name, buffer.dtype, buffer.size_bytes()};
    if (buffer.kind == loop::BufferKind::kInput) interface.inputs.push_back(port);
    if (buffer.kind == loop::BufferKind::kOutput) interface.outputs.push_back(port);
  }
  interface.arena_bytes = storage.arena_bytes;
  interface.arena_alignment = storage.arena_alignment;
  for (const PoolUse& pool : storage.pools) {
    interface.pools.push_back({pool.name, pool.bytes, pool.alignment});
  }
  interface.io_in_arena = options.io == EmitOptions::Io::kArena;
  interface.reuses_inputs = options.reuse_inputs;
  return interface;
}

}  // namespace ingot
