// SPDX-License-Identifier: Apache-2.0
#include "trainwire/batch/slurm.h"

#include "trainwire/base/error.h"
#include "trainwire/base/units.h"
#include "trainwire/batch/slurm_config.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <thread>

namespace tw::batch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr Duration kLongestStart = seconds(20);

std::string random_key() {
  std::array<char, 128> bytes = {};
  check(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
        "the kernel has randomness");
  return {bytes.data(), bytes.size()};
}

std::string user_name() {
  const passwd* const entry = ::getpwuid(::geteuid());
  return entry != nullptr ? entry->pw_name : "root";
}

}  // namespace

std::string slurm_missing() {
  for (const char* name : {"munged", "slurmctld", "slurmd", "sinfo"}) {
    if (daemon_program(name).empty()) {
      return fmt::format(
          "there is no {} on this machine; apt install slurmctld slurmd slurm-client munge", name);
    }
  }
  return {};
}

Slurm::Slurm(const network::NetPlan& plan, const Stage& stage)
    : scratch_("slurm", stage.ledger), nodes_(plan.hosts.size()) {
  if (const std::string missing = slurm_missing(); !missing.empty()) {
    throw SystemError("starting Slurm: " + missing);
  }
  start_munge(stage);
  scratch_.folder("state");
  config_ = scratch_.write("slurm.conf", slurm_config(plan, {.folder = scratch_.path(),
                                                             .munge_socket = munge_socket_,
                                                             .user = user_name()}));
  const auto start = [&](int host, const std::string& program, const std::string& name) {
    outputs_.push_back(scratch_.file(name + ".txt"));
    daemons_.push_back(start_daemon(stage, {.host = host,
                                            .words = {daemon_program(program), "-D", "-f", config_},
                                            .environment = environment_without("SLURM_"),
                                            .output = outputs_.back(),
                                            .role = name}));
  };
  start(0, "slurmctld", "slurmctld");
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) {
    scratch_.folder("spool." + plan.hosts[i].name);
    scratch_.folder("tmp." + plan.hosts[i].name);
    start(static_cast<int>(i), "slurmd", "slurmd." + plan.hosts[i].name);
  }
  wait_until_idle(stage);
}

void Slurm::start_munge(const Stage& stage) {
  munge_socket_ = scratch_.file("munge.socket");
  const std::string key = scratch_.write("munge.key", random_key());
  outputs_.push_back(scratch_.file("munged.txt"));
  daemons_.push_back(start_daemon(
      stage, {.host = 0,
              .words = {daemon_program("munged"), "--foreground", "--force", "--key-file=" + key,
                        "--socket=" + munge_socket_, "--pid-file=" + scratch_.file("munged.pid"),
                        "--log-file=" + scratch_.file("munged.log"),
                        "--seed-file=" + scratch_.file("munged.seed")},
              .environment = environment_without("SLURM_"),
              .output = outputs_.back(),
              .role = "munged"}));
  const auto limit = steady_clock::now() + kLongestStart;
  while (::access(munge_socket_.c_str(), F_OK) != 0) {
    if (const std::string why = trouble(); !why.empty()) throw SystemError(why);
    if (steady_clock::now() > limit) throw SystemError("starting Slurm: munged does not listen");
    std::this_thread::sleep_for(milliseconds(5));
  }
}

std::vector<std::string> Slurm::environment() const { return {"SLURM_CONF=" + config_}; }

bool Slurm::all_idle(const Stage& stage) const {
  const std::string answer = scratch_.file("sinfo.txt");
  ::unlink(answer.c_str());
  std::vector<std::string> variables = environment_without("SLURM_");
  for (std::string& entry : environment()) variables.push_back(std::move(entry));
  os::Child asked = start_daemon(stage, {.host = 0,
                                         .words = {"sinfo", "--noheader", "--Node", "--format=%T"},
                                         .environment = variables,
                                         .output = answer,
                                         .role = "sinfo"});
  asked.wait_for(seconds(5));
  std::size_t idle = 0;
  std::ifstream file(answer);
  for (std::string line; std::getline(file, line);) idle += line == "idle";
  return idle == nodes_;
}

std::string Slurm::trouble() {
  for (std::size_t i = 0; i < daemons_.size(); ++i) {
    const auto ending = daemons_[i].poll();
    if (!ending) continue;
    const std::string words = last_line(outputs_[i]);
    return fmt::format("starting Slurm: a daemon {}{}{}; its configuration was {}",
                       os::describe(*ending), words.empty() ? "" : ": ", words, config_);
  }
  return {};
}

void Slurm::wait_until_idle(const Stage& stage) {
  const auto limit = steady_clock::now() + kLongestStart;
  while (!all_idle(stage)) {
    if (const std::string why = trouble(); !why.empty()) throw SystemError(why);
    if (steady_clock::now() > limit) {
      throw SystemError(fmt::format("starting Slurm: not all nodes are idle after {}: {}",
                                    readable(kLongestStart),
                                    last_line(scratch_.file("slurmctld.log"))));
    }
    std::this_thread::sleep_for(milliseconds(50));
  }
}

}  // namespace tw::batch
