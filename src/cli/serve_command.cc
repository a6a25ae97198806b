// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/cli/commands.h"
#include "trainwire/command/version.h"
#include "trainwire/record/json.h"
#include "trainwire/serve/server.h"
#include "trainwire/text/compare_page.h"
#include "trainwire/transport/tcp/hello.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>
#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

namespace tw::cli {
namespace {

struct ServeOptions {
  std::string folder = ".";
  int port = 0;
  std::string upload_limit = "2GB";
  std::string memory_limit = "4GB";
  std::string time_limit = "10min";
  bool json = false;
};

/// While one lives, the signals that end a server wait for end() instead of ending the program.
/// Threads that are started meanwhile do not take them either.
class EndSignals {
 public:
  EndSignals() {
    ::sigemptyset(&signals_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      // Under nohup, and for a script's background job, it is to be ignored still.
      struct sigaction now = {};
      if (::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
      ::sigaddset(&signals_, number);
    }
    ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;
  ~EndSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  /// Returns when one of them came; the next one ends the program at once.
  void wait() const {
    int number = 0;
    ::sigwait(&signals_, &number);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t signals_ = {};
  sigset_t before_ = {};
};

Bytes size_of(std::string_view option, const std::string& text) {
  const std::optional<Bytes> size = parse_bytes(text);
  if (size) return *size;
  throw SpecError(
      fmt::format("{} {}: expected a size, like 500MB or 10GB", option, printable(text)));
}

serve::Options served(const ServeOptions& options) {
  if (options.port < 0 || options.port > 65535) {
    throw SpecError(
        fmt::format("--port {}: expected 0 to 65535; 0 takes a free one", options.port));
  }
  const std::optional<Duration> time = parse_duration(options.time_limit);
  if (!time || *time < std::chrono::seconds(1)) {
    throw SpecError(fmt::format("--time-limit {}: expected a second or more, like 90s or 10min",
                                printable(options.time_limit)));
  }
  return {
      .folder = options.folder,
      .port = options.port,
      .token = transport::tcp::text_of(transport::tcp::make_token()),
      .upload_limit = size_of("--upload-limit", options.upload_limit),
      .analysis_limits = {.memory = size_of("--memory-limit", options.memory_limit), .time = *time},
      .maker = {.version = std::string(command::version()),
                .commit = std::string(command::commit())},
      .comparisons = text::page_comparisons};
}

void tell(const ServeOptions& options, const serve::Server& server, command::Streams streams) {
  if (options.json) {
    fmt::print(streams.out, "{}\n",
               record::dumped({{"schema", 1},
                               {"command", "serve"},
                               {"address", server.address()},
                               {"port", server.port()},
                               {"folder", options.folder}}));
  } else {
    fmt::print(streams.out, "{}\n", server.address());
  }
  streams.out.flush();
  fmt::print(streams.err,
             "serving {} to this machine only; open the address in a browser, Ctrl-C ends it\n",
             printable(options.folder));
  streams.err.flush();
}

int serve_runs(const ServeOptions& options, command::Streams streams) {
  const EndSignals signals;
  const serve::Server server(served(options));
  tell(options, server, streams);
  signals.wait();
  return 0;
}

}  // namespace

command::Body declare_serve(command::CommandLine& app) {
  const auto options = std::make_shared<ServeOptions>();
  app.add_option("DIR", options->folder, "folder whose runs are shown, default: this one")
      .type_name("");
  app.add_option("--port", options->port, "port on 127.0.0.1, default: a free one").type_name("N");
  app.add_option("--upload-limit", options->upload_limit,
                 "largest capture that can be sent to be analysed, default 2GB")
      .type_name("SIZE");
  app.add_option("--memory-limit", options->memory_limit,
                 "memory that the analysis of a sent capture may take, default 4GB")
      .type_name("SIZE");
  app.add_option("--time-limit", options->time_limit, "time that it may take, default 10min")
      .type_name("TIME");
  app.add_flag("--json", options->json, "print the address as one JSON document");
  return [options](command::Streams streams) { return serve_runs(*options, streams); };
}

}  // namespace tw::cli
