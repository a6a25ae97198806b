// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gpu/mps.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/os/errno_error.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <thread>

namespace tw::gpu {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

/// The driver may have to be loaded.
constexpr Duration kLongestStart = seconds(30);
constexpr Duration kLongestFarewell = seconds(5);
/// What the kernel keeps of the names of daemon and server: 15 letters of both.
constexpr const char* kProcessName = "nvidia-cuda-mps";
/// Of what the daemon prints itself.
constexpr const char* kOutput = "daemon.txt";

std::string last_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  return printable(last);
}

std::string link_of(pid_t pid) {
  std::error_code none;
  return std::filesystem::read_symlink(fmt::format("/proc/{}/ns/pid", pid), none).string();
}

}  // namespace

Mps::Mps(std::string control, std::string logs)
    : control_(std::move(control)), logs_(std::move(logs)) {
  std::error_code error;
  std::filesystem::create_directories(logs_, error);
  if (error) throw os::errno_error("making " + logs_ + " for the logs of MPS", error.value());
  // Sockets stand in there, whose paths must be short.
  pipes_ = "/tmp/trainwire-mps-XXXXXX";
  if (::mkdtemp(pipes_.data()) == nullptr) {
    const int number = errno;
    pipes_.clear();
    throw os::errno_error("making a folder for MPS in /tmp", number);
  }
}

Mps::~Mps() {
  std::error_code ignored;
  if (!pipes_.empty()) std::filesystem::remove_all(pipes_, ignored);
}

std::vector<std::string> Mps::environment() const {
  return {"CUDA_MPS_PIPE_DIRECTORY=" + pipes_, "CUDA_MPS_LOG_DIRECTORY=" + logs_};
}

os::Child Mps::run(const testbed::Programs& programs, std::vector<std::string> words,
                   const std::string& input) const {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("CUDA_MPS_")) all.emplace_back(text);
  }
  for (const std::string& entry : environment()) all.push_back(entry);
  os::Pipe said = os::make_pipe();
  os::write_all(said.write, std::as_bytes(std::span(input)), "the pipe to MPS");
  said.write = {};
  const os::FileDescriptor output = os::open_in_place(logs_ + "/" + kOutput);
  return programs.start({.host = 0,
                         .words = std::move(words),
                         .environment = std::move(all),
                         .input = said.read.get(),
                         .output = output.get(),
                         .errors = output.get()});
}

void Mps::start(const testbed::Programs& programs, ledger::Ledger& ledger) {
  ledger.add_path(pipes_);
  // It goes to the background once it listens, and its parent ends.
  os::Child parent = run(programs, {control_, "-d"}, "");
  const auto ending = parent.wait_for(kLongestStart);
  if (!ending) {
    throw SystemError(fmt::format(
        "starting MPS: {} -d has not come back after {}; is the driver well? nvidia-smi tells",
        control_, readable(kLongestStart)));
  }
  const std::vector<os::ProcessIdentity> found = processes(programs);
  if (!ending->succeeded() || found.empty()) {
    const std::string words = last_words();
    throw SystemError(fmt::format("starting MPS: {} {}{}{}; its logs are in {}", control_,
                                  ending->succeeded() ? "ended at once" : os::describe(*ending),
                                  words.empty() ? "" : ": ", words, logs_));
  }
  for (const os::ProcessIdentity& process : found) ledger.add(process, "MPS");
}

void Mps::stop(const testbed::Programs& programs) {
  if (processes(programs).empty()) return;
  os::Child ask = run(programs, {control_}, "quit\n");
  ask.wait_for(kLongestFarewell);
  const auto wait_until_gone = [&](Duration longest) {
    const auto limit = steady_clock::now() + longest;
    while (!processes(programs).empty() && steady_clock::now() < limit) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  wait_until_gone(kLongestFarewell);
  ask.stop(Duration(0));
  for (const os::ProcessIdentity& process : processes(programs)) os::kill_process(process);
  wait_until_gone(seconds(1));
}

std::vector<os::ProcessIdentity> Mps::processes(const testbed::Programs& programs) const {
  const std::string ours = link_of(programs.first_process().pid);
  std::vector<os::ProcessIdentity> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    std::string program;
    std::getline(std::ifstream(entry.path() / "comm"), program);
    if (!program.starts_with(kProcessName) || ours.empty() || link_of(pid) != ours) continue;
    const auto process = os::identify(pid);
    if (process && os::is_alive(*process)) found.push_back(*process);
  }
  return found;
}

std::string Mps::last_words() const {
  for (const char* name : {"server.log", kOutput, "control.log"}) {
    if (std::string line = last_line(logs_ + "/" + name); !line.empty()) return line;
  }
  return {};
}

}  // namespace tw::gpu
