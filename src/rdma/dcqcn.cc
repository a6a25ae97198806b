// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rdma/dcqcn.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace tw::rdma {
namespace {

constexpr double kReference = 25e9;  ///< bit/s for which the constants are given
constexpr Duration kNever = Duration::max();

}  // namespace

DcqcnOptions dcqcn_of_cards(BitRate line) {
  const double scale = line.bits_per_second() / kReference;
  return {.additive = BitRate(5e6 * scale),
          .hyper = BitRate(50e6 * scale),
          .least = BitRate(100e6 * scale)};
}

DcqcnOptions dcqcn_of_paper(BitRate line) {
  DcqcnOptions options = dcqcn_of_cards(line);
  options.notice_gap = std::chrono::microseconds(50);
  options.alpha_period = options.decrease_period = std::chrono::microseconds(50);
  options.increase_period = std::chrono::microseconds(55);
  return options;
}

Dcqcn::Dcqcn(const DcqcnOptions& options, BitRate line)
    : options_(options), line_(line.bits_per_second()), rate_(line_), target_(line_) {}

void Dcqcn::notified(Duration now) {
  if (!std::exchange(begun_, true)) {
    begin_ = now;
  } else {
    catch_up(now);
    settle_alpha(now);
    noticed_ = true;
  }
  if (decrease_at_ != kNever) return;
  const Duration period = options_.decrease_period;
  decrease_at_ = begin_ + ((now - begin_) / period + 1) * period;
}

double Dcqcn::rate(Duration now) {
  catch_up(now);
  return rate_;
}

void Dcqcn::catch_up(Duration now) {
  while (std::min(decrease_at_, increase_at_) <= now) {
    if (decrease_at_ <= increase_at_) {
      decrease();
    } else {
      increase();
    }
  }
}

/// All periods that are over by now: only the first of them can have had a notice.
void Dcqcn::settle_alpha(Duration now) {
  const std::int64_t over = (now - begin_) / options_.alpha_period - alpha_periods_;
  if (over <= 0) return;
  alpha_periods_ += over;
  alpha_ *= std::pow(1 - options_.gain, static_cast<double>(over));
  if (std::exchange(noticed_, false)) {
    alpha_ += options_.gain * std::pow(1 - options_.gain, static_cast<double>(over - 1));
  }
}

void Dcqcn::decrease() {
  const Duration now = std::exchange(decrease_at_, kNever);
  settle_alpha(now);
  // A second cut in a row keeps the target of the first.
  if (stage_ > 0 || increase_at_ == kNever) target_ = rate_;
  rate_ = std::max(options_.least.bits_per_second(), rate_ * (1 - alpha_ / 2));
  stage_ = 0;
  increase_at_ = now + options_.increase_period;
}

void Dcqcn::increase() {
  if (stage_ == options_.recoveries) target_ += options_.additive.bits_per_second();
  if (stage_ > options_.recoveries) target_ += options_.hyper.bits_per_second();
  target_ = std::min(target_, line_);
  rate_ = (rate_ + target_) / 2;
  ++stage_;
  increase_at_ += options_.increase_period;
  if (rate_ > 0.9999 * line_) {
    rate_ = target_ = line_;
    increase_at_ = kNever;  // there is nothing to gain until the next cut
  }
}

}  // namespace tw::rdma
