// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/root.h"

#include "trainwire/os/errno_error.h"
#include "trainwire/serve/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace tw::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytesOfId = 4096;

void require_relative(const fs::path& path) {
  if (path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end()) {
    throw Refusal(403, "an id leads out of the served folder; take ids from /api/runs");
  }
}

}  // namespace

Root::Root(std::string given) : given_(std::move(given)) {
  std::error_code error;
  canonical_ = fs::canonical(given_, error).string();
  if (!error && !fs::is_directory(canonical_, error)) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (error) {
    throw os::errno_error(fmt::format("serving {}", given_), error.value(),
                          "give a folder that holds runs");
  }
}

std::string Root::operator/(std::string_view name) const {
  return (fs::path(given_) / name).string();
}

std::string Root::folder_of(std::string_view id) const {
  if (id.empty() || id.size() > kMostBytesOfId || id.find('\0') != id.npos) {
    throw Refusal(400, "an id is missing or none; take ids from /api/runs");
  }
  require_relative(id);
  std::error_code error;
  const std::string real = fs::weakly_canonical(fs::path(canonical_) / id, error).string();
  const std::string inside = canonical_ == "/" ? canonical_ : canonical_ + "/";
  // weakly_canonical() keeps the blank name after a last "/", which is the same folder.
  if (!error && real != canonical_ && !real.starts_with(inside)) {
    throw Refusal(403, "an id leads out of the served folder; take ids from /api/runs");
  }
  if (error || !fs::exists(real + "/run.json", error)) {
    throw Refusal(404, "there is no such run (any more); look at the list of runs again");
  }
  return id == "." ? given_ : *this / id;
}

}  // namespace tw::serve
