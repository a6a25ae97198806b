// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/shipped.h"

#include <system_error>

namespace tw {

std::string shipped(std::string_view path, const std::filesystem::path& program) {
  const std::filesystem::path installed =
      program.parent_path().parent_path() / "share/doc/trainwire" / path;
  std::error_code none;
  return std::filesystem::exists(installed, none) ? installed.string() : std::string(path);
}

std::string shipped(std::string_view path) {
  std::error_code none;
  return shipped(path, std::filesystem::read_symlink("/proc/self/exe", none));
}

}  // namespace tw
