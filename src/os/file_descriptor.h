// SPDX-License-Identifier: Apache-2.0
// An open file, pipe or socket that is closed exactly once.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tw::os {

/// Owns a descriptor; move-only. -1 owns nothing.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  /// Closes now and says whether the kernel reported a late write error (disk full, quota). Owns
  /// nothing afterwards. Throws SystemError; `name` is for its message.
  void close(const std::string& name);

 private:
  int fd_ = -1;
};

enum class FileKind { Regular, Directory, Stream };

/// What `fd` refers to: Stream is everything that is read once, in order (pipe, terminal, socket).
/// Throws SystemError when the kernel does not know the descriptor.
FileKind file_kind(const FileDescriptor& fd);
/// Length of a regular file. Throws SystemError when the kernel does not know the descriptor.
std::int64_t file_bytes(const FileDescriptor& fd);

/// Throws SystemError.
FileDescriptor open_to_read(const std::string& path);
/// Creates or empties the file. Throws SystemError.
FileDescriptor open_to_write(const std::string& path);
/// The same for files of our own in a folder that others may have filled: a link of that name is
/// replaced, not written through. Throws SystemError.
FileDescriptor open_in_place(const std::string& path);
/// A descriptor of its own for standard input, so that closing it leaves fd 0 open.
FileDescriptor duplicate_stdin();

/// What is written to one end is read from the other. Programs that are started do not inherit it.
struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};
/// Throws SystemError.
Pipe make_pipe();

/// One read(2), repeated when a signal interrupts it: the number of bytes read, 0 at the end, or
/// -1 with errno set.
std::ptrdiff_t read_some(const FileDescriptor& fd, std::span<std::byte> into);
/// Writes all of `bytes`. Throws SystemError; `name` is for its message.
void write_all(const FileDescriptor& fd, std::span<const std::byte> bytes, const std::string& name);

}  // namespace tw::os
