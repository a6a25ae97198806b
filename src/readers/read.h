// SPDX-License-Identifier: Apache-2.0
// The door for files of other programs: any mixture of files and folders, each recognised by its content, also
// inside gzip or zstd.

#pragma once

#include "trainwire/operations/told.h"
#include "trainwire/readers/kind.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::readers {

struct Found {
  std::vector<std::string> captures = {};  ///< for gather
  std::vector<std::string> others = {};    ///< known, to be read here
  std::vector<operations::Told> unknown =
      {};  ///< kind "unknown", with the nearest guess as its reason
};

/// Sorts paths by what they are; a folder stands for the files in it and below. A run folder of ours is left to the
/// caller: its files are not looked into. "-" is a capture. Throws SystemError for what cannot be opened, DataError
/// for a folder without files.
Found recognised(const std::vector<std::string>& paths);

/// Whether its first bytes are text, also in UTF-16, or an archive's: nothing for who reads captures. Throws SystemError.
bool is_text(const std::string& path);

/// One file, whole or as a stream. Throws SystemError; what is in it is never an error but a reason.
operations::Told read_file(const std::string& path);

/// The same from memory, for tests and fuzzing. `name` may tell the rank.
operations::Told read_text(std::string_view text, std::string_view name);

/// The same as a file of `kind`, whatever it looks like: for fuzzing one reader.
operations::Told read_text_as(Kind kind, std::string_view text, std::string_view name);

/// The files one after the other, two at a time.
std::vector<operations::Told> read_files(const std::vector<std::string>& paths);

/// The number behind "rank" in a file's name, or the last number before its extensions: for files whose content does not
/// say whose they are.
std::optional<int> rank_in_name(std::string_view path);

}  // namespace tw::readers
