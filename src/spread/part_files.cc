// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spread/part_files.h"

#include "trainwire/base/error.h"
#include "trainwire/base/units.h"
#include "trainwire/cluster/parts.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/gather/partial.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/terminal/interrupt.h"
#include "trainwire/terminal/progress.h"
#include "trainwire/terminal/status.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <filesystem>
#include <span>

namespace tw::spread {

int write_part(const PartOrder& order, const std::string& path, command::Streams streams) {
  terminal::Progress progress(streams.err,
                              order.shows_progress && terminal::is_terminal(streams.err));
  const terminal::InterruptGuard guard;
  gather::ReadOptions how;
  how.table.window_ns = order.window_ns;
  how.filter = order.filter;
  how.progress = [&](std::int64_t done, std::int64_t all) { progress.update(done, all); };
  how.stop = [&] { return guard.interrupted(); };
  const auto parts = gather::read_partial(order.files, how);
  if (guard.interrupted()) return command::kInterrupted;
  std::error_code none;
  if (!order.replaces && std::filesystem::exists(path, none)) {
    throw SpecError(fmt::format("{} is there already; take another -o, or --force", path));
  }
  const std::string bytes = gather::encode_partial(parts);
  const os::FileDescriptor file = os::open_in_place(path + ".new");
  os::write_all(file, std::as_bytes(std::span(bytes)), path);
  std::filesystem::rename(path + ".new", path);
  if (order.tells) {
    fmt::print(streams.out, "{}: {} view{}, {}\nnext: trainwire analyze *.part\n", path,
               parts.size(), parts.size() == 1 ? "" : "s",
               readable(Bytes(static_cast<std::int64_t>(bytes.size()))));
  }
  return command::kDone;
}

std::optional<std::vector<std::string>> fetch_parts(const PartOrder& order,
                                                    const fleet::Launch& launch, int machines,
                                                    const std::string& folder,
                                                    command::Streams streams) {
  if (!order.replaces && std::filesystem::exists(folder)) {
    throw SpecError(fmt::format("{} is there already; take another -o, or --force", folder));
  }
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  terminal::Status status(streams.err, terminal::shown_on(streams.err, !order.shows_progress));
  const terminal::InterruptGuard guard;
  const cluster::Parts parts =
      cluster::make_parts({.launch = launch,
                           .machines = machines,
                           .files = order.files,
                           .window_ns = order.window_ns,
                           .filter = order.filter,
                           .folder = std::filesystem::absolute(folder).string(),
                           .tell = [&](const std::string& text) { status.tell(text); },
                           .stop = [&] { return guard.interrupted(); }});
  status.wipe();
  if (parts.interrupted) return {};
  if (parts.failure) {
    throw Error(fmt::format("{}{}; {} holds the {} parts that came: trainwire analyze {}/*.part",
                            *parts.failure,
                            parts.failed > 1 ? fmt::format(" (and {} more)", parts.failed - 1) : "",
                            folder, parts.paths.size(), folder));
  }
  return parts.paths;
}

}  // namespace tw::spread
