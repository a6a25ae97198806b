// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cluster/parts.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/cluster/worker.h"
#include "trainwire/gather/partial.h"
#include "trainwire/os/clock.h"

#include <fmt/format.h>
#include <glob.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <span>
#include <thread>

namespace tw::cluster {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr auto kLook = milliseconds(5);
constexpr std::int64_t kTellNs = 250'000'000;

/// One machine that reads.
struct Reader {
  Worker worker;
  std::string name;
  std::string address;
  std::int64_t done = 0;
  std::int64_t all = 0;
  bool finished = false;
  std::optional<std::string> failure = {};
};

void take(Reader& reader, const json& message) {
  if (message.contains("read")) {
    reader.done = message.at("read").get<std::int64_t>();
    reader.all = message.at("of").get<std::int64_t>();
  } else if (message.contains("failed")) {
    reader.failure = printable(message.at("failed").get<std::string>());
  } else if (message.contains("done")) {
    reader.finished = true;
  }
}

std::string progress_text(const std::vector<Reader>& readers) {
  std::int64_t done = 0;
  std::int64_t all = 0;
  std::size_t finished = 0;
  for (const Reader& reader : readers) {
    done += reader.finished ? reader.all : reader.done;
    all += reader.all;
    finished += reader.finished ? 1U : 0U;
  }
  return fmt::format("reading on {} machines, {} of {}, {} done", readers.size(),
                     readable(Bytes(done)), readable(Bytes(all)), finished);
}

/// Until every machine is done, has failed or is gone. False when it was stopped.
bool await(fleet::Fleet& fleet, std::vector<Reader>& readers, const PartsRequest& request) {
  std::int64_t told = 0;
  for (;;) {
    fleet.attend();
    bool is_over = true;
    for (Reader& reader : readers) {
      const auto ending =
          reader.worker.ending();  // first: what it said before comes before its end
      while (const auto message = reader.worker.hear()) take(reader, *message);
      is_over = is_over && (reader.finished || reader.failure || ending);
    }
    if (is_over) return true;
    if (request.stop && request.stop()) return false;
    const std::int64_t now = os::monotonic_ns();
    if (request.tell && now - told > kTellNs) {
      told = now;
      request.tell(progress_text(readers));
    }
    std::this_thread::sleep_for(kLook);
  }
}

void write_part(const json& task, const transport::Control& control) {
  const auto named = task.at("files").get<std::vector<std::string>>();
  const std::vector<std::string> files = files_here(named, task.at("host").get<std::string>());
  gather::ReadOptions how;
  how.table.window_ns = task.at("window_ns").get<std::int64_t>();
  how.filter = task.at("filter").get<std::string>();
  std::int64_t told = 0;
  bool alone = false;  // whoever asked is gone
  how.progress = [&](std::int64_t done, std::int64_t all) {
    const std::int64_t now = os::monotonic_ns();
    if (now - told < kTellNs) return;
    told = now;
    alone = !control.send({{"read", done}, {"of", all}});
  };
  how.stop = [&] { return alone; };
  const std::string bytes = gather::encode_partial(gather::read_partial(files, how));
  const auto path = task.at("out").get<std::string>();
  os::FileDescriptor file = os::open_in_place(path);
  os::write_all(file, std::as_bytes(std::span(bytes)), path);
  file.close(path);
}

}  // namespace

Parts make_parts(const PartsRequest& request) {
  fleet::Fleet fleet({.launch = request.launch,
                      .hosts = request.machines,
                      .tell = request.tell,
                      .stop = request.stop});
  if (fleet.interrupted()) return {.interrupted = true};
  fleet.begin({.folder = request.folder, .captures = false});
  std::vector<Reader> readers;
  const auto part_of = [&](const std::string& host) {
    return fmt::format("{}/{}.part", request.folder, host);
  };
  for (std::size_t i = 0; i < fleet.hosts().size(); ++i) {
    const fleet::JoinedHost& host = fleet.hosts()[i];
    readers.push_back({.worker = Worker(fleet, static_cast<int>(i), "part", host.name),
                       .name = host.name,
                       .address = host.address});
    readers.back().worker.tell({{"files", request.files},
                                {"host", host.name},
                                {"window_ns", request.window_ns},
                                {"filter", request.filter},
                                {"out", part_of(host.name)}});
  }
  Parts parts;
  parts.interrupted = !await(fleet, readers, request);
  if (request.tell) request.tell("taking the parts");
  if (!parts.interrupted) fleet.finish();
  std::error_code none;
  for (const Reader& reader : readers) {
    const std::string path = part_of(reader.name);
    std::filesystem::remove(fmt::format("{}/{}.txt", request.folder, reader.name), none);
    if (reader.finished && !reader.failure && gather::is_partial(path)) {
      parts.paths.push_back(path);
      continue;
    }
    std::filesystem::remove(path, none);  // cut off
    if (parts.failed++ > 0) continue;
    const std::string why = reader.failure.value_or("it went away before its part was there");
    parts.failure = fleet.failure() && !reader.failure
                        ? *fleet.failure()
                        : fmt::format("{} ({}): {}", reader.name, reader.address, why);
  }
  return parts;
}

int run_part(os::FileDescriptor descriptor) {
  const transport::Control control(std::move(descriptor));
  try {
    write_part(control.receive(), control);
    control.send({{"done", true}});
    return 0;
  } catch (const std::exception& error) {
    control.send({{"failed", error.what()}});
    return 1;
  }
}

std::vector<std::string> files_here(const std::vector<std::string>& named,
                                    const std::string& host) {
  constexpr std::string_view kHost = "{host}";
  std::vector<std::string> files;
  for (std::string name : named) {
    for (std::size_t at = 0; (at = name.find(kHost, at)) != name.npos; at += host.size()) {
      name.replace(at, kHost.size(), host);
    }
    std::error_code none;
    if (std::filesystem::exists(name, none)) {
      files.push_back(name);
      continue;
    }
    glob_t found = {};
    const int code = ::glob(name.c_str(), GLOB_ERR, nullptr, &found);
    for (std::size_t i = 0; code == 0 && i < found.gl_pathc; ++i) {
      files.emplace_back(found.gl_pathv[i]);
    }
    ::globfree(&found);
    if (code != 0) throw SpecError(fmt::format("there is no file {}", printable(name)));
  }
  return files;
}

}  // namespace tw::cluster
