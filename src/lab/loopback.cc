// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/loopback.h"

#include "trainwire/os/clock.h"
#include "trainwire/spec/experiment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

namespace tw::lab {
namespace {

constexpr int kCannotRun = 127;

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

os::Child start(const RankCommand& command, int input, int output) {
  const std::vector<char*> words = pointers(command.words);
  const std::vector<char*> environment = pointers(command.environment);
  return os::Child::start([&] {
    // The copies do not close on exec; all three numbers are above 2 here.
    if (::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(output, 2) < 0) return kCannotRun;
    ::execve(words.front(), words.data(), environment.data());
    return kCannotRun;
  });
}

}  // namespace

std::vector<HostAddress> loopback_hosts(int hosts) {
  std::vector<HostAddress> result;
  for (int host = 0; host < hosts; ++host) {
    const int number = host + 1;
    result.push_back(
        {.name = spec::host_name(host),
         .address = fmt::format("127.{}.{}.{}", number >> 16, (number >> 8) & 255, number & 255)});
  }
  return result;
}

ConductOutcome conduct_on_loopback(const ConductRequest& request) {
  ConductOutcome outcome;
  RankGroup ranks;
  outcome.started = os::moment();
  ranks.start(request.commands, request.folder, start);
  RankCare care = request.care;
  care.timeout = request.timeout;
  care.stop = [&] {
    outcome.interrupted = outcome.interrupted || (request.stop && request.stop());
    return outcome.interrupted;
  };
  if (request.steer) care.steer = [&](RankGroup& group) { request.steer(group, nullptr); };
  outcome.failure = ranks.wait(care);
  outcome.ranks = ranks.stop();
  outcome.ended = os::moment();
  return outcome;
}

}  // namespace tw::lab
