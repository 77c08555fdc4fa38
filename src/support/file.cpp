// SPDX-License-Identifier: Apache-2.0
#include "support/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <variant>

namespace ingot {
namespace {

namespace fs = std::filesystem;

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  // Closes now and says whether all was well: a full disc may show only here.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

Diagnostic failure(Code code, const fs::path& path, const std::string& verb) {
  return {code, "", "cannot " + verb + " " + quote(path.string()) + ": " + std::strerror(errno),
          ""};
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

// Temporary files that are removed unless they have been renamed.
class Temporaries {
 public:
  Temporaries() = default;
  Temporaries(const Temporaries&) = delete;
  Temporaries& operator=(const Temporaries&) = delete;
  ~Temporaries() {
    for (const auto& [temporary, target] : pairs_) ::unlink(temporary.c_str());
  }

  Result<std::monostate> add(const fs::path& target, std::string_view bytes) {
    std::string name = target.string() + ".XXXXXX";
    Descriptor fd(::mkostemp(name.data(), O_CLOEXEC));
    if (fd.get() < 0) return failure(Code::kFileUnwritable, target, "write");
    pairs_.emplace_back(name, target);
    const bool written = write_all(fd.get(), bytes) && ::fchmod(fd.get(), 0644) == 0;
    if (!written || !fd.close()) return failure(Code::kFileUnwritable, target, "write");
    return std::monostate{};
  }

  Result<std::monostate> rename_all() {
    while (!pairs_.empty()) {
      const auto& [temporary, target] = pairs_.back();
      if (::rename(temporary.c_str(), target.c_str()) != 0) {
        return failure(Code::kFileUnwritable, target, "write");
      }
      pairs_.pop_back();
    }
    return std::monostate{};
  }

 private:
  std::vector<std::pair<std::string, fs::path>> pairs_;
};

}  // namespace

Result<std::vector<uint8_t>> read_file(const fs::path& path, int64_t limit_bytes) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0) {
    return failure(Code::kFileUnreadable, path, "read");
  }
  if (!S_ISREG(status.st_mode)) {
    return Diagnostic{Code::kFileUnreadable, "", quote(path.string()) + " is not a regular file",
                      ""};
  }
  if (status.st_size > limit_bytes) {
    return Diagnostic{Code::kFileTooLarge, "",
                      quote(path.string()) + " has " + std::to_string(status.st_size) +
                          " bytes, at most " + std::to_string(limit_bytes) + " are read",
                      ""};
  }
  std::vector<uint8_t> bytes(static_cast<size_t>(status.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::read(fd.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failure(Code::kFileUnreadable, path, "read");
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

Result<std::monostate> write_files(const fs::path& folder, const std::vector<OutputFile>& files) {
  Temporaries temporaries;
  for (const OutputFile& file : files) {
    const fs::path target = folder / file.name;
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    if (error) {
      errno = error.value();
      return failure(Code::kFileUnwritable, target.parent_path(), "make the folder");
    }
    if (auto added = temporaries.add(target, file.bytes); !added) return added.error();
  }
  return temporaries.rename_all();
}

}  // namespace ingot
