// SPDX-License-Identifier: Apache-2.0
// For tests: writes emitted C with a small main() beside it, builds it as users would, runs it.
#pragma once
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "emit/emit.h"
#include "emit/test_programs.h"
#include "loop/program.h"

namespace ingot {

struct Build {
  std::string compiler;
  std::string flags;
};

inline const std::string& strict_flags() {
  static const std::string flags =
      " -pedantic -Wall -Wextra -Wconversion -Wsign-conversion -Wdouble-promotion -Wshadow "
      "-Wcast-qual -Werror";
  return flags;
}

// The compilers and languages that the contract names.
inline std::vector<Build> strict_builds() {
  const std::string c = " -std=c99 -Wstrict-prototypes -Wmissing-prototypes" + strict_flags();
  const std::string cpp = " -x c++ -std=c++11" + strict_flags();
  return {{"gcc", "-O2" + c},
          {"clang", "-O2" + c},
          {"g++", "-O2" + cpp},
          {"clang++", "-O1" + cpp},
          {"gcc", "-O3 -funsigned-char" + c}};
}

inline bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;  // NOLINT
}

// A folder of its own that goes away with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ingot_emit_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline EmitOptions options_for(const TestProgram& test) {
  EmitOptions options;
  options.io = test.io_in_arena ? EmitOptions::Io::kArena : EmitOptions::Io::kCaller;
  options.reuse_inputs = test.reuse_inputs;
  options.ingot_version = "0.1.0";
  options.model_sha256 = "1234abcd";
  options.options_text = "--target c99";
  options.arena_bytes = test.arena_bytes;
  return options;
}

// main(): reads the inputs from the file argv[1], runs, writes the outputs to argv[2].
inline std::string main_text(const loop::Program& program, const EmitOptions& options) {
  const std::string& name = program.name;
  const bool in_arena = options.io == EmitOptions::Io::kArena;
  std::string members;
  std::string reads;
  std::string writes;
  for (const loop::Buffer& buffer : program.buffers) {
    const bool input = buffer.kind == loop::BufferKind::kInput;
    if (!input && buffer.kind != loop::BufferKind::kOutput) continue;
    const std::string size = std::to_string(buffer.size_bytes());
    const std::string place = in_arena
                                  ? "((char*)arena + " + std::to_string(*buffer.offset_bytes) + ")"
                                  : "p_" + buffer.name;
    if (!in_arena) {
      const std::string member = (input ? "in." : "out.") + buffer.name;
      const std::string place_type = "std::unique_ptr<char[]>";
      members += "  " + place_type + " own_" + buffer.name + "(new char[" + size + "]);\n";
      members += "  void* p_" + buffer.name + " = own_" + buffer.name + ".get();\n";
      members += "  " + member + " = (decltype(" + member + "))p_" + buffer.name + ";\n";
    }
    std::string& io = input ? reads : writes;
    io += "  if (f" + std::string(input ? "read(" : "write(") + place + ", 1, " + size +
          ", f) != " + size + ") return 9;\n";
  }
  return "#include <cstdio>\n#include <cstdlib>\n#include <memory>\n#include \"" + name +
         ".h\"\n#include \"" + name +
         ".h\"\n"
         "alignas(64) static unsigned char memory[" +
         std::to_string(options.arena_bytes + 64) +
         "];\nint main(int, char** argv) {\n  void* arena = memory;\n" +
         (in_arena ? "" : "  " + name + "_inputs in = {};\n  " + name + "_outputs out = {};\n") +
         members + "  std::FILE* f = std::fopen(argv[1], \"rb\");\n" + reads + "  fclose(f);\n" +
         "  int r = " + name + "_run(" + (in_arena ? "" : "&in, &out, ") + "arena);\n" +
         "  if (r != 0) return 20 - r;\n  f = std::fopen(argv[2], \"wb\");\n" + writes +
         "  fclose(f);\n  return 0;\n}\n";
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// Runs a command in `folder`; what it printed, and the exit status in `status`.
inline std::string run_command(const std::filesystem::path& folder, const std::string& command,
                               int& status) {
  const std::string line = "cd " + folder.string() + " && (" + command + ") 2>&1";
  std::FILE* pipe = popen(line.c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer{};
  for (size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    output.append(buffer.data(), n);
  }
  status = pclose(pipe);
  return output;
}

}  // namespace ingot
