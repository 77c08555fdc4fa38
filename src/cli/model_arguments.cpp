// SPDX-License-Identifier: Apache-2.0
#include "cli/model_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/nearest.h"
#include "emit/names.h"

namespace ingot::cli {
namespace {

Diagnostic usage(std::string what, std::string hint = "") {
  return {Code::kUsage, "", std::move(what), std::move(hint)};
}

// `--option value` where only `available` is built; nothing if that is what was asked for.
void refuse(Diagnostics& faults, std::string_view option, const std::string& value,
            std::string_view available) {
  if (value == available) return;
  faults.push_back(usage(fmt::format("{} {} is not available in this version", option, value),
                         fmt::format("available: {} {}", option, available)));
}

void refuse_what_is_not_built(const ModelArguments& arguments, Diagnostics& faults) {
  refuse(faults, "--weights", arguments.weights, "c");
  refuse(faults, "--package", arguments.package, "none");
}

constexpr int64_t kMostPoolBytes = 4'294'967'295;

void read_dims(const ModelArguments& arguments, CompileOptions& options, Diagnostics& faults) {
  for (const std::string& text : arguments.dims) {
    const size_t equals = text.rfind('=');
    int64_t extent = 0;
    bool good = equals != std::string::npos && equals > 0;
    if (good) {
      const char* end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, extent);
      good = error == std::errc() && stop == end && extent >= 1;
    }
    if (!good) {
      faults.push_back(
          usage("--dim " + quote(text) + " is not NAME=VALUE with a VALUE of 1 or more",
                "for .tflite files NAME is TENSOR:DIMENSION, as in --dim input_1:0=4"));
      continue;
    }
    if (!options.dims.try_emplace(text.substr(0, equals), extent).second) {
      faults.push_back(usage("--dim " + quote(text.substr(0, equals)) + " is given twice"));
    }
  }
}

constexpr std::array<std::string_view, 3> kOtherMembers = {"arena", "state", "weights"};

void read_pools(const ModelArguments& arguments, CompileOptions& options, Diagnostics& faults) {
  for (const std::string& text : arguments.pools) {
    const size_t colon = text.rfind(':');
    const std::string name = text.substr(0, colon);
    int64_t bytes = 0;
    const char* end = text.data() + text.size();
    bool good = colon != std::string::npos;
    if (good) {
      const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, bytes);
      good = error == std::errc() && stop == end && 0 <= bytes && bytes <= kMostPoolBytes;
    }
    if (!good) {
      faults.push_back(usage("--pool " + quote(text) + " is not NAME:BYTES",
                             "as in --pool fast:16384, with at most 4294967295 bytes"));
      continue;
    }
    if (c_name(name) != name || std::ranges::find(kOtherMembers, name) != kOtherMembers.end()) {
      faults.push_back(usage("--pool " + quote(name) + " cannot be the name of a pool",
                             "a name has up to 31 lower-case letters, digits and single "
                             "underscores, starts with a letter, and is no word of C, nor arena, "
                             "state or weights"));
    }
    const auto is_same = [&](const PoolOption& pool) { return pool.name == name; };
    if (std::ranges::any_of(options.pools, is_same)) {
      faults.push_back(usage("--pool " + quote(name) + " is given twice"));
    }
    options.pools.push_back({name, bytes});
  }
  for (const std::string& text : arguments.places) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      faults.push_back(usage("--place " + quote(text) + " is not TENSOR=POOL"));
      continue;
    }
    if (!options.places.try_emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      faults.push_back(usage("--place " + quote(text.substr(0, equals)) + " is given twice"));
    }
  }
  if (!options.places.empty() && options.pools.empty()) {
    faults.push_back(usage("--place needs a --pool", "pools are given as --pool NAME:BYTES"));
  }
  if (arguments.api == "tvm" && !options.pools.empty()) {
    faults.push_back(usage("--api tvm and --pool exclude each other",
                           "TVM's forms have one workspace; leave --pool or --api tvm out"));
  }
}

// What may follow "tvmgen_": reserved words, too; TVM's own default is one of them.
bool is_tvm_name(const std::string& name) { return !name.empty() && is_model_name("t" + name); }

void read_api(const ModelArguments& arguments, CompileOptions& options, Diagnostics& faults) {
  using Tvm = EmitOptions::Tvm;
  if (arguments.api == "tvm") {
    const bool in_arena = arguments.io == "arena";
    if (in_arena && arguments.tvm_interface == "packed") {
      faults.push_back(usage("--tvm-interface packed and --io arena exclude each other",
                             "packed arguments are tensors of the caller's"));
    }
    if (arguments.tvm_name && !is_tvm_name(*arguments.tvm_name)) {
      faults.push_back(usage("--tvm-name " + quote(*arguments.tvm_name) + " cannot follow tvmgen_",
                             "a name has up to 62 letters, digits and single underscores"));
    }
    options.tvm = EmitOptions::Tvm{
        .interface =
            arguments.tvm_interface == "packed" ? Tvm::Interface::kPacked : Tvm::Interface::kC,
        // Tensors in the arena need an arena that stays.
        .workspace = arguments.tvm_workspace == "caller" || in_arena ? Tvm::Workspace::kCaller
                                                                     : Tvm::Workspace::kAllocator,
        .name = arguments.tvm_name.value_or("")};
    return;
  }
  const ModelArguments defaults;
  if (arguments.tvm_interface != defaults.tvm_interface ||
      arguments.tvm_workspace != defaults.tvm_workspace || arguments.tvm_name) {
    faults.push_back(usage("--tvm-name, --tvm-interface and --tvm-workspace belong to --api tvm",
                           "add --api tvm"));
  }
}

Rounding rounding_of(const std::string& name) {
  if (name == "single") return Rounding::kSingle;
  return name == "float" ? Rounding::kFloat : Rounding::kDouble;
}

CompileOptions::Optimize optimize_of(const std::string& name) {
  using Optimize = CompileOptions::Optimize;
  if (name == "size") return Optimize::kSize;
  return name == "ram" ? Optimize::kRam : Optimize::kSpeed;
}

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const Target& target : all_targets()) names.push_back(target.name);
  return names;
}

void add_interface_arguments(CLI::App& command, ModelArguments& arguments,
                             const std::string& group) {
  const auto choice = [&](const std::string& option, std::string& value, const std::string& help,
                          const std::vector<std::string>& values) {
    add_choice(command, option, value, help, values)->group(group);
  };
  choice("--api", arguments.api, "form of the interface", {"c", "tvm"});
  command
      .add_option("--tvm-name", arguments.tvm_name,
                  "what follows tvmgen_ in TVM's forms (default: --name)")
      ->type_name("NAME")
      ->group(group);
  choice("--tvm-interface", arguments.tvm_interface, "what TVM's run function takes",
         {"c", "packed"});
  choice("--tvm-workspace", arguments.tvm_workspace, "where TVM's run function has its arena from",
         {"allocator", "caller"});
}

}  // namespace

CLI::Validator one_of(const std::vector<std::string>& values) {
  return CLI::Validator(
      [values](std::string& text) -> std::string {
        if (std::ranges::find(values, text) != values.end()) return "";
        const std::string hint = did_you_mean(text, values);
        if (!hint.empty()) return quote(text) + " is not known; " + hint;
        return fmt::format("{} is none of {}", quote(text), fmt::join(values, ", "));
      },
      "");
}

CLI::Option* add_choice(CLI::App& command, const std::string& option, std::string& value,
                        const std::string& help, const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& name : values) list += (list.empty() ? "" : ", ") + name;
  return command.add_option(option, value, help + ": " + list)
      ->check(one_of(values))
      ->capture_default_str()
      ->type_name("WORD");
}

CLI::Validator non_negative() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        double number = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, number);
        if (error == std::errc() && stop == end && number >= 0) return "";
        return quote(text) + " is not a number of 0 or more";
      },
      "");
}

void add_model_arguments(CLI::App& command, ModelArguments& arguments) {
  command.add_option("MODEL", arguments.path, "the network, a .tflite file")
      ->required()
      ->type_name("FILE");
  const std::string group = "What is compiled";
  const auto choice = [&](const std::string& option, std::string& value, const std::string& help,
                          const std::vector<std::string>& values) {
    add_choice(command, option, value, help, values)->group(group);
  };
  command.add_option("--name", arguments.name, "prefix of all C names (default: the file's name)")
      ->type_name("NAME")
      ->group(group);
  choice("--target", arguments.target, "the core", target_names());
  choice("--rounding", arguments.rounding, "of requantisation", {"double", "single", "float"});
  choice("--optimize", arguments.optimize, "what matters most", {"speed", "size", "ram"});
  choice("--io", arguments.io, "who has the inputs and outputs", {"caller", "arena"});
  command.add_flag("--reuse-inputs", arguments.reuse_inputs, "inputs may be overwritten")
      ->group(group);
  command
      .add_flag("--scratch-in-outputs", arguments.scratch_in_outputs,
                "outputs may hold inner values until they are written")
      ->group(group);
  const auto limit = [&](const std::string& option, std::optional<int64_t>& bytes,
                         const std::string& help) {
    command.add_option(option, bytes, help)
        ->check(non_negative())
        ->type_name("BYTES")
        ->group(group);
  };
  limit("--arena-limit", arguments.arena_limit, "most bytes of the arena (else exit 3)");
  limit("--flash-limit", arguments.flash_limit,
        "most bytes of constants (else exit 3); what is left may go into speed");
  command.add_option("--dim", arguments.dims, "extent that the model leaves open (repeatable)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--pool", arguments.pools,
                  "a memory beside the arena, liked best in this order (repeatable)")
      ->type_name("NAME:BYTES")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--place", arguments.places, "where an inner tensor must lie (repeatable)")
      ->type_name("TENSOR=POOL")
      ->allow_extra_args(false)
      ->group(group);
  choice("--weights", arguments.weights, "form of the constants (so far c only)",
         {"c", "string", "incbin", "bin"});
  add_interface_arguments(command, arguments, group);
  choice("--package", arguments.package, "build files beside the C (so far none)",
         {"none", "cmake", "arduino", "platformio", "zephyr", "esp-idf", "cmsis-pack", "meson",
          "bazel", "mlf", "python", "rust"});
}

Result<CompileOptions> compile_options(const ModelArguments& arguments) {
  Diagnostics faults;
  CompileOptions options;
  options.name = arguments.name ? *arguments.name : model_name(arguments.path);
  if (!is_model_name(options.name)) {
    faults.push_back(usage(
        "--name " + quote(options.name) + " cannot be a prefix of C names",
        "a name has up to 63 letters, digits and single underscores, starts with a letter, does "
        "not end in _weights or _tvm, as files of other models do, and is no word that C, C++ or a "
        "platform reserves"));
  }
  options.target = arguments.target;
  options.rounding = rounding_of(arguments.rounding);
  options.optimize = optimize_of(arguments.optimize);
  options.flash_limit = arguments.flash_limit;
  options.arena_limit = arguments.arena_limit;
  options.io = arguments.io == "arena" ? EmitOptions::Io::kArena : EmitOptions::Io::kCaller;
  options.reuse_inputs = arguments.reuse_inputs;
  options.scratch_in_outputs = arguments.scratch_in_outputs;
  read_api(arguments, options, faults);
  read_dims(arguments, options, faults);
  read_pools(arguments, options, faults);
  refuse_what_is_not_built(arguments, faults);
  if (!faults.empty()) return faults;
  return options;
}

}  // namespace ingot::cli
