// SPDX-License-Identifier: Apache-2.0
#include "trainwire/nccl/perf_table.h"

#include "trainwire/base/colours.h"
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/nccl/perf_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace tw::nccl {
namespace {

constexpr std::size_t kMostRows = 100'000;
constexpr std::size_t kMostTables = 1'000;
constexpr std::size_t kMostHosts = 1 << 20;
constexpr std::size_t kMostWords = 64;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
constexpr double kLongest_us = 1e12;  ///< eleven days

using Words = std::vector<std::string_view>;

Words words_of(std::string_view line) {
  Words words;
  while (words.size() < kMostWords) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == line.npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
  return words;
}

template <typename Number>
std::optional<Number> number_in(std::string_view word) {
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

/// Where a table's columns are.
struct Columns {
  std::size_t words = 0;  ///< 0: no header was seen
  std::vector<std::size_t> times;
  double unit_us = 1;  ///< of the times
};

std::optional<Columns> header_in(const Words& words) {
  Columns columns;
  const std::size_t skip = !words.empty() && words[0] == "#" ? 1 : 0;
  if (words.size() < skip + 6) return std::nullopt;
  // Tables of 1.x: "bytes N type op time algbw busbw res", with times in ms.
  const bool is_first = words[skip] == "bytes" && words[skip + 1] == "N";
  if (!is_first && (words[skip] != "size" || words[skip + 1] != "count")) return std::nullopt;
  if (is_first) columns.unit_us = 1e3;
  for (std::size_t i = skip; i < words.size(); ++i) {
    if (words[i] == "time" || words[i] == "cputime") columns.times.push_back(i - skip);
  }
  columns.words = words.size() - skip;
  if (columns.times.empty()) return std::nullopt;
  return columns;
}

/// By the number of words, where the header was lost.
Columns guessed(std::size_t words) {
  if (words == 11) return {.words = words, .times = {3, 7}};
  if (words == 12) return {.words = words, .times = {4, 8}};
  if (words == 13) return {.words = words, .times = {5, 9}};
  return {};
}

std::optional<Timed> timed_at(const Words& words, std::size_t at, double unit_us) {
  if (at + 2 >= words.size()) return std::nullopt;
  auto time = number_in<double>(words[at]);
  if (time) *time *= unit_us;
  const auto algbw = number_in<double>(words[at + 1]);
  const auto busbw = number_in<double>(words[at + 2]);
  if (!time || !algbw || !busbw || *time < 1e-3 || *time > kLongest_us || *algbw < 0 ||
      *busbw < 0) {
    return std::nullopt;
  }
  return Timed{*time, *algbw, *busbw};
}

/// Columns between type and time: redop, root or both.
void put_columns(const Words& words, std::size_t time_at, PerfRow& row) {
  for (std::size_t i = 3; i < std::min(time_at, words.size()); ++i) {
    const auto root = number_in<std::int64_t>(words[i]);
    if (root) row.root = *root;
    if (!root) row.redop = std::string(words[i].substr(0, 16));
  }
}

std::optional<PerfRow> row_at(const Words& words, const Columns& columns) {
  const auto bytes = number_in<std::int64_t>(words[0]);
  const auto count = number_in<std::int64_t>(words[1]);
  if (!bytes || !count || *bytes < 0 || *bytes > kMostBytes || *count < 0) return std::nullopt;
  if (number_in<double>(words[2])) return std::nullopt;  // a type is a word
  if (columns.times.empty()) return std::nullopt;
  PerfRow row{.bytes = *bytes, .count = *count, .type = std::string(words[2].substr(0, 16))};
  bool checked = false;
  for (std::size_t half = 0; half < columns.times.size() && half < 2; ++half) {
    const std::size_t at = columns.times[half];
    (half == 0 ? row.out_of_place : row.in_place) = timed_at(words, at, columns.unit_us);
    if (at + 3 < words.size()) {
      const bool is_checked = number_in<double>(words[at + 3]).has_value();
      row.in_place_unchecked = half == 1 && words[at + 3] == "N/A" && checked;
      row.in_place_checked = half == 1 && is_checked;
      checked = is_checked;
      row.wrong += std::max<std::int64_t>(
          0, std::min<std::int64_t>(number_in<std::int64_t>(words[at + 3]).value_or(0),
                                    1'000'000'000));
    }
  }
  if (!row.out_of_place && !row.in_place) return std::nullopt;
  put_columns(words, columns.times.front(), row);
  return row;
}

bool is_sound(const PerfRow& row) {
  return (!row.out_of_place || agrees(row.bytes, *row.out_of_place)) &&
         (!row.in_place || agrees(row.bytes, *row.in_place));
}

/// The columns of a row from which the first one between type and time is missing.
std::optional<Columns> without_redop(const Columns& header, std::size_t words) {
  if (header.words != words + 1 || header.times.front() < 4) return std::nullopt;
  Columns columns = header;
  for (std::size_t& at : columns.times) --at;
  columns.words = words;
  return columns;
}

std::optional<PerfRow> row_in(const Words& words, const Columns& header) {
  if (words.size() < 7) return std::nullopt;
  auto row = row_at(words, header.words > 0 ? header : guessed(words.size()));
  if (row && is_sound(*row)) return row;
  // All-to-all up to 2.10 has a column redop in its header alone.
  const auto columns = without_redop(header, words.size());
  auto other = columns ? row_at(words, *columns) : std::nullopt;
  if (!other || !is_sound(*other)) return row;
  other->lacks_redop = true;
  return other;
}

/// Whether a line that is no row begins as one: it was cut off, or its times are none ("nan", below 0).
bool begins_as_row(const Words& words, const Columns& header) {
  if (!number_in<std::int64_t>(words[0])) return false;
  if (words.size() == 1) return header.words > 0;
  if (!number_in<std::int64_t>(words[1])) return false;
  if (words.size() == 2) return header.words > 0;
  constexpr std::array<std::string_view, 8> kTypes{"float", "half", "double", "bfloat16",
                                                   "int",   "uint", "f8",     "fp8"};
  return std::any_of(kTypes.begin(), kTypes.end(), [&](std::string_view type) {
    return words[2].starts_with(type) || (header.words > 0 && type.starts_with(words[2]));
  });
}

/// The end of a row whose beginning stands before NCCL's log: numbers, or "N/A".
bool ends_a_row(const Words& words) {
  return words.size() > 2 && std::all_of(words.begin(), words.end(), [](std::string_view word) {
           return word == "N/A" || number_in<double>(word).has_value();
         });
}

/// The word to which the log's host is glued is lost with it: root, or how many values are wrong. -1 stands for neither.
void pad(std::size_t before, Words& words, const Columns& columns) {
  const std::size_t next = before + words.size() + 1;
  const bool ends_a_part =
      next == columns.words ||
      std::find(columns.times.begin(), columns.times.end(), next) != columns.times.end();
  if (ends_a_part) words.emplace_back("-1");
}

/// The operation whose program a line names: "all_reduce_perf".
std::optional<Operation> operation_in(std::string_view line) {
  constexpr std::array<std::pair<std::string_view, Operation>, 8> kPrograms{{
      {"all_reduce_perf", Operation::AllReduce},
      {"all_gather_perf", Operation::AllGather},
      {"reduce_scatter_perf", Operation::ReduceScatter},
      {"broadcast_perf", Operation::Broadcast},
      {"alltoall_perf", Operation::AllToAll},
      {"alltoallv_perf", Operation::AllToAll},
      {"sendrecv_perf", Operation::SendRecv},
      {"reduce_perf", Operation::Reduce},
  }};
  for (const auto& [program, operation] : kPrograms) {
    if (line.find(program) != line.npos) return operation;
  }
  return std::nullopt;
}

class Reader {
 public:
  void take(std::string_view line);
  PerfFile finish(std::string_view name);

 private:
  void take_device(const Words& words, std::string_view line);
  void take_name(std::string_view line);
  void take_failure(std::string_view line);
  void take_row(PerfRow row);
  bool began_row(Words words, bool is_cut);
  bool ended_row(Words words, bool is_cut);
  void leave_row();
  void mend_old(const PerfRow& row, std::optional<Timed>& timed) const;

  PerfFile file_;
  Columns columns_;
  std::optional<Operation> operation_;
  bool fresh_ = true;  ///< the next row begins a table
  std::size_t rows_ = 0;
  std::vector<std::string> begun_;  ///< words of a row into which NCCL's log came
};

/// "#  Rank  0 Group  0 Pid 1234 on host0 device 0 [0x81] NVIDIA A100-PCIE-40GB".
void Reader::take_device(const Words& words, std::string_view line) {
  const auto rank_at = std::find(words.begin(), words.end(), "Rank");
  const auto on_at = std::find(words.begin(), words.end(), "on");
  if (rank_at == words.end() || words.end() - rank_at < 2 || words.end() - on_at < 2) return;
  const auto rank = number_in<std::size_t>(*(rank_at + 1));
  if (!rank || *rank >= kMostHosts || *rank > file_.hosts.size()) return;
  const std::string host(on_at[1].substr(0, 255));
  if (*rank < file_.hosts.size()) {
    // A rank told twice, on another host or by another process: each is a world of its own.
    if (file_.hosts[*rank] != host) file_.alone = true;
    return;
  }
  file_.hosts.push_back(host);
  const std::size_t bracket = line.rfind("] ");
  if (file_.device.empty() && bracket != line.npos) {
    std::string_view device = line.substr(bracket + 2, 80);
    device = device.substr(0, device.find_last_not_of(" \r\t") + 1);
    file_.device = printable(device);
  }
}

/// All-gather and reduce-scatter of nccl-tests up to 2020 count only what a rank gets from the others, as both bandwidths.
/// Their count is that of one rank's part.
void Reader::mend_old(const PerfRow& row, std::optional<Timed>& timed) const {
  if (!timed || timed->algbw_gbs != timed->busbw_gbs || agrees(row.bytes, *timed)) return;
  const auto element = type_bytes(row.type);
  const bool has_parts = element && row.count > 0 && row.count <= row.bytes / *element;
  const double ranks = file_.hosts.size() > 1 ? static_cast<double>(file_.hosts.size())
                       : has_parts ? static_cast<double>(row.bytes / *element / row.count)
                                   : 0;
  if (ranks < 2) return;
  Timed whole = *timed;
  whole.algbw_gbs *= ranks / (ranks - 1);
  if (agrees(row.bytes, whole)) timed = whole;
}

void Reader::take_row(PerfRow row) {
  if (rows_ >= kMostRows) return;
  mend_old(row, row.out_of_place);
  mend_old(row, row.in_place);
  if (!is_sound(row)) {
    ++file_.contradictory;
    return;
  }
  if (fresh_ && file_.tables.size() < kMostTables) {
    file_.tables.push_back({.operation = operation_, .ranks = 0, .rows = {}});
  }
  fresh_ = false;
  ++rows_;
  file_.tables.back().rows.push_back(std::move(row));
}

/// Keeps a row that NCCL's log cut off: its end comes behind the log.
bool Reader::began_row(Words words, bool is_cut) {
  if (!is_cut || words.size() < 3 || !begins_as_row(words, columns_)) return false;
  pad(0, words, columns_);
  if (words.size() >= columns_.words) return false;
  leave_row();
  begun_.assign(words.begin(), words.end());
  return true;
}

bool Reader::ended_row(Words words, bool is_cut) {
  if (begun_.empty() || !ends_a_row(words)) return false;
  if (is_cut) pad(begun_.size(), words, columns_);
  if (begun_.size() + words.size() > columns_.words) return false;
  begun_.insert(begun_.end(), words.begin(), words.end());
  if (begun_.size() == columns_.words) leave_row();
  return true;
}

/// As far as it goes.
void Reader::leave_row() {
  if (begun_.empty()) return;
  const Words words(begun_.begin(), begun_.end());
  if (auto row = row_in(words, columns_)) {
    take_row(std::move(*row));
  } else {
    ++file_.unreadable;
  }
  begun_.clear();
}

/// "# Collective test starting: all_reduce_perf"; older ones name it behind their table: "# Collective test concluded: ..".
void Reader::take_name(std::string_view line) {
  const auto operation = operation_in(line);
  if (!operation) return;
  fresh_ = true;
  const bool is_end = line.find("concluded") != line.npos;
  if (is_end && !file_.tables.empty() && !file_.tables.back().operation)
    file_.tables.back().operation = operation;
  operation_ = is_end ? std::nullopt : operation;
}

/// "host0: Test NCCL failure common.cu:958 'unhandled system error (run with NCCL_DEBUG=INFO for details) / '": in quotes where it has them.
void Reader::take_failure(std::string_view line) {
  const std::size_t at = std::min(line.find("Test NCCL failure"), line.find("Test CUDA failure"));
  if (at == line.npos || !file_.failure.empty()) return;
  const std::size_t open = line.find('\'', at);
  std::string_view said = open == line.npos ? line.substr(at) : line.substr(open + 1);
  said = said.substr(0, said.find('\'')).substr(0, 120);
  file_.failure = printable(said.substr(0, said.find_last_not_of(" /\r") + 1));
}

void Reader::take(std::string_view shown) {
  std::string kept;
  const std::string_view line = without_colours(shown.substr(0, 4096), kept);
  const std::string_view table = bare_row(line);
  const Words words = words_of(table);
  if (words.empty()) return;
  if (const auto columns = header_in(words)) {
    leave_row();
    columns_ = *columns;
    fresh_ = true;
    return;
  }
  const bool is_cut = table.data() + table.size() < line.data() + line.size();
  if (began_row(words, is_cut) || ended_row(words, is_cut)) return;
  if (auto row = row_in(words, columns_)) {
    leave_row();
    return take_row(std::move(*row));
  }
  if (begins_as_row(words, columns_)) {
    ++file_.unreadable;
    return;
  }
  take_name(table);
  take_device(words, table);
  take_failure(table);
  constexpr std::string_view kVersion = "NCCL version ";
  if (const std::size_t at = table.find(kVersion); at != table.npos && file_.nccl_version.empty()) {
    const Words rest = words_of(table.substr(at + kVersion.size()));
    if (!rest.empty()) file_.nccl_version = printable(rest.front().substr(0, 40));
  }
}

PerfFile Reader::finish(std::string_view name) {
  leave_row();
  for (PerfTable& table : file_.tables) complete(table, file_.hosts.size());
  if (file_.tables.empty() && !file_.failure.empty()) {
    throw DataError(fmt::format(
        "reading {}: nccl-tests failed before its first row: {}; NCCL_DEBUG=INFO says why",
        printable(name), file_.failure));
  }
  if (file_.tables.empty()) {
    throw DataError(fmt::format(
        "reading {}: no row of nccl-tests is in it{}; its rows begin with size, count, type and "
        "have time (us), algbw and busbw (GB/s)",
        printable(name),
        file_.contradictory > 0
            ? fmt::format(" that is not in contradiction to itself ({} are)", file_.contradictory)
            : ""));
  }
  return std::move(file_);
}

}  // namespace

bool agrees(std::int64_t bytes, const Timed& timed) {
  // algbw has two decimals, the time four digits at least.
  const double algbw = static_cast<double>(bytes) / (1e3 * timed.time_us);
  return std::abs(algbw - timed.algbw_gbs) <= 0.011 + 0.02 * algbw;
}

PerfFile parse_perf(std::string_view text, std::string_view name) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != text.npos && text[begin] == '{') return parse_perf_json(text, name);
  Reader reader;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish(name);
}

}  // namespace tw::nccl
