// SPDX-License-Identifier: Apache-2.0
// Files that appear all or not at all.
//
// They are written into a hidden folder beside their places. When all are whole, a child process
// moves the old files there and the new ones to their places; it has a session of its own, so that
// what kills this process does not stop it between two moves. If a move fails, all are taken back.
//
// A lock on the output folder makes whole sets follow each other. A lock on each hidden folder
// tells the folders of running processes from those that a killed one left, which the next removes.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <variant>

#include "support/descriptor.h"
#include "support/file.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHiddenPrefix = ".ingot-";

Diagnostic unwritable(const fs::path& path, const std::string& verb, const std::string& why) {
  return {Code::kFileUnwritable, "", "cannot " + verb + " " + quote(path.string()) + ": " + why,
          ""};
}
Diagnostic unwritable(const fs::path& path, const std::string& verb, int error) {
  return unwritable(path, verb, std::strerror(error));
}

// Makes folders, and removes those it made unless they are kept.
class MadeFolders {
 public:
  MadeFolders() = default;
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  ~MadeFolders() {
    for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) ::rmdir(folder->c_str());
  }

  Result<std::monostate> make(const fs::path& folder) {
    if (folder.empty()) return unwritable(folder, "make the folder", "it has no name");
    std::vector<fs::path> missing;
    std::error_code error;
    for (fs::path path = folder; !path.empty() && !fs::exists(path, error);) {
      missing.push_back(path);
      path = path.parent_path();
    }
    for (auto path = missing.rbegin(); path != missing.rend(); ++path) {
      if (fs::create_directory(*path, error)) made_.push_back(*path);
      if (error) return unwritable(folder, "make the folder", error.value());
    }
    if (!fs::is_directory(folder, error)) {
      return unwritable(folder, "make the folder", "a file is in its place");
    }
    return std::monostate{};
  }
  void keep() { made_.clear(); }

 private:
  std::vector<fs::path> made_;
};

// Removes a hidden folder with what is in it; it has no folders inside.
void remove_hidden(const fs::path& hidden) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(hidden, ignored)) {
    ::unlink(entry.path().c_str());
  }
  ::rmdir(hidden.c_str());
}

Descriptor open_folder(const fs::path& folder) {
  return Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Removes hidden folders whose process is gone. The caller holds the lock on `folder`.
void remove_left_behind(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().starts_with(kHiddenPrefix)) found.push_back(entry.path());
  }
  for (const fs::path& hidden : found) {
    const Descriptor fd = open_folder(hidden);
    if (fd.get() >= 0 && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) remove_hidden(hidden);
  }
}

// flock, waiting. File systems without locks are used without.
void lock(const Descriptor& fd) {
  while (::flock(fd.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// The hidden folder of this run.
class Hidden {
 public:
  Hidden() = default;
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;
  ~Hidden() {
    if (!path_.empty()) remove_hidden(path_);
  }

  // `folder_fd` is for locking `folder`.
  Result<std::monostate> make(const fs::path& folder, const Descriptor& folder_fd) {
    lock(folder_fd);
    remove_left_behind(folder);
    std::string name = (folder / (std::string(kHiddenPrefix) + "XXXXXX")).string();
    const bool made = ::mkdtemp(name.data()) != nullptr;
    const int error = errno;
    if (made) {
      path_ = name;
      fd_ = open_folder(path_);
      if (fd_.get() >= 0) ::flock(fd_.get(), LOCK_EX | LOCK_NB);
    }
    ::flock(folder_fd.get(), LOCK_UN);
    if (!made) return unwritable(folder, "write into", error);
    return std::monostate{};
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  Descriptor fd_;
};

// One file of the set: where it was written, where it belongs, and where its predecessor goes.
struct Move {
  std::string written;
  std::string target;
  std::string old;
  bool had_old = false;
  bool is_done = false;
};

struct MoveFailure {
  int error = 0;  // 0: there is none
  size_t index = 0;
};

void take_back(std::vector<Move>& moves) {
  for (Move& move : moves) {
    if (move.is_done) ::rename(move.target.c_str(), move.written.c_str());
  }
  for (Move& move : moves) {
    if (move.had_old) ::rename(move.old.c_str(), move.target.c_str());
  }
}

// All or none. Where even this process is stopped in the middle, the first file (the header, which
// all others need) is missing, so that no mixture of two sets is taken for one. Only
// async-signal-safe functions are called.
MoveFailure move_all(std::vector<Move>& moves, const char* hidden) {
  for (size_t i = 0; i < moves.size(); ++i) {
    moves[i].had_old = ::rename(moves[i].target.c_str(), moves[i].old.c_str()) == 0;
    if (!moves[i].had_old && errno != ENOENT) {
      const MoveFailure failure{errno, i};
      take_back(moves);
      return failure;
    }
  }
  for (size_t i = moves.size(); i-- > 0;) {
    moves[i].is_done = ::rename(moves[i].written.c_str(), moves[i].target.c_str()) == 0;
    if (!moves[i].is_done) {
      const MoveFailure failure{errno, i};
      take_back(moves);
      return failure;
    }
  }
  for (const Move& move : moves) {
    if (move.had_old) ::unlink(move.old.c_str());
  }
  ::rmdir(hidden);
  return {};
}

// move_all in a child process that outlives this one. The child has the locks, too.
MoveFailure move_all_undisturbed(std::vector<Move>& moves, const char* hidden) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return move_all(moves, hidden);
  const Descriptor from_child(ends[0]);
  Descriptor to_parent(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return move_all(moves, hidden);
  if (child == 0) {
    ::setsid();
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    const MoveFailure failure = move_all(moves, hidden);
    const bool told = ::write(to_parent.get(), &failure, sizeof failure) == sizeof failure;
    ::_exit(told ? 0 : 1);
  }
  static_cast<void>(to_parent.close());
  MoveFailure failure;
  ssize_t n = 0;
  while ((n = ::read(from_child.get(), &failure, sizeof failure)) < 0 && errno == EINTR) {
  }
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (n != sizeof failure) return {EINTR, 0};  // somebody killed the child
  return failure;
}

// What is in the place of a file must be a file: moving over a device or a folder harms.
std::string obstacle(const fs::path& target) {
  struct stat status = {};
  if (::lstat(target.c_str(), &status) != 0) return "";
  if (S_ISDIR(status.st_mode)) return "a folder is in its place";
  return S_ISREG(status.st_mode) || S_ISLNK(status.st_mode) ? "" : "it is not a regular file";
}

Result<std::monostate> write_one(const Move& move, const FileText& bytes) {
  Descriptor fd(::open(move.written.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  bool written = fd.get() >= 0;
  int error = errno;  // of the first failure; what makes the text may change errno
  bytes.write_to([&](std::string_view piece) {
    if (!written) return;
    written = write_all(fd.get(), piece);
    error = errno;
  });
  if (!written) return unwritable(move.target, "write", error);
  if (!fd.close()) return unwritable(move.target, "write", errno);
  return std::monostate{};
}

}  // namespace

Result<std::monostate> write_files(const fs::path& folder, const std::vector<OutputFile>& files) {
  if (files.empty()) return std::monostate{};
  MadeFolders made;
  if (auto done = made.make(folder); !done) return done.error();
  const Descriptor folder_fd = open_folder(folder);
  if (folder_fd.get() < 0) return unwritable(folder, "write into", errno);
  Hidden hidden;
  if (auto done = hidden.make(folder, folder_fd); !done) return done.error();

  std::vector<Move> moves;
  for (const OutputFile& file : files) {
    const fs::path target = folder / file.name;
    if (auto done = made.make(target.parent_path()); !done) return done.error();
    if (const std::string why = obstacle(target); !why.empty()) {
      return unwritable(target, "write", why);
    }
    const std::string number = std::to_string(moves.size());
    moves.push_back({.written = hidden.path() / number,
                     .target = target,
                     .old = hidden.path() / ("old-" + number)});
    if (auto done = write_one(moves.back(), file.bytes); !done) return done.error();
  }
  lock(folder_fd);
  const MoveFailure failure = move_all_undisturbed(moves, hidden.path().c_str());
  ::flock(folder_fd.get(), LOCK_UN);
  if (failure.error != 0) {
    return unwritable(moves[failure.index].target, "write", failure.error);
  }
  made.keep();
  return std::monostate{};
}

}  // namespace ingot
