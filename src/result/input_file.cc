// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/input_file.h"

#include "trainwire/os/errno_error.h"
#include "trainwire/os/file_descriptor.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <vector>

namespace tw::result {
namespace {

constexpr std::int64_t kEndBytes = 1 << 20;
constexpr std::int64_t kBlocks = 64;
constexpr std::int64_t kBlockBytes = 4096;

/// http://www.isthe.com/chongo/tech/comp/fnv: 64 bits, variant 1a.
class Fnv1a {
 public:
  void take(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
      state_ = (state_ ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
    }
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

class SampleReader {
 public:
  SampleReader(const std::string& path, const os::FileDescriptor& file)
      : path_(path), file_(file), bytes_(static_cast<std::size_t>(kEndBytes)) {}

  /// Less than `count` bytes when the file ends.
  void take(Fnv1a& hash, std::int64_t offset, std::int64_t count) {
    while (count > 0) {
      const auto read =
          ::pread(file_.get(), bytes_.data(), static_cast<std::size_t>(count), offset);
      if (read < 0 && errno == EINTR) continue;
      if (read < 0) throw os::errno_error(fmt::format("reading {}", path_), errno);
      if (read == 0) return;
      hash.take(std::span(bytes_).first(static_cast<std::size_t>(read)));
      offset += read;
      count -= read;
    }
  }

 private:
  const std::string& path_;
  const os::FileDescriptor& file_;
  std::vector<std::byte> bytes_;
};

std::uint64_t sampled_hash(const std::string& path, const os::FileDescriptor& file,
                           std::int64_t size) {
  Fnv1a hash;
  std::array<std::byte, 8> stored{};
  for (std::size_t i = 0; i < 8; ++i) stored[i] = static_cast<std::byte>(size >> (8 * i));
  hash.take(stored);
  SampleReader reader(path, file);
  reader.take(hash, 0, std::min(size, kEndBytes));
  const std::int64_t middle = size - 2 * kEndBytes;
  for (std::int64_t i = 0; middle > 0 && i < kBlocks; ++i) {
    const std::int64_t begin = kEndBytes + middle / kBlocks * i;
    reader.take(hash, begin, std::min(kBlockBytes, size - kEndBytes - begin));
  }
  const std::int64_t end = std::max(kEndBytes, size - kEndBytes);
  if (end < size) reader.take(hash, end, size - end);
  return hash.value();
}

/// Asked before opening: opening a named pipe would wait for its writer.
bool is_regular(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    throw os::errno_error(fmt::format("opening {}", path), errno);
  return S_ISREG(status.st_mode);
}

}  // namespace

InputFile describe_input(const std::string& path) {
  if (path == "-" || !is_regular(path)) return {.path = path};
  const os::FileDescriptor file = os::open_to_read(path);
  const std::int64_t size = os::file_bytes(file);
  return {
      .path = path, .bytes = size, .hash = fmt::format("{:016x}", sampled_hash(path, file, size))};
}

}  // namespace tw::result
