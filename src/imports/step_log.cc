// SPDX-License-Identifier: Apache-2.0
#include "trainwire/imports/step_log.h"

#include "trainwire/base/colours.h"
#include "trainwire/base/error.h"
#include "trainwire/base/words.h"
#include "trainwire/imports/log_line.h"
#include "trainwire/imports/stamp.h"
#include "trainwire/imports/stamped_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

namespace tw::imports {
namespace {

constexpr std::string_view kExpected =
    "expected CSV with the columns rank,step,start,end, or Type,ID,Timestamp with Batch rows, or "
    "text "
    "lines with a time stamp and \"step\", \"iteration\" or \"batch\" and a number";

/// The non-blank lines of a text, numbered from 1; a byte-order mark is no part of the first.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
  }
  bool next() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = trimmed(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      if (!line_.empty() && line_.front() != '#') return true;
    }
    return false;
  }
  std::string_view line() const { return line_; }
  std::int64_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::string_view line_;
  std::int64_t number_ = 0;
};

/// Where a log is being read, for messages.
struct Place {
  std::string_view name;
  const Lines& lines;

  [[noreturn]] void fail(std::string_view what) const {
    throw DataError(
        fmt::format("reading the step log {}: line {}: {}", name, lines.number(), what));
  }
};

std::int64_t whole_cell(const Place& place, std::string_view cell, std::string_view column,
                        std::int64_t most) {
  const auto value = parse_whole(cell);
  if (!value || *value < 0 || *value > most) {
    place.fail(fmt::format("\"{}\" is no {}; expected a whole number from 0 to {}", excerpt(cell),
                           column, most));
  }
  return *value;
}

std::int64_t time_cell(const Place& place, std::string_view cell, std::optional<StampUnit> unit) {
  auto time = parse_epoch(cell, unit);
  if (!time) time = parse_date_time(cell);
  if (!time || *time < 0) {
    place.fail(
        fmt::format("\"{}\" is no time; expected seconds or nanoseconds since 1970, or a date "
                    "and time like 2026-11-15 05:16:39.907",
                    excerpt(cell)));
  }
  return *time;
}

constexpr std::int64_t kMostRank = 9'999'999;
constexpr std::int64_t kMostStep = 999'999'999;
constexpr std::int64_t kLongAgo_ns =
    1'000'000'000'000'000'000;  ///< 2001: before are times since some start

struct TimeColumn {
  std::size_t index;
  std::optional<StampUnit> unit = {};
};

/// Which column holds what.
struct CsvColumns {
  std::optional<std::size_t> rank = {};
  std::optional<std::size_t> step = {};
  std::optional<TimeColumn> start = {};
  std::optional<TimeColumn> end = {};
  bool phases = false;  ///< several rows make a step

  int known() const { return (step ? 1 : 0) + (start ? 1 : 0) + (end ? 1 : 0); }
};

std::optional<TimeColumn> time_column(std::string_view cell, std::string_view word,
                                      std::size_t index) {
  using enum StampUnit;
  if (!cell.starts_with(word)) return {};
  const std::string_view suffix = cell.substr(word.size());
  if (suffix.empty() || suffix == "_time") return TimeColumn{.index = index};
  if (suffix == "_s" || suffix == "_seconds") return TimeColumn{.index = index, .unit = Seconds};
  if (suffix == "_ms") return TimeColumn{.index = index, .unit = Milliseconds};
  if (suffix == "_us") return TimeColumn{.index = index, .unit = Microseconds};
  if (suffix == "_ns") return TimeColumn{.index = index, .unit = Nanoseconds};
  return {};
}

CsvColumns columns_named(std::span<const std::string_view> header) {
  CsvColumns columns;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string cell = lower_case(header[i]);
    if (cell == "rank") columns.rank = i;
    if (cell == "step" || cell == "iteration" || cell == "iter") columns.step = i;
    if (cell == "phase") columns.phases = true;
    if (const auto start = time_column(cell, "start", i)) columns.start = start;
    if (const auto end = time_column(cell, "end", i)) columns.end = end;
  }
  return columns;
}

bool all_numbers(std::span<const std::string_view> cells) {
  return std::all_of(cells.begin(), cells.end(),
                     [](std::string_view cell) { return parse_epoch(cell).has_value(); });
}

LoggedStep csv_step(const Place& place, const CsvColumns& columns,
                    std::span<const std::string_view> cells) {
  const std::size_t needed =
      std::max({columns.rank.value_or(0), *columns.step, columns.start->index, columns.end->index});
  if (cells.size() <= needed) {
    place.fail(fmt::format("{} fields; expected at least {}", cells.size(), needed + 1));
  }
  const LoggedStep step{
      .rank = columns.rank
                  ? static_cast<int>(whole_cell(place, cells[*columns.rank], "rank", kMostRank))
                  : 0,
      .step = whole_cell(place, cells[*columns.step], "step", kMostStep),
      .start_ns = time_cell(place, cells[columns.start->index], columns.start->unit),
      .end_ns = time_cell(place, cells[columns.end->index], columns.end->unit)};
  if (step.end_ns < step.start_ns) place.fail("the step ends before it starts");
  return step;
}

/// In tables of phases, ours, what came before the first step that counts has numbers below 0.
bool is_before_the_first(const CsvColumns& columns, std::span<const std::string_view> cells) {
  if (!columns.phases || cells.size() <= *columns.step) return false;
  const auto number = parse_whole(cells[*columns.step]);
  return number && *number < 0;
}

CsvColumns checked(const Place& place, const CsvColumns& columns) {
  const std::string_view missing = !columns.step    ? "step"
                                   : !columns.start ? "start"
                                   : !columns.end   ? "end"
                                                    : "";
  if (!missing.empty()) {
    place.fail(fmt::format("there is no column \"{}\"; expected rank,step,start,end", missing));
  }
  return columns;
}

/// Rows of a CSV, sorted by what they are worth.
struct CsvRows {
  std::vector<LoggedStep> steps = {};
  std::vector<LoggedStep> of_no_time = {};  ///< they end when they start
  std::uint64_t bad = 0;
  std::string first_refusal = {};
};

/// Single rows of no use are skipped: a program was stopped while it wrote one. Where they are as many as the others it is
/// another kind of file; stamps of whole seconds make steps of no time, which are kept then.
StepLog csv_log(CsvRows rows, const CsvColumns& columns) {
  const bool few = rows.bad + rows.of_no_time.size() < rows.steps.size();
  if (!few && rows.bad > 0) throw DataError(rows.first_refusal);
  StepLog log{.format = "csv", .steps = std::move(rows.steps)};
  if (few) {
    log.skipped = rows.bad + rows.of_no_time.size();
    if (rows.bad > 0) {
      log.first_skipped = rows.first_refusal.substr(rows.first_refusal.rfind(": line ") + 2);
    } else if (log.skipped > 0) {
      log.first_skipped = fmt::format("step {} takes no time", rows.of_no_time.front().step);
    }
  } else {
    log.steps.insert(log.steps.end(), rows.of_no_time.begin(), rows.of_no_time.end());
  }
  log.steps = columns.phases ? phases_joined(std::move(log.steps)) : in_order(std::move(log.steps));
  return log;
}

/// REQUIRES: `lines` stands on the first line, which is the header or, without one, the first step.
StepLog read_csv(const Place& place, Lines& lines, const CsvColumns& columns, bool has_header) {
  CsvRows rows;
  std::vector<std::string_view> cells;
  for (bool more = has_header ? lines.next() : true; more; more = lines.next()) {
    try {
      if (!split_csv(lines.line(), cells)) place.fail("a quoted field does not end on its line");
      if (is_before_the_first(columns, cells)) continue;
      const LoggedStep step = csv_step(place, columns, cells);
      const bool takes_time = step.end_ns > step.start_ns || columns.phases;
      (takes_time ? rows.steps : rows.of_no_time).push_back(step);
    } catch (const DataError& error) {
      if (++rows.bad == 1) rows.first_refusal = error.what();
    }
  }
  return csv_log(std::move(rows), columns);
}

struct TumColumns {
  std::size_t type = 0;
  std::size_t id = 1;
  std::size_t time = 2;
};

std::optional<TumColumns> tum_columns(std::span<const std::string_view> header) {
  if (header.size() >= 3 && (header[0] == "Batch" || header[0] == "Epoch")) return TumColumns{};
  std::optional<std::size_t> type, id, time;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string cell = lower_case(header[i]);
    if (cell == "type") type = i;
    if (cell == "id") id = i;
    if (cell == "timestamp") time = i;
  }
  if (!type || !id || !time) return {};
  return TumColumns{.type = *type, .id = *id, .time = *time};
}

std::vector<LoggedStep> read_tum(const Place& place, Lines& lines, const TumColumns& columns,
                                 bool has_header) {
  std::vector<Stamp> stamps;
  std::vector<std::string_view> cells;
  for (bool more = has_header ? lines.next() : true; more; more = lines.next()) {
    if (!split_csv(lines.line(), cells)) place.fail("a quoted field does not end on its line");
    const std::size_t needed = std::max({columns.type, columns.id, columns.time});
    if (cells.size() <= needed) {
      place.fail(fmt::format("{} fields; expected Type,ID,Timestamp,Loss,Accuracy", cells.size()));
    }
    const std::string type = lower_case(cells[columns.type]);
    if (type != "batch" && type != "epoch") {
      place.fail(fmt::format("the type is \"{}\"; expected Batch or Epoch", excerpt(type)));
    }
    stamps.push_back({.rank = 0,
                      .step = whole_cell(place, cells[columns.id], "ID", kMostStep),
                      .time_ns = time_cell(place, cells[columns.time], {}),
                      .ends_epoch = type == "epoch"});
  }
  return steps_between(std::move(stamps));
}

/// What TensorBoard and others export of a metric: "Wall time,Step,Value".
struct StampColumns {
  std::size_t step;
  std::size_t time;
};

std::optional<StampColumns> stamp_columns(std::span<const std::string_view> header) {
  std::optional<std::size_t> step, time;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string cell = lower_case(header[i]);
    if (cell == "step" || cell == "_step" || cell == "global_step" || cell == "iteration") step = i;
    if (cell == "wall time" || cell == "wall_time" || cell == "timestamp" || cell == "_timestamp")
      time = i;
  }
  if (!step || !time) return {};
  return StampColumns{.step = *step, .time = *time};
}

std::vector<LoggedStep> read_stamps(Lines& lines, const StampColumns& columns) {
  std::vector<Stamp> stamps;
  std::vector<std::string_view> cells;
  while (lines.next()) {
    if (!split_csv(lines.line(), cells) || cells.size() <= std::max(columns.step, columns.time))
      continue;
    const auto step = parse_whole(cells[columns.step]);
    auto time = parse_epoch(cells[columns.time]);
    if (!time) time = parse_date_time(cells[columns.time]);
    if (!step || *step < 0 || *step > kMostStep || !time || *time < kLongAgo_ns) continue;
    stamps.push_back({.rank = 0, .step = *step, .time_ns = *time});
  }
  return steps_between(std::move(stamps));
}

std::optional<std::int64_t> unnamed_step(std::string_view line) {
  const auto sampled = sampled_step(line);
  return sampled ? sampled : step_of_epoch(line);
}

/// Of torch_xla, which tells the time of day alone: "| Training Device=xla:0/4 Epoch=1 Step=420 .. Rate=557.3 .. Time=22:00:43".
class ClockStamps {
 public:
  void line(std::string_view line, std::int64_t step) {
    const auto second = second_of_day(line);
    if (!second) return;
    if (*second + kDay_s / 2 < last_s_) ++days_;
    last_s_ = *second;
    stamps_.push_back({.rank = device_of(line),
                       .step = step,
                       .time_ns = (days_ * kDay_s + *second) * 1'000'000'000});
  }
  std::vector<Stamp> take() { return std::move(stamps_); }

 private:
  static constexpr std::int64_t kDay_s = 86'400;

  static std::optional<std::int64_t> second_of_day(std::string_view line) {
    Words words(line);
    if (line.find("Rate=") == line.npos || !words.go_behind(" Time=")) return {};
    const std::string_view time = words.word();
    if (time.size() != 8 || time[2] != ':' || time[5] != ':') return {};
    const auto hour = parse_whole(time.substr(0, 2));
    const auto minute = parse_whole(time.substr(3, 2));
    const auto second = parse_whole(time.substr(6, 2));
    const bool is_time = hour && minute && second && *hour >= 0 && *hour < 24 && *minute >= 0 &&
                         *minute < 60 && *second >= 0 && *second < 60;
    return is_time ? std::optional(3600 * *hour + 60 * *minute + *second) : std::nullopt;
  }
  /// 4 of "xla:0/4".
  static int device_of(std::string_view line) {
    Words words(line);
    if (!words.go_behind("xla:") || !words.small() || !words.take("/")) return 0;
    return words.small().value_or(0);
  }

  std::vector<Stamp> stamps_;
  std::int64_t last_s_ = 0;
  std::int64_t days_ = 0;
};

StepLog read_text(Lines& lines) {
  std::vector<Stamp> stamps;
  std::vector<Stamp> unnamed;  // DeepSpeed's, which may count micro steps where others count steps
  ClockStamps by_clock;
  std::string kept;
  do {
    const std::string_view line = without_colours(lines.line(), kept);
    // MLPerf's "step" counts samples in one benchmark and steps in the next.
    if (line.find(":::MLLOG") != line.npos) continue;
    const auto named = step_number(line);
    const auto step = named ? named : unnamed_step(line);
    if (!step || *step < 0 || *step > kMostStep) continue;
    const auto time = find_stamp(line);
    const std::int64_t rank = rank_number(line).value_or(0);
    if (!time) by_clock.line(line, *step);
    if (!time || rank > kMostRank) continue;
    (named ? stamps : unnamed)
        .push_back({.rank = static_cast<int>(rank), .step = *step, .time_ns = *time});
  } while (lines.next());
  if (stamps.empty() && unnamed.empty())
    return {.format = kTimeOfDay, .steps = steps_between(by_clock.take())};
  return {.format = "text", .steps = steps_between(std::move(stamps.empty() ? unnamed : stamps))};
}

/// Decides by the first line, on which `lines` stands.
StepLog read_log(const Place& place, Lines& lines) {
  std::vector<std::string_view> first;
  if (split_csv(lines.line(), first)) {
    if (const auto tum = tum_columns(first)) {
      const bool has_header = lower_case(first[tum->type]) == "type";
      return {.format = "tum", .steps = read_tum(place, lines, *tum, has_header)};
    }
    if (const CsvColumns columns = columns_named(first); columns.known() >= 2) {
      return read_csv(place, lines, checked(place, columns), true);
    }
    if (const auto stamps = stamp_columns(first))
      return {.format = "stamps", .steps = read_stamps(lines, *stamps)};
    if (first.size() >= 4 && all_numbers(first)) {
      const CsvColumns columns{
          .rank = 0, .step = 1, .start = TimeColumn{.index = 2}, .end = TimeColumn{.index = 3}};
      return read_csv(place, lines, columns, false);
    }
  }
  return read_text(lines);
}

}  // namespace

StepLog parse_step_log(std::string_view text, std::string_view name) {
  Lines lines(text);
  if (!lines.next())
    throw DataError(fmt::format("reading the step log {}: it is empty; {}", name, kExpected));
  StepLog log = read_log({.name = name, .lines = lines}, lines);
  if (log.steps.empty()) {
    throw DataError(fmt::format("reading the step log {}: no step was found; {}", name, kExpected));
  }
  return log;
}

}  // namespace tw::imports
