// SPDX-License-Identifier: Apache-2.0
// What a run tells while it goes on: live.jsonl of its folder, or of a sweep's newest point.
//
// What is passed on is rebuilt from what record/live.h understood.

#pragma once

#include "trainwire/record/live.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

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

/// The first and the latest of a file, for a glance at it.
record::LiveLines glance_at_live(const std::string& file);

/// How long a run that goes on may be silent: ten seconds, or three times the distance of its last
/// samples, which a long run writes less often.
std::int64_t longest_silence_ns(std::span<const record::LiveSample> samples);

/// Where a reader has come to.
struct LivePosition {
  std::int64_t from = 0;
  std::optional<std::string> point = {};  ///< the point that `from` counts in, when it knows
};

/// {"schema", "header", "samples", "next", "ended", "skipped", "point"} of at most 4 MB of the
/// file. Begins anew when the file is shorter than the position, or is another point's.
nlohmann::ordered_json live_document(const std::string& folder, const LivePosition& position);

}  // namespace tw::serve
