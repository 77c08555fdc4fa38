// SPDX-License-Identifier: Apache-2.0
#include "support/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "support/descriptor.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

Diagnostic failure(Code code, const fs::path& path, const std::string& verb) {
  return {code, "", "cannot " + verb + " " + quote(path.string()) + ": " + std::strerror(errno),
          ""};
}

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

}  // namespace ingot
