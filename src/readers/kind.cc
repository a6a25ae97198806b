// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/kind.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/stranger.h"
#include "trainwire/chakra/et_file.h"
#include "trainwire/imports/step_log.h"
#include "trainwire/nccl/perf_table.h"
#include "trainwire/readers/nccl_lines.h"
#include "trainwire/readers/pace_log.h"
#include "trainwire/standing/flight_report.h"
#include "trainwire/standing/stalls.h"
#include "trainwire/standing/watchdog.h"
#include "trainwire/tables/benchmark.h"
#include "trainwire/tables/flow_records.h"

#include <algorithm>
#include <array>
#include <span>

namespace tw::readers {
namespace {

struct Named {
  Kind kind;
  std::string_view name;
  std::string_view words;
};
constexpr std::array<Named, 15> kNames{{
    {Kind::Unknown, "unknown", "a file of unknown kind"},
    {Kind::Capture, "capture", "packets"},
    {Kind::NcclTests, "nccl_tests", "a table of nccl-tests"},
    {Kind::NcclLog, "nccl_log", "a log of NCCL"},
    {Kind::Kineto, "kineto", "a trace of torch.profiler"},
    {Kind::FlightRecorder, "flight_recorder", "PyTorch's flight recorder"},
    {Kind::FlightReport, "flight_report", "torchfrtrace's report"},
    {Kind::Inspector, "inspector", "NCCL Inspector's records"},
    {Kind::Horovod, "horovod", "a timeline of Horovod"},
    {Kind::StepLog, "step_log", "a log of steps"},
    {Kind::PaceLog, "pace_log", "a training log"},
    {Kind::Benchmark, "benchmark", "a benchmark's table"},
    {Kind::ExecutionTrace, "execution_trace", "an execution trace of PyTorch"},
    {Kind::Chakra, "chakra", "a Chakra execution trace"},
    {Kind::FlowRecords, "flow_records", "flow records"},
}};

const Named& named(Kind kind) {
  return *std::find_if(kNames.begin(), kNames.end(),
                       [&](const Named& each) { return each.kind == kind; });
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_capture(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kMagic{"\xd4\xc3\xb2\xa1", "\xa1\xb2\xc3\xd4",
                                                          "\x4d\x3c\xb2\xa1", "\xa1\xb2\x3c\x4d",
                                                          "\x0a\x0d\x0d\x0a"};
  return std::any_of(kMagic.begin(), kMagic.end(),
                     [&](std::string_view magic) { return text.starts_with(magic); });
}

/// NCCL's example of a profiler plugin: what it stamps is when the host asked.
bool is_of_example_profiler(std::string_view text) {
  return has(text, "\"CommHash\"") && (has(text, "\"COLL\"") || has(text, "\"P2P\""));
}

Kind json_kind(std::string_view text) {
  if (has(text, "\"coll_perf\"") || has(text, "\"p2p_perf\"")) return Kind::Inspector;
  if (has(text, "\"NEGOTIATE_") || has(text, "start_time_since_epoch_in_micros"))
    return Kind::Horovod;
  if (has(text, "\"entries\"") && (has(text, "\"profiling_name\"") || has(text, "\"pg_config\""))) {
    return Kind::FlightRecorder;
  }
  if (has(text, "\"profiling_name\"") && has(text, "\"collective_seq_id\""))
    return Kind::FlightRecorder;
  if (has(text, "\"algBw\"") && has(text, "\"busBw\"")) return Kind::NcclTests;
  if (has(text, "\"out_of_place\"") || has(text, "\"average_bus_bandwidth\"") ||
      (has(text, "\"results\"") && has(text, "\"nccl_version\""))) {
    return Kind::NcclTests;
  }
  if (tables::program_of(text) == "iperf3") return Kind::Benchmark;
  if (has(text, "\"nodes\"") && has(text, "\"schema\"") &&
      (has(text, "\"ctrl_deps\"") || has(text, "\"rf_id\""))) {
    return Kind::ExecutionTrace;
  }
  if (!tables::flow_program_of(text).empty()) return Kind::FlowRecords;
  if (is_of_example_profiler(text)) return Kind::Unknown;
  if (has(text, "\"traceEvents\"") || (has(text, "\"ph\"") && has(text, "\"cat\"")))
    return Kind::Kineto;
  // PyTorch without Kineto: an array of events without categories.
  if (has(text, "\"ph\"") && (has(text, "\"CPU functions\"") || has(text, "\"ProfilerStep#")))
    return Kind::Kineto;
  return Kind::Unknown;
}

template <typename Use>
void for_lines(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\r"), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Rows of nccl-tests whose header somebody left out: their bandwidths agree with their times.
bool has_rows_of_perf(std::string_view text) {
  try {
    return !nccl::parse_perf(text, "").tables.empty();
  } catch (const DataError&) {
    return false;
  }
}

bool is_step_log(std::string_view text) {
  try {
    imports::parse_step_log(text.substr(0, text.rfind('\n') + 1), "");
    return true;
  } catch (const DataError&) {
    return false;
  }
}

}  // namespace

std::string_view name_of(Kind kind) { return named(kind).name; }
std::string_view words_of(Kind kind) { return named(kind).words; }

Kind kind_of(std::string_view text) {
  if (is_capture(text)) return Kind::Capture;
  if (chakra::is_et(text)) return Kind::Chakra;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return Kind::Unknown;
  if (has_holes(text)) {
    std::string kept;
    return kind_of(without_holes(text, kept));
  }
  if (has(text.substr(0, 4096), std::string_view("\0", 1))) return Kind::Unknown;
  // A log's line may begin with a bracket too, so that JSON must be known by its keys.
  if (text[first] == '{' || text[first] == '[') {
    if (const Kind kind = json_kind(text); kind != Kind::Unknown) return kind;
  }
  std::size_t of_inspector = 0;
  std::size_t of_nccl = 0;
  PaceLog pace;
  for_lines(text, [&](std::string_view line) {
    if (has(line, "\"coll_perf\"") || has(line, "\"p2p_perf\"")) ++of_inspector;
    if (nccl_line(line) || standing::is_of_watchdog(line) || standing::is_of_stall(line)) ++of_nccl;
    pace.line(line);
  });
  if (of_inspector > 0) return Kind::Inspector;
  if (of_nccl == 0 && standing::is_flight_report(text)) return Kind::FlightReport;
  if (!tables::flow_program_of(text).empty()) return Kind::FlowRecords;
  const std::string_view benchmark = tables::program_of(text);
  if (!benchmark.empty() && benchmark != "nccl_tests") return Kind::Benchmark;
  const bool has_table = (has(text, "algbw") && has(text, "busbw") &&
                          (has(text, "redop") || has(text, " N    type"))) ||
                         has(text, "# nThread ") || has(text, "nccl-tests version");
  if (has_table) return Kind::NcclTests;
  if (of_nccl > 0 && pace.steps() < of_nccl)
    return has_rows_of_perf(text) ? Kind::NcclTests : Kind::NcclLog;
  // Stamps tell when a step was, which a time beside its number does not.
  const bool has_stamps =
      (pace.steps() == 0 || pace.is_loose() || pace.lacks_batch()) && is_step_log(text);
  if (has_stamps) return Kind::StepLog;
  if (pace.steps() > 0) return Kind::PaceLog;
  return has_rows_of_perf(text) ? Kind::NcclTests : Kind::Unknown;
}

namespace {

/// By how it begins: a log's line, TOML and Python's dictionaries begin with a bracket too.
bool begins_as_json(std::string_view text) {
  for (int depth = 0; depth < 8; ++depth) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    const std::size_t next = text.find_first_not_of(" \t\r\n", first + 1);
    if (next == std::string_view::npos) return text[first] == '{' || text[first] == '[';
    if (text[first] == '{') return text[next] == '"' || text[next] == '}';
    if (text[first] != '[') return false;
    if (text[next] == '{' || text[next] == '"' || text[next] == ']') return true;
    text.remove_prefix(next);
  }
  return true;
}

/// "[job]" or "[[link]]" alone on a line.
bool is_toml_header(std::string_view line) {
  const std::size_t open = line.find_first_not_of('[');
  if (open == 0 || open > 2 || open == std::string_view::npos) return false;
  const std::size_t close = line.find(']', open);
  if (close == std::string_view::npos || close == open) return false;
  const std::string_view name = line.substr(open, close - open);
  const bool is_name = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
  });
  const std::string_view rest = line.substr(close + open);
  return is_name && rest.find_first_not_of(" \t") == std::string_view::npos;
}

/// Keys and comments, then a header.
bool begins_as_toml(std::string_view text) {
  bool is_toml = false;
  bool goes_on = true;
  for_lines(text, [&](std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!goes_on || line.empty() || line[0] == '#') return;
    is_toml = is_toml_header(line);
    const std::size_t equals = line.find('=');
    const bool is_key = equals != std::string_view::npos && line.find(' ') >= equals - 1;
    goes_on = !is_toml && is_key;
  });
  return is_toml;
}

/// Its lines of packets, or its statistics.
bool is_of_tshark(std::string_view text) {
  const bool is_lines = has(text, " \xe2\x86\x92 ") &&
                        (has(text, " TCP ") || has(text, " UDP ") || has(text, " ARP "));
  return is_lines || has(text, "IPv4 Endpoints") || has(text, "| IO Statistics");
}

}  // namespace

bool is_text_byte(char c) {
  return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t' || c == '\r' ||
         c == '\x1b' || c == '\b';
}

bool has_holes(std::string_view text) {
  const std::size_t first = text.find('\0');
  if (first == std::string_view::npos) return false;
  std::size_t written = 0;
  for (std::size_t at = 0; at < text.size() && written < 4096; ++at) {
    if (text[at] != '\0') {
      if (!is_text_byte(text[at])) return false;
      ++written;
      continue;
    }
    // A single one is a character's other half, or a number's.
    const std::size_t end = std::min(text.find_first_not_of('\0', at), text.size());
    if (end - at == 1 && end < text.size()) return false;
    at = end - 1;
  }
  return written > 0;
}

std::string_view without_holes(std::string_view text, std::string& kept) {
  if (text.find('\0') == std::string_view::npos) return text;
  kept.assign(text);
  std::erase(kept, '\0');
  return kept;
}

bool is_otherwise_written(std::string_view text) {
  const bool is_pickle =
      text.size() > 1 && text[0] == '\x80' && text[1] >= '\x02' && text[1] <= '\x05';
  return is_pickle || text.starts_with("SQLite format 3") || text.starts_with("\xff\xfe") ||
         text.starts_with("\xfe\xff") || (text.size() >= 262 && text.substr(257, 5) == "ustar");
}

std::string nearest_guess(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos)
    return "it is empty; was the program that writes it stopped before?";
  if (text.starts_with("\x80\x02") || text.starts_with("\x80\x03") ||
      text.starts_with("\x80\x04") || text.starts_with("\x80\x05")) {
    return "it is a Python pickle, perhaps of PyTorch's flight recorder; pickle is never opened "
           "here: "
           "write JSON with open(name, "
           "'w').write(torch._C._distributed_c10d._dump_nccl_trace_json())";
  }
  if (text.starts_with("SQLite format 3")) {
    return "it is an SQLite database, perhaps of nsys; export a trace with torch.profiler instead";
  }
  const std::string_view first_line = text.substr(0, text.find('\n'));
  if ((text.starts_with("[rank") && has(first_line, " ~ ")) ||
      has(text.substr(0, 4096), "comm_type,comm_group")) {
    return "it is a workload of AICB, a list of operations to be played, not a record of a job; "
           "`trainwire new --from` makes an experiment of it";
  }
  if (text.starts_with("HYBRID_") || has(text.substr(0, 256), "HYBRID_TRANSFORMER") ||
      text.starts_with("MICRO")) {
    return "it is a workload of SimAI or ASTRA-sim, not a record of a job; `trainwire new --from` "
           "makes an experiment of it";
  }
  if (has(text, "npus_count:") || has(text, "\"npus_count\"") || has(text, "\"units-count\"") ||
      has(text, "\"all-reduce-implementation\"")) {
    return "it is a network or system of ASTRA-sim, not a record of a job; `trainwire new --from` "
           "makes an experiment of it";
  }
  if (begins_as_toml(text.substr(0, 4096))) {
    return "it is TOML, which describes something and is no record of a job; `trainwire run` takes "
           "experiments";
  }
  if (has(text, "'profiling_name':")) {
    return "it is a dump of PyTorch's flight recorder as Python prints it; write it as JSON: "
           "json.dump(pickle.load(open(FILE, 'rb')), open(FILE + '.json', 'w'))";
  }
  if (text.substr(first).starts_with("{'")) {
    return "it has dictionaries of Python, and no line tells when a step was or what it took; "
           "print a time stamp and \"step N\", or give the progress bars too";
  }
  if (has(text.substr(0, 4096), "\"workload_graph\"") && has(text, "\"NodeType\"")) {
    return "it is a Chakra trace as JSON, written for people; give the .et files that it was made "
           "from";
  }
  if (is_of_example_profiler(text)) {
    return "it is a trace of NCCL's example profiler, which tells when the host asked for "
           "operations and not when they ran; NCCL Inspector's records are read, and "
           "torch.profiler's traces";
  }
  if (has(text.substr(0, 4096), "\"_source\"") && has(text.substr(0, 4096), "\"layers\"")) {
    return "it is what tshark writes of packets as JSON; give the capture itself";
  }
  if (begins_as_json(text.substr(first))) {
    return "it is JSON, but none of a profiler's trace, a flight recorder, nccl-tests, NCCL "
           "Inspector or a "
           "timeline of Horovod; give the file that one of these wrote";
  }
  const auto bytes = std::as_bytes(std::span(text.data(), std::min<std::size_t>(text.size(), 512)));
  if (has_holes(text)) {
    std::string kept;
    return nearest_guess(without_holes(text, kept));
  }
  if (is_otherwise_written(text)) return capture::stranger_description(bytes);
  if (has(text.substr(0, 4096), std::string_view("\0", 1)))
    return capture::stranger_description(bytes);
  if (has(text, "Avg bus bandwidth")) {
    return "it is the end of what nccl-tests printed; the rows of its table are missing";
  }
  if (has(text, "NCCL RAS") || (has(text, "Job summary") && has(text, "Communicators..."))) {
    return "it is a report of ncclras, which tells how many ranks there are and not what they did; "
           "give PyTorch's flight recorder, or NCCL's log";
  }
  if (text.substr(first, 16).starts_with("<!DOCTYPE") ||
      text.substr(first, 16).starts_with("<html")) {
    return "it is a page for browsers, perhaps what a server said instead of the file";
  }
  if (has(text, "NCCL")) {
    return "it is text that speaks of NCCL, without a line of its log; set NCCL_DEBUG=INFO and "
           "NCCL_DEBUG_SUBSYS=INIT,ENV,NET,GRAPH,COLL,TUNING";
  }
  if (has(text.substr(0, 4096), "Src IP Addr:Port") ||
      has(text.substr(0, 4096), "Date first seen")) {
    return "it is what nfdump prints for people, with rounded amounts; `nfdump -r FILE -o csv` has "
           "numbers";
  }
  if (is_of_tshark(text.substr(0, 4096))) {
    return "it is what tshark prints for people; give the capture itself, or fields with a header: "
           "-T fields -E header=y -E separator=, -e ip.src -e ip.dst -e frame.len -e tcp.len";
  }
  if (has(text, "BW average[") && has(text, "#bytes")) {
    return "it is a table of perftest, which tells what one card reaches and nothing of a job; "
           "`trainwire expect --nic` says what nccl-tests should reach with it";
  }
  if (has(text, ":::MLLOG")) {
    return "it is a log of MLPerf, whose steps are samples in one benchmark and steps in the next; "
           "give "
           "the log of the trainer, or traces of torch.profiler";
  }
  if (has(text, "overhead (usec)") && has(text, "message rate (msg/s)")) {
    return "it is a table of ucx_perftest, which tells what one path reaches and nothing of a job; "
           "OSU's osu_bw and osu_latency, which are read, tell size by size";
  }
  if (text.starts_with("tcp_bw:") || text.starts_with("tcp_lat:") ||
      (has(text, "  bw ") && has(text, "=") && has(text, "B/sec"))) {
    return "it is what qperf prints: one figure of one path; `iperf3 -J` tells it interval by "
           "interval";
  }
  const bool has_bandwidths = has(text, "algbw") && has(text, "busbw");
  if (has_bandwidths || has(text, "[usec]") || has(text, "time(us)") || has(text, "Time, us") ||
      has(text, "bandwidth(GB/s)")) {
    return "it may be a benchmark's table, but of none that is read: nccl-tests, OSU, IMB, Gloo "
           "and "
           "iperf3 are";
  }
  if (has(text, "step") || has(text, "iter") || has(text, "epoch") || has(text, "Epoch")) {
    return "it may be a training log, but no line tells when a step was or what it took; print a "
           "time stamp "
           "and \"step N\", or \"elapsed time per iteration (ms)\"";
  }
  return "it is text of no kind that is read; docs/imports.md has what is";
}

}  // namespace tw::readers
