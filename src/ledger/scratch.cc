// SPDX-License-Identifier: Apache-2.0
#include "trainwire/ledger/scratch.h"

#include "trainwire/os/errno_error.h"
#include "trainwire/os/file_descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <span>

namespace tw::ledger {

Scratch::Scratch(std::string_view name, Ledger& ledger, std::string_view parent) {
  path_ = fmt::format("{}/trainwire-{}-XXXXXX", parent, name);
  if (::mkdtemp(path_.data()) == nullptr) {
    const int number = errno;
    path_.clear();
    throw os::errno_error(fmt::format("making a folder for {} in {}", name, parent), number);
  }
  ledger.add_path(path_);
}

Scratch::~Scratch() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string Scratch::file(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

std::string Scratch::write(std::string_view name, std::string_view text) const {
  const std::string path = file(name);
  const os::FileDescriptor written(
      ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
  if (!written.is_open()) throw os::errno_error("writing " + path, errno);
  os::write_all(written, std::as_bytes(std::span(text)), path);
  return path;
}

std::string Scratch::folder(std::string_view name) const {
  const std::string path = file(name);
  if (::mkdir(path.c_str(), 0755) != 0) throw os::errno_error("making " + path, errno);
  return path;
}

}  // namespace tw::ledger
