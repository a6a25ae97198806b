// SPDX-License-Identifier: Apache-2.0
// A collective operation as data: who sends which chunk to whom, in which round.
//
// A Schedule knows nothing of sockets or clocks. The executor runs one rank's part of it over a
// transport, the simulator times all parts, the planner counts its bytes (count.h), and verify.h
// proves that it computes what its goal says; all four read this one description.
//
// The payload is a row of elements cut into `chunks` near-equal chunks (chunk_elements). A transfer
// moves one chunk, or a few neighbouring ones, from one rank to another in one round; the receiver
// adds it to its own copy, averages the two, or replaces its own. Transfers of a round read what
// the rounds before left, so their order within a round is free. Rounds are logical time: they
// state what a transfer may depend on, and nobody has to wait for a round to end. No copy is read
// in the round that adds to it or replaces it, so an executor works in place, with two exceptions.
// Two ranks may *exchange* chunks: each sends the other its copy of the same chunks in the same
// round, to the same effect, and nobody else reads or writes these then; an executor keeps back
// what it has not sent yet. And averaging reads copies as they were before the round, of which an
// executor keeps a snapshot.
//
// A ring of P ranks has 2P(P-1) transfers: 2*10^10 for P = 100,000. So a schedule stores none of
// them. It is a function from a rank to that rank's program, and a program is a short list of
// strands: runs of transfers in which round, chunk and peer advance by constant strides. Ring: 4
// strands a rank, whatever P; halving-doubling: 4 log2 P; a tree: 2 for each neighbour.
//
// Limits: elements are all alike; cutting a transfer into packets or pipelining inside it is the
// executor's business. Ranks below 2^31.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::collective {

enum class Combine {
  Replace,  ///< the receiver's copy becomes the sender's
  Sum,      ///< the sender's copy is added to the receiver's
  Average,  ///< the receiver's copy becomes the mean of both (pair averaging)
};

/// "replace", "sum", "average".
std::string_view name_of(Combine combine);

/// What every rank must hold in the end. goal.h states it, verify.h proves it.
enum class Goal {
  AllReduce,     ///< every worker holds every worker's contribution exactly once
  Broadcast,     ///< every rank holds rank 0's payload
  AllToAll,      ///< of P chunks, rank i holds as chunk i+j (mod P) what rank j had there
  ServerUpdate,  ///< asynchronous parameter server: servers hold every contribution exactly once,
                 ///< and each worker a server's copy that includes its own
  PairAverage,   ///< every rank holds the average of its own payload and one peer's as it was
};

/// One message: in `round`, `from` sends its copy of chunks [chunk, chunk + width) to `to`.
struct Transfer {
  std::int64_t round;
  int from;
  int to;
  int chunk;
  int width;
  Combine combine;

  auto operator<=>(const Transfer&) const = default;
};

/// A run of `count` transfers: number i has round + i*round_stride, from + i*from_stride and
/// to + i*to_stride (both modulo the ranks), chunk + i*chunk_stride (modulo the chunks). A range of
/// chunks does not wrap around: chunk + width <= chunks.
struct Strand {
  std::int64_t round;
  int from;
  int to;
  int chunk;
  Combine combine;
  int width = 1;
  std::int64_t count = 1;
  std::int64_t round_stride = 0;
  int from_stride = 0;
  int to_stride = 0;
  int chunk_stride = 0;

  bool operator==(const Strand&) const = default;
};

/// All strands in which one rank sends or receives. A transfer between a and b is in the programs
/// of both. Rank r sends all transfers of a strand (from == r, from_stride == 0) or receives all of
/// them (to == r, to_stride == 0).
using Program = std::vector<Strand>;

struct Schedule {
  std::string strategy;
  Goal goal;
  int ranks;
  /// Ranks 0..workers-1 contribute; the rest are servers, which start empty.
  int workers;
  int chunks;
  std::int64_t rounds;
  /// Transfers on the longest chain in which each waits for data of the one before: what latency
  /// multiplies. At most `rounds`, and fewer when pieces are pipelined or no chain needs every
  /// round.
  std::int64_t depth;
  /// Pure: the same rank always gets the same program. REQUIRES: 0 <= rank < ranks.
  std::function<Program(int rank)> program;
};

/// Transfer number i of a strand, with the modulo applied. REQUIRES: 0 <= i < strand.count.
Transfer transfer(const Schedule& schedule, const Strand& strand, std::int64_t i);

/// One rank's transfers in the order of cursor.h, as a list. Holds one rank's, never all.
std::vector<Transfer> transfers_of(const Schedule& schedule, int rank);

/// First element of a chunk when `elements` are cut into `chunks`: the first (elements mod chunks)
/// chunks are one element longer than the rest. chunk == chunks gives the end of the payload.
std::int64_t chunk_begin(std::int64_t elements, int chunks, int chunk);
std::int64_t chunk_elements(std::int64_t elements, int chunks, int chunk);

/// Elements [first, first + elements) of a payload.
struct Range {
  std::int64_t first = 0;
  std::int64_t elements = 0;
  bool operator==(const Range&) const = default;
};

/// What a transfer moves of a payload of `elements`.
Range range_of(const Schedule& schedule, const Transfer& transfer, std::int64_t elements);

/// The transfers that replace, alone and in their rounds: a parameter server's distribution half,
/// which brings what servers hold to the workers, whoever summed it.
Schedule distribution(Schedule schedule);

}  // namespace tw::collective
