// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/task.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tw::trainer {

using nlohmann::json;

namespace {

using workload::Training;

json to_json(const workload::Learning& learning) {
  return {{"model", learning.model},
          {"widths", learning.widths},
          {"data", learning.data},
          {"batch", learning.batch},
          {"learning_rate", learning.learning_rate},
          {"momentum", learning.momentum},
          {"local_steps", learning.local_steps},
          {"precision", static_cast<int>(learning.precision)},
          {"top_k", learning.top_k},
          {"evaluate_every", learning.evaluate_every},
          {"target_accuracy", learning.target_accuracy},
          {"paced", learning.paced},
          {"parameters", learning.parameters}};
}

workload::Learning read_learning(const json& d) {
  workload::Learning learning;
  d.at("model").get_to(learning.model);
  d.at("widths").get_to(learning.widths);
  d.at("data").get_to(learning.data);
  d.at("batch").get_to(learning.batch);
  d.at("learning_rate").get_to(learning.learning_rate);
  d.at("momentum").get_to(learning.momentum);
  d.at("local_steps").get_to(learning.local_steps);
  learning.precision = static_cast<workload::Precision>(d.at("precision").get<int>());
  d.at("top_k").get_to(learning.top_k);
  d.at("evaluate_every").get_to(learning.evaluate_every);
  d.at("target_accuracy").get_to(learning.target_accuracy);
  d.at("paced").get_to(learning.paced);
  d.at("parameters").get_to(learning.parameters);
  return learning;
}

json to_json(const Training& training) {
  json buckets = json::array();
  for (const workload::Bucket& b : training.buckets) {
    buckets.push_back({b.elements, b.ready.count()});
  }
  const collective::Arrangement& a = training.arrangement;
  return {{"name", training.name},
          {"model", training.model.name},
          {"strategy", training.strategy},
          {"hosts", a.layout.hosts},
          {"host_of", a.layout.host_of},
          {"servers", a.servers},
          {"asynchronous", a.asynchronous},
          {"pieces", a.pieces},
          {"seed", a.seed},
          {"buckets", buckets},
          {"forward_ns", training.compute.forward.count()},
          {"backward_ns", training.compute.backward.count()},
          {"jitter", training.compute.jitter},
          {"straggler", training.straggler},
          {"straggler_factor", training.straggler_factor},
          {"steps", training.steps},
          {"warmup", training.warmup},
          {"broadcast", training.broadcast},
          {"overlap", training.overlap},
          {"connections", training.connections},
          {"side_connections", training.side_connections},
          {"start_ns", training.start.count()},
          {"learning", training.learning ? to_json(*training.learning) : json()}};
}

Training read_training(const json& d) {
  Training training;
  d.at("name").get_to(training.name);
  d.at("model").get_to(training.model.name);
  d.at("strategy").get_to(training.strategy);
  collective::Arrangement& a = training.arrangement;
  d.at("hosts").get_to(a.layout.hosts);
  d.at("host_of").get_to(a.layout.host_of);
  d.at("servers").get_to(a.servers);
  d.at("asynchronous").get_to(a.asynchronous);
  d.at("pieces").get_to(a.pieces);
  d.at("seed").get_to(a.seed);
  const std::string problem = collective::problem(training.strategy, a);
  if (!problem.empty()) throw DataError(fmt::format("a rank's task: {}", problem));
  for (const json& b : d.at("buckets")) {
    training.buckets.push_back(
        {.elements = b.at(0).get<std::int64_t>(), .ready = Duration(b.at(1).get<std::int64_t>())});
  }
  training.compute.forward = Duration(d.at("forward_ns").get<std::int64_t>());
  training.compute.backward = Duration(d.at("backward_ns").get<std::int64_t>());
  d.at("jitter").get_to(training.compute.jitter);
  d.at("straggler").get_to(training.straggler);
  d.at("straggler_factor").get_to(training.straggler_factor);
  d.at("steps").get_to(training.steps);
  d.at("warmup").get_to(training.warmup);
  d.at("broadcast").get_to(training.broadcast);
  d.at("overlap").get_to(training.overlap);
  d.at("connections").get_to(training.connections);
  d.at("side_connections").get_to(training.side_connections);
  training.start = Duration(d.at("start_ns").get<std::int64_t>());
  if (!d.at("learning").is_null()) training.learning = read_learning(d.at("learning"));
  return training;
}

json to_json(const Casting& casting) {
  return {{"multicasts", casting.multicasts},
          {"job", casting.job},
          {"payload_bytes", casting.payload_bytes},
          {"window", casting.window},
          {"ahead", casting.ahead},
          {"round_trip_ns", casting.round_trip.count()}};
}

Casting read_casting(const json& d) {
  Casting casting;
  d.at("multicasts").get_to(casting.multicasts);
  d.at("job").get_to(casting.job);
  d.at("payload_bytes").get_to(casting.payload_bytes);
  d.at("window").get_to(casting.window);
  d.at("ahead").get_to(casting.ahead);
  casting.round_trip = Duration(d.at("round_trip_ns").get<std::int64_t>());
  return casting;
}

json to_json(const Survival& survival) {
  json signals = json::array();
  for (const OwnSignal& own : survival.signals) {
    signals.push_back({own.step, own.signal, own.fault});
  }
  json document{{"waits", survival.waits},
                {"group", survival.group},
                {"identity", survival.identity},
                {"identities", survival.identities},
                {"restore", survival.restore},
                {"checkpoint_every", survival.checkpoint_every},
                {"checkpoint_folder", survival.checkpoint_folder},
                {"checkpoint_name", survival.checkpoint_name},
                {"signals", signals},
                {"told_steps", survival.told_steps}};
  if (survival.begin) document["begin"] = *survival.begin;
  return document;
}

Survival read_survival(const json& d) {
  Survival survival;
  d.at("waits").get_to(survival.waits);
  d.at("group").get_to(survival.group);
  d.at("identity").get_to(survival.identity);
  d.at("identities").get_to(survival.identities);
  d.at("restore").get_to(survival.restore);
  d.at("checkpoint_every").get_to(survival.checkpoint_every);
  d.at("checkpoint_folder").get_to(survival.checkpoint_folder);
  d.at("checkpoint_name").get_to(survival.checkpoint_name);
  for (const json& own : d.at("signals")) {
    survival.signals.push_back({.step = own.at(0).get<std::int64_t>(),
                                .signal = own.at(1).get<int>(),
                                .fault = own.at(2).get<int>()});
  }
  d.at("told_steps").get_to(survival.told_steps);
  if (d.contains("begin")) survival.begin = d.at("begin").get<std::int64_t>();
  return survival;
}

Task read_task(const json& d) {
  Task task;
  task.training = read_training(d.at("training"));
  d.at("rank").get_to(task.rank);
  const auto token = transport::tcp::parse_token(d.at("token").get<std::string>());
  if (!token) throw DataError("a rank's task: its token is none");
  task.token = *token;
  d.at("address").get_to(task.address);
  d.at("transport").get_to(task.transport);
  d.at("carrier").get_to(task.carrier);
  d.at("log").get_to(task.log);
  d.at("sockets").get_to(task.sockets);
  d.at("transfers").get_to(task.transfers);
  d.at("verify").get_to(task.verify);
  task.patience = Duration(d.at("patience_ns").get<std::int64_t>());
  d.at("idle_connections").get_to(task.idle_connections);
  d.at("refused_by").get_to(task.refused_by);
  for (const json& row : d.at("bench")) {
    task.bench.push_back(
        {.elements = row.at(0).get<std::int64_t>(), .repeats = row.at(1).get<int>()});
  }
  if (d.contains("pairs")) {
    const json& pairs = d.at("pairs");
    task.pairs = PairBench{.time_ns = pairs.at(0).get<std::int64_t>(),
                           .pings = pairs.at(1).get<int>(),
                           .repeats = pairs.at(2).get<int>()};
  }
  task.casting = read_casting(d.at("casting"));
  task.survival = read_survival(d.at("survival"));
  return task;
}

}  // namespace

json to_json(const Task& task) {
  json bench = json::array();
  for (const BenchRow& row : task.bench) bench.push_back({row.elements, row.repeats});
  json document{{"training", to_json(task.training)},
                {"rank", task.rank},
                {"token", transport::tcp::text_of(task.token)},
                {"address", task.address},
                {"transport", task.transport},
                {"carrier", task.carrier},
                {"log", task.log},
                {"sockets", task.sockets},
                {"transfers", task.transfers},
                {"verify", task.verify},
                {"patience_ns", task.patience.count()},
                {"idle_connections", task.idle_connections},
                {"refused_by", task.refused_by},
                {"bench", bench},
                {"casting", to_json(task.casting)},
                {"survival", to_json(task.survival)}};
  if (task.pairs) {
    document["pairs"] = {task.pairs->time_ns, task.pairs->pings, task.pairs->repeats};
  }
  return document;
}

Task task_from(const json& document) {
  try {
    return read_task(document);
  } catch (const json::exception& error) {
    throw DataError(fmt::format("a rank's task: {}", error.what()));
  }
}

}  // namespace tw::trainer
