// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/fields.h"

#include "trainwire/spec/framework.h"

#include <limits>

namespace tw::spec {
namespace {

constexpr int kAnyCount = std::numeric_limits<int>::max();
constexpr std::int64_t kMostSamples = 1'000'000'000'000;

// How bytes move; whether a transport was built in is known only above this module.
constexpr std::array<std::string_view, 6> kTransports{"tcp",  "gloo",      "mpi",
                                                      "grpc", "multicast", "rdma"};

bool is_dumbbell(const Network& n) { return *n.topology == Topology::Dumbbell; }
bool is_leafspine(const Network& n) { return *n.topology == Topology::LeafSpine; }
bool has_core(const Network& n) { return *n.topology != Topology::Star; }
bool has_servers(const Job& job) { return job.has_servers; }
bool has_straggler(const Job& job) { return job.straggler->has_value(); }
bool has_command(const Job& job) { return !job.command->empty(); }
bool starts_again(const Job& job) {
  return *job.on_failure == OnFailure::Restart || *job.on_failure == OnFailure::Grow;
}
bool has_checkpoints(const Job& job) { return *job.checkpoint_every > 0; }
bool has_model(const Job& job) { return !job.model->empty(); }
bool is_burst(const Traffic& t) { return *t.kind == TrafficKind::Burst; }
bool is_long(const Traffic& t) { return *t.kind == TrafficKind::Long; }
bool draws_sizes(const Traffic& t) { return *t.kind == TrafficKind::WebSearch || is_burst(t); }
bool has_equals(const Expectation& e) { return e.equals.has_value(); }

/// A key that [network] and [[network.link]] share.
struct LinkField {
  Field<LinkSettings> of_all;
  Field<LinkOverride> of_one;
};

template <typename T>
LinkField shared(std::string_view key, Setting<T> LinkSettings::*of_all,
                 std::optional<Setting<T>> LinkOverride::*of_one, const Kind<T>& kind,
                 About<LinkSettings> about) {
  return {.of_all = field(key, of_all, kind, about),
          .of_one = field(key, of_one, kind, {.help = about.help, .otherwise = "the network's"})};
}

const std::vector<LinkField>& shared_link_fields() {
  using All = LinkSettings;
  using One = LinkOverride;
  static const std::vector<LinkField> fields{
      shared("rate", &All::rate, &One::rate, rate(), {.help = "of each link, per direction"}),
      shared("delay", &All::delay, &One::delay, time(), {.help = "one way, per link"}),
      shared("jitter", &All::jitter, &One::jitter, time(),
             {.help = "standard deviation of the delay"}),
      shared("loss", &All::loss, &One::loss, probability(), {.help = "share of packets lost"}),
      shared("loss_burst", &All::loss_burst, &One::loss_burst, number(1, 1e6),
             {.help = "mean packets lost in a row; 1 is independent loss"}),
      shared("queue", &All::queue, &One::queue, queue(),
             {.help = "limit of the queue before the link, in bytes or in multiples of rate x "
                      "round trip; a host's own, which drops nothing, holds 1000 frames at least"}),
      shared("ecn", &All::ecn, &One::ecn, maybe(size(Bytes(1))),
             {.help = "queue depth from which packets are marked", .otherwise = "no marking"}),
  };
  return fields;
}

template <typename T>
void append(std::vector<T>& to, std::vector<T> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<Field<Network>> make_network_fields() {
  std::vector<Field<Network>> fields{
      field("topology", &Network::topology, topology(), {.help = "how hosts are joined"}),
      field("hosts", &Network::hosts, whole(1, kMostHosts, "a network needs at least one host"),
            {.help = "named host0, host1, ..."}),
  };
  for (const LinkField& link : shared_link_fields()) {
    fields.push_back(flat(link.of_all, &Network::link));
  }
  append(fields,
         {field("left", &Network::left, whole(1, kMostHosts),
                {.help = "dumbbell: hosts on the left",
                 .otherwise = "half of the hosts",
                 .applies = is_dumbbell}),
          field("leaves", &Network::leaves, whole(1, kMostHosts),
                {.help = "leafspine: leaf switches", .applies = is_leafspine}),
          field("spines", &Network::spines, whole(1, 65536),
                {.help = "leafspine: spine switches", .applies = is_leafspine}),
          field("core_rate", &Network::core_rate, rate(),
                {.help = "of links between switches", .otherwise = "rate", .applies = has_core}),
          field("core_delay", &Network::core_delay, time(),
                {.help = "of links between switches", .otherwise = "delay", .applies = has_core}),
          field("mtu", &Network::mtu, whole(576, 65535),
                {.help = "largest IP packet in bytes; 1280 or more with IPv6"}),
          field("congestion_control", &Network::congestion_control, congestion_control(),
                {.help = "TCP's, by the kernel's name; sim has mltcp besides. By formula and flow "
                         "by flow all count as cubic but reno, dctcp, mltcp and bbr; packet by "
                         "packet there are these and cubic"}),
          field("socket_buffer", &Network::socket_buffer, maybe(size(Bytes(1))),
                {.help = "of each TCP socket, each way", .otherwise = "the kernel's own choice"}),
          field("allow_shallow_queue", &Network::allow_shallow_queue, flag(),
                {.help = "accept a queue smaller than the delay needs"}),
          field("engine", &Network::engine, engine(),
                {.help = "what emulates the links; auto takes the best that the kernel has"}),
          field("ip_version", &Network::ip_version, whole(4, 6), {.help = "4 or 6"})});
  append(fields, simulated_network_fields());
  return fields;
}

std::vector<Field<LinkOverride>> make_link_fields() {
  std::vector<Field<LinkOverride>> fields{
      field("at", &LinkOverride::at, text(),
            {.help = "the link: a host's name, or a core link's (core, leaf0-spine1, edge0-agg1, "
                     "agg0-core1)",
             .otherwise = "required"}),
      field("direction", &LinkOverride::direction, direction(),
            {.help = "seen from the host, or from the lower switch of a core link"}),
  };
  for (const LinkField& link : shared_link_fields()) fields.push_back(link.of_one);
  return fields;
}

/// What is trained.
std::vector<Field<Job>> model_fields() {
  return {
      field("name", &Job::name, text(),
            {.help = "unique; up to 120 bytes without slashes, not beginning like a formula",
             .otherwise = "job0, job1, ..."}),
      field("framework", &Job::framework, maybe(word("framework", framework_names())),
            {.help = "preset for the keys that the job does not set", .otherwise = "none"}),
      field("model", &Job::model, text(),
            {.help = "see `trainwire models`; case, - and _ do not count",
             .otherwise = "required, or parameters or command",
             .applies = has_model}),
      field("parameters", &Job::parameters, maybe(size(Bytes(4))),
            {.help = "instead of a model: bytes of gradients"}),
      field("classes", &Job::classes, maybe(whole(1, kAnyCount)),
            {.help = "outputs of the model's head, instead of the published number"}),
      field("widths", &Job::widths, maybe(wholes(1, kAnyCount)),
            {.help = "model mlp: layer sizes, input first"}),
      field("blocks", &Job::blocks, maybe(whole(1, kAnyCount)),
            {.help = "model transformer: layers"}),
      field("width", &Job::width, maybe(whole(1, kAnyCount)),
            {.help = "model transformer: hidden size"}),
      field("sequence", &Job::sequence, maybe(whole(1, kAnyCount)),
            {.help = "model transformer: tokens per sample"}),
      field("vocabulary", &Job::vocabulary, maybe(whole(1, kAnyCount)),
            {.help = "model transformer: vocabulary size"}),
  };
}

/// Where it runs, and how gradients travel.
std::vector<Field<Job>> layout_fields() {
  return {
      field(
          "ranks", &Job::ranks, whole(1, kMostRanks, "a job needs at least one rank"),
          {.help = "processes, servers included", .otherwise = "one for each of the job's hosts"}),
      field("workers", &Job::workers, whole(1, kMostRanks, "a job needs at least one worker"),
            {.help = "ranks that train: another way to give ranks",
             .otherwise = "ranks, less the servers of strategy ps"}),
      field("hosts", &Job::hosts, texts(),
            {.help = "that the job runs on", .otherwise = "every host, as far as the ranks reach"}),
      field("placement", &Job::placement, texts(),
            {.help = "host of each rank", .otherwise = "in order, evenly"}),
      field("strategy", &Job::strategy, text(), {.help = "see `trainwire strategies`"}),
      field("servers", &Job::servers, whole(1, kMostRanks, "a parameter server job needs a server"),
            {.help = "strategy ps: the last ranks are servers", .applies = has_servers}),
      field("asynchronous", &Job::asynchronous, flag(),
            {.help = "strategy ps: workers do not wait for one another", .applies = has_servers}),
      field("transport", &Job::transport, word("transport", kTransports),
            {.help = "how bytes move"}),
      field("command", &Job::command, texts("[\"python3\", \"train.py\"]"),
            {.help = "exec: what each rank runs, a program and its arguments",
             .otherwise = "what follows -- on the command line",
             .applies = has_command}),
      field("bucket", &Job::bucket, size(),
            {.help = "gradients sent together; 0 sends the whole model at once"}),
      field("first_bucket", &Job::first_bucket, size(),
            {.help = "size of the first bucket; 0 makes it as large as the others"}),
      field("cycle", &Job::cycle, time(),
            {.help = "with overlap: what is ready when the line is free is sent together, looked "
                     "for this often, "
                     "up to a bucket; 0: whole buckets"}),
      field("overlap", &Job::overlap, flag(), {.help = "exchange while backward goes on"}),
      field("pieces", &Job::pieces, whole(1, 65536),
            {.help = "strategies with trees: pieces in flight at a time"}),
      field("connections", &Job::connections, whole(1, 1024),
            {.help = "per pair of ranks that exchange gradients"}),
      field("side_connections", &Job::side_connections, whole(0, 1024),
            {.help = "control connections per rank"}),
      field("clique_topology", &Job::clique_topology, flag(),
            {.help = "framework kungfu under pair averaging: workers connect by the clique "
                     "besides, not by a tree",
             .applies = has_topology}),
  };
}

/// How long it trains and computes.
std::vector<Field<Job>> training_fields() {
  return {
      field("batch", &Job::batch, whole(1, kAnyCount), {.help = "samples per worker and step"}),
      field("steps", &Job::steps, long_whole(1, kMostSteps),
            {.help = "measured, after the warm-up; computed when epochs is given"}),
      field("epochs", &Job::epochs, maybe(number(1e-6, 1e9)),
            {.help = "passes over the dataset, instead of steps"}),
      field("dataset", &Job::dataset, maybe(long_whole(1, kMostSamples)),
            {.help = "samples in an epoch, over all workers"}),
      field("warmup", &Job::warmup, whole(0, kAnyCount),
            {.help = "steps before the measured ones"}),
      field("broadcast", &Job::broadcast, flag(),
            {.help = "rank 0 sends its model to all before the first step"}),
      field("compute", &Job::compute, compute(),
            {.help = "profile waits as long as the device would take, train really trains mlp or "
                     "cnn, none "
                     "skips; torch is not there yet"}),
      field("device", &Job::device, text(), {.help = "whose profile; see `trainwire models`"}),
      field("compute_time", &Job::compute_time, maybe(time()),
            {.help = "forward and backward of a step", .otherwise = "from the device's profile"}),
      field(
          "gradient_ready", &Job::gradient_ready, maybe(text()),
          {.help = "file: when backward has each gradient (columns elements, ready_ms); stretched "
                   "to the job's backward",
           .otherwise = "from the device's profile, or by FLOPs"}),
      field("compute_jitter", &Job::compute_jitter, fraction(),
            {.help = "relative standard deviation of the compute time"}),
      field("straggler", &Job::straggler, maybe(text()),
            {.help = "a host whose ranks compute slower", .otherwise = "none"}),
      field("straggler_factor", &Job::straggler_factor, number(1, 1e6),
            {.help = "how many times slower", .applies = has_straggler}),
      field("start", &Job::start, time(), {.help = "after the run's start"}),
      field("verify", &Job::verify, verify(),
            {.help = "check sums of gradients; auto does where it costs little"}),
  };
}

/// What it does when something breaks.
std::vector<Field<Job>> failure_fields() {
  return {
      field(
          "on_failure", &Job::on_failure, on_failure(),
          {.help = "run, when a rank is lost: abort ends the run; restart starts it again and all "
                   "go back to the last checkpoint; shrink goes on without it; grow does too, and "
                   "takes it in again when it is back"}),
      field("failure_timeout", &Job::failure_timeout, time(std::chrono::milliseconds(10)),
            {.help = "run: a rank that is silent for so long counts as lost"}),
      field("restart_after", &Job::restart_after, time(),
            {.help = "on_failure restart and grow: how long until a lost rank is started again",
             .applies = starts_again}),
      field("checkpoint_every", &Job::checkpoint_every, long_whole(0, kMostSteps),
            {.help = "run: steps from one checkpoint to the next; 0 writes none"}),
      field("checkpoint_folder", &Job::checkpoint_folder, maybe(text()),
            {.help = "where checkpoints go",
             .otherwise = "the run's folder, until it has ended well",
             .applies = has_checkpoints}),
  };
}

std::vector<Field<Traffic>> make_traffic_fields() {
  std::vector<Field<Traffic>> fields{
      field("kind", &Traffic::kind, traffic_kind(),
            {.help = "long: steady connections; websearch: flows of random sizes; burst: on and "
                     "off; file: flows from a list; constant: at an even rate"}),
      field("from", &Traffic::from, text(), {.help = "host", .otherwise = "required"}),
      field("to", &Traffic::to, text(),
            {.help = "host", .otherwise = "required unless kind is file, whose list says it"}),
      field("load", &Traffic::load, load(),
            {.help = "share of the bottleneck between the two hosts, or a rate",
             .otherwise = "required unless kind is file"}),
      field("flows", &Traffic::flows, whole(1, 65536),
            {.help = "kind long: parallel connections", .applies = is_long}),
      field("distribution", &Traffic::distribution, text(),
            {.help = "kinds websearch and burst: flow sizes, by name or from a file",
             .applies = draws_sizes}),
      field("burst_width", &Traffic::burst_width, time(Duration(1)),
            {.help = "kind burst: length of a burst", .applies = is_burst}),
      field("burst_height", &Traffic::burst_height, number(1, 1e6),
            {.help = "kind burst: rate in a burst, in multiples of the mean; above 1",
             .applies = is_burst}),
      field("period", &Traffic::period, time(Duration(1)),
            {.help = "kind burst: from one burst to the next", .applies = is_burst}),
      field("file", &Traffic::file, maybe(text()),
            {.help = "kind file: start, destination and size of each flow"}),
      field("reuse_connections", &Traffic::reuse_connections, flag(),
            {.help = "send several flows over one connection"}),
      field("start", &Traffic::start, time(), {.help = "after the run's start"}),
      field("duration", &Traffic::duration, maybe(time(Duration(1))),
            {.help = "of the traffic", .otherwise = "until the jobs end"}),
  };
  append(fields, simulated_traffic_fields());
  return fields;
}

}  // namespace

const std::vector<Field<Experiment>>& experiment_fields() {
  static const std::vector<Field<Experiment>> fields{
      field("name", &Experiment::name, title(), {.help = "for reports"})};
  return fields;
}

const std::vector<Field<Network>>& network_fields() {
  static const std::vector<Field<Network>> fields = make_network_fields();
  return fields;
}

const std::vector<Field<LinkOverride>>& link_fields() {
  static const std::vector<Field<LinkOverride>> fields = make_link_fields();
  return fields;
}

const std::vector<Field<Job>>& job_fields() {
  static const std::vector<Field<Job>> fields = [] {
    std::vector<Field<Job>> all = model_fields();
    append(all, layout_fields());
    append(all, training_fields());
    append(all, learned_job_fields());
    append(all, failure_fields());
    append(all, simulated_job_fields());
    return all;
  }();
  return fields;
}

const std::vector<Field<Traffic>>& traffic_fields() {
  static const std::vector<Field<Traffic>> fields = make_traffic_fields();
  return fields;
}

const std::vector<Field<Capture>>& capture_fields() {
  static const std::vector<Field<Capture>> fields{
      field("enabled", &Capture::enabled, flag(), {.help = "record packets"}),
      field("snaplen", &Capture::snaplen, whole(54, 262144), {.help = "bytes kept of each packet"}),
      field("keep", &Capture::keep, flag(), {.help = "keep the packets after the analysis"}),
  };
  return fields;
}

const std::vector<Field<Run>>& run_fields() {
  static const std::vector<Field<Run>> fields{
      field("seed", &Run::seed, seed(), {.help = "of everything random"}),
      field("scale", &Run::scale, number(1, 1e6),
            {.help = "rates and payloads are divided by it, times are kept"}),
      field("slow_motion", &Run::slow_motion, number(1, 1e6),
            {.help = "everything takes that many times as long: rates are divided by it, sizes, "
                     "queues and loss are kept"}),
      field("repeats", &Run::repeats, whole(1, 1'000'000),
            {.help = "of the whole run, of each point of a sweep; they take turns"}),
      field("repeat_until", &Run::repeat_until, maybe(fraction()),
            {.help = "ends repetitions before `repeats` (then 10 unless given), once three or more "
                     "have the mean step to within this, by its 95 % interval",
             .otherwise = "all are run"}),
      field("timeout", &Run::timeout, time(std::chrono::milliseconds(1)),
            {.help = "after which a run is given up"}),
  };
  return fields;
}

const std::vector<Field<Expectation>>& expectation_fields() {
  constexpr double kMost = std::numeric_limits<double>::max();
  static const std::vector<Field<Expectation>> fields{
      bare_field("of", &Expectation::of, word("command", kJudgingCommands),
                 {.help = "the command whose --json document is meant", .otherwise = "required"}),
      bare_field(
          "metric", &Expectation::metric, text(),
          {.help = "path in that document: jobs.0.step.total_bytes", .otherwise = "required"}),
      bare_field("equals", &Expectation::equals, maybe(number(-kMost, kMost)),
                 {.help = "the value, within the tolerance"}),
      bare_field("tolerance", &Expectation::tolerance, number(0, 1e6),
                 {.help = "relative, of equals", .applies = has_equals}),
      bare_field("at_least", &Expectation::at_least, maybe(number(-kMost, kMost)),
                 {.help = "lower limit"}),
      bare_field("at_most", &Expectation::at_most, maybe(number(-kMost, kMost)),
                 {.help = "upper limit"}),
  };
  return fields;
}

}  // namespace tw::spec
