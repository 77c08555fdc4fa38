// SPDX-License-Identifier: Apache-2.0
#include "toolchain/build.h"

#include <algorithm>

namespace ingot::toolchain {
namespace {

namespace fs = std::filesystem;

// One build under way: the folder, what was compiled, and how.
class Builder {
 public:
  Builder(const Board& board, const BuildOptions& options, const fs::path& folder)
      : board_(board),
        options_(options),
        compiler_(options.compiler.empty() ? board.compiler : options.compiler),
        folder_(folder) {}

  // Compiles every `.c` of `files` (which lie in the folder `name`) with `flags`.
  Diagnostics compile(const std::string& name, const std::vector<OutputFile>& files,
                      const std::vector<std::string>& flags) {
    for (const OutputFile& file : files) {
      if (!file.name.ends_with(".c") || file.name.find('/') != std::string::npos) continue;
      const std::string object = file.name + ".o";
      std::vector<std::string> arguments = flags;
      arguments.insert(arguments.end(), {"-c", file.name, "-o", object});
      if (Diagnostics problems = run(arguments, folder_ / name); !problems.empty()) return problems;
      objects_.push_back(name + "/" + object);
    }
    return {};
  }

  Diagnostics link(const std::string& executable) const {
    std::vector<std::string> arguments = sanitizers();
    if (!board_.is_host()) {
      arguments.insert(arguments.end(), {"-nostartfiles", "-Wl,--gc-sections", "-L", "runtime",
                                         "-T", std::string(board_.linker_script)});
    }
    arguments.insert(arguments.end(), objects_.begin(), objects_.end());
    arguments.insert(arguments.end(), options_.libraries.begin(), options_.libraries.end());
    arguments.insert(arguments.end(), {"-o", executable});
    return run(arguments, folder_);
  }

  std::vector<std::string> model_flags() const { return with_sections(options_.flags); }

  // `-x c`, should the model be compiled as C++ by a C++ compiler.
  std::vector<std::string> harness_flags() const {
    std::vector<std::string> flags = with_sections(
        {"-x", "c", "-std=gnu99", "-O2", "-Wall", "-Wextra", "-I../runtime", "-I../model"});
    const std::vector<std::string> extra = sanitizers();
    flags.insert(flags.end(), extra.begin(), extra.end());
    if (board_.compiler == "arm-none-eabi-gcc") flags.push_back("-masm-syntax-unified");
    flags.insert(flags.end(), board_.definitions.begin(), board_.definitions.end());
    return flags;
  }

 private:
  std::vector<std::string> sanitizers() const {
    std::vector<std::string> flags;
    std::ranges::copy_if(options_.flags, std::back_inserter(flags), [](const std::string& flag) {
      return flag.starts_with("-fsanitize") || flag.starts_with("-fno-sanitize");
    });
    return flags;
  }

  std::vector<std::string> with_sections(std::vector<std::string> flags) const {
    if (!board_.is_host()) {
      flags.insert(flags.begin(), {"-ffunction-sections", "-fdata-sections"});
    }
    return flags;
  }

  // The compiler on `arguments`; what it has to say if it fails.
  Diagnostics run(const std::vector<std::string>& arguments, const fs::path& folder) const {
    Command command{{compiler_}, folder, {}, options_.timeout};
    std::vector<std::string>& all = command.arguments;
    all.insert(all.end(), board_.cpu_flags.begin(), board_.cpu_flags.end());
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Result<Outcome> outcome = run_process(command);
    if (!outcome) return outcome.error();
    if (outcome->succeeded()) return {};
    Diagnostic diagnostic = failed_program(command, *outcome);
    add_hint(outcome->errors, diagnostic);
    return {diagnostic};
  }

  void add_hint(const std::string& printed, Diagnostic& diagnostic) const {
    const auto says = [&](std::string_view text) { return printed.find(text) != printed.npos; };
    if (board_.library.empty()) return;
    if (says("stdint.h: No such file") || says("cannot find -lc") ||
        says("picolibc.specs: No such file")) {
      diagnostic.code = Code::kProgramMissing;
      diagnostic.hint = "install the Debian package " + std::string(board_.library);
    } else if (says("overflowed by")) {
      diagnostic.hint = "the program does not fit the memory of the emulated board " +
                        std::string(board_.machine);
    }
  }

  const Board& board_;
  const BuildOptions& options_;
  std::string compiler_;
  fs::path folder_;
  std::vector<std::string> objects_;
};

// The parts of runtime/ that are linked to every program, besides those that are only included.
std::vector<OutputFile> runtime_sources(const Board& board) {
  std::vector<OutputFile> files;
  std::vector<std::string_view> names = {"host.c", "harness.c"};
  if (!board.is_host()) names = {board.startup, "core.c", "harness.c"};
  for (const std::string_view name : names) {
    files.push_back({std::string(name), std::string(text_of(runtime_files(), name))});
  }
  return files;
}

std::vector<OutputFile> runtime_includes() {
  std::vector<OutputFile> files;
  for (const EmbeddedFile& file : runtime_files()) {
    if (file.name.ends_with(".c")) continue;
    files.push_back({std::string(file.name), std::string(file.text)});
  }
  return files;
}

}  // namespace

Result<Program> build(const Board& board, const Sources& sources, const BuildOptions& options) {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder) return folder.error();
  const fs::path path = folder->path();
  const std::vector<OutputFile> runtime = runtime_sources(board);
  const struct {
    std::string folder;
    const std::vector<OutputFile>& files;
  } writes[] = {{"runtime", runtime_includes()},
                {"runtime", runtime},
                {"model", sources.model},
                {"harness", sources.harness}};
  for (const auto& write : writes) {
    std::error_code error;
    fs::create_directories(path / write.folder, error);
    if (auto written = write_files(path / write.folder, write.files); !written) {
      return written.error();
    }
  }

  Builder builder(board, options, path);
  Diagnostics problems = builder.compile("model", sources.model, builder.model_flags());
  const std::vector<std::string> harness_flags = builder.harness_flags();
  if (problems.empty()) problems = builder.compile("harness", sources.harness, harness_flags);
  if (problems.empty()) problems = builder.compile("runtime", runtime, harness_flags);
  const std::string executable = board.is_host() ? "program" : "program.elf";
  if (problems.empty()) problems = builder.link(executable);
  if (!problems.empty()) return problems;
  return Program{&board, *std::move(folder), path / executable};
}

}  // namespace ingot::toolchain
