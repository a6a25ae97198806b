// SPDX-License-Identifier: Apache-2.0
// What a file is, by its content.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tw::readers {

enum class Kind {
  Unknown,
  Capture,         ///< pcap or pcapng
  NcclTests,       ///< a table of nccl-tests, or its JSON
  NcclLog,         ///< NCCL_DEBUG
  Kineto,          ///< torch.profiler
  FlightRecorder,  ///< of PyTorch, as JSON
  FlightReport,    ///< what torchfrtrace prints of them
  Inspector,       ///< NCCL Inspector's lines
  Horovod,         ///< timeline
  StepLog,         ///< steps with times (imports/step_log.h)
  PaceLog,         ///< what steps took (pace_log.h)
  Benchmark,       ///< times by size of OSU, IMB, Gloo, iperf3 (tables/benchmark.h)
  ExecutionTrace,  ///< of PyTorch, as JSON
  Chakra,          ///< execution trace (chakra/et_file.h)
  FlowRecords,     ///< of Zeek, nfdump, Argus, tshark (tables/flow_records.h)
};

/// "capture", "nccl_tests", "nccl_log", "kineto", "flight_recorder", "flight_report", "inspector", "horovod", "step_log", "pace_log", "benchmark",
/// "execution_trace", "chakra", "flow_records".
std::string_view name_of(Kind kind);
/// For people: "a log of NCCL".
std::string_view words_of(Kind kind);

/// Judged by the first bytes of a file, decompressed; some 256 KiB are enough, and the last line may be cut.
Kind kind_of(std::string_view beginning);

/// Text in UTF-16, an archive, a pickle, a database: no capture, although not text.
bool is_otherwise_written(std::string_view beginning);

/// A letter, a sign, a blank, or what terminals take for colours.
bool is_text_byte(char c);

/// Text with runs of NUL in it, as a file has that was cut while it was written, or that lies on a disk that broke down.
bool has_holes(std::string_view beginning);
/// Without them; `kept` holds it where there were any.
std::string_view without_holes(std::string_view text, std::string& kept);

/// What an unknown file looks like, and what to do: "<what>; <what to do>".
std::string nearest_guess(std::string_view beginning);

}  // namespace tw::readers
