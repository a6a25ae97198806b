// SPDX-License-Identifier: Apache-2.0
// How a fleet's hosts are started, and what their launchers say when that fails.
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/fleet/device.h"
#include "trainwire/fleet/meeting.h"
#include "trainwire/fleet/members.h"
#include "trainwire/fleet/seat.h"
#include "trainwire/os/own_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>

namespace tw::fleet {
namespace {

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    throw SpecError(
        fmt::format("{}: the file of hosts cannot be read; write one host a line", path));
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string words_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return telling_words(file);
}

/// TRAINWIRE_SSH in place of ssh, cut at blanks.
std::vector<std::string> ssh_words() {
  const char* const given = std::getenv("TRAINWIRE_SSH");
  std::istringstream in(given != nullptr && *given != '\0' ? given : "ssh");
  return {std::istream_iterator<std::string>(in), {}};
}

}  // namespace

int machine_count(const Launch& launch, std::optional<int> asked) {
  if (asked && *asked < 1) throw SpecError("--machines takes 1 or more");
  if (asked) return *asked;
  if (launch.kind == LaunchKind::Ssh) {
    return static_cast<int>(parse_hosts(text_of_file(launch.host_file), launch.host_file).size());
  }
  const auto nodes =
      launch.kind == LaunchKind::Srun ? own_variable("SLURM_JOB_NUM_NODES") : std::nullopt;
  const int count = nodes ? std::atoi(nodes->c_str()) : 0;
  if (count > 0) return count;
  throw SpecError(
      fmt::format("--launch {}: on how many machines? say --machines N", name_of(launch.kind)));
}

void Fleet::launch_all() {
  if (options_.launch.kind == LaunchKind::Wait) return;
  std::vector<Meeting> meetings;
  for (const Device& device : devices()) meetings.push_back({device.address, port_});
  if (meetings.empty()) throw SystemError("this machine has no address that others could reach");
  HostProgram program{.words = os::own_program().words, .hosts = options_.hosts};
  for (const char* word : {"host", "--join"}) program.words.emplace_back(word);
  program.words.push_back(text_of(meetings));
  if (!options_.launch.interface.empty()) {
    program.words.emplace_back("--interface");
    program.words.push_back(options_.launch.interface);
  }
  std::vector<NamedHost> named;
  if (options_.launch.kind == LaunchKind::Ssh) {
    const std::string& file = options_.launch.host_file;
    named = parse_hosts(text_of_file(file), file);
    if (static_cast<int>(named.size()) < options_.hosts) {
      throw SpecError(
          fmt::format("{}: {} hosts, but the experiment has {}; add some, or --set "
                      "network.hosts={}",
                      file, named.size(), options_.hosts, named.size()));
    }
    named.resize(static_cast<std::size_t>(options_.hosts));
  }
  const std::string token = transport::tcp::text_of(token_);
  std::vector<std::string> more;
  if (::geteuid() == 0) more = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};
  for (const LaunchWords& one : launch_words(options_.launch, program, named, ssh_words())) {
    std::vector<std::string> own = more;
    if (!one.token_on_input) own.push_back(fmt::format("{}={}", kTokenVariable, token));
    std::vector<std::string> inherited;
    for (char** entry = environ; *entry != nullptr; ++entry) inherited.emplace_back(*entry);
    const std::vector<std::string> variables = environment_with(own, inherited);
    std::vector<char*> arguments;
    std::vector<char*> environment;
    for (const std::string& word : one.words) arguments.push_back(const_cast<char*>(word.c_str()));
    for (const std::string& entry : variables) {
      environment.push_back(const_cast<char*>(entry.c_str()));
    }
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
    os::Pipe input = os::make_pipe();
    if (one.token_on_input) {
      const std::string line = token + "\n";
      os::write_all(input.write, std::as_bytes(std::span(line)), "the pipe to ssh");
    }
    input.write = {};
    const std::string path = scratch_.file(fmt::format("launcher{}.txt", launchers_.size()));
    const os::FileDescriptor output = os::open_in_place(path);
    launchers_.push_back({.label = one.label,
                          .output = path,
                          .child = os::Child::start([&] {
                            const bool placed = ::dup2(input.read.get(), 0) >= 0 &&
                                                ::dup2(output.get(), 1) >= 0 &&
                                                ::dup2(output.get(), 2) >= 0;
                            if (placed) {
                              ::execvpe(arguments.front(), arguments.data(), environment.data());
                            }
                            return 127;
                          })});
    ledger_.add(launchers_.back().child.identity(), one.label);
  }
}

std::optional<std::string> Fleet::launcher_trouble() {
  for (Launcher& launcher : launchers_) {
    const auto ending = launcher.child.poll();
    if (!ending || ending->succeeded()) continue;
    const std::string words = words_of(launcher.output);
    const std::string what =
        ending->exit_code == 127 && words.empty() ? "is not installed here" : os::describe(*ending);
    return fmt::format("{} {}{}{}", launcher.label, what, words.empty() ? "" : ": ", words);
  }
  return {};
}

std::string Fleet::launcher_words() const {
  std::string words;
  for (const Launcher& launcher : launchers_) {
    const std::string line = words_of(launcher.output);
    if (!line.empty()) words = fmt::format("; {} says: {}", launcher.label, line);
  }
  return words;
}

}  // namespace tw::fleet
