// SPDX-License-Identifier: Apache-2.0
// What a run tells while it goes on: live.jsonl of its folder, or of a sweep's newest point.
//
// The file grows while it is read, and may be cut off, of another program or hostile: lines that
// are not whole, or not what they should be, are left out and counted. What is passed on is rebuilt
// from what was understood. lab/live_log.h has the format.

#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tw::serve {

/// A file that was there, as it was then.
struct FileStamp {
  std::int64_t modified_ns = 0;
  std::int64_t bytes = -1;  ///< -1: there is none
  bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const std::string& path);

struct LivePlace {
  std::string file;
  std::string point = {};  ///< folder name of the newest point of a sweep
};
/// Nothing when the run has told nothing.
std::optional<LivePlace> live_place(const std::string& folder);

struct LiveLines {
  nlohmann::ordered_json header = nullptr;
  nlohmann::ordered_json samples = nlohmann::ordered_json::array();
  bool ended = false;
  std::int64_t skipped = 0;
  std::size_t used = 0;  ///< bytes of `text` that need not be read again
};

enum class From { Start, Middle };  ///< only the first line can be the header

/// The whole lines of `text`.
LiveLines parse_live(std::string_view text, From from);

/// The first and the latest of a file, for a glance at it.
LiveLines glance_at_live(const std::string& file);

/// How long a run that goes on may be silent: ten seconds, or three times the distance of its last
/// samples, which a long run writes less often.
std::int64_t longest_silence_ns(const nlohmann::ordered_json& samples);

/// Whether a run still has the file locked, as it does until its analysis is done (lab/live_log.h).
bool is_held(const std::string& file);

/// Where a reader has come to.
struct LivePosition {
  std::int64_t from = 0;
  std::optional<std::string> point = {};  ///< the point that `from` counts in, when it knows
};

/// {"schema", "header", "samples", "next", "ended", "skipped", "point"} of at most 4 MB of the
/// file. Begins anew when the file is shorter than the position, or is another point's.
nlohmann::ordered_json live_document(const std::string& folder, const LivePosition& position);

}  // namespace tw::serve
