// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/source.h"

#include "trainwire/capture/pieces.h"
#include "trainwire/gather/piece_source.h"
#include "trainwire/gather/stream_source.h"

#include <algorithm>
#include <utility>

namespace tw::gather {
namespace {

/// Below, starting threads and reading ahead of the end is not worth it.
constexpr std::int64_t kWorthPieces = 64 * capture::kPieceBytes;
/// Threads that read besides the one that takes the packets; more would wait for that.
constexpr std::size_t kMostHelpers = 3;

}  // namespace

std::unique_ptr<Source> open_source(Opened file, Numbering& numbering,
                                    const SourceOptions& options) {
  const capture::FileFacts& facts = file.reader->facts();
  const bool large = facts.file_bytes >= kWorthPieces && facts.compression == "none";
  if (large && options.filter == nullptr && file.first.empty()) {
    if (auto pieces = capture::PiecedFile::open(file.path)) {
      const std::size_t helpers =
          std::clamp<std::size_t>(options.processors, 1, kMostHelpers + 1) - 1;
      return std::make_unique<PieceSource>(std::move(pieces), facts, numbering, helpers);
    }
  }
  return std::make_unique<StreamSource>(std::move(file), numbering, options.filter);
}

std::size_t read_packets(capture::Reader& reader, Filter* filter, std::span<packet::Packet> into) {
  if (filter == nullptr) return reader.read(into);
  std::size_t count = 0;
  packet::Record record;
  while (count < into.size() && reader.next(record)) {
    const std::uint32_t link_type = reader.facts().interfaces[record.interface].link_type;
    if (filter->matches(record, link_type)) into[count++] = reader.decoded(record);
  }
  return count;
}

}  // namespace tw::gather
