// SPDX-License-Identifier: Apache-2.0
#include "trainwire/exports/chrome.h"

#include "trainwire/exports/text_tables.h"

#include <fmt/format.h>

#include <iterator>

namespace tw::exports {
namespace {

std::string json(std::string_view text) {
  std::string made;
  append_json(made, text);
  return made;
}

/// Nanoseconds as microseconds, exactly.
std::string microseconds(std::int64_t ns) {
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns / 1000), std::abs(ns % 1000));
}

class ChromeFile {
 public:
  ChromeFile(result::OutputFolder& folder, const std::string& name, std::int64_t start_ns)
      : file_(folder, name + ".trace.json", "chrome"), start_ns_(start_ns) {
    file_.write(fmt::format(R"({{"displayTimeUnit":"ms","otherData":{{"start_ns":"{}"}},)"
                            R"("traceEvents":[)",
                            start_ns));
  }

  void write(const timeline::Process& process, int pid) {
    name(pid, 0, "process_name", process.name);
    int tid = 0;
    for (const timeline::Track& track : process.tracks) {
      if (track.values.empty()) {
        name(pid, ++tid, "thread_name", track.name);
        for (const timeline::Slice& slice : track.slices) write(slice, pid, tid);
      }
      const std::string key = json(fmt::format("{} ({})", track.name, track.unit));
      for (const timeline::Value& value : track.values) {
        event(fmt::format(R"({{"ph":"C","pid":{},"name":{},"ts":{},"args":{{"value":{}}}}})", pid,
                          key, microseconds(value.time_ns - start_ns_), value.value));
      }
    }
  }

  void put(std::size_t events) {
    file_.write("\n]}\n");
    file_.put(static_cast<std::int64_t>(events));
  }

 private:
  void event(const std::string& text) {
    file_.write(is_first_ ? "\n" : ",\n");
    is_first_ = false;
    file_.write(text);
  }

  void name(int pid, int tid, std::string_view what, std::string_view name) {
    event(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":{}}}}})", pid,
                      tid, what, json(name)));
  }

  void write(const timeline::Slice& slice, int pid, int tid) {
    std::string arguments;
    for (const timeline::Argument& each : slice.arguments) {
      fmt::format_to(std::back_inserter(arguments), "{}{}:{}", arguments.empty() ? "" : ",",
                     json(each.name), each.value);
    }
    event(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"name":{},"ts":{},"dur":{},"args":{{{}}}}})",
                      pid, tid, json(slice.name), microseconds(slice.start_ns - start_ns_),
                      microseconds(slice.end_ns - slice.start_ns), arguments));
  }

  result::OutputFile file_;
  std::int64_t start_ns_;
  bool is_first_ = true;
};

}  // namespace

void write_chrome(result::OutputFolder& folder, const std::string& name,
                  const timeline::Timeline& timeline) {
  ChromeFile file(folder, name, timeline.start_ns);
  int pid = 0;
  for (const timeline::Process& process : timeline.processes) file.write(process, ++pid);
  file.put(timeline.events());
}

}  // namespace tw::exports
