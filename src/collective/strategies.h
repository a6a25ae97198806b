// SPDX-License-Identifier: Apache-2.0
// The strategies: pure functions from a rank layout to a Schedule, and the catalogue that names
// them.
//
// M is the payload in bytes, P the ranks, H the hosts that hold ranks, D the height of a tree, w
// the workers and n the servers. Each function states its rounds, depth and bytes as formulas, and
// strategies_test.cc asserts them. "In all" counts each byte once for each transfer that moves it,
// whether or not it leaves its host. Every all-reduce but the parameter server's moves 2(P-1)M in
// all, unless it says otherwise: they differ in rounds and in who carries how much.
//
// One rank alone has nothing to exchange: its schedule has no rounds.

#pragma once

#include "trainwire/collective/layout.h"
#include "trainwire/collective/schedule.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tw::collective {

/// What a strategy may depend on besides the layout; each strategy reads what it needs.
struct Arrangement {
  Layout layout;
  /// Parameter server: the last `servers` ranks are servers.
  int servers = 1;
  bool asynchronous = false;
  /// Pieces that trees cut the payload into, so that levels work at the same time.
  int pieces = 1;
  /// Pair averaging: which step's choice of peers.
  std::uint64_t seed = 0;
  std::int64_t step = 0;

  bool operator==(const Arrangement&) const = default;
};

/// What an exchange achieves.
enum class Operation {
  AllReduce,        ///< every rank gets the sum of all ranks' payloads
  ParameterServer,  ///< workers get theirs from servers: the sum, or what is there already
  PairAveraging,    ///< every rank averages its payload with a peer's
  AllToAll,         ///< every rank gets from each other one the part that is meant for it
  Broadcast,        ///< every rank gets rank 0's payload
};

/// The word for it in documents: all_reduce, parameter_server, pair_averaging, all_to_all,
/// step_broadcast.
std::string_view name_of(Operation operation);

/// Bus bandwidth over algorithm bandwidth, as nccl-tests defines them: what links carry over what
/// the operation moves. 2(n-1)/n for sums, (n-1)/n for an all-to-all, 1 for a broadcast.
/// REQUIRES: ranks >= 1.
double bus_factor(Operation operation, int ranks);

/// How a rank may pass on what it gets.
enum class Passing {
  Whole,       ///< a transfer begins when those that it waits for have ended
  CutThrough,  ///< it follows them byte by byte, so that a ring is one stream without pauses
};

/// How the ranks of an exchange stand to one another, where that has a name.
enum class Shape {
  Any,
  Ring,  ///< a circle: each sends to the next
  Tree,  ///< one root, everybody else under another rank
};

/// How ranks come by the model that they start with.
enum class FirstModel {
  Broadcast,    ///< from rank 0 (see broadcast())
  FromServers,  ///< by the distribution half of an exchange, bucket by bucket
  Own,          ///< they start from models that differ: that is what they average away
};

/// A pure function from an arrangement to a schedule: what a strategy is.
using Maker = Schedule (*)(const Arrangement&);

/// A row of the catalogue: everything in which a strategy differs from others but its schedule.
/// Nobody else tells strategies apart by name.
struct Strategy {
  std::string_view name;
  std::string_view summary;
  /// Rounds and bytes in words for `trainwire strategies`.
  std::string_view rounds;
  std::string_view bytes;
  Maker make;

  Operation operation = Operation::AllReduce;
  Shape shape = Shape::Any;
  Passing passing = Passing::Whole;
  FirstModel first_model = FirstModel::Broadcast;
  /// The last ranks are servers, which may answer each worker for itself (asynchronous); an
  /// exchange has an aggregation and a distribution half.
  bool has_servers = false;
  /// Every rank goes its own pace and draws a peer anew in each step: schedules differ from step to
  /// step, and only expectations can be planned.
  bool draws_peers = false;
  bool cuts_pieces = false;  ///< `pieces` makes a difference
  bool sees_hosts = false;   ///< which ranks share a host makes a difference
  bool is_dense = false;     ///< every ordered pair of ranks carries bytes, so pairs grow with P^2
  /// Its last part is a broadcast from one rank, which looks like that of the first model.
  bool ends_in_broadcast = false;
};

/// In the order in which they are listed to users. Adding a strategy: one .cc, one row in
/// catalogue.cc, one test.
std::span<const Strategy> catalogue();

/// Null when there is none of that name.
const Strategy* find_strategy(std::string_view name);

/// Any for a name that is not in the catalogue.
Shape shape_of(std::string_view name);

/// REQUIRES: `name` is in the catalogue.
const Strategy& strategy(std::string_view name);

/// The row of one of the functions below: strategy(ring).name. REQUIRES: it has one.
const Strategy& strategy(Maker make);

/// REQUIRES: `name` is in the catalogue and problem(name, arrangement) is empty.
Schedule make_schedule(std::string_view name, const Arrangement& arrangement);

/// Why the strategy cannot be laid out like that, with the remedy ("a parameter server with 4
/// servers needs at least 5 ranks, not 4; add ranks or take fewer servers"); empty when it can. An
/// unknown name is a problem too.
std::string problem(std::string_view name, const Arrangement& arrangement);

// Each REQUIRES that problem() finds nothing wrong with its arrangement.

/// All ranks in rank order, also when several share a host: a reduce-scatter, then an all-gather.
/// 2(P-1) rounds, as many deep; each rank sends 2(P-1)/P * M to its successor; 2(P-1)M in all.
/// (Patarasuk & Yuan 2009, 10.1016/j.jpdc.2008.09.002)
Schedule ring(const Arrangement& arrangement);

/// Local ranks reduce into the first rank of their host, these masters run a ring, and broadcast
/// locally. 2(H-1) rounds, and 2 more when any host holds several ranks; 2(H-1)/H * M from each
/// host to the next; 2(P-1)M in all. Depth equals the rounds unless so few hosts hold several ranks
/// that no chain begins and ends with a local transfer: then it is one less.
Schedule hierarchical(const Arrangement& arrangement);

/// Local ranks under their host's master, the masters under the first of them, as KungFu's Tree:
/// with one rank on each host this is a star. D <= 2. 2D + pieces - 1 rounds, 2D deep; M each way
/// on each of P-1 edges; 2(P-1)M in all.
Schedule tree(const Arrangement& arrangement);

/// All ranks under rank 0: `tree` with D = 1.
Schedule star(const Arrangement& arrangement);

/// Every rank is the root of a star for chunk i = its own number: all send it their chunk i, and it
/// sends the sum back. 2 rounds, 2 deep; 2M/P on every ordered pair; 2(P-1)M in all.
Schedule clique(const Arrangement& arrangement);

/// Local ranks under their host's master, the masters as a binary heap (master i under master
/// (i-1)/2), as KungFu's BinaryTreeStar. D = floor(log2 H), and 1 more where a deepest master has
/// local ranks. Rounds, depth and bytes as `tree`.
Schedule binary_tree_star(const Arrangement& arrangement);

/// Recursive halving, then doubling, among the largest power of two p <= P of ranks; the P-p others
/// fold their payload into a partner first and get the result back last. 2 log2 p rounds, and 2
/// more unless p = P; as many deep; 2(p-1)/p * M sent by each rank of the p, and M more by each
/// partner; 2(P-1)M in all. (Thakur, Rabenseifner & Gropp 2005, 10.1177/1094342005051521)
Schedule halving_doubling(const Arrangement& arrangement);

/// The same by Rabenseifner, as Open MPI has it: an extra and its partner first add one half each,
/// of which the partner gets the other, and the extra gets the result back last. 2 log2 p rounds,
/// and 3 more unless p = P; as many deep; 2.5M more for each of P-p extras: 2(P-1)M + (P-p)M/2 in
/// all.
Schedule folded_halving_doubling(const Arrangement& arrangement);

/// Partners exchange all that they have: the largest power of two p <= P of ranks, each with log2 p
/// others in turn; the P-p extras as in halving_doubling. For small payloads: log2 p rounds, and 2
/// more unless p = P; as many deep, or one less where at most half of the p have an extra; log2 p *
/// M sent by each rank of the p, and M more by each partner of an extra; (p log2 p + 2(P-p))M in
/// all. (As Open MPI and MPICH have it.)
Schedule recursive_doubling(const Arrangement& arrangement);

/// A reduce to rank 0, then a broadcast from it, as Gloo has them: reduce-scatter round a ring in
/// which each rank sends to the one before it, every rank's part to rank 0, and a binomial tree in
/// which rank r gets everything from r without its highest bit. P + ceil(log2 P) rounds,
/// P + floor(log2 P) deep; (2(P-1) + (P-1)/P)M in all.
Schedule reduce_broadcast(const Arrangement& arrangement);

/// Two rings in opposite directions with half of the payload each, as NCCL makes them to use links
/// both ways between neighbours. 2(P-1) rounds, as many deep; (P-1)/P * M from each rank to both of
/// its neighbours; 2(P-1)M in all.
Schedule opposite_rings(const Arrangement& arrangement);

/// Two binary trees that each carry half of the payload; no rank has children in both.
/// D = floor(log2 P); 2D + pieces - 1 rounds, 2D deep; each rank sends at most 2M; 2(P-1)M in all.
/// (Sanders, Speck & Traeff 2009, 10.1016/j.parco.2009.09.001; there an edge colouring also keeps a
/// rank from sending twice in one round, which we leave to the transport.)
Schedule double_tree(const Arrangement& arrangement);

/// The last n ranks serve one shard of M/n each. Synchronous: aggregation, then distribution, in 2
/// rounds, n*w transfers each; 2 deep; M up and M down per worker, 2wM in all.
///
/// Asynchronous: the same transfers; worker i pushes in round 2i and pulls in round 2i+1, so 2w
/// rounds, 2 deep. That is one legal order of many: rounds there order the transfers of one worker,
/// and workers may interleave in any way.
Schedule ps(const Arrangement& arrangement);

/// Each rank pulls the payload of one peer and averages it with its own (AD-PSGD, Lian et al. 2018,
/// arXiv:1710.06952). The peer is drawn uniformly from all ranks, and oneself stands for one's
/// successor, as in KungFu. 1 round, 1 deep; PM in all. Asynchronous: the round orders nothing but
/// says that a pull reads the peer's payload as it was.
Schedule pair_averaging(const Arrangement& arrangement);

/// Expected part of the payload that rank `to` pulls from rank `from` in one step of pair
/// averaging: 2/P from the puller's successor, 1/P from each other rank, and nothing from itself.
double pair_averaging_share(int ranks, int from, int to);

/// Every rank has a part of its payload for each other one and exchanges it with that one's: no
/// all-reduce, but what experts and sharded layers do. 1 round, 1 deep; M/P on every ordered pair;
/// (P-1)M in all.
Schedule all_to_all(const Arrangement& arrangement);

/// Binomial tree from rank 0 (what MPI broadcasts and Horovod's initial one do): ceil(log2 P)
/// rounds, floor(log2 P) deep; M over each of P-1 edges. REQUIRES: at least one rank.
Schedule broadcast(const Layout& layout);
Schedule broadcast(const Arrangement& arrangement);

}  // namespace tw::collective
