// SPDX-License-Identifier: Apache-2.0
// DCTCP (RFC 8257): the window shrinks by half the share of marked segments, averaged over round
// trips; growth, and the answer to losses, are Reno's.
#include "trainwire/netsim/congestion.h"

#include <algorithm>

namespace tw::netsim {
namespace {

constexpr double kGain = 1.0 / 16;

class Dctcp : public Congestion {
 public:
  int threshold(const Window& window, Cause cause) override {
    if (cause == Cause::Loss) return growth_->threshold(window, cause);
    return std::max(static_cast<int>(window.segments * (1 - alpha_ / 2)), 2);
  }

  void hear(const AckNews& news, Window&) override {
    acknowledged_ += news.delivered;
    if (news.marked) marked_ += news.delivered;
    if (news.first_unacknowledged < round_end_) return;
    if (acknowledged_ > 0) alpha_ += kGain * (marked_ / acknowledged_ - alpha_);
    acknowledged_ = marked_ = 0;
    round_end_ = news.next;
  }

  void grow(const AckNews& news, Window& window) override { growth_->grow(news, window); }
  double marked_share() const override { return alpha_; }

 private:
  double alpha_ = 1;
  double acknowledged_ = 0;
  double marked_ = 0;
  std::int64_t round_end_ = 0;
  std::unique_ptr<Congestion> growth_ = make_reno();
};

}  // namespace

std::unique_ptr<Congestion> make_dctcp() { return std::make_unique<Dctcp>(); }

}  // namespace tw::netsim
