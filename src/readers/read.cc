// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/read.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/words.h"
#include "trainwire/capture/byte_source.h"
#include "trainwire/capture/decompress.h"
#include "trainwire/imports/step_log.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/readers/execution_trace.h"
#include "trainwire/readers/flight_recorder.h"
#include "trainwire/readers/horovod.h"
#include "trainwire/readers/inspector.h"
#include "trainwire/readers/kineto.h"
#include "trainwire/readers/lines.h"
#include "trainwire/readers/nccl_log.h"
#include "trainwire/readers/pace_log.h"
#include "trainwire/readers/perf.h"
#include "trainwire/readers/tables.h"
#include "trainwire/standing/flight_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <future>

namespace tw::readers {
namespace {

namespace fs = std::filesystem;
using operations::Told;

constexpr std::size_t kBeginning = std::size_t{256} << 10;
constexpr std::size_t kFarBeginning =
    std::size_t{4} << 20;  ///< where much comes before, as of a program's settings
constexpr std::size_t kMostFiles = 100'000;

struct Opened {
  std::unique_ptr<capture::ByteSource> source;
  std::string_view beginning;  ///< valid until the source goes on
};

Opened opened(std::unique_ptr<capture::ByteSource> stored) {
  const auto first = stored->advance(0, 4);
  const capture::Compression compression =
      capture::compression_of(first.subspan(0, std::min<std::size_t>(4, first.size())));
  Opened made{.source = compression == capture::Compression::None
                            ? std::move(stored)
                            : capture::decompressed(std::move(stored), compression),
              .beginning = {}};
  const auto bytes = made.source->advance(0, kBeginning);
  made.beginning = {reinterpret_cast<const char*>(bytes.data()),
                    std::min(bytes.size(), kBeginning)};
  return made;
}

Opened open_file(const std::string& path) {
  return opened(capture::descriptor_source(os::open_to_read(path)));
}

Opened open_text(std::string_view text) {
  return opened(capture::memory_source(std::as_bytes(std::span(text.data(), text.size()))));
}

std::string holes_text(std::uint64_t bytes) {
  return fmt::format("{} bytes are NUL, as where a file was cut while it was written: left out",
                     bytes);
}

bool is_text_here(std::string_view beginning) {
  const std::string_view first = beginning.substr(0, 4096);
  return has_holes(beginning) ||
         (!first.empty() && std::all_of(first.begin(), first.end(), is_text_byte));
}

/// Of a file of text, holes left out.
std::string text_in(capture::ByteSource& source, Told& told) {
  std::string text = whole_text(source);
  const std::size_t holes = std::erase(text, '\0');
  if (holes > 0) told.reasons.push_back(holes_text(holes));
  return text;
}

constexpr std::string_view kCutOff = "the file ends in the middle; what is before was used";

constexpr std::string_view kCutAtOnce =
    "the file ends in the middle, before anything in it tells of a collective";

/// A file that was cut off before anything was told has nothing that could be used.
void mend_reasons(Told& told) {
  if (told.records > 0 || !told.steps.empty() || !told.wiring.empty()) return;
  const auto cut = std::find(told.reasons.begin(), told.reasons.end(), kCutOff);
  if (cut == told.reasons.end()) return;
  *cut = std::string(kCutAtOnce);
  std::rotate(told.reasons.begin(), cut, cut + 1);
}

/// Looks further where text begins with what is of no kind.
Kind kind_of(Opened& opened) {
  const Kind kind = readers::kind_of(opened.beginning);
  if (kind != Kind::Unknown || opened.beginning.size() < kBeginning ||
      !is_text_here(opened.beginning)) {
    return kind;
  }
  const auto bytes = opened.source->advance(0, kFarBeginning);
  opened.beginning = {reinterpret_cast<const char*>(bytes.data()),
                      std::min(bytes.size(), kFarBeginning)};
  return readers::kind_of(opened.beginning);
}

/// What a damaged file says of itself goes before what its first bytes look like.
std::string guess_of(const Opened& opened) {
  const auto& failure = opened.source->failure();
  return opened.beginning.empty() && failure ? *failure : nearest_guess(opened.beginning);
}

/// What is in a training log with NCCL_DEBUG: NCCL's lines and the trainer's, one of which the file is named for.
void read_training(Lines& lines, Kind kind, Told& told) {
  NcclLog log;
  PaceLog pace;
  while (lines.next()) {
    // Glued lines may be of both.
    if (!log.line(lines.line()) || kind == Kind::PaceLog) pace.line(lines.line());
  }
  Told of_pace;
  Told of_log;
  pace.finish(of_pace);
  log.finish(of_log);
  const bool is_log = kind == Kind::NcclLog;
  Told& first = is_log ? of_log : of_pace;
  Told& second = is_log ? of_pace : of_log;
  // One rank's stray number is no step.
  const bool has_second =
      is_log ? !second.steps.empty() && !pace.was_loose()
             : !second.operations.empty() || !second.wiring.empty() || second.stall.has_value();
  first.path = std::move(told.path);
  first.kind = std::move(told.kind);
  told = std::move(first);
  if (!has_second) return;
  told.records += second.records;
  told.skipped += second.skipped;
  told.reasons.insert(told.reasons.end(), second.reasons.begin(), second.reasons.end());
  if (is_log) {
    told.steps = std::move(second.steps);
  } else {
    told.operations = std::move(second.operations);
    told.wiring = std::move(second.wiring);
    told.stall = std::move(second.stall);
    told.rank = second.rank;
  }
}

void read_inspector(Lines& lines, Told& told) {
  Inspector inspector(told);
  while (lines.next()) inspector.line(lines.line());
  inspector.finish();
}

void read_lines(capture::ByteSource& source, Kind kind, Told& told) {
  Lines lines(source);
  if (kind == Kind::Inspector) {
    read_inspector(lines, told);
  } else {
    read_training(lines, kind, told);
  }
  if (lines.holes() > 0) told.reasons.push_back(holes_text(lines.holes()));
  if (lines.too_long() > 0)
    told.reasons.push_back(fmt::format("{} lines are too long", lines.too_long()));
}

/// Two steps that follow one another share a time only where a line tells of several; a first one has no start.
bool tells_averages(const imports::StepLog& log) {
  const auto in_a_row = [](const imports::LoggedStep& a, const imports::LoggedStep& b) {
    return a.rank == b.rank && !a.is_shared && b.is_shared;
  };
  return std::adjacent_find(log.steps.begin(), log.steps.end(), in_a_row) != log.steps.end();
}

void read_step_log(const std::string& text, Told& told) {
  try {
    const imports::StepLog log = imports::parse_step_log(text, told.path);
    const bool has_dates = log.format != imports::kTimeOfDay;
    if (!has_dates) told.reasons.emplace_back("its lines tell the time of day in whole seconds");
    for (const imports::LoggedStep& each : log.steps) {
      told.steps.push_back({.rank = each.rank,
                            .number = each.step,
                            .start_ns = has_dates ? std::optional(each.start_ns) : std::nullopt,
                            .duration_ns = each.end_ns - each.start_ns,
                            .is_shared = each.is_shared});
    }
    told.records = told.steps.size();
    told.skipped = log.skipped;
    if (tells_averages(log)) {
      told.reasons.emplace_back(
          "what passes between two lines is shared by the steps between them: single slow steps "
          "are "
          "not visible");
    }
    if (log.skipped > 0) {
      told.reasons.push_back(fmt::format("{} rows tell no step; the first: {}", log.skipped,
                                         printable(log.first_skipped)));
    }
  } catch (const DataError& error) {
    told.reasons.emplace_back(without_place(error.what(), printable(told.path)));
  }
}

Told read_opened(Opened opened, Kind kind, std::string_view path) {
  Told told{.path = std::string(path), .kind = std::string(name_of(kind))};
  switch (kind) {
    case Kind::Unknown:
      told.reasons.push_back(guess_of(opened));
      break;
    case Kind::Capture:
      break;
    case Kind::Kineto:
      read_kineto(*opened.source, told);
      break;
    case Kind::FlightRecorder:
      read_flight_recorder(*opened.source, told);
      break;
    case Kind::FlightReport:
      standing::read_flight_report(text_in(*opened.source, told), told);
      break;
    case Kind::Horovod:
      read_horovod(*opened.source, told);
      break;
    case Kind::NcclTests:
      read_perf(text_in(*opened.source, told), told);
      break;
    case Kind::Benchmark:
      read_benchmark(text_in(*opened.source, told), told);
      break;
    case Kind::ExecutionTrace:
      read_execution_trace(*opened.source, told);
      break;
    case Kind::Chakra:
      read_chakra(whole_text(*opened.source), told);
      break;
    case Kind::FlowRecords:
      read_flow_records(text_in(*opened.source, told), told);
      break;
    case Kind::StepLog:
      read_step_log(text_in(*opened.source, told), told);
      break;
    case Kind::NcclLog:
    case Kind::Inspector:
    case Kind::PaceLog:
      read_lines(*opened.source, kind, told);
      break;
  }
  if (const auto& failure = opened.source->failure()) {
    const bool is_all = told.records == 0 && told.steps.empty() && kind != Kind::Unknown;
    told.reasons.insert(is_all ? told.reasons.begin() : told.reasons.end(), *failure);
  }
  mend_reasons(told);
  const bool of_one_rank = kind != Kind::NcclTests && kind != Kind::StepLog &&
                           kind != Kind::NcclLog && kind != Kind::Benchmark &&
                           kind != Kind::FlowRecords && kind != Kind::FlightReport;
  if (!told.rank && of_one_rank) told.rank = rank_in_name(path);
  if (told.records == 0 && told.steps.empty() && told.wiring.empty() && told.reasons.empty() &&
      kind != Kind::Capture) {
    told.reasons.push_back(
        fmt::format("nothing in it tells of a collective or a step, though it looks like {}; was "
                    "it cut off at its beginning?",
                    words_of(kind)));
  }
  for (operations::Operation& each : told.operations) {
    if (!each.rank && of_one_rank) each.rank = told.rank;
  }
  return told;
}

bool is_run_folder(const fs::path& path) { return fs::exists(path / "run.json"); }

void add_folder(const std::string& path, std::vector<std::string>& files) {
  std::error_code error;
  std::vector<std::string> found;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_directory() && is_run_folder(at->path())) {
      at.disable_recursion_pending();
      continue;
    }
    if (at->is_regular_file() && found.size() < kMostFiles) found.push_back(at->path().string());
  }
  if (found.empty()) {
    throw DataError(fmt::format(
        "reading {}: the folder holds no file to read; give the files of a job", printable(path)));
  }
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
}

}  // namespace

std::optional<int> rank_in_name(std::string_view path) {
  const std::string name = fs::path(path).filename().string();
  const auto number_at = [&](std::size_t at) -> std::optional<int> {
    std::size_t end = at;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
    if (end == at || end - at > 7) return {};
    return std::stoi(name.substr(at, end - at));
  };
  if (const std::size_t word = name.rfind("rank"); word != std::string::npos) {
    const std::size_t at = name.find_first_of("0123456789", word);
    if (at != std::string::npos && at <= word + 6) return number_at(at);
  }
  // "job.3.et": a part between dots.
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    const std::size_t end = name.find_first_not_of("0123456789", dot + 1);
    if (end != std::string::npos && end > dot + 1 && name[end] == '.') return number_at(dot + 1);
  }
  const std::string stem = name.substr(0, name.find('.'));
  const std::size_t last = stem.find_last_not_of("0123456789");
  const std::size_t at = last == std::string::npos ? 0 : last + 1;
  if (at >= stem.size()) return {};
  return number_at(at);
}

Found recognised(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  Found found;
  for (const std::string& path : paths) {
    if (path != "-" && fs::is_directory(path)) {
      add_folder(path, files);
    } else {
      files.push_back(path);
    }
  }
  for (const std::string& path : files) {
    if (path == "-" || !fs::is_regular_file(path)) {
      found.captures.push_back(path);  // pipes are read once: by whom reads captures
      continue;
    }
    Opened opened = open_file(path);
    const Kind kind = kind_of(opened);
    if (kind == Kind::Capture) {
      found.captures.push_back(path);
    } else if (kind == Kind::Unknown) {
      found.unknown.push_back(
          {.path = path, .kind = std::string(name_of(kind)), .reasons = {guess_of(opened)}});
    } else {
      found.others.push_back(path);
    }
  }
  return found;
}

bool is_text(const std::string& path) {
  const Opened opened = open_file(path);
  return is_text_here(opened.beginning) || is_otherwise_written(opened.beginning);
}

Told read_file(const std::string& path) {
  Opened file = open_file(path);
  const Kind kind = kind_of(file);
  return read_opened(std::move(file), kind, path);
}

Told read_text(std::string_view text, std::string_view name) {
  Opened file = open_text(text);
  const Kind kind = kind_of(file);
  return read_opened(std::move(file), kind, name);
}

Told read_text_as(Kind kind, std::string_view text, std::string_view name) {
  return read_opened(open_text(text), kind, name);
}

std::vector<Told> read_files(const std::vector<std::string>& paths) {
  std::vector<Told> told(paths.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++) told[i] = read_file(paths[i]);
  };
  std::future<void> second = std::async(std::launch::async, work);
  work();
  second.get();
  return told;
}

}  // namespace tw::readers
