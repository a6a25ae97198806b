// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/task.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <numeric>

namespace tw::trainer {

using nlohmann::json;

std::int64_t Task::elements() const {
  return std::accumulate(buckets.begin(), buckets.end(), std::int64_t{0},
                         [](std::int64_t sum, const Bucket& b) { return sum + b.elements; });
}

int Task::workers() const {
  return arrangement.layout.ranks() - (strategy == "ps" ? arrangement.servers : 0);
}

json to_json(const Task& task) {
  json buckets = json::array();
  for (const Bucket& b : task.buckets) buckets.push_back({b.elements, b.ready.count()});
  json bench = json::array();
  for (const BenchRow& row : task.bench) bench.push_back({row.elements, row.repeats});
  const collective::Arrangement& a = task.arrangement;
  return {{"token", transport::tcp::text_of(task.token)},
          {"address", task.address},
          {"rank", task.rank},
          {"strategy", task.strategy},
          {"hosts", a.layout.hosts},
          {"host_of", a.layout.host_of},
          {"servers", a.servers},
          {"asynchronous", a.asynchronous},
          {"pieces", a.pieces},
          {"buckets", buckets},
          {"forward_ns", task.compute.forward.count()},
          {"backward_ns", task.compute.backward.count()},
          {"jitter", task.compute.jitter},
          {"factor", task.compute.factor},
          {"steps", task.steps},
          {"warmup", task.warmup},
          {"broadcast", task.broadcast},
          {"overlap", task.overlap},
          {"connections", task.connections},
          {"side_connections", task.side_connections},
          {"verify", task.verify},
          {"seed", task.seed},
          {"start_ns", task.start.count()},
          {"log", task.log},
          {"sockets", task.sockets},
          {"patience_ns", task.patience.count()},
          {"bench", bench}};
}

namespace {

Task read_task(const json& d) {
  Task task;
  const auto token = transport::tcp::parse_token(d.at("token").get<std::string>());
  if (!token) throw DataError("a rank's task: its token is none");
  task.token = *token;
  d.at("address").get_to(task.address);
  d.at("rank").get_to(task.rank);
  d.at("strategy").get_to(task.strategy);
  d.at("hosts").get_to(task.arrangement.layout.hosts);
  d.at("host_of").get_to(task.arrangement.layout.host_of);
  d.at("servers").get_to(task.arrangement.servers);
  d.at("asynchronous").get_to(task.arrangement.asynchronous);
  d.at("pieces").get_to(task.arrangement.pieces);
  for (const json& b : d.at("buckets")) {
    task.buckets.push_back(
        {.elements = b.at(0).get<std::int64_t>(), .ready = Duration(b.at(1).get<std::int64_t>())});
  }
  task.compute = {.forward = Duration(d.at("forward_ns").get<std::int64_t>()),
                  .backward = Duration(d.at("backward_ns").get<std::int64_t>()),
                  .jitter = d.at("jitter").get<double>(),
                  .factor = d.at("factor").get<double>()};
  d.at("steps").get_to(task.steps);
  d.at("warmup").get_to(task.warmup);
  d.at("broadcast").get_to(task.broadcast);
  d.at("overlap").get_to(task.overlap);
  d.at("connections").get_to(task.connections);
  d.at("side_connections").get_to(task.side_connections);
  d.at("verify").get_to(task.verify);
  d.at("seed").get_to(task.seed);
  task.start = Duration(d.at("start_ns").get<std::int64_t>());
  d.at("log").get_to(task.log);
  d.at("sockets").get_to(task.sockets);
  task.patience = Duration(d.at("patience_ns").get<std::int64_t>());
  for (const json& row : d.at("bench")) {
    task.bench.push_back(
        {.elements = row.at(0).get<std::int64_t>(), .repeats = row.at(1).get<int>()});
  }
  return task;
}

}  // namespace

Task task_from(const json& document) {
  try {
    return read_task(document);
  } catch (const json::exception& error) {
    throw DataError(fmt::format("a rank's task: {}", error.what()));
  }
}

collective::Schedule schedule_of(const Task& task, std::int64_t step) {
  collective::Arrangement arrangement = task.arrangement;
  arrangement.seed = task.seed;
  arrangement.step = step;
  return collective::make_schedule(task.strategy, arrangement);
}

}  // namespace tw::trainer
