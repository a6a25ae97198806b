// SPDX-License-Identifier: Apache-2.0
// How far a run has come, in a file that others can read while it goes on: live.jsonl.
//
// One JSON object a line. The first is the header:
//   {"schema": 1, "name", "started_ns", "hosts": [names], "capacity_bps": [of each host's link] or
//   null, "jobs": [{"name", "model", "strategy", "ranks", "steps", "warmup"}]}
// then samples:
//   {"time_ns", "steps": [begun, warm-up included, by job], "sent_bps": [by host],
//   "pairs": [[from host, to host, bytes so far], ...],
//   "busiest": {"link", "direction", "share"}, "core_bps": {link: [up, down]}}, the last two only
//   where links are counted
// and at the end {"ended": "why"}. The file is locked (flock) as long as the run goes on, so that
// readers can tell one that is silent from one that was killed.
//
// It grows while it is read, and may be cut off, of another program or hostile: lines that are not
// whole, or not what they should be, are left out and counted.

#pragma once

#include "trainwire/os/file_descriptor.h"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::record {

inline constexpr const char* kLiveFile = "live.jsonl";

struct LiveJob {
  std::optional<std::string> name = {};
  std::optional<std::string> model = {};
  std::optional<std::string> strategy = {};
  std::optional<std::uint64_t> ranks = {};
  std::optional<std::uint64_t> steps = {};
  std::optional<std::uint64_t> warmup = {};
  bool operator==(const LiveJob&) const = default;
};

struct LiveHeader {
  std::string name = {};
  std::optional<std::uint64_t> started_ns = {};
  std::vector<std::string> hosts = {};
  /// By host; nothing where links are not shaped.
  std::optional<std::vector<std::optional<double>>> capacity_bps = {};
  std::vector<LiveJob> jobs = {};
  bool operator==(const LiveHeader&) const = default;
};

struct LivePair {
  std::uint64_t from = 0;  ///< hosts by number
  std::uint64_t to = 0;
  std::uint64_t bytes = 0;  ///< so far
  bool operator==(const LivePair&) const = default;
};

/// The fullest direction of a link now.
struct LiveBusiest {
  std::string link = {};
  std::string direction = {};  ///< from_host, to_host
  double share = 0;
  bool operator==(const LiveBusiest&) const = default;
};

struct LiveSample {
  std::uint64_t time_ns = 0;              ///< since 1970
  std::vector<std::uint64_t> steps = {};  ///< begun, by job
  std::vector<double> sent_bps = {};      ///< by host
  std::vector<LivePair> pairs = {};
  std::optional<LiveBusiest> busiest = {};
  /// By link between switches: upwards (or left to right), and the other way.
  std::map<std::string, std::array<double, 2>> core_bps = {};
  bool operator==(const LiveSample&) const = default;
};

nlohmann::ordered_json to_json(const LiveHeader& header);
nlohmann::ordered_json to_json(const LiveSample& sample);

/// The file while the run goes on. Its lines are a view, not a result: those that cannot be written
/// are left out, and nothing follows them.
class LiveWriter {
 public:
  /// Throws SystemError when the file cannot be made.
  LiveWriter(std::string path, const LiveHeader& header);
  LiveWriter(const LiveWriter&) = delete;
  LiveWriter& operator=(const LiveWriter&) = delete;
  /// Ends it, if nobody has.
  ~LiveWriter();

  void write(const LiveSample& sample);
  void end(const std::string& why);

 private:
  void write(const nlohmann::ordered_json& line);

  std::string path_;
  os::FileDescriptor file_;
  bool ended_ = false;
};

struct LiveLines {
  std::optional<LiveHeader> header = {};
  std::vector<LiveSample> samples = {};
  bool ended = false;
  std::int64_t skipped = 0;
  std::size_t used = 0;  ///< bytes of `text` that need not be read again
};

enum class From { Start, Middle };  ///< only the first line can be the header

/// The whole lines of `text`.
LiveLines parse_live(std::string_view text, From from);

/// Whether a run still has the file locked, as it does until its analysis is done.
bool is_held(const std::string& file);

}  // namespace tw::record
