// SPDX-License-Identifier: Apache-2.0
#include "trainwire/checkpoint/store.h"

#include "trainwire/base/error.h"
#include "trainwire/base/units.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/result/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>

namespace tw::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".checkpoint";
constexpr std::size_t kKept = 2;

/// The step that a file's name says; nothing for other files.
std::optional<std::int64_t> step_of(const Store& store, const std::string& file) {
  const std::string begin = store.name + "-";
  if (!file.starts_with(begin) || !file.ends_with(kSuffix)) return {};
  const std::string_view digits =
      std::string_view(file).substr(begin.size(), file.size() - begin.size() - kSuffix.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) return {};
  return step;
}

/// Highest step first.
std::map<std::int64_t, std::string, std::greater<>> files_of(const Store& store) {
  std::map<std::int64_t, std::string, std::greater<>> files;
  std::error_code error;
  for (fs::directory_iterator at(store.folder, error), end; !error && at != end;
       at.increment(error)) {
    if (const auto step = step_of(store, at->path().filename().string())) {
      files.emplace(*step, at->path().string());
    }
  }
  return files;
}

std::string content(const std::string& path) {
  const os::FileDescriptor file = os::open_to_read(path);
  std::string bytes(static_cast<std::size_t>(std::max<std::int64_t>(0, os::file_bytes(file))),
                    '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::ptrdiff_t got =
        os::read_some(file, std::as_writable_bytes(std::span(bytes)).subspan(done));
    if (got < 0) throw os::errno_error(fmt::format("reading {}", path), errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace

std::string Store::path(std::int64_t step) const {
  return fmt::format("{}/{}-{}{}", folder, name, step, kSuffix);
}

std::uint64_t save(const Store& store, const Checkpoint& checkpoint) {
  std::error_code error;
  fs::create_directories(store.folder, error);
  const std::string bytes = encode(checkpoint);
  try {
    result::replace_whole(store.path(checkpoint.step), bytes);
  } catch (const SystemError& failure) {
    throw SystemError(fmt::format(
        "{}; {} checkpoints of {} must fit: make room, or set "
        "job.checkpoint_folder",
        failure.what(), kKept + 1, readable(Bytes(static_cast<std::int64_t>(bytes.size())))));
  }
  std::size_t newer = 0;
  for (const auto& [step, path] : files_of(store)) {
    if (++newer > kKept) fs::remove(path, error);
  }
  return bytes.size();
}

std::optional<Found> latest(const Store& store, std::vector<std::string>& problems) {
  for (const auto& [step, path] : files_of(store)) {
    try {
      const std::string bytes = content(path);
      const std::string why = problem(bytes);
      if (why.empty()) {
        return Found{.path = path, .step = decode(bytes).step, .bytes = bytes.size()};
      }
      problems.push_back(fmt::format("the checkpoint of step {} is not used: {}", step, why));
    } catch (const Error& failure) {
      problems.push_back(
          fmt::format("the checkpoint of step {} is not used: {}", step, failure.what()));
    }
  }
  return {};
}

Checkpoint load(const std::string& path) { return decode(content(path)); }

void remove_all(const Store& store) {
  std::error_code error;
  std::vector<fs::path> ours;
  for (fs::directory_iterator at(store.folder, error), end; !error && at != end;
       at.increment(error)) {
    std::string file = at->path().filename().string();
    // "NAME-STEP.checkpoint.PID.part" is what a killed writer leaves.
    const std::size_t suffix = file.find(kSuffix);
    if (suffix == std::string::npos) continue;
    const bool part = file.ends_with(".part");
    if (file.size() != suffix + kSuffix.size() && !part) continue;
    if (step_of(store, file.substr(0, suffix + kSuffix.size()))) ours.push_back(at->path());
  }
  for (const fs::path& path : ours) fs::remove(path, error);
}

}  // namespace tw::checkpoint
