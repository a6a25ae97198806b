// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/cli/commands.h"
#include "trainwire/cli/traffic_make.h"
#include "trainwire/cli/traffic_play.h"
#include "trainwire/command/traffic_options.h"

#include <memory>

namespace tw::cli {
namespace {

int traffic_command(const command::TrafficOptions& options, command::Streams streams) {
  if (options.flows < 1 || options.flows > 1000) throw SpecError("--flows is 1 to 1000");
  if (options.threads < 0 || options.threads > 256) throw SpecError("--threads is 1 to 256");
  if (options.action == "make") return make_traffic(options, streams);
  if (options.action == "send") return send_traffic(options, streams);
  return sink_traffic(options, streams);
}

/// What a load is: made into a file, or sent as it is made.
void declare_load(command::CommandLine& app, command::TrafficOptions& options) {
  const auto of_load = [](command::Option option) { option.of("make").of("send"); };
  of_load(app.add_option("--kind", options.kind,
                         "websearch: Poisson starts, sizes by a distribution; burst: the same with "
                         "periodic bursts; long: parallel flows at a rate, as fast as they go "
                         "without one; constant: UDP datagrams. Default websearch")
              .type_name("KIND")
              .one_of({"websearch", "burst", "long", "constant"}));
  of_load(app.add_option("--rate", options.rate, "payload, e.g. 6Gbit").type_name("RATE"));
  of_load(app.add_option("--duration", options.duration, "default 10s, or the load file's")
              .type_name("TIME"));
  of_load(app.add_option("--distribution", options.distribution,
                         "of flow sizes: websearch (default), datamining, or a file of two "
                         "columns, size in bytes and share of flows no larger")
              .type_name("NAME|FILE")
              .suggests({"websearch", "datamining"}));
  of_load(app.add_option("--width", options.width, "of a burst; default 1ms").type_name("TIME"));
  of_load(app.add_option("--height", options.height, "of a burst, times the mean rate; default 3")
              .type_name("X"));
  of_load(app.add_option("--period", options.period, "from burst to burst; default 10ms")
              .type_name("TIME"));
  of_load(app.add_option("--flows", options.flows, "long: connections; default 1").type_name("N"));
  of_load(app.add_option("--seed", options.seed, "the same seed gives the same flows; default 1")
              .type_name("N"));
}

void declare_ends(command::CommandLine& app, command::TrafficOptions& options) {
  app.add_option("--to", options.to, "")
      .of("send", "the sink, HOST:PORT, or NAME=HOST:PORT for flows to NAME; repeatable")
      .of("make", "the name that flows go to; repeatable")
      .type_name("WHERE")
      .repeatable();
  app.add_option("-o,--out", options.out, "the load file; - for standard output")
      .of("make")
      .type_name("FILE");
  app.add_option("--bind", options.bind, "")
      .of("sink", "address to listen on, default 127.0.0.1, 0.0.0.0 for all")
      .of("send", "address to send from")
      .type_name("ADDRESS");
  app.add_option("--port", options.port, "default: a free one").of("sink").type_name("N");
  app.add_option("--token", options.token,
                 "secret of sender and sink, @FILE reads it; better in TRAINWIRE_TOKEN, which "
                 "others do not see; a sink without one makes it")
      .of("send")
      .of("sink")
      .type_name("TOKEN");
  app.add_option("--for", options.for_time, "end after that time").of("sink").type_name("TIME");
  app.add_flag("--no-reuse", options.no_reuse, "a connection for each flow").of("send");
  app.add_option("--threads", options.threads, "default by the processors")
      .of("send")
      .of("sink")
      .type_name("N");
  app.add_option("--congestion-control", options.congestion_control, "e.g. cubic")
      .of("send")
      .type_name("NAME")
      .suggests({"cubic", "reno", "bbr", "dctcp"});
  app.add_option("--log", options.log, "a line for each flow").of("send").type_name("FILE");
  app.add_flag("--json", options.json, "print one JSON document");
}

}  // namespace

command::Body declare_traffic(command::CommandLine& app) {
  const auto options = std::make_shared<command::TrafficOptions>();
  app.add_option("ACTION", options->action, "")
      .type_name("")
      .one_of({"make", "send", "sink"})
      .action("make", "a load file, and a picture of what it asks for")
      .action("send", "play a load to a sink, with account of what was achieved")
      .action("sink", "take traffic")
      .required();
  app.add_option("LOAD", options->load, "a load file, instead of --kind").of("send").type_name("");
  declare_load(app, *options);
  declare_ends(app, *options);
  return [options](command::Streams streams) { return traffic_command(*options, streams); };
}

}  // namespace tw::cli
