// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gpu/ask.h"

#include "trainwire/base/printable.h"
#include "trainwire/testbed/programs.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <sstream>

namespace tw::gpu {
namespace {

constexpr std::size_t kMostBytes = 64U << 10;
constexpr int kCannotRun = 127;

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

/// Until the other end is closed or the time is over.
std::string read_until(const os::FileDescriptor& pipe,
                       std::chrono::steady_clock::time_point limit) {
  std::string text;
  std::array<std::byte, 4096> piece;
  while (text.size() < kMostBytes) {
    const auto left = limit - std::chrono::steady_clock::now();
    pollfd ready{.fd = pipe.get(), .events = POLLIN, .revents = 0};
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    if (ms <= 0 || ::poll(&ready, 1, static_cast<int>(ms)) <= 0) break;
    const std::ptrdiff_t count = os::read_some(pipe, piece);
    if (count <= 0) break;
    text.append(reinterpret_cast<const char*>(piece.data()), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

std::string Answer::reason() const {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) return printable(line);
  }
  return ending ? os::describe(*ending) : "no answer in time";
}

Answer ask(const std::vector<std::string>& words, Duration longest) {
  const std::string path = testbed::find_program(words.front());
  const auto limit = std::chrono::steady_clock::now() + longest;
  os::Pipe told = os::make_pipe();
  const os::FileDescriptor nothing = os::open_to_read("/dev/null");
  const std::vector<char*> arguments = pointers(words);
  os::Child child = os::Child::start([&] {
    const int output = told.write.get();
    if (::dup2(nothing.get(), 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(output, 2) < 0) {
      return kCannotRun;
    }
    ::execve(path.c_str(), arguments.data(), environ);
    return kCannotRun;
  });
  told.write = {};
  Answer answer{.output = read_until(told.read, limit)};
  answer.ending = child.wait_for(limit - std::chrono::steady_clock::now());
  return answer;
}

}  // namespace tw::gpu
