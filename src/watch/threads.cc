// SPDX-License-Identifier: Apache-2.0
#include "trainwire/watch/threads.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

namespace tw::watch {
namespace {

std::optional<ThreadTime> read_schedstat(const std::filesystem::path& folder) {
  std::ifstream file(folder / "schedstat");
  std::string text;
  std::getline(file, text);
  return parse_schedstat(text);
}

}  // namespace

void ThreadSum::look(const std::map<int, ThreadTime>& times) {
  for (const auto& [thread, now] : times) {
    const auto before = last_.find(thread);
    if (before != last_.end()) {
      sum_.run += now.run - before->second.run;
      sum_.wait += now.wait - before->second.wait;
    } else if (has_looked_) {
      // Started since: all that it did is new.
      sum_.run += now.run;
      sum_.wait += now.wait;
    }
  }
  last_ = times;
  has_looked_ = has_looked_ || !times.empty();
}

std::map<int, ThreadTime> thread_times(int pid) {
  std::map<int, ThreadTime> times;
  // Threads and whole processes vanish at any moment: whatever cannot be read is not there.
  std::error_code gone;
  std::filesystem::directory_iterator entry(fmt::format("/proc/{}/task", pid), gone);
  while (!gone && entry != std::filesystem::directory_iterator()) {
    const std::string name = entry->path().filename();
    int thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    if (const auto time = read_schedstat(entry->path())) times.emplace(thread, *time);
    entry.increment(gone);
  }
  return times;
}

std::map<int, ThreadTime> thread_time(int thread) {
  const auto time = read_schedstat(fmt::format("/proc/{}", thread));
  return time ? std::map<int, ThreadTime>{{thread, *time}} : std::map<int, ThreadTime>{};
}

}  // namespace tw::watch
