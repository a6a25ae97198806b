// SPDX-License-Identifier: Apache-2.0
#include "trainwire/ledger/leftover_path.h"

#include "trainwire/os/file_descriptor.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace tw::ledger {
namespace {

/// A folder below `root`, reached without a link, "..", or another file system on the way.
os::FileDescriptor open_below(const os::FileDescriptor& root, const std::string& relative) {
  open_how how = {};
  how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS;
  const char* const name = relative.empty() ? "." : relative.c_str();
  return os::FileDescriptor(
      static_cast<int>(::syscall(SYS_openat2, root.get(), name, &how, sizeof how)));
}

std::vector<std::string> entries(int folder) {
  std::vector<std::string> names;
  DIR* const stream = ::fdopendir(::dup(folder));
  if (stream == nullptr) return names;
  ::rewinddir(stream);
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(stream);
  return names;
}

bool is_own(int folder, const std::string& name, struct stat& facts) {
  return ::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
         facts.st_uid == ::geteuid();
}

/// 0, or the errno of the first thing that could not be removed.
int remove_entry(const os::FileDescriptor& folder, const std::string& name, dev_t device) {
  struct stat facts = {};
  if (!is_own(folder.get(), name, facts)) return EPERM;
  if (!S_ISDIR(facts.st_mode)) {
    return ::unlinkat(folder.get(), name.c_str(), 0) == 0 ? 0 : errno;
  }
  if (facts.st_dev != device) return EXDEV;
  const os::FileDescriptor inside(
      ::openat(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!inside.is_open()) return errno;
  int first = 0;
  for (const std::string& entry : entries(inside.get())) {
    const int refusal = remove_entry(inside, entry, device);
    if (first == 0) first = refusal;
  }
  if (first != 0) return first;
  return ::unlinkat(folder.get(), name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
}

/// The root that the path lies in, with a slash at its end.
std::optional<std::string> root_of(const std::string& path, const std::vector<std::string>& roots) {
  for (std::string root : roots) {
    if (!root.ends_with('/')) root += '/';
    if (path.size() > root.size() && path.starts_with(root)) return root;
  }
  return {};
}

}  // namespace

PathFate remove_path(const std::string& path, const std::vector<std::string>& roots, bool dry_run) {
  const auto leave = [&](std::string_view why) {
    return PathFate{.note = fmt::format("left {} alone: {}", path, why)};
  };
  const auto root = root_of(path, roots);
  const std::size_t slash = path.rfind('/');
  if (!root || path.find('\0') != std::string::npos) return leave("no run writes there");
  const std::string name = path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") return leave("no run writes there");
  const os::FileDescriptor top(::open(root->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::size_t start = root->size();
  const os::FileDescriptor folder =
      open_below(top, slash > start ? path.substr(start, slash - start) : "");
  if (!folder.is_open()) return errno == ENOENT ? PathFate{} : leave(std::strerror(errno));
  struct stat facts = {};
  const bool own = is_own(folder.get(), name, facts);
  if (!own) return facts.st_nlink == 0 ? PathFate{} : leave("it belongs to another user");
  if (dry_run) return {.was_there = true};
  struct stat above = {};
  ::fstat(folder.get(), &above);
  const int refusal = remove_entry(folder, name, above.st_dev);
  return refusal == 0 ? PathFate{.was_there = true} : leave(std::strerror(refusal));
}

}  // namespace tw::ledger
