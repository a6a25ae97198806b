// SPDX-License-Identifier: Apache-2.0
#include "trainwire/excerpt/cut.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/capture/reader.h"
#include "trainwire/capture/sink.h"
#include "trainwire/capture/writer.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

namespace tw::excerpt {
namespace {

/// One file, at the next of its packets that is selected.
class Strip {
 public:
  Strip(const gather::FileSummary& file, const Selection& selection, std::uint16_t first_interface)
      : reader_(capture::open_capture(file.path)),
        selection_(&selection),
        offset_ns_(file.clock_offset_ns),
        first_interface_(first_interface) {
    advance();
  }

  bool has_ended() const { return ended_; }
  /// REQUIRES: it has not ended.
  const packet::Record& record() const { return record_; }

  void advance() {
    while (reader_->next(record_)) {
      packet::Packet packet = reader_->decoded(record_);
      packet.time_ns -= offset_ns_;
      record_.time_ns = packet.time_ns;
      record_.interface = static_cast<std::uint16_t>(record_.interface + first_interface_);
      const packet::AddressTable& addresses = reader_->addresses();
      if (selects(*selection_, packet, addresses[packet.source], addresses[packet.destination])) {
        return;
      }
    }
    ended_ = true;
  }

 private:
  std::unique_ptr<capture::Reader> reader_;
  const Selection* selection_;
  std::int64_t offset_ns_;
  std::uint16_t first_interface_;
  packet::Record record_ = {};
  bool ended_ = false;
};

void require_readable_again(std::span<const gather::FileSummary> files, const std::string& path) {
  for (const gather::FileSummary& file : files) {
    if (file.path == "-") {
      throw SpecError("--cut reads the captures again, which standard input cannot; name a file");
    }
  }
  if (std::filesystem::exists(path)) {
    throw SpecError(fmt::format("--cut {}: it is there already; name another file or remove it",
                                printable(path)));
  }
}

/// The strip whose packet is the earliest; nullptr when all have ended.
Strip* earliest(std::vector<Strip>& strips) {
  Strip* first = nullptr;
  for (Strip& strip : strips) {
    if (strip.has_ended()) continue;
    if (first == nullptr || strip.record().time_ns < first->record().time_ns) first = &strip;
  }
  return first;
}

}  // namespace

std::uint64_t cut(std::span<const gather::FileSummary> files, const Selection& selection,
                  const std::string& path) {
  require_readable_again(files, path);
  std::vector<Strip> strips;
  capture::WriterOptions options{.interfaces = {}};
  for (const gather::FileSummary& file : files) {
    strips.emplace_back(file, selection, static_cast<std::uint16_t>(options.interfaces.size()));
    for (capture::Interface interface : file.facts.interfaces) {
      interface.ticks_per_second = 1'000'000'000;
      options.interfaces.push_back(std::move(interface));
    }
  }
  capture::Writer writer(capture::file_sink(path), std::move(options));
  std::uint64_t packets = 0;
  while (Strip* strip = earliest(strips)) {
    writer.write(strip->record());
    strip->advance();
    ++packets;
  }
  writer.finish();
  return packets;
}

}  // namespace tw::excerpt
