// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/live.h"

#include "trainwire/os/file_descriptor.h"
#include "trainwire/result/json_text.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace tw::serve {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kFile = "live.jsonl";
constexpr std::int64_t kMostBytes = 4'000'000;
constexpr std::int64_t kGlanceBytes = 1'000'000;
constexpr std::int64_t kMostBytesOfEnd = 4096;
constexpr std::size_t kDeepest = 8;  // a sample has 3
constexpr std::int64_t kSilenceNs = 10'000'000'000;
constexpr std::size_t kMostListed = 2048;  // hosts or jobs: more than a browser can show

/// Bytes of a file from one place on; fewer at its end.
std::string bytes_of(const std::string& path, std::int64_t from, std::int64_t most) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(from);
  std::string text(static_cast<std::size_t>(most), '\0');
  file.read(text.data(), most);
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

ordered_json member(const ordered_json& from, const char* key) {
  return from.value(key, ordered_json());
}

bool is_count(const ordered_json& value) { return value.is_number_unsigned(); }
bool is_rate(const ordered_json& value) {
  return value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() >= 0;
}
bool is_rate_or_null(const ordered_json& value) { return value.is_null() || is_rate(value); }
bool is_text(const ordered_json& value) { return value.is_string(); }

bool is_list_of(const ordered_json& list, bool (*fits)(const ordered_json&)) {
  return list.is_array() && std::all_of(list.begin(), list.end(), fits);
}

bool is_pair(const ordered_json& value) { return value.size() == 3 && is_list_of(value, is_count); }

/// The members that are texts or counts; null for others.
ordered_json job_of(const ordered_json& job) {
  ordered_json known = ordered_json::object();
  for (const char* key : {"name", "model", "strategy", "ranks", "steps", "warmup"}) {
    const ordered_json value = job.is_object() ? member(job, key) : ordered_json();
    known[key] = is_text(value) || is_count(value) ? value : ordered_json();
  }
  return known;
}

/// Null when it is none.
ordered_json header_of(const ordered_json& line) {
  const ordered_json hosts = member(line, "hosts");
  const ordered_json capacity = member(line, "capacity_bps");
  const ordered_json jobs = member(line, "jobs");
  if (member(line, "schema") != 1 || !is_list_of(hosts, is_text) || !jobs.is_array()) return {};
  if (hosts.size() > kMostListed || jobs.size() > kMostListed) return {};
  const ordered_json name = member(line, "name");
  const ordered_json started = member(line, "started_ns");
  ordered_json header{
      {"schema", 1},
      {"name", is_text(name) ? name : ordered_json("")},
      {"started_ns", is_count(started) ? started : ordered_json()},
      {"hosts", hosts},
      {"capacity_bps", is_list_of(capacity, is_rate_or_null) ? capacity : ordered_json()},
      {"jobs", ordered_json::array()}};
  for (const ordered_json& job : jobs) header["jobs"].push_back(job_of(job));
  return header;
}

/// Null when it is none.
ordered_json sample_of(const ordered_json& line) {
  const ordered_json time = member(line, "time_ns");
  const ordered_json steps = member(line, "steps");
  const ordered_json sent = member(line, "sent_bps");
  const ordered_json pairs = member(line, "pairs");
  if (!is_count(time) || !is_list_of(steps, is_count) || !is_list_of(sent, is_rate) ||
      !is_list_of(pairs, is_pair)) {
    return {};
  }
  return {{"time_ns", time}, {"steps", steps}, {"sent_bps", sent}, {"pairs", pairs}};
}

/// False when it is nothing that is known.
bool take(LiveLines& lines, const ordered_json& line, From from) {
  if (is_text(member(line, "ended"))) return lines.ended = true;
  if (ordered_json sample = sample_of(line); !sample.is_null()) {
    lines.samples.push_back(std::move(sample));
    return true;
  }
  if (from == From::Middle) return false;
  lines.header = header_of(line);
  return !lines.header.is_null();
}

void take_line(LiveLines& lines, std::string_view text, From from) {
  const ordered_json line = result::parse_json(text, kDeepest);
  if (!line.is_object() || !take(lines, line, from)) ++lines.skipped;
}

/// What is before the first line end of a text that begins within a line.
std::size_t rest_of_line(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end == text.npos ? text.size() : end + 1;
}

/// Whether the last line says that nothing follows.
bool is_ended(const std::string& file, std::int64_t bytes) {
  const std::int64_t begin = std::max<std::int64_t>(bytes - kMostBytesOfEnd, 0);
  const std::string tail = bytes_of(file, begin, bytes - begin);
  return parse_live(std::string_view(tail).substr(begin > 0 ? rest_of_line(tail) : 0), From::Middle)
      .ended;
}

bool is_point(const std::string& name) {
  return name.starts_with("point-") && name.size() > 6 &&
         name.find_first_not_of("0123456789", 6) == name.npos;
}

}  // namespace

FileStamp stamp_of(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  return {.modified_ns = facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec,
          .bytes = facts.st_size};
}

std::optional<LivePlace> live_place(const std::string& folder) {
  const std::string own = folder + "/" + kFile;
  if (stamp_of(own).bytes >= 0) return LivePlace{.file = own};
  std::optional<LivePlace> newest;
  std::int64_t newest_ns = 0;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!is_point(name) || !fs::is_directory(entry.symlink_status(ignored))) continue;
    const std::string file = (entry.path() / kFile).string();
    const FileStamp stamp = stamp_of(file);
    if (stamp.bytes < 0 || stamp.modified_ns < newest_ns) continue;
    newest = LivePlace{.file = file, .point = name};
    newest_ns = stamp.modified_ns;
  }
  return newest;
}

LiveLines parse_live(std::string_view text, From from) {
  LiveLines lines;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', lines.used)) {
    take_line(lines, text.substr(lines.used, end - lines.used),
              lines.used == 0 ? from : From::Middle);
    lines.used = end + 1;
  }
  return lines;
}

LiveLines glance_at_live(const std::string& file) {
  const std::int64_t bytes = std::max<std::int64_t>(stamp_of(file).bytes, 0);
  const std::string head = bytes_of(file, 0, std::min(bytes, kGlanceBytes));
  if (bytes <= kGlanceBytes) return parse_live(head, From::Start);
  const std::string tail = bytes_of(file, bytes - kGlanceBytes, kGlanceBytes);
  LiveLines latest = parse_live(std::string_view(tail).substr(rest_of_line(tail)), From::Middle);
  const std::string_view first = std::string_view(head).substr(0, rest_of_line(head));
  latest.header = parse_live(first, From::Start).header;
  return latest;
}

std::int64_t longest_silence_ns(const ordered_json& samples) {
  if (samples.size() < 2) return kSilenceNs;
  const double last = samples.back()["time_ns"].get<double>();
  const double before = samples[samples.size() - 2]["time_ns"].get<double>();
  // An hour at most: the times are the file's.
  return static_cast<std::int64_t>(
      std::clamp(3 * (last - before), static_cast<double>(kSilenceNs), 3.6e12));
}

bool is_held(const std::string& file) {
  const os::FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return fd.is_open() && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

ordered_json live_document(const std::string& folder, const LivePosition& position) {
  ordered_json document{{"schema", 1}, {"header", nullptr}, {"samples", ordered_json::array()},
                        {"next", 0},   {"ended", false},    {"skipped", 0}};
  const std::optional<LivePlace> place = live_place(folder);
  if (!place) return document;
  if (!place->point.empty()) document["point"] = place->point;
  const bool other_point = position.point && *position.point != place->point;
  const std::int64_t size = stamp_of(place->file).bytes;
  const bool anew = other_point || position.from > size || position.from < 0;
  const std::int64_t from = anew ? 0 : position.from;
  // The byte before tells whether a line begins here.
  const std::int64_t begin = std::max<std::int64_t>(from - 1, 0);
  const std::string text = bytes_of(place->file, begin, kMostBytes);
  const std::size_t before = from == 0 ? 0 : rest_of_line(text);
  LiveLines lines =
      parse_live(std::string_view(text).substr(before), from == 0 ? From::Start : From::Middle);
  std::size_t used = before + lines.used;
  // A line that is longer than an answer is passed over.
  if (lines.used == 0 && before <= 1 && static_cast<std::int64_t>(text.size()) == kMostBytes) {
    used = text.size();
    ++lines.skipped;
  }
  document["header"] = std::move(lines.header);
  document["samples"] = std::move(lines.samples);
  const std::int64_t next = begin + static_cast<std::int64_t>(used);
  document["next"] = next;
  document["ended"] = lines.ended || (next == size && is_ended(place->file, size));
  document["skipped"] = lines.skipped + (before > 1 ? 1 : 0);
  return document;
}

}  // namespace tw::serve
