// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/schema.h"

#include <array>

namespace tw::result {
namespace {

using enum Type;

constexpr std::array kFlows{
    Column{"flow", Integer, "", "number of the flow, to which windows.csv refers"},
    Column{"source", Text, "", "address that sends"},
    Column{"source_port", Integer, "", "its port"},
    Column{"destination", Text, "", "address that receives"},
    Column{"destination_port", Integer, "", "its port"},
    Column{"protocol", Text, "", "tcp, udp, or the IP protocol's number"},
    Column{"class", Text, "", "gradient, acknowledgement, control, tiny or cross"},
    Column{"first_ns", Integer, "ns", "time of its first packet since 1970"},
    Column{"last_ns", Integer, "ns", "time of its last packet since 1970"},
    Column{"packets", Integer, "", "captured packets, each counted once"},
    Column{"wire_bytes", Integer, "bytes", "sum of the frames' original lengths"},
    Column{"payload_bytes", Integer, "bytes", "behind TCP or UDP headers, repetitions included"},
    Column{"stream_bytes", Integer, "bytes", "distinct payload: each TCP sequence number once"},
    Column{"retransmitted_bytes", Integer, "bytes", "payload seen before at the same place"},
    Column{"recovered_bytes", Integer, "bytes",
           "payload sent again whose first copy was not captured"},
    Column{"reordered_bytes", Integer, "bytes", "payload that came after later payload"},
    Column{"missing_bytes", Integer, "bytes", "payload that was never captured"},
    Column{"acknowledgement_packets", Integer, "", "TCP packets without payload, SYN, FIN or RST"},
    Column{"large_packets", Integer, "", "packets that no 1,514-byte frame could carry (offload)"},
    Column{"marked_packets", Integer, "", "packets that met congestion, by ECN"},
    Column{"bursts", Integer, "", "stretches of payload without a long pause"},
    Column{"longest_pause_ns", Integer, "ns", "longest time between packets with payload"},
    Column{"rtt_samples", Integer, "", "round trips timed at the point of capture"},
    Column{"rtt_min_ns", Integer, "ns", "shortest of them; empty without samples"},
    Column{"rtt_mean_ns", Integer, "ns", "their mean; empty without samples"},
    Column{"rtt_max_ns", Integer, "ns", "longest of them; empty without samples"},
    Column{"saw_syn", Integer, "", "1 when its SYN was captured"},
    Column{"saw_fin", Integer, "", "1 when its FIN was captured"},
    Column{"saw_reset", Integer, "", "1 when it was reset"},
};

constexpr std::array kPairs{
    Column{"from", Text, "", "host that sends"},
    Column{"to", Text, "", "host that receives"},
    Column{"packets", Integer, "", "IP packets, each counted once"},
    Column{"wire_bytes", Integer, "bytes", "sum of the frames' original lengths"},
    Column{"payload_bytes", Integer, "bytes", "behind transport headers, repetitions included"},
    Column{"stream_bytes", Integer, "bytes", "distinct payload"},
    Column{"retransmitted_bytes", Integer, "bytes", "payload seen before at the same place"},
};

constexpr std::array kIterations{
    Column{"iteration", Integer, "", "number, from 0"},
    Column{"start_ns", Integer, "ns", "its start since 1970"},
    Column{"end_ns", Integer, "ns", "start of the next, or end of the last exchange"},
    Column{"duration_s", Real, "s", "end minus start"},
    Column{"exchange_start_ns", Integer, "ns", "first gradient byte"},
    Column{"exchange_end_ns", Integer, "ns", "last gradient byte"},
    Column{"gradient_bytes", Integer, "bytes", "distinct payload of gradient flows"},
    Column{"packets", Integer, "", "packets of gradient flows"},
};

constexpr std::array kIterationPairs{
    Column{"iteration", Integer, "", "number, as in iterations.csv"},
    Column{"from", Text, "", "host that sends"},
    Column{"to", Text, "", "host that receives"},
    Column{
        "gradient_bytes", Integer, "bytes",
        "distinct payload of gradient flows in bursts that started in the iteration; of run, the "
        "part of the stream that its schedule sends in it, whenever it was sent"},
    Column{"first_ns", Integer, "ns", "first byte of these"},
    Column{"last_ns", Integer, "ns", "last byte of these"},
};

constexpr std::array kWindows{
    Column{"scope", Text, "", "total, pair or flow"},
    Column{"from", Text, "", "host that sends; empty for the total"},
    Column{"to", Text, "", "host that receives; empty for the total"},
    Column{"flow", Integer, "", "number in flows.csv; empty for totals and pairs"},
    Column{"start_ns", Integer, "ns", "start of the window since 1970"},
    Column{"width_ns", Integer, "ns", "width of the window, the same for all of a scope"},
    Column{"wire_bytes", Integer, "bytes",
           "frames in the window; windows without any are left out"},
};

constexpr std::array kCollectives{
    Column{"operation", Text, "",
           "all_reduce, parameter_server, pair_averaging, all_to_all, all_gather and "
           "reduce_scatter (of "
           "sharded training), step_broadcast (in every step) or broadcast (before the first)"},
    Column{"strategy", Text, "", "as `trainwire strategies` names it, or unknown"},
    Column{"order", Text, "",
           "hosts, separated by blanks: along a ring, root first in a tree, servers first"},
    Column{"hosts", Integer, "", "how many hosts take part"},
    Column{"bytes_per_iteration", Integer, "bytes", "payload of the collective in one iteration"},
    Column{"buckets", Text, "", "sizes in bytes of its parts where visible, separated by blanks"},
    Column{"iterations", Integer, "", "iterations in which it was seen"},
    Column{"time_s", Real, "s", "median time from first to last gradient byte of an iteration"},
    Column{"time_low_s", Real, "s", "lower end of its 95 % interval"},
    Column{"time_high_s", Real, "s", "upper end of its 95 % interval"},
    Column{"algbw_bps", Real, "bit/s", "bytes_per_iteration over time, nccl-tests' algbw"},
    Column{"busbw_bps", Real, "bit/s", "algbw times the operation's factor, nccl-tests' busbw"},
    Column{"confidence", Real, "", "0 to 1"},
    Column{"evidence", Text, "", "what it was recognised by"},
};

constexpr std::array kSteps{
    Column{"rank", Integer, "", "training process"},
    Column{"step", Integer, "", "number of the iteration"},
    Column{"phase", Text, "",
           "forward, backward, exchange, aggregation, distribution, wait, optimiser, broadcast, or "
           "step for the whole"},
    Column{"start_ns", Integer, "ns", "start since 1970, on the rank's clock"},
    Column{"end_ns", Integer, "ns", "end since 1970, on the rank's clock"},
    Column{"job", Text, "", "whose rank it is"},
    Column{"bucket", Integer, "", "which gradients; empty when not of one bucket"},
    Column{"moved_bytes", Integer, "bytes", "payload sent and received in it"},
    Column{"queued_bytes", Integer, "bytes", "handed to TCP and not acknowledged at its end"},
};

constexpr std::array kAccuracy{
    Column{"job", Text, "", "job's name"},
    Column{"rank", Integer, "", "rank that held the model"},
    Column{"step", Integer, "", "steps done, warm-up included"},
    Column{"time_s", Real, "s", "since the rank's first step began"},
    Column{"samples", Integer, "", "samples that all workers had trained on"},
    Column{"sent_bytes", Integer, "bytes",
           "payload that all ranks of the job had sent, first model included"},
    Column{"loss", Real, "", "mean cross entropy of the test set"},
    Column{"accuracy", Real, "", "share of the test set that the model names right"},
};

constexpr std::array kSockets{
    Column{"time_ns", Integer, "ns", "since 1970"},
    Column{"job", Text, "", "whose rank it is"},
    Column{"rank", Integer, "", "that asked its kernel"},
    Column{"peer", Integer, "", "rank at the other end"},
    Column{"lane", Integer, "", "which of the connections between the two"},
    Column{"rtt_ns", Integer, "ns", "smoothed round trip"},
    Column{"rtt_deviation_ns", Integer, "ns", "its mean deviation"},
    Column{"window_bytes", Integer, "bytes", "congestion window"},
    Column{"retransmitted_packets", Integer, "", "so far"},
    Column{"queued_bytes", Integer, "bytes", "handed to TCP and not acknowledged"},
};

constexpr std::array kTransfers{
    Column{"job", Text, "", "whose rank it is"},
    Column{"rank", Integer, "", "that sent or received it"},
    Column{"step", Integer, "", "number of the iteration; before -warmup: the first model"},
    Column{"bucket", Integer, "", "which gradients; empty: all of them"},
    Column{"round", Integer, "", "of the schedule"},
    Column{"from", Integer, "", "rank that sends"},
    Column{"to", Integer, "", "rank that receives"},
    Column{"lane", Integer, "", "which of the connections between the two"},
    Column{"first", Integer, "", "its first element in the whole payload"},
    Column{"elements", Integer, "", "of 4 bytes each"},
    Column{"combine", Text, "", "what the receiver does with them: sum, replace or average"},
    Column{"time_ns", Integer, "ns",
           "when its last byte was handed to TCP, or taken from it; since 1970"},
};

constexpr std::array kLinks{
    Column{"link", Text, "", "host whose link it is, or a link between switches"},
    Column{"direction", Text, "",
           "from_host or to_host; between switches from_host is upwards, or left to right"},
    Column{"requested_bps", Real, "bit/s", "rate that the experiment asks for"},
    Column{"effective_bps", Real, "bit/s",
           "rate of a path that it limits, as measured; empty when no path is"},
    Column{"packets", Integer, "",
           "packets that it carried; a super-frame counts as one in kernel devices"},
    Column{"wire_bytes", Integer, "bytes", "bytes of those"},
    Column{"dropped_packets", Integer, "", "packets that found its queue full"},
    Column{"lost_packets", Integer, "", "packets lost as the experiment asks"},
    Column{"marked_packets", Integer, "", "packets marked by ECN"},
    Column{"queue_peak_bytes", Integer, "bytes",
           "the most that waited in its queue, of all samples"},
};

constexpr std::array kSamples{
    Column{"time_ns", Integer, "ns", "since 1970"},
    Column{"host", Text, "",
           "whose link it is, or the name of a link between switches; of watch, the device"},
    Column{"sent_bytes", Integer, "bytes",
           "sent so far; between switches: upwards, or left to right"},
    Column{"received_bytes", Integer, "bytes", "received so far; between switches: the other way"},
    Column{"queue_bytes", Integer, "bytes",
           "waiting to be sent now, or at most since the row before"},
    Column{"dropped_packets", Integer, "", "dropped by that queue so far"},
    Column{"receiving_queue_bytes", Integer, "bytes",
           "waiting on the other side to be received, likewise"},
    Column{"receiving_dropped_packets", Integer, "", "dropped by that queue so far"},
};

constexpr std::array kLoad{
    Column{"time_ns", Integer, "ns", "since 1970"},
    Column{"busy_share", Real, "", "of all processors, since the row before"},
    Column{"steal_share", Real, "", "taken away by the hypervisor, since the row before"},
    Column{"wait_share", Real, "", "the largest of a rank: ready to run, but not running"},
};

constexpr std::array kCrossFlows{
    Column{"traffic", Integer, "", "which [[traffic]], from 0"},
    Column{"flow", Integer, "", "its number"},
    Column{"start_ns", Integer, "ns", "when it was started, on the machine's clock"},
    Column{"lateness_ns", Integer, "ns", "behind the time at which it was due"},
    Column{"bytes", Integer, "bytes", "that it was to move, without headers"},
    Column{"end_ns", Integer, "ns", "when the sink had it all; empty when it never had"},
    Column{"acknowledged_bytes", Integer, "bytes", "that had arrived at the end of the run"},
};

constexpr std::array kPoints{
    Column{"folder", Text, "", "run folder of the point, inside the sweep's"},
    Column{"settings", Text, "", "what it sets, separated by blanks"},
    Column{"complete", Integer, "", "1 when all its ranks ended well"},
    Column{"checks_ok", Integer, "", "1 when all its checks passed too"},
    Column{"step_s", Real, "s", "median time of a step of the first job"},
    Column{"step_low_s", Real, "s", "lower end of its 95 % interval"},
    Column{"step_high_s", Real, "s", "upper end of its 95 % interval"},
    Column{"exchange_s", Real, "s", "median time of a step's exchange"},
    Column{"busbw_bps", Real, "bit/s", "bus bandwidth of the exchange"},
    Column{"busiest_share", Real, "", "of its rate that the busiest link carried"},
    Column{"steps", Integer, "", "that were counted"},
    Column{"step_mean_s", Real, "s", "mean time of a step"},
    Column{"step_mean_low_s", Real, "s", "lower end of its 95 % interval"},
    Column{"step_mean_high_s", Real, "s", "upper end of its 95 % interval"},
    Column{"step_p99_s", Real, "s", "99th percentile of the step's time"},
    Column{"gradient_bytes", Integer, "bytes", "what is exchanged in a step"},
    Column{"demand_bytes", Integer, "bytes", "what the busiest rank sends in a step"},
    Column{"step_sent_bytes", Real, "bytes",
           "what all ranks together sent for each step, the first broadcast included"},
    Column{"scale", Real, "", "run.scale: the cluster's rates and bytes over those here"},
    Column{"capacity_bps", Real, "bit/s", "of the narrowest link on the cross traffic's way"},
    Column{"traffic_requested_bps", Real, "bit/s", "cross traffic asked for, on the wire"},
    Column{"traffic_achieved_bps", Real, "bit/s", "cross traffic delivered, on the wire"},
    Column{"problem", Text, "", "why it failed, or which checks did; empty when all is well"},
};

constexpr std::array kOperations{
    Column{"rank", Integer, "", "training process; empty where a file does not say"},
    Column{"host", Text, "", "its host, where known"},
    Column{"group", Text, "", "ranks that operate together, as the file names them"},
    Column{"group_size", Integer, "", "how many ranks that are"},
    Column{"op", Text, "",
           "all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, send, recv..."},
    Column{"sequence", Integer, "", "number in the group, or of the operations that the file has"},
    Column{"bytes", Integer, "bytes", "size as nccl-tests means it: of the large side"},
    Column{"dtype", Text, "", "of an element, in NCCL's words"},
    Column{"algorithm", Text, "", "ring, tree..."},
    Column{"protocol", Text, "", "ll, ll128 or simple"},
    Column{"channels", Integer, "", "over how many it was spread"},
    Column{"peer", Integer, "", "the other rank of a send or recv"},
    Column{"enqueue_ns", Integer, "ns", "when the program asked for it, since 1970"},
    Column{"start_ns", Integer, "ns", "when this rank was there, on the common clock"},
    Column{"end_ns", Integer, "ns", "when this rank had the result"},
    Column{"state", Text, "", "completed, started or scheduled; empty where a file does not say"},
    Column{"clock", Text, "", "epoch, or what the file counts from"},
    Column{"source", Text, "", "kind of file that tells of it"},
};

constexpr std::array kWays{
    Column{"local", Text, "", "address on the watched side"},
    Column{"remote", Text, "", "address at the other end"},
    Column{"connections", Integer, "", "between the two, at the end"},
    Column{"sent_bytes", Integer, "bytes", "acknowledged while it was watched"},
    Column{"received_bytes", Integer, "bytes", "received while it was watched"},
    Column{"sent_segments", Integer, "", "TCP segments sent"},
    Column{"sent_again", Integer, "", "of these, sent again"},
    Column{"round_trip_s", Real, "s", "largest smoothed round trip, at the end"},
    Column{"least_round_trip_s", Real, "s", "smallest round trip of the connections"},
    Column{"busy_s", Real, "s", "the busiest connection had something to send"},
    Column{"peer_limited_s", Real, "s", "of these, the peer's window was full"},
    Column{"buffer_limited_s", Real, "s", "of these, its own send buffer was full"},
};

constexpr std::array kTables{
    Table{"flows", "one directed flow a row", kFlows},
    Table{"pairs", "one directed pair of hosts a row", kPairs},
    Table{"iterations", "one training step a row, as the wire shows it", kIterations},
    Table{"iteration_pairs", "what each pair carried in each iteration", kIterationPairs},
    Table{"windows", "bytes over time: of everything, of each pair, of each flow", kWindows},
    Table{"collectives", "one recognised collective a row", kCollectives},
    Table{"operations", "what files of other programs tell of collectives, one rank's part a row",
          kOperations},
    Table{"steps", "the program's own record of its steps", kSteps},
    Table{"accuracy", "what models that were really trained knew, and when", kAccuracy},
    Table{"sockets", "what TCP said of the ranks' connections, every 10 ms", kSockets},
    Table{"transfers", "what each rank sent and received, on request: run --transfers", kTransfers},
    Table{"links", "what each link was to do and did", kLinks},
    Table{"samples", "what each link and its queues had counted, every 10 ms", kSamples},
    Table{"ways", "what TCP knew of a watched job's connections, between two addresses a row",
          kWays},
    Table{"load", "how busy the machine was meanwhile", kLoad},
    Table{"cross_flows", "one flow of the cross traffic a row", kCrossFlows},
    Table{"points", "one point of a sweep a row", kPoints},
};

}  // namespace

std::span<const Table> tables() { return kTables; }

const Table* find_table(std::string_view name) {
  for (const Table& table : kTables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

std::string_view name_of(Type type) {
  static constexpr std::array<std::string_view, 3> kNames{"integer", "real", "text"};
  return kNames[static_cast<std::size_t>(type)];
}

}  // namespace tw::result
