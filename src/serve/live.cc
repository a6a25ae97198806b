// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/live.h"

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tw::serve {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using record::From;
using record::LiveLines;
using record::parse_live;

constexpr std::int64_t kMostBytes = 4'000'000;
constexpr std::int64_t kGlanceBytes = 1'000'000;
constexpr std::int64_t kMostBytesOfEnd = 4096;
constexpr std::int64_t kSilenceNs = 10'000'000'000;

/// Bytes of a file from one place on; fewer at its end.
std::string bytes_of(const std::string& path, std::int64_t from, std::int64_t most) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(from);
  std::string text(static_cast<std::size_t>(most), '\0');
  file.read(text.data(), most);
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
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
  const std::string own = folder + "/" + record::kLiveFile;
  if (stamp_of(own).bytes >= 0) return LivePlace{.file = own};
  std::optional<LivePlace> newest;
  std::int64_t newest_ns = 0;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!is_point(name) || !fs::is_directory(entry.symlink_status(ignored))) continue;
    const std::string file = (entry.path() / record::kLiveFile).string();
    const FileStamp stamp = stamp_of(file);
    if (stamp.bytes < 0 || stamp.modified_ns < newest_ns) continue;
    newest = LivePlace{.file = file, .point = name};
    newest_ns = stamp.modified_ns;
  }
  return newest;
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

std::int64_t longest_silence_ns(std::span<const record::LiveSample> samples) {
  if (samples.size() < 2) return kSilenceNs;
  const auto last = static_cast<double>(samples.back().time_ns);
  const auto before = static_cast<double>(samples[samples.size() - 2].time_ns);
  // An hour at most: the times are the file's.
  return static_cast<std::int64_t>(
      std::clamp(3 * (last - before), static_cast<double>(kSilenceNs), 3.6e12));
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
  if (lines.header) document["header"] = record::to_json(*lines.header);
  for (const auto& sample : lines.samples) document["samples"].push_back(record::to_json(sample));
  const std::int64_t next = begin + static_cast<std::int64_t>(used);
  document["next"] = next;
  document["ended"] = lines.ended || (next == size && is_ended(place->file, size));
  document["skipped"] = lines.skipped + (before > 1 ? 1 : 0);
  return document;
}

}  // namespace tw::serve
