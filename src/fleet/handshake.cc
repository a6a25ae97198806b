// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/handshake.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/fleet/sha256.h"
#include "trainwire/os/clock.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>

namespace tw::fleet {
namespace {

using nlohmann::json;
using transport::tcp::Token;

constexpr int kLookMs = 10;
constexpr const char* kUnproven =
    "whoever answers at --join has not proven that he knows the run's token; nothing was started";

std::string_view bytes_of(const Token& token) {
  return {reinterpret_cast<const char*>(token.data()), token.size()};
}

std::string text_at(const json& message, const char* key) {
  const auto found = message.find(key);
  return found != message.end() && found->is_string() ? found->get<std::string>() : std::string();
}

json next_message(Link& link, std::int64_t limit, const std::function<void()>& look) {
  for (;;) {
    link.pump();
    if (const auto frame = link.next()) {
      const json message = frame->kind == FrameKind::Message ? message_of(*frame) : json();
      if (!message.is_object()) throw Error(kUnproven);
      if (const std::string why = text_at(message, "refused"); !why.empty()) {
        throw Error(fmt::format("the run refused this host: {}", printable(why)));
      }
      return message;
    }
    look();
    if (!link.is_open()) throw Error("the run has ended the connection before this host joined");
    if (os::monotonic_ns() > limit) {
      throw Error("whoever answers at --join does not speak as a run does; is the port right?");
    }
    pollfd waited{.fd = link.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, kLookMs);
  }
}

}  // namespace

std::string proof(const Token& token, std::string_view who, const Nonces& nonces) {
  std::string text(who);
  text += bytes_of(nonces.host);
  text += bytes_of(nonces.run);
  return text_of(hmac_sha256(bytes_of(token), text));
}

std::optional<std::string> answer_to(const json& hello, const Token& token, const Nonce& run) {
  const auto host = transport::tcp::parse_token(text_at(hello, "nonce"));
  if (!host) return {};
  const Nonces nonces{.host = *host, .run = run};
  if (!same_in_constant_time(text_at(hello, "proof"), proof(token, "host", nonces))) return {};
  return proof(token, "run", nonces);
}

void meet_run(Link& link, const Token& token, json hello, std::chrono::nanoseconds longest,
              const std::function<void()>& look) {
  const std::int64_t limit = os::monotonic_ns() + longest.count();
  const auto run = transport::tcp::parse_token(text_at(next_message(link, limit, look), "nonce"));
  if (!run) throw Error(kUnproven);
  const Nonces nonces{.host = transport::tcp::make_token(), .run = *run};
  hello["nonce"] = transport::tcp::text_of(nonces.host);
  hello["proof"] = proof(token, "host", nonces);
  link.send(hello);
  const json answer = next_message(link, limit, look);
  if (!same_in_constant_time(text_at(answer, "proof"), proof(token, "run", nonces))) {
    throw Error(kUnproven);
  }
}

}  // namespace tw::fleet
