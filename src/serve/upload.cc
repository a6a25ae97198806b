// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/upload.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/serve/capture_name.h"
#include "trainwire/serve/refusal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace tw::serve {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = ".trainwire-upload-";
constexpr int kMostNumbers = 10'000;

constexpr const char* kName = "the capture";  // in messages: the file's own name says nothing

[[noreturn]] void refuse_storage(const SystemError& error) {
  throw Refusal(507,
                fmt::format("{}; make room or permit it, or serve another folder", error.what()));
}

}  // namespace

void refuse_size(Bytes limit) {
  throw Refusal(413, fmt::format("the capture is larger than {}; start `trainwire serve` with a "
                                 "larger --upload-limit, or use `trainwire analyze`",
                                 readable(limit)));
}

Upload::Upload(const std::string& folder, Bytes limit) : folder_(folder), limit_(limit) {
  path_ = (fs::path(folder) / kPrefix).string() + "XXXXXX";
  file_ = os::FileDescriptor(::mkostemp(path_.data(), O_CLOEXEC));
  if (!file_.is_open()) {
    path_.clear();
    refuse_storage(os::errno_error(fmt::format("storing the capture in {}", folder), errno));
  }
  ::flock(file_.get(), LOCK_EX);
}

Upload::~Upload() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

void Upload::write(std::span<const std::byte> bytes) {
  size_ += Bytes(static_cast<std::int64_t>(bytes.size()));
  if (size_ > limit_) refuse_size(limit_);
  try {
    os::write_all(file_, bytes, kName);
  } catch (const SystemError& error) {
    refuse_storage(error);
  }
}

std::string Upload::keep_as(const std::string& name) {
  const std::string kept = rename_to(name);
  // Its lock ends here, when no other server takes it for abandoned any more.
  try {
    file_.close(kName);
  } catch (const SystemError& error) {
    ::unlink((fs::path(folder_) / kept).c_str());
    refuse_storage(error);
  }
  return kept;
}

std::string Upload::rename_to(const std::string& name) {
  for (int i = 1; i < kMostNumbers; ++i) {
    std::string kept = numbered(name, i);
    const std::string place = (fs::path(folder_) / kept).string();
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, place.c_str(), RENAME_NOREPLACE) == 0) {
      path_.clear();
      return kept;
    }
    // Network file systems have no such rename; a link does not replace anything either.
    if ((errno == EINVAL || errno == ENOSYS) && ::link(path_.c_str(), place.c_str()) == 0) {
      return kept;  // the destructor removes the first name
    }
    if (errno != EEXIST) break;
  }
  refuse_storage(os::errno_error(fmt::format("storing the capture in {}", folder_), errno));
}

void remove_abandoned_uploads(const std::string& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string path = entry.path().string();
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const os::FileDescriptor file(
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.is_open() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  }
}

std::string numbered(const std::string& name, int number) {
  if (number == 1) return name;
  const std::string stem = stem_of(name);
  return fmt::format("{}-{}{}", stem, number, name.substr(stem.size()));
}

}  // namespace tw::serve
