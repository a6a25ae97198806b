// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/job_array.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/fleet/launch.h"
#include "trainwire/fleet/seat.h"
#include "trainwire/os/child.h"
#include "trainwire/os/clock.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace tw::fleet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kLongestCommand = seconds(30);
constexpr Duration kShortestPause = milliseconds(200);
constexpr Duration kLongestPause = seconds(5);

/// What a short program said, and how it ended.
struct Said {
  os::Ending ending = {};
  std::string out = {};
  std::string errors = {};
};

std::string all_of(const os::FileDescriptor& pipe) {
  std::string text;
  std::array<std::byte, 4096> room = {};
  for (std::ptrdiff_t count = 0; (count = os::read_some(pipe, room)) > 0;) {
    text.append(reinterpret_cast<const char*>(room.data()), static_cast<std::size_t>(count));
  }
  return text;
}

Said run_program(const Words& words, const std::vector<std::string>& more = {}) {
  std::vector<std::string> inherited;
  for (char** entry = environ; *entry != nullptr; ++entry) inherited.emplace_back(*entry);
  std::vector<std::string> variables = environment_with(more, inherited);
  const auto pointers = [](const std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
  };
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  os::Pipe out = os::make_pipe();
  os::Pipe errors = os::make_pipe();
  const os::FileDescriptor nothing = os::open_to_read("/dev/null");
  os::Child child = os::Child::start([&] {
    const bool placed = ::dup2(nothing.get(), 0) >= 0 && ::dup2(out.write.get(), 1) >= 0 &&
                        ::dup2(errors.write.get(), 2) >= 0;
    if (placed) ::execvpe(arguments.front(), arguments.data(), environment.data());
    return 127;
  });
  out.write = {};
  errors.write = {};
  std::jthread watch([&](const std::stop_token& done) {  // whoever hangs is ended
    const std::int64_t limit = os::monotonic_ns() + kLongestCommand.count();
    while (!done.stop_requested() && os::monotonic_ns() < limit) {
      std::this_thread::sleep_for(milliseconds(10));
    }
    if (!done.stop_requested()) os::kill_process(child.identity());
  });
  Said said;
  said.out = all_of(out.read);
  said.errors = all_of(errors.read);
  said.ending = child.wait_for(kLongestCommand).value_or(os::Ending{.signal = SIGKILL});
  return said;
}

std::string last_line(const Said& said) {
  std::istringstream in(said.errors.empty() ? said.out : said.errors);
  const std::string words = last_words(in);
  if (said.ending.exit_code == 127 && words.empty()) return "it is not installed here";
  return words.empty() ? os::describe(said.ending) : words;
}

}  // namespace

std::string array_script(const std::vector<Words>& tasks) {
  check(tasks.size() <= kMostTasks, "an array has a thousand tasks at most");
  std::string script = "#!/bin/sh\ncase \"$SLURM_ARRAY_TASK_ID\" in\n";
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    script += fmt::format("{}) exec", i);
    for (const std::string& word : tasks[i]) script += " " + quoted(word);
    script += ";;\n";
  }
  return script + "esac\n";
}

Words sbatch_words(const ArrayOrder& order) {
  std::string output = order.folder;  // sbatch replaces what begins with %
  for (std::size_t at = 0; (at = output.find('%', at)) != output.npos; at += 2) {
    output.insert(at, 1, '%');
  }
  return {"sbatch",
          "--parsable",
          "--requeue",
          "--exclusive",  // a node in two points would measure itself
          "--open-mode=truncate",
          fmt::format("--job-name={}", order.name),
          fmt::format("--array=0-{}", order.tasks - 1),
          fmt::format("--nodes={}", order.nodes),
          "--ntasks-per-node=1",
          fmt::format("--output={}/task-%a.txt", output),
          order.script};
}

std::vector<std::string> sbatch_variables(
    const std::function<std::optional<std::string>(std::string_view)>& variables) {
  std::vector<std::string> entries;
  for (const char* name :
       {"PARTITION", "TIMELIMIT", "ACCOUNT", "QOS", "RESERVATION", "CONSTRAINT"}) {
    const auto value = variables(fmt::format("SLURM_{}", name));
    if (value && !variables(fmt::format("SBATCH_{}", name))) {
      entries.push_back(fmt::format("SBATCH_{}={}", name, *value));
    }
  }
  return entries;
}

std::optional<std::string> job_number(std::string_view text) {
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
  if (digits.empty() || digits.size() > 19) return {};
  return std::string(digits);
}

bool ArrayState::is_hopeless() const {
  static constexpr std::array<std::string_view, 8> kHopeless{
      "ReqNodeNotAvail", "Nodes_required", "Nodes required", "PartitionNodeLimit",
      "PartitionDown",   "BadConstraints", "JobHeld",        "held"};
  return running == 0 && waiting > 0 && std::ranges::any_of(kHopeless, [&](std::string_view text) {
           return reason.find(text) != reason.npos;
         });
}

ArrayState parse_queue(std::string_view text) {
  ArrayState state;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t bar = line.find('|');
    if (bar == line.npos) continue;
    if (line.substr(0, bar) == "PENDING") {
      ++state.waiting;
      state.reason = printable(line.substr(bar + 1));
    } else {
      ++state.running;
    }
  }
  return state;
}

std::string submit(const ArrayOrder& order) {
  const Said said = run_program(sbatch_words(order), sbatch_variables(own_variable));
  const auto job = said.ending.succeeded() ? job_number(said.out) : std::nullopt;
  if (!job) throw Error(fmt::format("submitting the job array: sbatch: {}", last_line(said)));
  return *job;
}

std::optional<ArrayState> state_of(const std::string& job, std::string& why) {
  const Said said =
      run_program({"squeue", "--noheader", "--array", "--jobs=" + job, "--format=%T|%r"});
  if (said.ending.succeeded()) return parse_queue(said.out);
  why = last_line(said);
  // Forgotten some minutes after its end.
  if (said.errors.find("Invalid job id") != std::string::npos) return ArrayState{};
  return {};
}

void cancel(const std::string& job) { run_program({"scancel", "--quiet", job}); }

ArrayEnd wait_for(const std::string& job, const ArrayWait& how) {
  const std::int64_t began = os::monotonic_ns();
  std::int64_t heard = began;
  std::optional<std::int64_t> hopeless;
  std::string why;
  for (;;) {
    const auto state = state_of(job, why);
    const std::int64_t now = os::monotonic_ns();
    if (state) {
      heard = now;
      if (how.tell) how.tell(*state);
      if (state->is_over()) return {};
      if (state->running == 0 && how.have_all && how.have_all()) {
        cancel(job);
        return {};
      }
      if (!state->is_hopeless()) hopeless.reset();
      if (state->is_hopeless() && !hopeless) hopeless = now;
    } else if (now - heard > how.longest_silence.count()) {
      return {.trouble = fmt::format("Slurm has not answered for {}: {}; job {} may go on there",
                                     readable(how.longest_silence), why, job)};
    }
    if (hopeless && now - *hopeless > how.longest_hopeless.count()) {
      cancel(job);
      return {.trouble = fmt::format("Slurm does not start what is left: {}", state->reason)};
    }
    const std::int64_t pause =
        std::clamp<std::int64_t>((now - began) / 20, kShortestPause.count(), kLongestPause.count());
    for (const std::int64_t until = now + pause; os::monotonic_ns() < until;) {
      if (how.stop && how.stop()) {
        cancel(job);
        return {.interrupted = true};
      }
      std::this_thread::sleep_for(milliseconds(20));
    }
  }
}

}  // namespace tw::fleet
