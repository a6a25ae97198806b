// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/count.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <utility>

namespace tw::collective {
namespace {

/// Sum of floor((slope * i + offset) / modulus) for i in [0, n), for non-negative arguments: the
/// lattice points under a line, counted by exchanging the axes as Euclid's algorithm does. O(log).
std::int64_t floor_sum(std::int64_t n, std::int64_t modulus, std::int64_t slope,
                       std::int64_t offset) {
  std::int64_t sum = 0;
  while (true) {
    sum += n * (n - 1) / 2 * (slope / modulus) + n * (offset / modulus);
    slope %= modulus;
    offset %= modulus;
    const std::int64_t top = slope * n + offset;
    if (top < modulus) return sum;
    n = top / modulus;
    offset = top % modulus;
    std::swap(slope, modulus);
  }
}

/// How many of the n chunk numbers (start + i * stride) mod chunks lie below `limit` < chunks.
std::int64_t below(std::int64_t limit, std::int64_t n, std::int64_t start, std::int64_t stride,
                   std::int64_t chunks) {
  stride = (stride % chunks + chunks) % chunks;
  if (2 * stride > chunks) {
    // The same numbers from the other end: a small slope ends Euclid's algorithm sooner.
    start = (start + (n - 1) * stride) % chunks;
    stride = chunks - stride;
  }
  // x mod c < limit exactly when floor(x/c) - floor((x-limit)/c) is 1 and not 0.
  return floor_sum(n, chunks, stride, start) -
         floor_sum(n, chunks, stride, start + chunks - limit) + n;
}

std::int64_t window_elements(const Schedule& schedule, const Transfer& t, std::int64_t elements) {
  return chunk_begin(elements, schedule.chunks, t.chunk + t.width) -
         chunk_begin(elements, schedule.chunks, t.chunk);
}

/// Transfers and the elements that they move.
struct Tally {
  std::int64_t transfers = 0;
  std::int64_t elements = 0;

  Tally& operator+=(const Tally& other) {
    transfers += other.transfers;
    elements += other.elements;
    return *this;
  }
};

/// Transfers [first, first + n) of a strand as a strand of their own.
Strand part(const Schedule& schedule, const Strand& strand, std::int64_t first, std::int64_t n) {
  const Transfer start = transfer(schedule, strand, first);
  Strand result = strand;
  result.round = start.round;
  result.from = start.from;
  result.to = start.to;
  result.chunk = start.chunk;
  result.count = n;
  return result;
}

/// The other ends of a strand in the program of `rank`: number i is (first + i * stride) mod ranks.
struct Peers {
  bool rank_sends;
  int first;
  int stride;
};

Peers peers_of(const Strand& strand, int rank) {
  if (strand.from == rank) return {true, strand.to, strand.to_stride};
  return {false, strand.from, strand.from_stride};
}

/// Ranks [begin, end).
struct Run {
  int begin;
  int end;
};

std::int64_t overlap(Run a, Run b) {
  return std::max(0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
}

/// The ranks of each host as runs of neighbours: one run a host in most layouts.
class Places {
 public:
  explicit Places(const Layout& layout) : runs_(static_cast<std::size_t>(layout.hosts)) {
    for (int rank = 0; rank < layout.ranks(); ++rank) {
      auto& runs = runs_.at(static_cast<std::size_t>(layout.host(rank)));
      if (!runs.empty() && runs.back().end == rank) {
        ++runs.back().end;
      } else {
        runs.push_back({rank, rank + 1});
      }
    }
  }

  const std::vector<Run>& on(int host) const { return runs_[static_cast<std::size_t>(host)]; }

 private:
  std::vector<std::vector<Run>> runs_;
};

/// A schedule on a layout with a payload: what all counts below start from.
struct Setting {
  const Schedule& schedule;
  const Layout& layout;
  std::int64_t elements;

  Tally tally(const Strand& strand) const {
    return {strand.count, strand_elements(schedule, strand, elements)};
  }
};

void require_match(const Schedule& schedule, const Layout& layout) {
  check(schedule.ranks == layout.ranks(), "a schedule is counted on a layout of as many ranks");
}

/// The part of a strand with peers first, first + 1, ... (modulo the ranks) that meets `runs`.
Tally part_within(const Setting& setting, const Strand& strand, int first,
                  const std::vector<Run>& runs) {
  const std::int64_t ranks = setting.schedule.ranks;
  Tally within;
  for (const Run& run : runs) {
    // Unrolled, the peers are [first, first + count) and a run appears once more `ranks` further
    // on.
    for (std::int64_t begin = run.begin; begin < first + strand.count; begin += ranks) {
      const std::int64_t end = begin + run.end - run.begin;
      const std::int64_t from = std::max<std::int64_t>(begin, first);
      const std::int64_t to = std::min<std::int64_t>(end, first + strand.count);
      if (from < to) {
        within += setting.tally(part(setting.schedule, strand, from - first, to - from));
      }
    }
  }
  return within;
}

/// The part of a strand of `rank` that stays inside its host.
Tally local_part(const Setting& setting, const Places& places, const Strand& strand, int rank) {
  const Peers peers = peers_of(strand, rank);
  const int host = setting.layout.host(rank);
  if (peers.stride == 0) {
    return setting.layout.host(peers.first) == host ? setting.tally(strand) : Tally{};
  }
  if (peers.stride == 1) return part_within(setting, strand, peers.first, places.on(host));
  Tally local;
  for (std::int64_t i = 0; i < strand.count; ++i) {
    const Strand one = part(setting.schedule, strand, i, 1);
    if (setting.layout.host(peers_of(one, rank).first) == host) local += setting.tally(one);
  }
  return local;
}

/// What one sending host's transfers bring to one other host.
struct HostShare {
  int host;
  Tally tally;
};

/// Cuts a sending strand where the receiving host changes.
void append_shares(const Setting& setting, const Strand& strand, std::vector<HostShare>& shares) {
  if (strand.to_stride == 0) {
    shares.push_back({setting.layout.host(strand.to), setting.tally(strand)});
    return;
  }
  const auto host_at = [&](std::int64_t i) {
    return setting.layout.host(transfer(setting.schedule, strand, i).to);
  };
  for (std::int64_t first = 0; first < strand.count;) {
    const int host = host_at(first);
    std::int64_t end = first + 1;
    while (end < strand.count && host_at(end) == host) ++end;
    shares.push_back({host, setting.tally(part(setting.schedule, strand, first, end - first))});
    first = end;
  }
}

std::vector<HostShare> shares_from(const Setting& setting, const std::vector<Run>& senders) {
  std::vector<HostShare> shares;
  for (const Run& run : senders) {
    for (int rank = run.begin; rank < run.end; ++rank) {
      for (const Strand& strand : setting.schedule.program(rank)) {
        if (strand.from == rank) append_shares(setting, strand, shares);
      }
    }
  }
  std::sort(shares.begin(), shares.end(),
            [](const HostShare& a, const HostShare& b) { return a.host < b.host; });
  return shares;
}

enum class Side { Receivers, Senders };

/// The other ends of a strand as runs of neighbours, in one or two of them where they pass the last
/// rank.
void append_peers(const Schedule& schedule, const Strand& strand, Side side,
                  std::vector<Run>& runs) {
  const bool sends = side == Side::Receivers;
  const int stride = sends ? strand.to_stride : strand.from_stride;
  const bool neighbours = stride == 1 && strand.count <= schedule.ranks;
  const std::int64_t steps = stride == 0 || neighbours ? 1 : strand.count;
  for (std::int64_t i = 0; i < steps; ++i) {
    const Transfer t = transfer(schedule, strand, i);
    const int peer = sends ? t.to : t.from;
    const std::int64_t end = peer + (neighbours ? strand.count : 1);
    runs.push_back({peer, static_cast<int>(std::min<std::int64_t>(end, schedule.ranks))});
    if (end > schedule.ranks) runs.push_back({0, static_cast<int>(end - schedule.ranks)});
  }
}

/// Overlapping and touching runs joined, in order.
std::vector<Run> joined(std::vector<Run> runs) {
  std::sort(runs.begin(), runs.end(), [](Run a, Run b) { return a.begin < b.begin; });
  std::vector<Run> disjoint;
  for (const Run& run : runs) {
    if (disjoint.empty() || run.begin > disjoint.back().end) {
      disjoint.push_back(run);
    } else {
      disjoint.back().end = std::max(disjoint.back().end, run.end);
    }
  }
  return disjoint;
}

/// The ranks that `rank` sends to or receives from, as disjoint runs in order.
std::vector<Run> peers_of(const Schedule& schedule, int rank, Side side) {
  const bool sends = side == Side::Receivers;
  std::vector<Run> runs;
  for (const Strand& strand : schedule.program(rank)) {
    const int own = sends ? strand.from : strand.to;
    const int own_stride = sends ? strand.from_stride : strand.to_stride;
    if (own == rank && own_stride == 0) append_peers(schedule, strand, side, runs);
  }
  return joined(std::move(runs));
}

/// Ranks in both lists of disjoint runs.
std::int64_t common(const std::vector<Run>& a, const std::vector<Run>& b) {
  std::int64_t ranks = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    ranks += overlap(a[i], b[j]);
    a[i].end < b[j].end ? ++i : ++j;
  }
  return ranks;
}

}  // namespace

std::int64_t strand_elements(const Schedule& schedule, const Strand& strand,
                             std::int64_t elements) {
  check(elements >= 0, "a payload has no fewer than 0 elements");
  check(strand.count >= 0 && strand.count < (std::int64_t{1} << 31), "a strand is below 2^31 long");
  if (strand.width == 1) {
    const std::int64_t longer =
        below(elements % schedule.chunks, strand.count, transfer(schedule, strand, 0).chunk,
              strand.chunk_stride, schedule.chunks);
    return strand.count * (elements / schedule.chunks) + longer;
  }
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < strand.count; ++i) {
    sum += window_elements(schedule, transfer(schedule, strand, i), elements);
  }
  return sum;
}

Count count(const Schedule& schedule, const Layout& layout, std::int64_t elements) {
  require_match(schedule, layout);
  const Setting setting{schedule, layout, elements};
  const Places places(layout);
  const auto hosts = static_cast<std::size_t>(layout.hosts);
  Count result{.host_sent_elements = std::vector<std::int64_t>(hosts, 0),
               .host_received_elements = std::vector<std::int64_t>(hosts, 0)};
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    const auto host = static_cast<std::size_t>(layout.host(rank));
    Tally sent;
    for (const Strand& strand : schedule.program(rank)) {
      const Tally all = setting.tally(strand);
      const Tally local = local_part(setting, places, strand, rank);
      if (!peers_of(strand, rank).rank_sends) {
        result.host_received_elements[host] += all.elements - local.elements;
        continue;
      }
      result.host_sent_elements[host] += all.elements - local.elements;
      result.local_transfers += local.transfers;
      result.local_elements += local.elements;
      sent += all;
    }
    result.transfers += sent.transfers;
    result.elements += sent.elements;
    result.rank_sent_elements_max = std::max(result.rank_sent_elements_max, sent.elements);
  }
  return result;
}

void for_each_host_pair(const Schedule& schedule, const Layout& layout, std::int64_t elements,
                        const PairVisitor& visit) {
  require_match(schedule, layout);
  const Setting setting{schedule, layout, elements};
  const Places places(layout);
  for (int from_host = 0; from_host < layout.hosts; ++from_host) {
    const std::vector<HostShare> shares = shares_from(setting, places.on(from_host));
    for (std::size_t i = 0; i < shares.size();) {
      const int to_host = shares[i].host;
      Tally sum;
      for (; i < shares.size() && shares[i].host == to_host; ++i) sum += shares[i].tally;
      if (to_host != from_host) visit(from_host, to_host, sum.elements, sum.transfers);
    }
  }
}

Flows flows(const Schedule& schedule, const Layout& layout) {
  require_match(schedule, layout);
  const Places places(layout);
  Flows sum;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    const std::vector<Run> receivers = peers_of(schedule, rank, Side::Receivers);
    const std::vector<Run> senders = peers_of(schedule, rank, Side::Senders);
    std::int64_t sent = 0;
    std::int64_t mutual = common(receivers, senders);
    for (const Run& run : receivers) sent += run.end - run.begin;
    for (const Run& local : places.on(layout.host(rank))) {
      const std::vector<Run> here{local};
      sent -= common(receivers, here);
      for (const Run& run : receivers) {
        const Run cut{std::max(run.begin, local.begin), std::min(run.end, local.end)};
        if (cut.begin < cut.end) mutual -= common({cut}, senders);
      }
    }
    sum.gradient += sent;
    sum.acknowledgement += sent - mutual;
  }
  return sum;
}

}  // namespace tw::collective
