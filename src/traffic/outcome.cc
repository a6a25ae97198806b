// SPDX-License-Identifier: Apache-2.0
#include "trainwire/traffic/outcome.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tw::traffic {
namespace {

using nlohmann::json;

json class_document(const CompletionClass& one) {
  return {{"from_bytes", one.from.count()},
          {"to_bytes", one.to ? json(one.to->count()) : json()},
          {"n", one.n},
          {"censored", one.censored},
          {"p50_s", one.p50_s},
          {"p99_s", one.p99_s},
          {"mean_s", one.mean_s}};
}

CompletionClass class_from(const json& d) {
  CompletionClass one{.from = Bytes(d.at("from_bytes").get<std::int64_t>()),
                      .n = d.at("n").get<std::int64_t>(),
                      .censored = d.at("censored").get<std::int64_t>(),
                      .p50_s = d.at("p50_s").get<double>(),
                      .p99_s = d.at("p99_s").get<double>(),
                      .mean_s = d.at("mean_s").get<double>()};
  if (!d.at("to_bytes").is_null()) one.to = Bytes(d.at("to_bytes").get<std::int64_t>());
  return one;
}

Bytes bytes_at(const json& d, const char* key) { return Bytes(d.at(key).get<std::int64_t>()); }

Outcome read_outcome(const json& d) {
  const json& flows = d.at("flows");
  Outcome outcome{.offered = BitRate(d.at("offered_bps").get<double>()),
                  .achieved = BitRate(d.at("achieved_bps").get<double>()),
                  .sent = bytes_at(d, "sent_bytes"),
                  .acknowledged = bytes_at(d, "acknowledged_bytes"),
                  .framing = bytes_at(d, "framing_bytes"),
                  .elapsed_s = d.at("elapsed_s").get<double>(),
                  .drain_s = d.at("drain_s").get<double>(),
                  .started = flows.at("started").get<std::int64_t>(),
                  .finished = flows.at("finished").get<std::int64_t>(),
                  .unfinished = flows.at("unfinished").get<std::int64_t>(),
                  .unstarted = flows.at("unstarted").get<std::int64_t>(),
                  .connections = d.at("connections").get<std::int64_t>(),
                  .lateness_p50_s = d.at("lateness").at("p50_s").get<double>(),
                  .lateness_p99_s = d.at("lateness").at("p99_s").get<double>()};
  if (!d.at("requested_bps").is_null()) {
    outcome.requested = BitRate(d.at("requested_bps").get<double>());
  }
  for (const json& one : d.at("completion")) outcome.completion.push_back(class_from(one));
  if (d.contains("datagrams")) {
    outcome.datagrams_sent = d.at("datagrams").at("sent").get<std::int64_t>();
    outcome.datagrams_received = d.at("datagrams").at("received").get<std::int64_t>();
  }
  return outcome;
}

template <typename Read>
auto reading(std::string_view what, Read read) {
  try {
    return read();
  } catch (const json::exception& error) {
    throw DataError(fmt::format("{}: {}", what, error.what()));
  }
}

}  // namespace

json to_json(const Outcome& o) {
  json completion = json::array();
  for (const CompletionClass& one : o.completion) completion.push_back(class_document(one));
  json document{{"requested_bps", o.requested ? json(o.requested->bits_per_second()) : json()},
                {"offered_bps", o.offered.bits_per_second()},
                {"achieved_bps", o.achieved.bits_per_second()},
                {"sent_bytes", o.sent.count()},
                {"acknowledged_bytes", o.acknowledged.count()},
                {"framing_bytes", o.framing.count()},
                {"elapsed_s", o.elapsed_s},
                {"drain_s", o.drain_s},
                {"flows",
                 {{"started", o.started},
                  {"finished", o.finished},
                  {"unfinished", o.unfinished},
                  {"unstarted", o.unstarted}}},
                {"connections", o.connections},
                {"lateness", {{"p50_s", o.lateness_p50_s}, {"p99_s", o.lateness_p99_s}}},
                {"completion", completion}};
  if (o.datagrams_sent) {
    document["datagrams"] = {{"sent", *o.datagrams_sent},
                             {"received", o.datagrams_received.value_or(0)},
                             {"lost", *o.datagrams_sent - o.datagrams_received.value_or(0)}};
  }
  return document;
}

Outcome outcome_from(const json& document) {
  return reading("the outcome of cross traffic", [&] { return read_outcome(document); });
}

json to_json(const SinkCounts& counts) {
  return {{"received_bytes", counts.received.count()},
          {"flows", counts.flows},
          {"connections", counts.connections},
          {"refused", counts.refused},
          {"datagrams", counts.datagrams},
          {"datagram_bytes", counts.datagram_bytes.count()}};
}

SinkCounts counts_from(const json& d) {
  return reading("the counts of a sink", [&] {
    return SinkCounts{.received = bytes_at(d, "received_bytes"),
                      .flows = d.at("flows").get<std::int64_t>(),
                      .connections = d.at("connections").get<std::int64_t>(),
                      .refused = d.at("refused").get<std::int64_t>(),
                      .datagrams = d.at("datagrams").get<std::int64_t>(),
                      .datagram_bytes = bytes_at(d, "datagram_bytes")};
  });
}

}  // namespace tw::traffic
