// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/launch.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace tw::fleet {
namespace {

std::vector<std::string> joined(std::vector<std::string> first,
                                const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<std::string> srun(int hosts, int tasks) {
  return {"srun",
          fmt::format("--nodes={}", hosts),
          fmt::format("--ntasks={}", tasks),
          fmt::format("--ntasks-per-node={}", (tasks + hosts - 1) / hosts),
          "--kill-on-bad-exit=0",
          "--overlap",
          "--quiet"};
}

std::vector<std::string> mpirun(int hosts, int tasks) {
  return {"mpirun",
          "-np",
          std::to_string(tasks),
          "--npernode",
          std::to_string((tasks + hosts - 1) / hosts),
          "--oversubscribe"};
}

std::vector<LaunchWords> by_ssh(const HostProgram& program, const std::vector<NamedHost>& named,
                                const std::vector<std::string>& ssh) {
  std::vector<LaunchWords> all;
  for (std::size_t i = 0; i < named.size(); ++i) {
    std::string line = "exec";
    for (const std::string& word : program.words) line += " " + quoted(word);
    line += fmt::format(" --number {} --token-on-input", i);
    if (!named[i].interface.empty()) line += " --interface " + quoted(named[i].interface);
    LaunchWords one{.words = ssh, .label = "ssh " + named[i].name, .token_on_input = true};
    for (const char* word : {"-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-T", "--"}) {
      one.words.emplace_back(word);
    }
    one.words.push_back(named[i].name);
    one.words.push_back(std::move(line));
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

Launch parse_launch(std::string_view text) {
  if (text == "srun") return {.kind = LaunchKind::Srun};
  if (text == "mpirun") return {.kind = LaunchKind::Mpirun};
  if (text == "wait") return {.kind = LaunchKind::Wait};
  if (text.starts_with("ssh:") && text.size() > 4) {
    return {.kind = LaunchKind::Ssh, .host_file = std::string(text.substr(4))};
  }
  throw SpecError(fmt::format(
      "--launch: \"{}\" is none; take srun, mpirun, ssh:HOSTFILE, wait, manifest:k8s or local",
      printable(text)));
}

std::string name_of(LaunchKind kind) {
  switch (kind) {
    case LaunchKind::Srun:
      return "srun";
    case LaunchKind::Mpirun:
      return "mpirun";
    case LaunchKind::Ssh:
      return "ssh";
    case LaunchKind::Wait:
      return "wait";
  }
  return {};
}

std::vector<NamedHost> parse_hosts(std::string_view text, const std::string& file) {
  std::vector<NamedHost> hosts;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    if (word.starts_with('-')) {
      throw SpecError(fmt::format("{}: line {}: \"{}\" is no host", file, number, printable(word)));
    }
    hosts.push_back({.name = word});
    while (words >> word) {
      if (!word.starts_with("interface=")) {
        throw SpecError(
            fmt::format("{}: line {}: \"{}\": behind a host only interface=NAME is known", file,
                        number, printable(word)));
      }
      hosts.back().interface = word.substr(10);
    }
  }
  if (hosts.empty()) {
    throw SpecError(fmt::format("{}: there is no host in it; write one a line", file));
  }
  return hosts;
}

std::vector<LaunchWords> launch_words(const Launch& launch, const HostProgram& program,
                                      const std::vector<NamedHost>& named,
                                      const std::vector<std::string>& ssh) {
  switch (launch.kind) {
    case LaunchKind::Srun:
      return {
          {.words = joined(srun(program.hosts, program.hosts), program.words), .label = "srun"}};
    case LaunchKind::Mpirun:
      return {{.words = joined(joined(mpirun(program.hosts, program.hosts), {"-x", kTokenVariable}),
                               program.words),
               .label = "mpirun"}};
    case LaunchKind::Ssh:
      check(static_cast<int>(named.size()) == program.hosts, "there is a name for every host");
      return by_ssh(program, named, ssh);
    case LaunchKind::Wait:
      break;
  }
  return {};
}

std::vector<std::string> program_words(const Launch& launch, int hosts, int ranks,
                                       const std::vector<std::string>& program) {
  check(launch.kind == LaunchKind::Srun || launch.kind == LaunchKind::Mpirun,
        "srun or mpirun start programs");
  if (launch.kind == LaunchKind::Srun) return joined(srun(hosts, ranks), program);
  return joined(mpirun(hosts, ranks), program);
}

std::vector<std::string> environment_with(const std::vector<std::string>& own,
                                          const std::vector<std::string>& inherited) {
  const auto name_of = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
  std::vector<std::string> all = own;
  for (const std::string& entry : inherited) {
    const bool is_own = std::ranges::any_of(
        own, [&](const std::string& other) { return name_of(other) == name_of(entry); });
    if (!is_own) all.push_back(entry);
  }
  return all;
}

std::string last_words(std::istream& output) {
  std::string last;
  for (std::string line; std::getline(output, line);) {
    while (line.ends_with('\r')) line.pop_back();
    if (line.find_first_not_of(" \t-") != std::string::npos) last = line;
  }
  return printable(last);
}

std::string telling_words(std::istream& output) {
  for (std::string line; std::getline(output, line);) {
    if (line.starts_with("srun: error: ")) return printable(line);
  }
  output.clear();
  output.seekg(0);
  return last_words(output);
}

std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace tw::fleet
