// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/traffic_options.h"

#include "trainwire/base/error.h"
#include "trainwire/load/read_text.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>

#include <charconv>
#include <cstdlib>
#include <memory>

namespace tw::command {
namespace {

constexpr std::size_t kMostTokenFile = 1000;

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value = {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

BitRate rate_of(const TrafficOptions& options, bool optional) {
  if (options.rate.empty() && optional) return {};
  const auto rate = parse_rate(options.rate);
  if (!rate || !(rate->bits_per_second() > 0)) {
    throw SpecError(
        options.rate.empty()
            ? std::string("--rate is missing; write --rate 6Gbit")
            : fmt::format("--rate: \"{}\" is no rate above 0; write 6Gbit", options.rate));
  }
  return *rate;
}

double height_of(const TrafficOptions& options) {
  const auto height = number<double>(options.height);
  if (!height)
    throw SpecError(fmt::format("--height: \"{}\" is no number; write 3", options.height));
  return *height;
}

std::uint64_t seed_of(const TrafficOptions& options) {
  const auto seed = number<std::uint64_t>(options.seed);
  if (!seed) throw SpecError(fmt::format("--seed: \"{}\" is no whole number", options.seed));
  return *seed;
}

/// The first address of a host, as text.
std::string look_up(const std::string& host) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (failure != 0) {
    throw SystemError(fmt::format("looking up {}: {}", host, ::gai_strerror(failure)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  std::string text(INET6_ADDRSTRLEN, '\0');
  if (::getnameinfo(found->ai_addr, found->ai_addrlen, text.data(),
                    static_cast<socklen_t>(text.size()), nullptr, 0, NI_NUMERICHOST) != 0) {
    throw SystemError(fmt::format("looking up {}: it has no address", host));
  }
  text.resize(text.find('\0'));
  return text;
}

}  // namespace

Duration time_option(std::string_view name, const std::string& text, Duration otherwise) {
  if (text.empty()) return otherwise;
  const auto time = parse_duration(text);
  if (!time || *time <= Duration()) {
    throw SpecError(fmt::format("{}: \"{}\" is no time above 0; write 10s or 500ms", name, text));
  }
  return *time;
}

load::Demand demand_option(const TrafficOptions& options, bool rate_optional) {
  const auto kind = traffic::kind_named(options.kind);
  check(kind.has_value(), "the command line takes known kinds only");
  return {.kind = *kind,
          .rate = rate_of(options, rate_optional && *kind == spec::TrafficKind::Long),
          .duration = time_option("--duration", options.duration, std::chrono::seconds(10)),
          .destination = "sink",
          .distribution = load::distribution_named(options.distribution),
          .burst_width = time_option("--width", options.width, {}),
          .burst_height = height_of(options),
          .period = time_option("--period", options.period, {}),
          .flows = options.flows,
          .seed = seed_of(options)};
}

std::optional<transport::tcp::Token> token_option(const TrafficOptions& options) {
  std::string text = options.token;
  if (text.empty()) {
    const char* const environment = std::getenv("TRAINWIRE_TOKEN");
    text = environment != nullptr ? environment : "";
  } else if (text.front() == '@') {
    text = load::read_text(text.substr(1), kMostTokenFile);
    text.resize(text.find_last_not_of(" \r\n") + 1);
  }
  if (text.empty()) return {};
  const auto token = transport::tcp::parse_token(text);
  if (!token) {
    throw SpecError("the token is 32 hexadecimal digits, as `trainwire traffic sink` prints it");
  }
  return token;
}

traffic::Destination destination_option(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = equals == text.npos ? "" : text.substr(0, equals);
  std::string host = equals == text.npos ? text : text.substr(equals + 1);
  const std::size_t colon = host.rfind(':');
  const auto port = colon == host.npos
                        ? std::nullopt
                        : number<std::uint16_t>(std::string_view(host).substr(colon + 1));
  host.resize(colon == host.npos ? 0 : colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!port || *port == 0 || host.empty() || (!bracketed && host.find(':') != host.npos)) {
    throw SpecError(fmt::format(
        "--to: \"{}\" is no HOST:PORT; write 10.0.0.2:5001, [::1]:5001 or NAME=10.0.0.2:5001",
        text));
  }
  return {.name = name, .endpoint = {.address = look_up(host), .port = *port}};
}

}  // namespace tw::command
