// SPDX-License-Identifier: Apache-2.0
#include "trainwire/traffic/process.h"

#include "trainwire/base/error.h"
#include "trainwire/traffic/generator.h"
#include "trainwire/traffic/sink.h"
#include "trainwire/traffic/task.h"
#include "trainwire/transport/control.h"

#include <nlohmann/json.hpp>
#include <poll.h>

#include <array>
#include <cstdio>
#include <exception>
#include <variant>

namespace tw::traffic {
namespace {

using nlohmann::json;

class Process {
 public:
  explicit Process(os::FileDescriptor control) : control_(std::move(control)) {}

  int run() {
    try {
      std::visit([this](auto&& task) { work(task); }, task_from(control_.receive()));
      return 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return tell_failure(error.what());
    }
  }

 private:
  int tell_failure(const char* why) const {
    try {
      control_.send({{"failed", why}});
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    return 1;
  }

  void work(const SinkTask& task) {
    Sink sink(task);
    control_.send({{"port", sink.port()}});
    control_.receive();  // stop
    sink.stop();
    json done = to_json(sink.counts());
    done["done"] = true;
    control_.send(done);
  }

  void work(const SourceTask& task) {
    const json message = control_.receive();
    const json& to = message.at("to");
    Generator generator(task, {{.endpoint = {.address = to.at("address").get<std::string>(),
                                             .port = to.at("port").get<std::uint16_t>()}}});
    generator.connect();
    control_.send({{"ready", true}});
    control_.receive();  // start
    generator.start();
    wait_for_end(generator);
    const Outcome outcome = generator.finish();
    if (!control_.send({{"done", true}, {"outcome", to_json(outcome)}})) return;
    wait_for_leave();
  }

  /// Until the load is over, or the run says stop, or is gone.
  void wait_for_end(Generator& generator) const {
    std::array<pollfd, 2> waits{
        {{.fd = control_.descriptor(), .events = POLLIN, .revents = 0},
         {.fd = generator.over_descriptor(), .events = POLLIN, .revents = 0}}};
    while (waits[0].revents == 0 && waits[1].revents == 0) {
      ::poll(waits.data(), waits.size(), -1);
    }
    if (waits[0].revents != 0) {
      control_.poll();
      generator.stop();
    }
  }

  /// The end of the channel is leave too. A stop that crossed our last message is passed over.
  void wait_for_leave() const {
    try {
      while (!control_.receive().contains("leave")) {
      }
    } catch (const Error&) {
      return;
    }
  }

  transport::Control control_;
};

}  // namespace

int run_traffic(os::FileDescriptor control) { return Process(std::move(control)).run(); }

}  // namespace tw::traffic
