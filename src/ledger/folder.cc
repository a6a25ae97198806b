// SPDX-License-Identifier: Apache-2.0
#include "trainwire/ledger/folder.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

namespace tw::ledger {
namespace {

constexpr const char* kRemedy = "set TRAINWIRE_STATE to a folder of your own";

/// A real folder of this user's, not a link to one.
bool is_own_folder(const std::string& path) {
  struct stat facts = {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
         facts.st_uid == ::geteuid();
}

/// Root has it, or could make it; the root of a user namespace could not.
bool may_have_run_folder(const std::string& path) {
  if (::geteuid() != 0) return false;
  struct stat facts = {};
  if (::lstat(path.c_str(), &facts) == 0) return is_own_folder(path);
  return ::access("/run", W_OK) == 0;
}

void require_own(const os::FileDescriptor& folder, const std::string& path) {
  struct stat facts = {};
  if (::fstat(folder.get(), &facts) != 0) {
    throw os::errno_error(fmt::format("looking at {}", path), errno);
  }
  if (facts.st_uid != ::geteuid()) {
    throw SystemError(fmt::format("using {} for ledgers: it belongs to user {}; {}", path,
                                  facts.st_uid, kRemedy));
  }
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw SystemError(
        fmt::format("using {} for ledgers: others may write to it; chmod 700 it", path));
  }
}

}  // namespace

std::optional<uid_t> outer_user() {
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  std::ifstream map("/proc/self/uid_map");
  const bool is_one_user = (map >> inside >> outside >> count) && count == 1;
  if (!is_one_user || inside != ::geteuid()) return {};
  return static_cast<uid_t>(outside);
}

std::string state_folder() {
  if (const char* given = std::getenv("TRAINWIRE_STATE"); given != nullptr && *given != '\0') {
    return given;
  }
  if (const std::string run = "/run/trainwire"; may_have_run_folder(run)) return run;
  if (const char* run = std::getenv("XDG_RUNTIME_DIR"); run != nullptr && is_own_folder(run)) {
    return fmt::format("{}/trainwire", run);
  }
  return fmt::format("/tmp/trainwire-{}", outer_user().value_or(::geteuid()));
}

os::FileDescriptor open_state_folder(const std::string& path) {
  os::FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) {
    if (errno == ENOENT) return folder;
    // Also for a symbolic link, for which the kernel's word is "Not a directory".
    throw os::errno_error(fmt::format("opening {}, which must be a folder and no link", path),
                          errno, kRemedy);
  }
  require_own(folder, path);
  return folder;
}

os::FileDescriptor make_state_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    throw os::errno_error(fmt::format("making the folder {} for ledgers", path), errno, kRemedy);
  }
  os::FileDescriptor folder = open_state_folder(path);
  if (!folder.is_open()) throw os::errno_error(fmt::format("opening {}", path), ENOENT, kRemedy);
  return folder;
}

}  // namespace tw::ledger
