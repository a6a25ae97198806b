// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/features_attempt.h"

#include "trainwire/os/child.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/os/user_namespace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <exception>

namespace tw::testbed {
namespace {

constexpr auto kPatience = std::chrono::seconds(7);

/// What is written until the other end is closed, or no longer than our patience lasts.
std::string read_answer(const os::FileDescriptor& from) {
  const auto limit = std::chrono::steady_clock::now() + kPatience;
  std::string text;
  std::array<std::byte, 512> piece;
  pollfd waited{.fd = from.get(), .events = POLLIN, .revents = 0};
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now());
    if (left.count() <= 0 || ::poll(&waited, 1, static_cast<int>(left.count())) <= 0) return text;
    const std::ptrdiff_t count = os::read_some(from, piece);
    if (count <= 0) return text;
    text.append(reinterpret_cast<const char*>(piece.data()), static_cast<std::size_t>(count));
  }
}

/// "+found" or "-reason".
std::string answer(Privilege privilege, const std::function<std::string()>& body) {
  try {
    if (privilege == Privilege::UserNamespace) os::become_root_of_own_namespace();
    return "+" + body();
  } catch (const std::exception& error) {
    return fmt::format("-{}", error.what());
  }
}

/// The child's processes may complain on their own; the answer says all there is to say.
void silence() {
  const os::FileDescriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (nowhere.is_open()) ::dup2(nowhere.get(), STDERR_FILENO);
}

}  // namespace

Feature attempt(Privilege privilege, const std::function<std::string()>& body) {
  if (privilege == Privilege::None) return {.reason = "networks cannot be made here"};
  os::Pipe pipe = os::make_pipe();
  os::Child child = os::Child::start([&] {
    silence();
    const std::string text = answer(privilege, body);
    os::write_all(pipe.write, std::as_bytes(std::span(text)), "the pipe to the parent");
    return 0;
  });
  pipe.write = {};
  const std::string text = read_answer(pipe.read);
  const auto ending = child.wait_for(std::chrono::milliseconds(500));
  if (text.empty()) {
    return {.reason = ending ? "the attempt " + os::describe(*ending) : "no answer within 7 s"};
  }
  return {.works = text.front() == '+', .reason = text.substr(1)};
}

}  // namespace tw::testbed
