// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/unshaped.h"

#include "trainwire/base/units.h"
#include "trainwire/os/clock.h"
#include "trainwire/os/own_program.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/testbed/programs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace tw::lab {
namespace {

constexpr int kCannotRun = 127;

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

std::unique_ptr<fleet::Process> start(const RankCommand& command, int input, int output) {
  const std::vector<char*> words = pointers(command.words);
  const std::vector<char*> environment = pointers(command.environment);
  return fleet::local_process(os::Child::start([&] {
    // The copies do not close on exec; all three numbers are above 2 here.
    if (::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(output, 2) < 0) return kCannotRun;
    ::execve(words.front(), words.data(), environment.data());
    return kCannotRun;
  }));
}

std::string current_folder() {
  std::array<char, 4096> path = {};
  return ::getcwd(path.data(), path.size()) != nullptr ? path.data() : "";
}

/// srun and mpirun give programs what they ask for (PMI, ranks, rendezvous), so they start them;
/// where hosts are reached by ssh, each rank is started with RANK, WORLD_SIZE, MASTER_ADDR...
std::vector<RankCommand> commands_on(const fleet::Fleet& fleet, const network::NetPlan& plan,
                                     LaunchRequest launch) {
  const fleet::Launch& by = fleet.launch();
  launch.on_machines = true;
  launch.device = by.interface;
  if (by.kind == fleet::LaunchKind::Ssh || by.kind == fleet::LaunchKind::Wait) {
    launch.environment.clear();  // hosts have their own
    return make_commands(plan, launch);
  }
  RankCommand command = make_commands(plan, launch).front();
  const auto ranks = static_cast<int>(launch.placement.size());
  command.host = kHere;
  command.label = fleet::name_of(by.kind);
  command.words =
      fleet::program_words(by, static_cast<int>(plan.hosts.size()), ranks, launch.words);
  command.words.front() = testbed::find_program(command.words.front());
  for (const char* name : {"RANK=", "LOCAL_RANK=", "WORLD_SIZE=", "LOCAL_WORLD_SIZE=", "NODE_RANK=",
                           "TRAINWIRE_HOST=", "TRAINWIRE_MARKS="}) {
    std::erase_if(command.environment,
                  [&](const std::string& entry) { return entry.starts_with(name); });
  }
  if (::geteuid() == 0) {
    command.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT=1");
    command.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
  }
  return {command};
}

/// Our own program lies elsewhere on other machines: they know where.
fleet::Orders orders_of(const RankCommand& command) {
  const std::vector<std::string> own = os::own_program().words;
  const bool is_own = command.words.size() >= own.size() &&
                      std::equal(own.begin(), own.end(), command.words.begin());
  fleet::Orders orders{.own = is_own, .environment = command.environment, .file = command.file};
  const auto skipped = static_cast<std::ptrdiff_t>(is_own ? own.size() : 0);
  orders.words.assign(command.words.begin() + skipped, command.words.end());
  if (is_own) {
    orders.environment.clear();
  } else {
    orders.folder = current_folder();
  }
  return orders;
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

void take_names(network::NetPlan& plan, const fleet::Fleet& fleet) {
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) {
    plan.hosts[i].name = fleet.hosts()[i].name;
    plan.hosts[i].address = fleet.hosts()[i].address;
  }
}

ConductOutcome conduct_on_fleet(const ConductRequest& request, fleet::Fleet& fleet) {
  ConductOutcome outcome;
  RankGroup ranks;
  if (request.tell) request.tell("starting");
  fleet.begin({.folder = request.folder,
               .captures = request.captures,
               .snap_length = request.snap_length,
               .shapes = request.shapes});
  outcome.started = os::moment();
  std::vector<RankCommand> commands;
  for (LaunchRequest launch : request.launches) {
    launch.marks_folder = request.folder;
    for (RankCommand& command : commands_on(fleet, request.plan, launch)) {
      commands.push_back(std::move(command));
    }
  }
  commands.insert(commands.end(), request.commands.begin(), request.commands.end());
  ranks.start(commands, request.folder, [&](const RankCommand& command, int input, int output) {
    if (command.host == kHere) return start(command, input, output);
    return fleet.start(command.host, orders_of(command), command.input >= 0 ? input : -1);
  });
  if (request.tell) request.tell(fmt::format("running on {} hosts", fleet.hosts().size()));
  RankCare care = request.care;
  care.timeout = request.timeout;
  care.stop = [&] {
    outcome.interrupted = outcome.interrupted || (request.stop && request.stop());
    return outcome.interrupted;
  };
  care.attend = [&] {
    fleet.attend();
    if (request.care.attend) request.care.attend();
    fleet.attend();
  };
  if (request.steer) care.steer = [&](RankGroup& group) { request.steer(group, nullptr); };
  care.broken = [&]() -> std::optional<std::string> {
    if (fleet.failure()) return fleet.failure();
    return request.care.broken ? request.care.broken() : std::nullopt;
  };
  outcome.failure = ranks.wait(care);
  // A host that is gone is why its ranks are.
  if (outcome.failure && fleet.failure()) outcome.failure = fleet.failure();
  outcome.ranks = ranks.stop();
  outcome.ended = os::moment();
  if (request.tell) request.tell("taking the hosts' files");
  for (fleet::HostResult& result : fleet.finish()) {
    if (!result.capture) continue;
    outcome.captures.push_back(std::move(*result.capture));
    outcome.counters.push_back(result.most);
    outcome.least_counters.push_back(result.least);
  }
  if (fleet.failure() && !outcome.failure) outcome.failure = fleet.failure();
  return outcome;
}

std::int64_t clock_shift_ns(const fleet::Fleet& fleet, int host) {
  const fleet::JoinedHost& first = fleet.hosts().front();
  const fleet::JoinedHost& other = fleet.hosts()[static_cast<std::size_t>(host)];
  const std::int64_t shift = other.clock_ns - first.clock_ns;
  return std::abs(shift) > first.uncertainty_ns + other.uncertainty_ns ? shift : 0;
}

record::Check clocks_check(const fleet::Fleet& fleet) {
  std::int64_t most = 0;
  std::int64_t uncertainty = 0;
  std::string who;
  for (std::size_t i = 0; i < fleet.hosts().size(); ++i) {
    const std::int64_t shift = clock_shift_ns(fleet, static_cast<int>(i));
    uncertainty = std::max(uncertainty, fleet.hosts()[i].uncertainty_ns);
    if (std::abs(shift) <= std::abs(most)) continue;
    most = shift;
    who = fleet.hosts()[i].name;
  }
  record::Check check{
      .name = "clocks",
      .ok = true,
      .expected = "hosts' clocks agree, or are put on one",
      .found = fmt::format("{:+.6f} s at most, to {}", 1e-9 * static_cast<double>(most),
                           readable(Duration(uncertainty))),
      .text = fmt::format("hosts' clocks agree as closely as can be told: to {}",
                          readable(Duration(uncertainty)))};
  if (most == 0) return check;
  check.text =
      fmt::format("the clock of {} is {:+.3f} s off that of {}: times were put on the latter", who,
                  1e-9 * static_cast<double>(most), fleet.hosts().front().name);
  if (std::abs(most) > 1'000'000'000) check.caution = true;
  return check;
}

}  // namespace tw::lab
