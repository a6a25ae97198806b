// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/live.h"

#include "trainwire/base/error.h"
#include "trainwire/record/json_io.h"
#include "trainwire/result/json_text.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <span>

namespace tw::record {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kDeepest = 8;        // a sample has 3
constexpr std::size_t kMostListed = 2048;  // hosts or jobs: more than a browser can show

/// The whole list, or nothing when an element is of another type.
template <typename T>
std::optional<std::vector<T>> list_of(const ordered_json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_array()) return {};
  std::vector<T> list(found->size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!JsonReader::take((*found)[i], list[i])) return {};
  }
  return list;
}

bool is_rate(double rate) { return rate >= 0; }

std::optional<std::vector<std::optional<double>>> capacity_of(const ordered_json& line) {
  const auto found = line.find("capacity_bps");
  if (found == line.end() || !found->is_array()) return {};
  std::vector<std::optional<double>> list;
  for (const ordered_json& each : *found) {
    double rate = 0;
    const bool known = JsonReader::take(each, rate);
    if (!is_rate(rate) || (!known && !each.is_null())) return {};
    list.push_back(known ? std::optional(rate) : std::nullopt);
  }
  return list;
}

LiveJob job_of(const ordered_json& from) {
  LiveJob job;
  if (!from.is_object()) return job;
  JsonReader io(from);
  io.or_null("name", job.name);
  io.or_null("model", job.model);
  io.or_null("strategy", job.strategy);
  io.or_null("ranks", job.ranks);
  io.or_null("steps", job.steps);
  io.or_null("warmup", job.warmup);
  return job;
}

std::optional<LiveHeader> header_of(const ordered_json& line) {
  const auto jobs = line.find("jobs");
  auto hosts = list_of<std::string>(line, "hosts");
  if (line.value("schema", ordered_json()) != 1 || !hosts) return {};
  if (jobs == line.end() || !jobs->is_array()) return {};
  if (hosts->size() > kMostListed || jobs->size() > kMostListed) return {};
  LiveHeader header{.hosts = *std::move(hosts), .capacity_bps = capacity_of(line)};
  JsonReader io(line);
  io("name", header.name);
  io.or_null("started_ns", header.started_ns);
  for (const ordered_json& job : *jobs) header.jobs.push_back(job_of(job));
  return header;
}

std::optional<std::vector<LivePair>> pairs_of(const ordered_json& line) {
  const auto found = line.find("pairs");
  if (found == line.end() || !found->is_array()) return {};
  std::vector<LivePair> pairs;
  for (const ordered_json& each : *found) {
    LivePair pair;
    if (!each.is_array() || each.size() != 3 || !JsonReader::take(each[0], pair.from) ||
        !JsonReader::take(each[1], pair.to) || !JsonReader::take(each[2], pair.bytes)) {
      return {};
    }
    pairs.push_back(pair);
  }
  return pairs;
}

std::optional<LiveBusiest> busiest_of(const ordered_json& line) {
  const auto found = line.find("busiest");
  LiveBusiest busiest;
  if (found == line.end() || !found->is_object()) return {};
  const auto member = [&](const char* key, auto& into) {
    const auto at = found->find(key);
    return at != found->end() && JsonReader::take(*at, into);
  };
  if (!member("link", busiest.link) || !member("direction", busiest.direction) ||
      !member("share", busiest.share) || !is_rate(busiest.share)) {
    return {};
  }
  return busiest;
}

std::map<std::string, std::array<double, 2>> core_of(const ordered_json& line) {
  const auto found = line.find("core_bps");
  std::map<std::string, std::array<double, 2>> core;
  if (found == line.end() || !found->is_object() || found->size() > kMostListed) return core;
  for (const auto& [link, rates] : found->items()) {
    std::array<double, 2> both = {};
    if (rates.is_array() && rates.size() == 2 && JsonReader::take(rates[0], both[0]) &&
        JsonReader::take(rates[1], both[1]) && is_rate(both[0]) && is_rate(both[1])) {
      core[link] = both;
    }
  }
  return core;
}

std::optional<LiveSample> sample_of(const ordered_json& line) {
  const auto time = line.find("time_ns");
  LiveSample sample;
  if (time == line.end() || !JsonReader::take(*time, sample.time_ns)) return {};
  auto steps = list_of<std::uint64_t>(line, "steps");
  auto sent = list_of<double>(line, "sent_bps");
  auto pairs = pairs_of(line);
  if (!steps || !sent || !pairs || !std::all_of(sent->begin(), sent->end(), is_rate)) return {};
  sample.steps = *std::move(steps);
  sample.sent_bps = *std::move(sent);
  sample.pairs = *std::move(pairs);
  sample.busiest = busiest_of(line);
  sample.core_bps = core_of(line);
  return sample;
}

/// False when it is nothing that is known.
bool take(LiveLines& lines, const ordered_json& line, From from) {
  if (line.value("ended", ordered_json()).is_string()) return lines.ended = true;
  if (auto sample = sample_of(line)) {
    lines.samples.push_back(*std::move(sample));
    return true;
  }
  if (from == From::Middle) return false;
  lines.header = header_of(line);
  return lines.header.has_value();
}

void take_line(LiveLines& lines, std::string_view text, From from) {
  const ordered_json line = result::parse_json(text, kDeepest);
  if (!line.is_object() || !take(lines, line, from)) ++lines.skipped;
}

template <typename T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

}  // namespace

ordered_json to_json(const LiveHeader& header) {
  ordered_json capacity;
  if (header.capacity_bps) {
    capacity = ordered_json::array();
    for (const auto& rate : *header.capacity_bps) capacity.push_back(or_null(rate));
  }
  ordered_json jobs = ordered_json::array();
  for (const LiveJob& job : header.jobs) {
    jobs.push_back({{"name", or_null(job.name)},
                    {"model", or_null(job.model)},
                    {"strategy", or_null(job.strategy)},
                    {"ranks", or_null(job.ranks)},
                    {"steps", or_null(job.steps)},
                    {"warmup", or_null(job.warmup)}});
  }
  return {{"schema", 1},
          {"name", header.name},
          {"started_ns", or_null(header.started_ns)},
          {"hosts", header.hosts},
          {"capacity_bps", std::move(capacity)},
          {"jobs", std::move(jobs)}};
}

ordered_json to_json(const LiveSample& sample) {
  ordered_json pairs = ordered_json::array();
  for (const LivePair& pair : sample.pairs) pairs.push_back({pair.from, pair.to, pair.bytes});
  ordered_json line{{"time_ns", sample.time_ns},
                    {"steps", sample.steps},
                    {"sent_bps", sample.sent_bps},
                    {"pairs", std::move(pairs)}};
  if (sample.busiest) {
    line["busiest"] = {{"link", sample.busiest->link},
                       {"direction", sample.busiest->direction},
                       {"share", sample.busiest->share}};
  }
  if (!sample.core_bps.empty()) line["core_bps"] = sample.core_bps;
  return line;
}

LiveWriter::LiveWriter(std::string path, const LiveHeader& header)
    : path_(std::move(path)), file_(os::open_in_place(path_)) {
  ::flock(file_.get(), LOCK_EX | LOCK_NB);
  write(to_json(header));
}

LiveWriter::~LiveWriter() { end("cut off"); }

void LiveWriter::write(const LiveSample& sample) { write(to_json(sample)); }

void LiveWriter::end(const std::string& why) {
  write(ordered_json{{"ended", why}});
  ended_ = true;
}

void LiveWriter::write(const ordered_json& line) {
  if (ended_) return;
  try {
    const std::string text =
        line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    os::write_all(file_, std::as_bytes(std::span(text)), path_);
  } catch (const SystemError&) {
    ended_ = true;  // a full disk ends the view, not the run
  }
}

LiveLines parse_live(std::string_view text, From from) {
  LiveLines lines;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', lines.used)) {
    take_line(lines, text.substr(lines.used, end - lines.used),
              lines.used == 0 ? from : From::Middle);
    lines.used = end + 1;
  }
  return lines;
}

bool is_held(const std::string& file) {
  const os::FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return fd.is_open() && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace tw::record
