// SPDX-License-Identifier: Apache-2.0
#include "toolchain/temporary_folder.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace ingot::toolchain {
namespace {

namespace fs = std::filesystem;

// Starts `sh` with `pipe_end` as its standard input in a session of its own, so that neither a
// Ctrl-C at the terminal nor the death of Ingot ends it. Returns -1 if there is no shell.
pid_t start_watcher(const std::string& folder, int pipe_end) {
  std::string shell = "/bin/sh";
  std::string option = "-c";
  std::string script = "read -r line; rm -rf -- \"$1\"";
  std::string name = "ingot-cleaner";
  std::string argument = folder;
  const std::array<char*, 6> arguments = {shell.data(), option.data(),   script.data(),
                                          name.data(),  argument.data(), nullptr};
  posix_spawn_file_actions_t actions = {};
  posix_spawnattr_t attributes = {};
  if (::posix_spawn_file_actions_init(&actions) != 0) return -1;
  if (::posix_spawnattr_init(&attributes) != 0) {
    ::posix_spawn_file_actions_destroy(&actions);
    return -1;
  }
  ::posix_spawn_file_actions_adddup2(&actions, pipe_end, 0);
  // Our output streams may be pipes whose reader waits for their end.
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, shell.c_str(), &actions, &attributes, arguments.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return error == 0 ? pid : -1;
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string name = ((error ? fs::path("/tmp") : parent) / "ingot-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return Diagnostic{Code::kFileUnwritable, "",
                      "cannot make the folder " + quote(name) + ": " + std::strerror(errno),
                      "set TMPDIR to a folder that can be written"};
  }
  return TemporaryFolder(name);
}

TemporaryFolder::TemporaryFolder(fs::path path) : path_(std::move(path)) {
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  watched_pipe_ = ends[1];
  watcher_ = start_watcher(path_.string(), ends[0]);
  ::close(ends[0]);
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (watched_pipe_ >= 0) ::close(watched_pipe_);
  if (watcher_ < 0) return;
  while (::waitpid(watcher_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept { swap(other); }

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  TemporaryFolder taken(std::move(other));
  swap(taken);
  return *this;
}

void TemporaryFolder::swap(TemporaryFolder& other) noexcept {
  path_.swap(other.path_);
  std::swap(watched_pipe_, other.watched_pipe_);
  std::swap(watcher_, other.watcher_);
}

}  // namespace ingot::toolchain
