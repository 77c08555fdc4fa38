// SPDX-License-Identifier: Apache-2.0
#include "toolchain/emulate.h"

#include <fmt/format.h>
#include <string.h>

#include <charconv>

namespace ingot::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kReportPrefix = "[harness] ";
constexpr std::string_view kFaultPrefix = "[harness] fault: ";
constexpr std::string_view kRegionsFile = "regions.txt";

// The plugin, compiled by the host's compiler when it is first needed; one per process.
struct Plugin {
  TemporaryFolder folder;
  fs::path library;
};

Result<Plugin> build_plugin() {
  static constexpr std::string_view kSource = "insncount.c";
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder) return folder.error();
  const fs::path path = folder->path();
  const OutputFile source{std::string(kSource), std::string(text_of(runtime_files(), kSource))};
  if (auto written = write_files(path, {source}); !written) return written.error();
  const Command command{
      {"cc", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-o", "insncount.so", source.name},
      path,
      {}};
  const Result<Outcome> outcome = run_process(command);
  if (!outcome) return outcome.error();
  if (!outcome->succeeded()) return failed_program(command, *outcome);
  return Plugin{*std::move(folder), path / "insncount.so"};
}

Result<fs::path> plugin() {
  static const Result<Plugin> built = build_plugin();
  if (!built) return built.error();
  return built->library;
}

// `text` within an option of QEMU, where a comma ends a value unless it is doubled.
std::string option_value(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == ',' ? std::string(",,") : std::string(1, c);
  return out;
}

Result<Command> command_for(const Program& program) {
  const std::string_view emulator = program.board->emulator;
  if (emulator.empty()) return Command{{program.executable.string()}, {}, {}};
  if (!find_program(emulator)) return missing_program(emulator);
  if (program.board->is_host()) {
    return Command{{std::string(emulator), program.executable.string()}, {}, {}};
  }
  const Result<fs::path> library = plugin();
  if (!library) return library.error();
  Command command{
      {std::string(emulator), "-M", std::string(program.board->machine), "-display", "none",
       "-monitor", "none", "-serial", "none", "-semihosting-config", "enable=on,target=native",
       "-plugin", fmt::format("{},out={}", option_value(library->string()), kRegionsFile),
       "-kernel", program.executable.string()},
      {},
      {}};
  // No firmware before our own start-up code.
  if (emulator == "qemu-system-riscv32") {
    command.arguments.insert(command.arguments.end(), {"-bios", "none"});
  }
  return command;
}

std::optional<int64_t> parse_number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    visit(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

void read_console(Execution& execution) {
  for_each_line(execution.console, [&](std::string_view line) {
    if (line.starts_with(kFaultPrefix)) execution.fault = line.substr(kFaultPrefix.size());
    if (!line.starts_with(kReportPrefix)) return;
    const std::string_view report = line.substr(kReportPrefix.size());
    const size_t space = report.rfind(' ');
    if (space == std::string_view::npos) return;
    if (const auto number = parse_number(report.substr(space + 1))) {
      execution.reports.emplace_back(report.substr(0, space), *number);
    }
  });
}

void read_regions(const fs::path& folder, Execution& execution) {
  const auto bytes = read_file(folder / kRegionsFile);
  if (!bytes) return;
  for_each_line({reinterpret_cast<const char*>(bytes->data()), bytes->size()},
                [&](std::string_view line) {
                  if (const auto number = parse_number(line)) {
                    execution.regions.push_back(*number);
                  }
                });
}

}  // namespace

std::optional<int64_t> Execution::greatest(std::string_view key) const {
  std::optional<int64_t> found;
  for (const auto& [name, number] : reports) {
    if (name == key) found = std::max(found.value_or(number), number);
  }
  return found;
}

Result<Execution> execute(const Program& program, const RunOptions& options) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder) return folder.error();
  if (auto written = write_files(folder->path(), options.input_files); !written) {
    return written.error();
  }
  Result<Command> command = command_for(program);
  if (!command) return command.error();
  Command run = *std::move(command);
  run.working_folder = folder->path();
  run.timeout = options.timeout;
  Result<Outcome> outcome = run_process(run);
  if (!outcome) return outcome.error();

  Execution execution;
  execution.exit_code = outcome->exit_code;
  execution.timed_out = outcome->timed_out;
  execution.console = outcome->output + outcome->errors;
  read_console(execution);
  if (outcome->signal != 0 && !outcome->timed_out && execution.fault.empty()) {
    execution.fault = fmt::format("ended by signal {} ({})", outcome->signal,
                                  ::strsignal(static_cast<int>(outcome->signal)));
  }
  read_regions(folder->path(), execution);
  for (const std::string& name : options.result_files) {
    if (auto bytes = read_file(folder->path() / name)) execution.files[name] = *std::move(bytes);
  }
  return execution;
}

Result<Execution> build_and_run(const Board& board, const Sources& sources,
                                const BuildOptions& build_options, const RunOptions& run_options) {
  const Result<Program> program = build(board, sources, build_options);
  if (!program) return program.error();
  return execute(*program, run_options);
}

}  // namespace ingot::toolchain
