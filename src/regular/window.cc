// SPDX-License-Identifier: Apache-2.0
#include "trainwire/regular/window.h"

#include <algorithm>

namespace tw::regular {

Window::Sum Window::joined(const Sum& before, const Sum& behind) {
  const bool pairs = before.source != kNone && behind.place != kNone;
  const std::int64_t pair = pairs ? before.source + behind.place : kNone;
  return {.source = std::max(before.source, behind.source),
          .place = std::max(before.place, behind.place),
          .pair = std::max({before.pair, behind.pair, pair})};
}

void Window::clear() {
  items_.clear();
  head_ = middle_ = 0;
  last_ = kNone;
  behind_ = {};
}

void Window::push_source(std::int64_t value, std::int64_t number) {
  last_ = number;
  items_.push_back({.sum = {.source = value}, .number = number});
  behind_ = joined(behind_, items_.back().sum);
}

void Window::push_place(std::int64_t value) {
  if (head_ == items_.size()) return;  // there is no source before it
  items_.push_back({.sum = {.place = value}, .number = last_});
  behind_ = joined(behind_, items_.back().sum);
}

/// What is behind becomes the front.
void Window::turn() {
  middle_ = items_.size();
  behind_ = {};
  for (std::size_t i = middle_; i > head_ + 1; --i) {
    items_[i - 2].sum = joined(items_[i - 2].sum, items_[i - 1].sum);
  }
}

void Window::drop_below(std::int64_t number) {
  while (head_ < items_.size() && items_[head_].number < number) {
    if (head_ >= middle_) turn();
    ++head_;
  }
}

Window::Sum Window::all() const {
  return head_ < middle_ ? joined(items_[head_].sum, behind_) : behind_;
}

std::int64_t Window::best_source() const { return all().source; }
std::int64_t Window::best_pair() const { return all().pair; }

}  // namespace tw::regular
