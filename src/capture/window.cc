// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/window.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cstring>

namespace tw::capture {

void Window::forget(std::size_t used) {
  check(used <= size(), "only bytes of the window can be forgotten");
  begin_ += used;
}

std::span<std::byte> Window::room_for(std::size_t wanted) {
  if (begin_ > 0) {
    if (size() > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, size());
    end_ -= begin_;
    begin_ = 0;
  }
  if (wanted > buffer_.size()) buffer_.resize(std::max(wanted, 2 * buffer_.size()));
  return std::span(buffer_).subspan(end_);
}

}  // namespace tw::capture
