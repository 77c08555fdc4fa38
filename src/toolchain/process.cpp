// SPDX-License-Identifier: Apache-2.0
#include "toolchain/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace ingot::toolchain {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Package {
  std::string_view program_prefix;
  std::string_view package;
};

// The first row whose prefix fits counts.
constexpr auto kPackages = std::to_array<Package>({
    {"arm-none-eabi-", "gcc-arm-none-eabi"},
    {"qemu-system-arm", "qemu-system-arm"},
    {"riscv64-unknown-elf-", "gcc-riscv64-unknown-elf"},
    {"qemu-system-", "qemu-system-misc"},
    {"clang", "clang"},
    {"g++", "g++"},
    {"c++", "g++"},
    {"gcc", "gcc"},
    {"cc", "gcc"},
});

constexpr int64_t kQuotedLines = 20;
constexpr size_t kQuotedColumns = 300;

// How long output is still awaited from what a program left behind when it ended.
constexpr milliseconds kDrainTime{500};
constexpr milliseconds kPollSlice{50};

// Both ends of a pipe, closed when the value dies.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_read();
    close_write();
  }
  bool is_open() const { return ends_[0] >= 0; }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_read() { close(ends_[0]); }
  void close_write() { close(ends_[1]); }

 private:
  static void close(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  std::array<int, 2> ends_ = {-1, -1};
};

Diagnostic not_started(const Command& command, std::string_view what, int error) {
  return {Code::kProgramFailed, "",
          fmt::format("cannot start {}: {}: {}", quote(command.arguments.front()), what,
                      std::strerror(error)),
          ""};
}

// "NAME=value" for the program: the caller's environment, with the additions in place of their
// namesakes.
std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::pair<std::string, std::string>> additions = {{"LC_ALL", "C"}};
  additions.insert(additions.end(), command.environment.begin(), command.environment.end());
  std::vector<std::string> lines;
  for (char** line = ::environ; *line != nullptr; ++line) {
    const std::string_view text = *line;
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced =
        std::ranges::any_of(additions, [&](const auto& pair) { return pair.first == name; });
    if (!replaced) lines.emplace_back(text);
  }
  for (const auto& [name, value] : additions) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<char*> pointers_to(std::vector<std::string>& lines) {
  std::vector<char*> pointers;
  for (std::string& line : lines) pointers.push_back(line.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What the forked child does. Only async-signal-safe calls: other threads of the parent may have
// held locks when it forked. Writes errno to `failure` and ends if the program cannot start.
struct Child {
  const char* program;
  char* const* arguments;
  char* const* environment;
  const char* folder;  // nullptr: stay
  int output;
  int errors;
  int failure;
  pid_t parent;

  [[noreturn]] void start() const {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGPIPE, SIG_DFL);
    sigset_t none = {};
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const bool ready = nothing >= 0 && ::dup2(nothing, 0) == 0 && ::dup2(output, 1) == 1 &&
                       ::dup2(errors, 2) == 2 && (folder == nullptr || ::chdir(folder) == 0);
    if (ready && ::getppid() == parent) ::execve(program, arguments, environment);
    const int error = errno;
    const ssize_t written = ::write(failure, &error, sizeof error);
    ::_exit(written > 0 ? 127 : 126);
  }
};

// A running child and its two streams.
class Running {
 public:
  Running(pid_t pid, int output, int errors, milliseconds timeout)
      : pid_(pid), deadline_(Clock::now() + timeout), streams_{output, errors} {}

  Outcome finish() {
    while (!ended_ || streams_[0] >= 0 || streams_[1] >= 0) {
      const bool silent = streams_[0] < 0 && streams_[1] < 0;
      if (silent) {
        std::this_thread::sleep_for(milliseconds(1));
      } else {
        read_streams();
      }
      note_end();
      if (Clock::now() < deadline_) continue;
      if (killed_ || ended_) break;
      outcome_.timed_out = true;
      kill_all();
    }
    if (!killed_) kill_all();  // what it may have left behind in its group
    reap();
    return std::move(outcome_);
  }

 private:
  void kill_all() {
    killed_ = true;
    ::kill(-pid_, SIGKILL);
    deadline_ = Clock::now() + kDrainTime;
  }

  void read_streams() {
    std::array<pollfd, 2> polled = {pollfd{streams_[0], POLLIN, 0}, pollfd{streams_[1], POLLIN, 0}};
    const milliseconds left = std::chrono::ceil<milliseconds>(deadline_ - Clock::now());
    const milliseconds slice = std::clamp(left, milliseconds(0), kPollSlice);
    if (::poll(polled.data(), polled.size(), static_cast<int>(slice.count())) <= 0) return;
    if (polled[0].revents != 0) read_some(streams_[0], outcome_.output);
    if (polled[1].revents != 0) read_some(streams_[1], outcome_.errors);
  }

  static void read_some(int& stream, std::string& text) {
    std::array<char, 65536> buffer;
    const ssize_t n = ::read(stream, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) return;
    if (n <= 0) {
      stream = -1;
      return;
    }
    const int64_t room = kLargestOutputBytes - static_cast<int64_t>(text.size());
    text.append(buffer.data(), static_cast<size_t>(std::min<int64_t>(room, n)));
  }

  // The ended child stays a zombie until `reap`, so that its group's number is not given away.
  void note_end() {
    siginfo_t info = {};
    if (ended_ || ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
      return;
    if (info.si_pid != pid_) return;
    ended_ = true;
    // Something it started may still hold its streams.
    deadline_ = std::min(deadline_, Clock::now() + kDrainTime);
  }

  void reap() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
      outcome_.signal = WTERMSIG(status);
      outcome_.exit_code = 128 + outcome_.signal;
    } else {
      outcome_.exit_code = WEXITSTATUS(status);
    }
  }

  pid_t pid_;
  Clock::time_point deadline_;
  std::array<int, 2> streams_;  // -1 when at their end
  bool ended_ = false;
  bool killed_ = false;
  Outcome outcome_;
};

}  // namespace

std::optional<fs::path> find_program(std::string_view program) {
  const auto runnable = [](const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
  };
  if (program.empty()) return std::nullopt;
  if (program.find('/') != std::string_view::npos) {
    return runnable(program) ? std::optional(fs::absolute(program)) : std::nullopt;
  }
  const char* const path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "/usr/bin:/bin" : path;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / program;
    if (runnable(candidate)) return fs::absolute(candidate);
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
  }
  return std::nullopt;
}

Diagnostic missing_program(std::string_view program) {
  const auto* const row = std::ranges::find_if(
      kPackages, [&](const Package& p) { return program.starts_with(p.program_prefix); });
  return {Code::kProgramMissing, "",
          fmt::format("the program {} is needed and was not found", quote(program)),
          row == kPackages.end()
              ? "install it, or add its folder to PATH"
              : fmt::format("install the Debian package {}, e.g. `apt-get install {}`",
                            row->package, row->package)};
}

Diagnostic failed_program(const Command& command, const Outcome& outcome) {
  std::string how = fmt::format("ended with exit code {}", outcome.exit_code);
  if (outcome.signal != 0) {
    how = fmt::format("was ended by signal {} ({})", outcome.signal,
                      ::strsignal(static_cast<int>(outcome.signal)));
  }
  if (outcome.timed_out) how = fmt::format("did not end in {} ms", command.timeout.count());
  Diagnostic diagnostic{Code::kProgramFailed, "",
                        fmt::format("{} {}", quote(command.arguments.front()), how), ""};
  const std::string text = outcome.errors + outcome.output;
  std::string_view rest = text;
  while (!rest.empty() && static_cast<int64_t>(diagnostic.notes.size()) < kQuotedLines) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    std::string note(line.substr(0, kQuotedColumns));
    std::ranges::replace_if(
        note, [](char c) { return c < 0x20 || c >= 0x7f; }, ' ');
    if (!note.empty()) diagnostic.notes.push_back(std::move(note));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return diagnostic;
}

Result<Outcome> run_process(const Command& command) {
  CHECK(!command.arguments.empty());
  const std::optional<fs::path> program = find_program(command.arguments.front());
  if (!program) return missing_program(command.arguments.front());

  Pipe output;
  Pipe errors;
  Pipe failure;
  if (!output.is_open() || !errors.is_open() || !failure.is_open()) {
    return not_started(command, "no pipe", errno);
  }
  // All memory is taken before the fork.
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_of(command);
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  const std::string folder = command.working_folder.string();
  const Child child = {.program = program->c_str(),
                       .arguments = argument_pointers.data(),
                       .environment = environment_pointers.data(),
                       .folder = folder.empty() ? nullptr : folder.c_str(),
                       .output = output.write_end(),
                       .errors = errors.write_end(),
                       .failure = failure.write_end(),
                       .parent = ::getpid()};
  const pid_t pid = ::fork();
  if (pid < 0) return not_started(command, "no process", errno);
  if (pid == 0) child.start();
  ::setpgid(pid, pid);  // as the child does; whoever comes first
  output.close_write();
  errors.close_write();
  failure.close_write();

  int error = 0;
  ssize_t n = 0;
  do {
    n = ::read(failure.read_end(), &error, sizeof error);
  } while (n < 0 && errno == EINTR);
  if (n == sizeof error) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return not_started(
        command, folder.empty() ? "it does not run" : "it does not run in " + quote(folder), error);
  }
  return Running(pid, output.read_end(), errors.read_end(), command.timeout).finish();
}

}  // namespace ingot::toolchain
