// SPDX-License-Identifier: Apache-2.0
#include "trainwire/load/read_text.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/os/file_descriptor.h"

#include <fmt/format.h>

#include <cerrno>
#include <vector>

namespace tw::load {

std::string read_text(const std::string& path, std::size_t most) {
  const os::FileDescriptor file = os::open_to_read(path);
  std::string text;
  std::vector<std::byte> buffer(1 << 16);
  for (;;) {
    const std::ptrdiff_t count = os::read_some(file, buffer);
    if (count < 0) throw os::errno_error(fmt::format("reading {}", path), errno);
    if (count == 0) return text;
    text.append(reinterpret_cast<const char*>(buffer.data()), static_cast<std::size_t>(count));
    if (text.size() > most) {
      throw DataError(fmt::format("{}: more than {} bytes; is it the right file?", path, most));
    }
  }
}

}  // namespace tw::load
