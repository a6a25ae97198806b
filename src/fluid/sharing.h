// SPDX-License-Identifier: Apache-2.0
// Flows that share links as fluids: weighted max-min rates, each flow with a cap of its own.
//
// A flow's *level* is its rate over its weight. Rates are max-min when nobody's level can be raised
// without lowering that of a flow whose level is not higher: equivalently (this is the certificate)
// no link carries more than it can, and every flow is at its cap or has a *saturated* link on its
// way on which no flow has a higher level. They exist, and are the only ones.
//
// Weights stand for what makes flows unequal: round trips, bytes already sent (priorities are priorities.h's); caps for
// what holds a flow back by itself: a window, loss, a socket.
//
// Changes are made one by one and solved for together, when rates are asked for. Then flows are
// looked at again that share a saturated link with a changed one; from there on only those whose
// certificate no longer holds, and those that have more than is right beside one without, until
// everybody has a certificate. A change goes no further than rates do.
//
// Limits: rates follow changes at once; what a transport needs to find its rate is the caller's.

#pragma once

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tw::fluid {

inline constexpr double kNoCap = std::numeric_limits<double>::infinity();

class Sharing {
 public:
  /// Capacities of links, by number, in any unit of rate; at least 0.
  explicit Sharing(std::vector<double> capacities);

  /// A flow over those links; none: only its cap holds it. Returns its number, which is free again
  /// once the flow was removed. REQUIRES: weight > 0, cap >= 0, each link at most once.
  int add(std::span<const int> links, double weight = 1, double cap = kNoCap);
  void remove(int flow);
  void set_cap(int flow, double cap);
  void set_weight(int flow, double weight);
  void set_capacity(int link, double capacity);

  /// Solves for what has changed. Returns the flows whose rate is another than before, each once.
  std::span<const int> solve();
  /// As solved last; infinite without links and cap.
  double rate(int flow) const { return flows_[at(flow)].rate; }
  /// Of a flow.
  std::vector<int> links(int flow) const;
  double capacity(int link) const { return links_[at(link)].capacity; }
  /// On a link.
  std::span<const int> flows(int link) const { return links_[at(link)].flows; }
  /// What all flows on a link carry together, as solved last.
  double carried(int link) const;

  /// For the cache, when flows on it are added soon.
  void prefetch_link(int link) const { __builtin_prefetch(&links_[at(link)]); }

  /// Whether the rates are the max-min ones, within `tolerance` of each value: the definition above,
  /// checked anew.
  bool certified(double tolerance = 1e-9) const;

 private:
  struct Crossing {
    int link = 0;
    int place = 0;  ///< of the flow among those of the link
  };
  // Most paths, and most links' flows, fit into memory beside what is known of them: what others
  // ask of a flow into one cache line, its links into a second, a link into one.
  struct alignas(64) Flow {
    double weight = 1;
    double cap = kNoCap;
    double rate = 0;
    double alone = kNoCap;  ///< level at which a link that it has for itself is full
    bool present = false;
    bool fixed = false;     ///< in the solution at hand
    bool affected = false;  ///< to be solved for
    boost::container::small_vector<Crossing, 6> links = {};

    double level() const { return rate / weight; }
    /// The most that it may have whatever others do, and the rate at that.
    double most() const { return std::min(cap / weight, alone); }
    double rate_at_most() const { return cap / weight <= alone ? cap : alone * weight; }
  };
  struct alignas(64) Link {
    double capacity = 0;
    boost::container::small_vector<int, 4> flows = {};
    double highest = 0;     ///< level of a flow on it, in the last solution that it was part of
    int filling = -1;       ///< its number in the solution at hand; -1: it is not part of it
    bool is_full = false;   ///< in the last solution that it was part of
    bool was_full = false;  ///< in the one before
  };
  static_assert(sizeof(Flow) <= 128 && sizeof(Link) <= 64);
  /// Of a link, while a solution is being found.
  struct Filling {
    int link = 0;
    int open = 0;               ///< flows that have nothing yet
    double left = 0;            ///< capacity that nobody has yet
    double weight = 0;          ///< of the open flows
    double summed = 0;          ///< the same when it was last summed up
    std::uint64_t version = 0;  ///< of its entry in the heap

    double level() const { return std::max(left, 0.0) / std::max(weight, 1e-300); }
  };
  static std::size_t at(int number) { return static_cast<std::size_t>(number); }

  void touch(int flow);
  void touch_link(int link);
  bool settle_alone(int flow);
  void look_at_own_links(Flow& flow) const;
  void settle_own_links(const Flow& flow);
  bool settle_link(int link);
  void reach_flow(int flow);
  void reach_link(int link);
  void reach_touched(int link);
  void reach_flows_on(int link);
  void spread(std::size_t first);
  void look_at_links();
  bool is_held(const Flow& flow) const;
  void reach_higher(const Flow& flow);
  bool reach_wronged();
  void fill();
  void prepare();
  void fill_few();
  void fill_many();
  void finish();
  void fix(int flow, double rate);
  void weigh(Filling& filling) const;
  void push(int filling);

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<int> free_;
  std::vector<int> touched_links_;  ///< whose flows are to be solved for
  std::vector<int> touched_flows_;
  std::vector<int> solved_flows_;  ///< of the solution at hand
  std::vector<Filling> fillings_;  ///< likewise
  std::vector<double> before_;     ///< rates of the solved flows
  std::vector<int> changed_;
  struct Level {
    double level = 0;
    int number = 0;  ///< of a filling, or of a flow at its cap
    std::uint64_t version = 0;
  };
  std::vector<Level> heap_;
};

}  // namespace tw::fluid
