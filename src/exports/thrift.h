// SPDX-License-Identifier: Apache-2.0
// Thrift's compact protocol, as far as Parquet's headers and footer need it: structs, lists,
// integers and byte strings (thrift/doc/specs/thrift-compact-protocol.md of apache/thrift).

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tw::exports {

enum class ThriftType : std::uint8_t {
  Integer32 = 5,
  Integer64 = 6,
  Binary = 8,
  List = 9,
  Struct = 12
};

/// Fields of a struct are written by rising number; begin_struct and begin_list are followed by
/// their members. The outermost struct is there from the start.
class ThriftWriter {
 public:
  ThriftWriter& i32(int id, std::int32_t value);
  ThriftWriter& i64(int id, std::int64_t value);
  ThriftWriter& binary(int id, std::string_view bytes);
  ThriftWriter& begin_struct(int id);
  ThriftWriter& begin_list(int id, ThriftType members, std::size_t count);

  /// Members of a list.
  ThriftWriter& i32(std::int32_t value);
  ThriftWriter& binary(std::string_view bytes);
  ThriftWriter& begin_struct();

  ThriftWriter& end_struct();
  /// Ends the outermost struct.
  std::string finished();

 private:
  void field(int id, ThriftType type);
  void varint(std::uint64_t value);
  void zigzag(std::int64_t value);

  std::string bytes_;
  std::vector<int> last_ids_{0};
};

}  // namespace tw::exports
