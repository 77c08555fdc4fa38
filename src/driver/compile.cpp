// SPDX-License-Identifier: Apache-2.0
#include "driver/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "driver/c_names.h"
#include "driver/limits.h"
#include "driver/output.h"
#include "driver/steps.h"
#include "emit/names.h"
#include "import/tflite/import.h"
#include "lower/lower.h"
#include "passes/passes.h"
#include "schedule/schedule.h"
#include "schedule/share_kernels.h"
#include "support/check.h"
#include "support/limit_error.h"
#include "support/sha256.h"

namespace ingot {
namespace {

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  return rules_of(op).infer.call(op, inputs, declared);
}

Result<ImportedModel> import_model(std::span<const uint8_t> model, const CompileOptions& options,
                                   const Steps& steps) {
  Result<Imported> imported =
      import_tflite(model, {.name = options.name, .dims = options.dims, .infer = infer});
  if (!imported) return imported.error();
  steps.done("import", imported->graph);
  if (const Diagnostics refusals = legalize(imported->graph); has_errors(refusals)) return refusals;
  steps.done("legalize", imported->graph);
  return ImportedModel{imported->graph, imported->warnings, sha256(model)};
}

std::vector<std::string> flags_for_size(const Target& target) {
  std::vector<std::string> flags = target.compile_flags;
  std::ranges::replace(flags, std::string("-O2"), std::string("-Os"));
  return flags;
}

// Helium multiplies and rounds as the reference does, but has no sums of 64 bits. Tables suit cores
// that take one element after the other.
ProvedForms forms_for(const Target& target, bool for_size) {
  const TargetFeatures& has = target.features;
  return {.rescalings = !has.has_mve,
          .sum_tables = !for_size && !target.is_portable() && !has.has_neon && !has.has_avx2};
}

// The schedules that `options` ask for, with addresses. Some are known to be worth it only when the
// arena is.
Storage scheduled_and_placed(const loop::Program& program, const CompileOptions& options,
                             const Target& target, const StorageOptions& memory,
                             const Steps& steps) {
  using Optimize = CompileOptions::Optimize;
  const auto storage_for = [&](Goal goal, std::optional<int64_t> flash_limit) {
    Scheduled scheduled = schedule(program, target, goal, flash_limit);
    steps.done("schedule", scheduled.program);
    return place(std::move(scheduled.program), scheduled.reversed, memory);
  };
  if (options.optimize == Optimize::kSize) return storage_for(Goal::kSize, std::nullopt);
  const bool for_ram = options.optimize == Optimize::kRam;
  const std::optional<int64_t> flash_limit = for_ram ? std::nullopt : options.flash_limit;
  Storage storage = storage_for(Goal::kSpeed, flash_limit);
  if (for_ram) {
    // Blocks of outputs may need a little more room than one output after the other.
    Storage plain = storage_for(Goal::kSize, std::nullopt);
    if (plain.arena_bytes < storage.arena_bytes) return plain;
  }
  if (flash_limit && options.arena_limit && storage.arena_bytes > *options.arena_limit) {
    return storage_for(Goal::kSpeed, std::nullopt);
  }
  return storage;
}

// Everything after the import, from top to bottom.
Result<Compiled> compile_legal(ImportedModel model, const CompileOptions& options,
                               const Steps& steps) {
  CHECK(find_target(options.target) != nullptr && is_model_name(options.name));
  CHECK(!options.tvm || options.pools.empty());
  const Target& target = *find_target(options.target);
  if (const Diagnostics faults = find_equal_files(options); !faults.empty()) return faults;

  Shrinking shrinking;
  const Graph graph = optimize(
      model.graph, options.rounding,
      [&](std::string_view pass, const Graph& after) { steps.done(pass, after); }, &shrinking);

  const bool for_size = options.optimize == CompileOptions::Optimize::kSize;
  loop::Program program = with_c_names(lower(
      graph,
      {.name = options.name, .rounding = options.rounding, .forms = forms_for(target, for_size)}));
  steps.done("lower", program);

  const StorageOptions memory{.io_in_arena = options.io == EmitOptions::Io::kArena,
                              .reuse_inputs = options.reuse_inputs,
                              .scratch_in_outputs = options.scratch_in_outputs,
                              .pools = options.pools,
                              .places = options.places,
                              .limits = {}};
  if (const Diagnostics faults = find_fault_of_places(program, memory); !faults.empty()) {
    return faults;
  }
  Storage storage = scheduled_and_placed(program, options, target, memory, steps);
  steps.done("storage", storage.program);
  if (const Diagnostics excess = check_pools(storage); !excess.empty()) return excess;
  if (const Diagnostics excess = check_addresses(storage, target); !excess.empty()) return excess;

  storage.program = share_kernels(std::move(storage.program));
  steps.done("share_kernels", storage.program);
  if (const Diagnostics refusals = steps.final_check(storage.program); !refusals.empty()) {
    return refusals;
  }
  steps.done("verify");

  Compiled compiled{.model = std::move(model.graph),
                    .warnings = std::move(model.warnings),
                    .sha256 = std::move(model.sha256),
                    .shrinking = std::move(shrinking),
                    .compile_flags = for_size ? flags_for_size(target) : target.compile_flags,
                    .storage = std::move(storage),
                    .files = {},
                    .interface = {}};
  compiled.files = output_files(compiled, options, target);
  compiled.interface = interface_of(compiled.storage, options);
  steps.done("emit");
  return compiled;
}

Diagnostic internal_error(const std::string& what) {
  return {Code::kInternal, "", what, "this is a bug in Ingot; please report it"};
}

// The one place where exceptions end.
template <class Function>
auto guarded(const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (const LimitError& error) {
    return Diagnostic{Code::kModelLimit, "", error.what(), ""};
  } catch (const std::bad_alloc&) {
    return internal_error("there is not enough memory");
  } catch (const std::exception& error) {
    return internal_error(error.what());
  }
}

}  // namespace

std::string_view version() { return INGOT_VERSION; }

std::string_view name_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::kDouble:
      return "double";
    case Rounding::kSingle:
      return "single";
    case Rounding::kFloat:
      return "float";
  }
  return "";
}

std::string_view name_of(CompileOptions::Optimize optimize) {
  switch (optimize) {
    case CompileOptions::Optimize::kSpeed:
      return "speed";
    case CompileOptions::Optimize::kSize:
      return "size";
    case CompileOptions::Optimize::kRam:
      return "ram";
  }
  return "";
}

std::vector<std::string> step_names() {
  std::vector<std::string> names = {"import", "legalize"};
  static_cast<void>(optimize(Graph(), Rounding::kDouble, [&](std::string_view pass, const Graph&) {
    names.emplace_back(pass);
  }));
  names.insert(names.end(), {"lower", "schedule", "storage", "share_kernels", "verify", "emit"});
  return names;
}

Result<ImportedModel> read_model(std::span<const uint8_t> model, const CompileOptions& options,
                                 const Hooks& hooks) {
  const Steps steps(hooks, options.reuse_inputs);
  return guarded([&] { return import_model(model, options, steps); });
}

Result<Compiled> compile(std::span<const uint8_t> model, const CompileOptions& options,
                         const Hooks& hooks) {
  const Steps steps(hooks, options.reuse_inputs);
  return guarded([&]() -> Result<Compiled> {
    Result<ImportedModel> imported = import_model(model, options, steps);
    if (!imported) return imported.error();
    return compile_legal(*std::move(imported), options, steps);
  });
}

Result<Compiled> compile(std::vector<uint8_t>&& model, const CompileOptions& options,
                         const Hooks& hooks) {
  const Steps steps(hooks, options.reuse_inputs);
  return guarded([&]() -> Result<Compiled> {
    Result<ImportedModel> imported = import_model(model, options, steps);
    std::vector<uint8_t>().swap(model);
    if (!imported) return imported.error();
    return compile_legal(*std::move(imported), options, steps);
  });
}

Result<Compiled> compile_graph(Graph graph, const CompileOptions& options,
                               const std::string& sha256, const Hooks& hooks) {
  const Steps steps(hooks, options.reuse_inputs);
  return guarded([&]() -> Result<Compiled> {
    if (const Diagnostics refusals = legalize(graph); has_errors(refusals)) return refusals;
    return compile_legal({std::move(graph), {}, sha256}, options, steps);
  });
}

}  // namespace ingot
