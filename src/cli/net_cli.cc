// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/net_cli.h"

#include "trainwire/base/error.h"
#include "trainwire/base/nearest.h"
#include "trainwire/base/printable.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/terminal/interrupt.h"
#include "trainwire/testbed/check.h"
#include "trainwire/text/network_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <utility>

namespace tw::cli {
namespace {

constexpr std::string_view kHelp =
    "HOST COMMAND...   run a program on a host; a host's name among its arguments becomes its "
    "address\n"
    "HOST COMMAND... & the same, and go on; it ends with the network\n"
    "pingall           round trips between all hosts\n"
    "links             the network: hosts, links, queues\n"
    "help              this\n"
    "exit              remove the network and end\n";

class Prompt {
 public:
  Prompt(const testbed::Cluster& cluster, const testbed::Programs& programs, bool has_terminal,
         command::Streams streams)
      : cluster_(cluster), programs_(programs), has_terminal_(has_terminal), streams_(streams) {}

  /// False once it is to end.
  bool take(std::string_view line) {
    std::vector<std::string> words = words_of(line);
    if (words.empty() || words.front().starts_with('#')) return true;
    if (words.front() == "exit" || words.front() == "quit") return false;
    code_ = command::kDone;
    if (words.front() == "help") {
      fmt::print(streams_.out, "{}", kHelp);
    } else if (words.front() == "links") {
      fmt::print(streams_.out, "{}", text::plan_text(cluster_.plan(), cluster_.engine()));
    } else if (words.front() == "pingall") {
      ping_all();
    } else {
      run(std::move(words));
    }
    streams_.out.flush();
    return true;
  }
  void fail(const Error& error) {
    fmt::print(streams_.err, "{}\n", printable(error.what()));
    code_ = command::kUsage;
  }
  int code() const { return code_; }

 private:
  const std::vector<network::HostPlan>& hosts() const { return cluster_.plan().hosts; }

  std::optional<int> number_of(std::string_view name) const {
    for (std::size_t i = 0; i < hosts().size(); ++i) {
      if (hosts()[i].name == name) return static_cast<int>(i);
    }
    return {};
  }

  [[noreturn]] void refuse(const std::string& word) const {
    std::vector<std::string_view> known{"pingall", "links", "help", "exit"};
    for (const network::HostPlan& host : hosts()) known.push_back(host.name);
    const auto near = nearest(word, known);
    throw SpecError(fmt::format("{}: neither a host nor a command; {}", word,
                                near ? fmt::format("did you mean \"{}\"?", *near) : "try help"));
  }

  void run(std::vector<std::string> words) {
    const auto host = number_of(words.front());
    if (!host) refuse(words.front());
    const bool goes_on = words.back() == "&";
    if (goes_on) words.pop_back();
    const std::string name = words.front();
    words.erase(words.begin());
    if (words.empty())
      throw SpecError(fmt::format("{}: which program? try {} hostname", name, name));
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (const auto other = number_of(words[i])) {
        words[i] = hosts()[static_cast<std::size_t>(*other)].address;
      }
    }
    streams_.out.flush();
    const os::FileDescriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    os::Child child = programs_.start({.host = *host,
                                       .words = std::move(words),
                                       .environment = host_environment(cluster_.plan(), name),
                                       .input = has_terminal_ && !goes_on ? 0 : nothing.get()});
    if (goes_on) {
      background_.push_back(std::move(child));
    } else {
      code_ = in_foreground(child, has_terminal_);
    }
  }

  /// A few probes for each pair; ping itself is not installed everywhere.
  void ping_all() {
    std::size_t pairs = 0;
    std::size_t dead = 0;
    for (std::size_t i = 0; i < hosts().size(); ++i) {
      for (std::size_t j = i + 1; j < hosts().size(); ++j) {
        ++pairs;
        if (!ping(static_cast<int>(i), static_cast<int>(j))) ++dead;
      }
    }
    fmt::print(streams_.out, "{} pairs, {} without an answer\n", pairs, dead);
    if (dead > 0) code_ = command::kRunFailed;
  }

  bool ping(int from, int to) {
    const std::string pair = fmt::format("{} <> {}", hosts()[static_cast<std::size_t>(from)].name,
                                         hosts()[static_cast<std::size_t>(to)].name);
    try {
      const auto found = measure::measure_round_trip(testbed::end_of(cluster_, from),
                                                     testbed::end_of(cluster_, to), {.count = 5});
      fmt::print(streams_.out, "{:<20} {}{}\n", pair, readable(found.median),
                 found.lost > 0 ? fmt::format(", {} of {} lost", found.lost, found.sent) : "");
      return found.lost < found.sent;
    } catch (const SystemError&) {
      fmt::print(streams_.out, "{:<20} no answer\n", pair);
      return false;
    }
  }

  const testbed::Cluster& cluster_;
  const testbed::Programs& programs_;
  bool has_terminal_;
  command::Streams streams_;
  std::vector<os::Child> background_;
  int code_ = command::kDone;
};

}  // namespace

std::vector<std::string> host_environment(const network::NetPlan& plan, const std::string& host) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  environment.push_back("TRAINWIRE_HOST=" + host);
  environment.push_back(fmt::format("PS1={}$ ", host));
  for (const network::HostPlan& other : plan.hosts) {
    environment.push_back(fmt::format("{}={}", other.name, other.address));
  }
  return environment;
}

int in_foreground(os::Child& child, bool has_terminal) {
  ::signal(SIGTTOU, SIG_IGN);
  if (has_terminal) ::tcsetpgrp(STDIN_FILENO, child.identity().pid);
  const terminal::InterruptGuard guard;
  std::optional<os::Ending> ending;
  while (!ending && !guard.interrupted()) ending = child.wait_for(std::chrono::seconds(1));
  if (has_terminal) ::tcsetpgrp(STDIN_FILENO, ::getpgrp());
  if (!ending) return command::kInterrupted;
  return ending->signal != 0 ? 128 + ending->signal : ending->exit_code;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool is_escape = c == '\\' && quote != '\'' && i + 1 < line.size();
    if (quote == '\0' && (c == ' ' || c == '\t' || c == '\r')) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (is_escape) {
      *word += line[++i];
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote && quote != '\0') {
      quote = '\0';
    } else {
      *word += c;
    }
  }
  if (quote != '\0') throw SpecError(fmt::format("a quote ({}) without its end", quote));
  if (word) words.push_back(*word);
  return words;
}

int run_net_cli(const testbed::Cluster& cluster, const testbed::Programs& programs,
                std::istream& lines, command::Streams streams) {
  const bool has_terminal = ::isatty(STDIN_FILENO) != 0;
  Prompt prompt(cluster, programs, has_terminal, streams);
  const auto ask = [&] {
    if (has_terminal) fmt::print(streams.err, "trainwire> ");
    streams.err.flush();
  };
  if (has_terminal) fmt::print(streams.err, "{}", kHelp);
  ask();
  for (std::string line; std::getline(lines, line); ask()) {
    try {
      if (!prompt.take(line)) break;
    } catch (const Error& error) {
      prompt.fail(error);
    }
  }
  return prompt.code();
}

}  // namespace tw::cli
