// SPDX-License-Identifier: Apache-2.0
// A ring all-reduce of one step in SimGrid: simgrid_ring RANKS BYTES RATE_BPS DELAY_S [SimGrid's options]. Ranks are the first
// hosts of a fat tree of k pods, k even and as small as they allow, which is trainwire's; each of 2(P-1) rounds sends a chunk to the
// successor and waits for the predecessor's and for its own, as MPI_Sendrecv does. Sends that nobody waits for would take SimGrid
// three times as long to the same result. Prints the simulated seconds.

#include <simgrid/s4u.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace s4u = simgrid::s4u;
using NetPoint = simgrid::kernel::routing::NetPoint;

std::pair<NetPoint*, NetPoint*> make_host(s4u::NetZone* zone,
                                          const std::vector<unsigned long>& /*where*/,
                                          unsigned long id) {
  const s4u::Host* host = zone->create_host("host" + std::to_string(id), "1Gf")->seal();
  return {host->get_netpoint(), nullptr};
}

unsigned pods_for(unsigned hosts) {
  unsigned k = 2;
  while (k * k * k / 4 < hosts) k += 2;
  return k;
}

void make_fat_tree(unsigned hosts, double bytes_per_s, double delay_s) {
  const unsigned k = pods_for(hosts);
  const s4u::FatTreeParams shape(3, {k / 2, k / 2, k}, {1, k / 2, k / 2}, {1, 1, 1});
  s4u::create_fatTree_zone("tree", nullptr, shape, s4u::ClusterCallbacks(make_host), bytes_per_s,
                           delay_s, s4u::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
}

void train(unsigned rank, unsigned ranks, std::uint64_t chunk) {
  static int gradient;
  s4u::Mailbox* own = s4u::Mailbox::by_name(std::to_string(rank));
  s4u::Mailbox* next = s4u::Mailbox::by_name(std::to_string((rank + 1) % ranks));
  for (unsigned round = 0; round < 2 * (ranks - 1); ++round) {
    const s4u::CommPtr sent = next->put_async(&gradient, chunk);
    own->get<int>();
    sent->wait();
  }
}

}  // namespace

int main(int argc, char** argv) {
  s4u::Engine engine(&argc, argv);
  if (argc != 5) {
    std::fputs("simgrid_ring: RANKS BYTES RATE_BPS DELAY_S\n", stderr);
    return 2;
  }
  const auto ranks = static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10));
  const std::uint64_t chunk = std::strtoull(argv[2], nullptr, 10) / ranks;
  make_fat_tree(ranks, std::strtod(argv[3], nullptr) / 8, std::strtod(argv[4], nullptr));
  for (unsigned rank = 0; rank < ranks; ++rank) {
    s4u::Host* host = engine.host_by_name("host" + std::to_string(rank));
    s4u::Actor::create("rank" + std::to_string(rank), host, train, rank, ranks, chunk);
  }
  engine.run();
  std::printf("%.9f\n", s4u::Engine::get_clock());
}
