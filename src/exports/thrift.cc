// SPDX-License-Identifier: Apache-2.0
#include "trainwire/exports/thrift.h"

#include "trainwire/base/error.h"

namespace tw::exports {
namespace {

char byte(std::uint64_t value) { return static_cast<char>(static_cast<unsigned char>(value)); }

}  // namespace

void ThriftWriter::varint(std::uint64_t value) {
  while (value >= 0x80) {
    bytes_ += byte((value & 0x7f) | 0x80);
    value >>= 7;
  }
  bytes_ += byte(value);
}

void ThriftWriter::zigzag(std::int64_t value) {
  varint((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

void ThriftWriter::field(int id, ThriftType type) {
  const int delta = id - last_ids_.back();
  check(delta > 0 && delta < 16, "fields of a struct come by rising number");
  bytes_ += byte(static_cast<std::uint64_t>(delta) << 4 | static_cast<std::uint64_t>(type));
  last_ids_.back() = id;
}

ThriftWriter& ThriftWriter::i32(int id, std::int32_t value) {
  field(id, ThriftType::Integer32);
  zigzag(value);
  return *this;
}

ThriftWriter& ThriftWriter::i64(int id, std::int64_t value) {
  field(id, ThriftType::Integer64);
  zigzag(value);
  return *this;
}

ThriftWriter& ThriftWriter::binary(int id, std::string_view bytes) {
  field(id, ThriftType::Binary);
  return binary(bytes);
}

ThriftWriter& ThriftWriter::begin_struct(int id) {
  field(id, ThriftType::Struct);
  return begin_struct();
}

ThriftWriter& ThriftWriter::begin_list(int id, ThriftType members, std::size_t count) {
  field(id, ThriftType::List);
  const auto type = static_cast<std::uint64_t>(members);
  if (count < 15) {
    bytes_ += byte(count << 4 | type);
  } else {
    bytes_ += byte(0xf0 | type);
    varint(count);
  }
  return *this;
}

ThriftWriter& ThriftWriter::i32(std::int32_t value) {
  zigzag(value);
  return *this;
}

ThriftWriter& ThriftWriter::binary(std::string_view bytes) {
  varint(bytes.size());
  bytes_ += bytes;
  return *this;
}

ThriftWriter& ThriftWriter::begin_struct() {
  last_ids_.push_back(0);
  return *this;
}

ThriftWriter& ThriftWriter::end_struct() {
  bytes_ += '\0';
  last_ids_.pop_back();
  return *this;
}

std::string ThriftWriter::finished() {
  end_struct();
  check(last_ids_.empty(), "every struct was ended");
  return std::move(bytes_);
}

}  // namespace tw::exports
