// SPDX-License-Identifier: Apache-2.0
#include "trainwire/os/file_descriptor.h"

#include "trainwire/os/errno_error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace tw::os {
namespace {

struct stat status_of(const FileDescriptor& fd) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) throw errno_error("asking for a file's status", errno);
  return status;
}

}  // namespace

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

void FileDescriptor::close(const std::string& name) {
  const int fd = std::exchange(fd_, -1);
  // EINTR: Linux has closed the descriptor all the same.
  if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) {
    throw errno_error(fmt::format("closing {}", name), errno);
  }
}

FileKind file_kind(const FileDescriptor& fd) {
  const auto mode = status_of(fd).st_mode;
  if (S_ISREG(mode)) return FileKind::Regular;
  return S_ISDIR(mode) ? FileKind::Directory : FileKind::Stream;
}

std::int64_t file_bytes(const FileDescriptor& fd) { return status_of(fd).st_size; }

FileDescriptor open_to_read(const std::string& path) {
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.is_open()) return fd;
  const int code = errno;
  throw errno_error(fmt::format("opening {}", path), code,
                    code == EACCES ? "its owner or root may read it" : "");
}

FileDescriptor open_to_write(const std::string& path) {
  FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd.is_open()) throw errno_error(fmt::format("creating {}", path), errno);
  return fd;
}

FileDescriptor open_in_place(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC;
  FileDescriptor fd(::open(path.c_str(), kFlags | O_TRUNC | O_NOFOLLOW, 0666));
  if (!fd.is_open() && errno == ELOOP) {
    ::unlink(path.c_str());
    fd = FileDescriptor(::open(path.c_str(), kFlags | O_EXCL, 0666));
  }
  if (!fd.is_open()) throw errno_error(fmt::format("creating {}", path), errno);
  return fd;
}

FileDescriptor duplicate_stdin() {
  FileDescriptor fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  if (!fd.is_open()) throw errno_error("opening standard input", errno);
  return fd;
}

Pipe make_pipe() {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw errno_error("making a pipe", errno);
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

std::ptrdiff_t read_some(const FileDescriptor& fd, std::span<std::byte> into) {
  while (true) {
    const auto count = ::read(fd.get(), into.data(), into.size());
    if (count >= 0 || errno != EINTR) return count;
  }
}

void write_all(const FileDescriptor& fd, std::span<const std::byte> bytes,
               const std::string& name) {
  while (!bytes.empty()) {
    const auto count = ::write(fd.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw errno_error(fmt::format("writing {}", name), errno);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace tw::os
