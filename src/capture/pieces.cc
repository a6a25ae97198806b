// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/pieces.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/window.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/packet/past_caches.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace tw::capture {
namespace {

/// Read beyond a piece at once, for its last record: more than most packets.
constexpr std::int64_t kOverhang = 4096;
constexpr std::size_t kFirstRoom = 2048;
/// Packets that are decoded before they are passed on: 4 KiB, which stay in the first-level cache.
constexpr std::size_t kPassing = 64;

std::ptrdiff_t read_at(int fd, std::span<std::byte> into, std::int64_t offset) {
  std::ptrdiff_t count = 0;
  do {
    count = ::pread(fd, into.data(), into.size(), offset);
  } while (count < 0 && errno == EINTR);
  return count;
}

/// Asked before opening: opening a named pipe would wait for its writer.
bool is_regular(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

/// A stretch of a file, read by position at once, and what follows it only as far as it is wanted.
class PieceReader::PartSource final : public ByteSource {
 public:
  PartSource(int fd, std::int64_t piece_bytes)
      : fd_(fd), window_(static_cast<std::size_t>(piece_bytes + kOverhang)) {}

  void begin(std::int64_t offset, std::int64_t bytes) {
    window_.clear();
    position_ = offset;
    end_ = offset + bytes;
    ended_ = false;
    failure_.reset();
  }
  std::span<const std::byte> advance(std::size_t used, std::size_t wanted) override {
    window_.forget(used);
    while (window_.size() < wanted && !ended_) read_more(wanted);
    return window_.bytes();
  }
  std::int64_t stored_position() const override { return position_; }
  const std::optional<std::string>& failure() const override { return failure_; }

 private:
  void read_more(std::size_t wanted) {
    const auto stretch = static_cast<std::size_t>(std::max<std::int64_t>(end_ - position_, 0));
    const std::size_t bytes = std::max(stretch, wanted - window_.size());
    const auto room = window_.room_for(window_.size() + bytes);
    const auto count = read_at(fd_, room.first(bytes), position_);
    if (count <= 0) {
      ended_ = true;
      if (count < 0) failure_ = "reading failed: " + std::generic_category().message(errno);
      return;
    }
    window_.append(static_cast<std::size_t>(count));
    position_ += count;
  }

  int fd_;
  Window window_;
  std::int64_t position_ = 0;
  std::int64_t end_ = 0;
  bool ended_ = false;
  std::optional<std::string> failure_;
};

std::unique_ptr<PiecedFile> PiecedFile::open(const std::string& path, std::int64_t piece_bytes) {
  check(piece_bytes > 0, "a piece holds something");
  if (path == "-" || !is_regular(path)) return nullptr;
  std::unique_ptr<PiecedFile> file(new PiecedFile);
  file->fd_ = os::open_to_read(path);
  file->piece_bytes_ = piece_bytes;
  const auto count = read_at(file->fd_.get(), file->header_, 0);
  if (count != static_cast<std::ptrdiff_t>(kPcapFileHeader) || !is_pcap(file->header_)) {
    return nullptr;
  }
  return file;
}

std::unique_ptr<Reader> PiecedFile::rest(std::int64_t offset) const {
  os::FileDescriptor fd(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  if (!fd.is_open() || ::lseek(fd.get(), offset, SEEK_SET) < 0) {
    throw os::errno_error("reading on in the capture", errno);
  }
  auto source = descriptor_source(std::move(fd));
  auto format = pcap_format(*source, {.header = header_, .begin = offset});
  return reader_of(std::move(source), std::move(format));
}

PieceReader::PieceReader(const PiecedFile& file, TakenBy taken_by, packet::AddressTable known)
    : file_(file),
      source_(std::make_unique<PartSource>(file.descriptor().get(), file.piece_bytes())),
      addresses_(std::move(known)),
      passing_(taken_by == TakenBy::Another ? kPassing : 0) {}

PieceReader::~PieceReader() = default;

void PieceReader::read(std::int64_t number, Piece& piece, std::optional<std::int64_t> begin) {
  const std::int64_t from = number * file_.piece_bytes();
  const std::int64_t to = from + file_.piece_bytes();
  piece.count = 0;
  piece.addresses.clear();
  piece.begin.reset();
  piece.end = from;
  source_->begin(from, file_.piece_bytes() + kOverhang);
  const auto bytes = source_->advance(0, 1);
  piece.ended = bytes.empty();
  if (number == 0) begin = static_cast<std::int64_t>(kPcapFileHeader);
  const std::optional<std::size_t> first =
      begin ? static_cast<std::size_t>(*begin - from) : likely_record(bytes, file_.header());
  if (!first || *first > bytes.size() || from + static_cast<std::int64_t>(*first) >= to) return;

  source_->advance(*first, 0);
  piece.begin = from + static_cast<std::int64_t>(*first);
  const auto format =
      pcap_format(*source_, {.header = file_.header(), .begin = *piece.begin, .end = to});
  decode_all(*format, piece);
}

std::size_t PieceReader::decode_some(Format& format, Piece& piece) {
  const std::span<packet::Packet> room = std::span(piece.packets).subspan(piece.count);
  if (passing_.empty()) return format.read(room, addresses_);
  const std::size_t count =
      format.read(std::span(passing_).first(std::min(kPassing, room.size())), addresses_);
  packet::copy_past_caches(std::span(passing_).first(count), room.data());
  return count;
}

void PieceReader::decode_all(Format& format, Piece& piece) {
  const std::size_t known = addresses_.size();
  if (piece.packets.empty()) piece.packets.resize(kFirstRoom);
  while (const std::size_t count = decode_some(format, piece)) {
    piece.count += count;
    if (piece.count == piece.packets.size()) piece.packets.resize(2 * piece.count);
  }
  piece.end = format.offset();
  piece.ended = format.ended();
  for (std::size_t i = known; i < addresses_.size(); ++i) {
    piece.addresses.push_back(addresses_[static_cast<std::uint32_t>(i)]);
  }
}

}  // namespace tw::capture
