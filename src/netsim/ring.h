// SPDX-License-Identifier: Apache-2.0
// A queue in one piece of memory that grows by doubling, with numbered elements: element n stays
// element n until it is dropped from the front.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tw::netsim {

template <class T>
class Ring {
 public:
  bool empty() const { return begin_ == end_; }
  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return end_; }
  std::int64_t size() const { return end_ - begin_; }

  /// REQUIRES, as below: begin() <= number < end().
  T& operator[](std::int64_t number) { return places_[place(number)]; }
  const T& operator[](std::int64_t number) const { return places_[place(number)]; }
  T& front() { return (*this)[begin_]; }
  const T& front() const { return (*this)[begin_]; }

  T& push(T value) {
    if (static_cast<std::size_t>(size()) == places_.size()) grow();
    T& into = places_[place(end_++)];
    into = std::move(value);
    return into;
  }
  void pop() { ++begin_; }

 private:
  std::size_t place(std::int64_t number) const {
    return static_cast<std::size_t>(number) & (places_.size() - 1);
  }

  void grow() {
    std::vector<T> larger(places_.empty() ? 16 : 2 * places_.size());
    for (std::int64_t i = begin_; i < end_; ++i) {
      larger[static_cast<std::size_t>(i) & (larger.size() - 1)] = std::move((*this)[i]);
    }
    places_ = std::move(larger);
  }

  std::vector<T> places_;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
};

}  // namespace tw::netsim
