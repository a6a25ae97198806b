// SPDX-License-Identifier: Apache-2.0
// What nccl-tests printed, or wrote as JSON (-J): tables of times by size, and who took part.
//
// Understood: tables with and without `root`, with `error` or `#wrong`, with per-iteration columns
// (-I) and time stamps (-S); prefixes of launchers ("[1,0]<stdout>:", "0: ", kubectl's time stamps); lines of NCCL's log in between,
// glued to a row or in the middle of it; several tables in a file; files of which a header or the '#' of comments was
// lost on the way. rccl-tests prints the same, and writes JSON of its own, a line for each half of a row (-Z json). Bytes from outside: what is no row is passed over, a
// file without any row is a DataError.
//
// Limits: of per-iteration columns nothing is kept; a row is believed as it stands, and where its
// bandwidth contradicts its time (beyond what rounding explains) it is left out and counted.

#pragma once

#include "trainwire/nccl/operation.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::nccl {

/// One half of a row: in place or not.
struct Timed {
  double time_us;
  double algbw_gbs;
  double busbw_gbs;
};

struct PerfRow {
  std::int64_t bytes;
  std::int64_t count;
  std::string type;
  std::optional<Timed> out_of_place = {};
  std::optional<Timed> in_place = {};
  std::int64_t wrong = 0;  ///< values that came out wrong, where they were looked at
  std::string redop = {};  ///< "sum", "none"; empty where there is no such column
  std::optional<std::int64_t> root = {};
  /// Values were looked at out of place alone, as of operations that nccl-tests cannot check in place.
  bool in_place_unchecked = false;
  bool in_place_checked = false;  ///< where the file tells it as text
  bool lacks_redop = false;       ///< although its header has such a column

  /// Out of place where that was timed. A row has one of them at least.
  const Timed& timed() const { return out_of_place ? *out_of_place : *in_place; }
};

struct PerfTable {
  /// Where the file names it, or only one can have such columns and such a bandwidth.
  std::optional<Operation> operation;
  /// By its columns where one number alone explains them, otherwise as the file lists; 0 where neither tells.
  int ranks;
  std::vector<PerfRow> rows;  ///< in the file's order; at least one
};

struct PerfFile {
  std::vector<PerfTable> tables;        ///< at least one
  std::vector<std::string> hosts = {};  ///< of rank 0, 1, ...; empty where devices are not listed
  std::string device = {};              ///< "NVIDIA A100-SXM4-40GB", of the first
  std::string nccl_version = {};        ///< empty where it is not told
  bool alone = false;                   ///< every process is its own rank 0: built without MPI
  int contradictory = 0;                ///< rows left out
  int unreadable = 0;                   ///< rows left out that are cut off, or whose times are none
  std::string failure = {};  ///< what nccl-tests said when it failed: "unhandled system error"
};

/// Throws DataError naming `name` and what was expected.
PerfFile parse_perf(std::string_view text, std::string_view name);

/// The same for what -J wrote; parse_perf calls it for text that begins with a brace.
PerfFile parse_perf_json(std::string_view text, std::string_view name);

/// What a table without a name is of, by the columns redop and root, by what bus bandwidth is to bandwidth, by into how many parts
/// the size is cut, and by what was checked; nothing where several would do. `ranks` is 0 where it is not told.
std::optional<Operation> operation_by_columns(const PerfTable& table, std::size_t ranks);

/// Operation and ranks of a table that was read, of a file that lists `listed` ranks: the columns say how many ranks there are where the
/// size is cut into parts, or where what bus bandwidth is to bandwidth goes with one number alone.
void complete(PerfTable& table, std::size_t listed);

/// Whether time, size and bandwidth of a row agree as far as they are printed.
bool agrees(std::int64_t bytes, const Timed& timed);

}  // namespace tw::nccl
