// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/whole_file.h"

#include "trainwire/os/errno_error.h"
#include "trainwire/os/file_descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>

namespace tw::result {
namespace {

namespace fs = std::filesystem;

void write_and_close(os::FileDescriptor file, std::string_view text, const std::string& path) {
  os::write_all(file, std::as_bytes(std::span(text)), path);
  file.close(path);
}

/// Where the file lies that a link stands for.
std::string place_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::path place = fs::canonical(path, error);
  return error ? path : place.string();
}

/// After a power cut the name must lead to what was written too. Where a folder cannot be synced,
/// its file system does not need it.
void sync_folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  const os::FileDescriptor opened(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.is_open()) ::fsync(opened.get());
}

template <typename BeforeClosing>
void replace(const std::string& path, std::string_view text, BeforeClosing before_closing) {
  const std::string part = fmt::format("{}.{}.part", path, ::getpid());
  try {
    os::FileDescriptor file = os::open_in_place(part);
    os::write_all(file, std::as_bytes(std::span(text)), path);
    before_closing(file);
    file.close(path);
    if (std::rename(part.c_str(), path.c_str()) != 0) {
      throw os::errno_error(fmt::format("putting {} in place", path), errno);
    }
  } catch (...) {
    ::unlink(part.c_str());
    throw;
  }
}

}  // namespace

void write_whole(const std::string& path, std::string_view text) {
  std::error_code ignored;
  const fs::file_status there = fs::status(path, ignored);
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    write_and_close(os::open_to_write(path), text, path);
    return;
  }
  replace_whole(place_of(path), text);
}

void replace_whole(const std::string& path, std::string_view text) {
  replace(path, text, [&](const os::FileDescriptor& file) {
    if (::fsync(file.get()) != 0) throw os::errno_error(fmt::format("writing {}", path), errno);
  });
  sync_folder_of(path);
}

void replace_for_now(const std::string& path, std::string_view text) {
  replace(path, text, [](const os::FileDescriptor&) {});
}

}  // namespace tw::result
