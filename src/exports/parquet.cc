// SPDX-License-Identifier: Apache-2.0
#include "trainwire/exports/parquet.h"

#include "trainwire/base/error.h"
#include "trainwire/exports/thrift.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace tw::exports {
namespace {

using nlohmann::ordered_json;
using result::Type;

static_assert(std::endian::native == std::endian::little,
              "values are stored as they lie in memory");

// Numbers of parquet.thrift.
enum class PhysicalType { Int64 = 2, Double = 5, ByteArray = 6 };
constexpr int kPlain = 0, kRle = 3;
constexpr int kZstd = 6;
constexpr int kOptional = 1;
constexpr int kUtf8 = 0;
constexpr int kDataPage = 0;
constexpr std::string_view kMagic = "PAR1";
constexpr int kCompressionLevel = 1;

template <typename Enum>
int number(Enum value) {
  return static_cast<int>(value);
}

PhysicalType physical(Type type) {
  switch (type) {
    case Type::Integer:
      return PhysicalType::Int64;
    case Type::Real:
      return PhysicalType::Double;
    case Type::Text:
      return PhysicalType::ByteArray;
  }
  throw std::logic_error("a type that has no place in Parquet");
}

template <typename T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
std::string plain(T value) {
  std::string bytes;
  append(bytes, value);
  return bytes;
}

/// The values of one column in the present row group.
struct ColumnBuffer {
  std::string values;         ///< PLAIN
  std::vector<bool> defined;  ///< for each row
  std::int64_t nulls = 0;
  std::int64_t least = INT64_MAX;
  std::int64_t greatest = INT64_MIN;

  void add(const timeline::Cell& cell, Type type) {
    defined.push_back(cell.has_value);
    if (!cell.has_value) {
      ++nulls;
    } else if (type == Type::Integer) {
      append(values, cell.integer);
      least = std::min(least, cell.integer);
      greatest = std::max(greatest, cell.integer);
    } else if (type == Type::Real) {
      append(values, cell.real);
    } else {
      append(values, static_cast<std::uint32_t>(cell.text.size()));
      values += cell.text;
    }
  }
};

void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) append(bytes, static_cast<unsigned char>(value | 0x80));
  append(bytes, static_cast<unsigned char>(value));
}

/// Levels of one bit in the hybrid of runs and packed bits (Encodings.md, "RLE"), behind their
/// length: one run when all are equal, else packed in groups of eight.
std::string definition_levels(const ColumnBuffer& column) {
  const std::size_t rows = column.defined.size();
  const auto nulls = static_cast<std::size_t>(column.nulls);
  std::string levels;
  if (nulls == 0 || nulls == rows) {
    append_varint(levels, rows << 1);
    append(levels, static_cast<unsigned char>(nulls == 0 ? 1 : 0));
  } else {
    const std::size_t groups = (rows + 7) / 8;
    append_varint(levels, groups << 1 | 1);
    std::string bits(groups, '\0');
    for (std::size_t i = 0; i < rows; ++i) {
      if (column.defined[i]) bits[i / 8] = static_cast<char>(bits[i / 8] | 1 << (i % 8));
    }
    levels += bits;
  }
  return plain(static_cast<std::uint32_t>(levels.size())) + levels;
}

std::string compressed(const std::string& bytes) {
  std::string made(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(made.data(), made.size(), bytes.data(), bytes.size(), kCompressionLevel);
  check(ZSTD_isError(size) == 0U, "zstd compresses into a buffer that is large enough");
  made.resize(size);
  return made;
}

/// Where a chunk lies and what the footer says of it.
struct Chunk {
  std::int64_t offset;
  std::int64_t uncompressed;
  std::int64_t stored;
  std::int64_t nulls;
  std::string least, greatest;  ///< as bytes; "" when not known
};

struct RowGroup {
  std::int64_t rows;
  std::vector<Chunk> chunks;
};

std::string page_header(std::size_t rows, std::size_t uncompressed, std::size_t stored) {
  ThriftWriter thrift;
  thrift.i32(1, kDataPage)
      .i32(2, static_cast<std::int32_t>(uncompressed))
      .i32(3, static_cast<std::int32_t>(stored))
      .begin_struct(5)  // DataPageHeader
      .i32(1, static_cast<std::int32_t>(rows))
      .i32(2, kPlain)
      .i32(3, kRle)
      .i32(4, kRle)
      .end_struct();
  return thrift.finished();
}

/// What the table and its columns mean, for readers that show a file's metadata.
std::string meaning_of(const timeline::TableSource& table) {
  ordered_json columns = ordered_json::array();
  for (const result::Column& column : table.columns) {
    columns.push_back({{"name", column.name},
                       {"type", result::name_of(column.type)},
                       {"unit", column.unit},
                       {"meaning", column.meaning}});
  }
  const ordered_json document{{"schema", result::kSchema},
                              {"table", table.name},
                              {"meaning", table.meaning},
                              {"columns", std::move(columns)}};
  return document.dump();
}

class ParquetWriter : public TableWriter {
 public:
  ParquetWriter(result::OutputFolder& folder, const timeline::TableSource& table,
                const ParquetOptions& options)
      : table_(&table),
        options_(options),
        file_(folder, table.name + ".parquet", "parquet"),
        columns_(table.columns.size()) {
    file_.write(kMagic);
  }

  void row(std::span<const timeline::Cell> cells) override {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t before = columns_[i].values.size();
      columns_[i].add(cells[i], table_->columns[i].type);
      held_bytes_ += columns_[i].values.size() - before;
    }
    ++held_rows_;
    if (held_rows_ >= options_.group_rows || held_bytes_ >= options_.group_bytes) end_group();
  }

  void finish(std::int64_t rows) override {
    if (held_rows_ > 0) end_group();
    const std::string footer = this->footer(rows);
    file_.write(footer);
    file_.write(plain(static_cast<std::uint32_t>(footer.size())));
    file_.write(kMagic);
    file_.put(rows);
  }

 private:
  void end_group() {
    RowGroup group{.rows = held_rows_, .chunks = {}};
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      group.chunks.push_back(write_chunk(columns_[i], table_->columns[i].type));
      columns_[i] = {};
    }
    groups_.push_back(std::move(group));
    held_rows_ = 0;
    held_bytes_ = 0;
  }

  Chunk write_chunk(const ColumnBuffer& column, Type type) {
    const std::string page = definition_levels(column) + column.values;
    const std::string stored = compressed(page);
    const std::string header = page_header(column.defined.size(), page.size(), stored.size());
    const auto size = [&](const std::string& body) {
      return static_cast<std::int64_t>(header.size() + body.size());
    };
    Chunk chunk{.offset = file_.bytes(),
                .uncompressed = size(page),
                .stored = size(stored),
                .nulls = column.nulls,
                .least = "",
                .greatest = ""};
    if (type == Type::Integer && column.least <= column.greatest) {
      chunk.least = plain(column.least);
      chunk.greatest = plain(column.greatest);
    }
    file_.write(header);
    file_.write(stored);
    return chunk;
  }

  /// FileMetaData.
  std::string footer(std::int64_t rows) const {
    ThriftWriter thrift;
    thrift.i32(1, 2);  // version
    write_schema(thrift);
    thrift.i64(3, rows);
    thrift.begin_list(4, ThriftType::Struct, groups_.size());
    for (const RowGroup& group : groups_) write_group(thrift, group);
    thrift.begin_list(5, ThriftType::Struct, 1).begin_struct();
    thrift.binary(1, "trainwire").binary(2, meaning_of(*table_)).end_struct();
    thrift.binary(6, "trainwire");
    thrift.begin_list(7, ThriftType::Struct, columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      thrift.begin_struct().begin_struct(1).end_struct().end_struct();  // TYPE_ORDER
    }
    return thrift.finished();
  }

  void write_schema(ThriftWriter& thrift) const {
    thrift.begin_list(2, ThriftType::Struct, columns_.size() + 1);
    thrift.begin_struct().binary(4, table_->name);
    thrift.i32(5, static_cast<std::int32_t>(columns_.size())).end_struct();
    for (const result::Column& column : table_->columns) {
      thrift.begin_struct().i32(1, number(physical(column.type))).i32(3, kOptional);
      thrift.binary(4, column.name);
      if (column.type == Type::Text) {
        thrift.i32(6, kUtf8).begin_struct(10).begin_struct(1).end_struct().end_struct();
      }
      thrift.end_struct();
    }
  }

  void write_group(ThriftWriter& thrift, const RowGroup& group) const {
    std::int64_t uncompressed = 0, stored = 0;
    thrift.begin_struct().begin_list(1, ThriftType::Struct, group.chunks.size());
    for (std::size_t i = 0; i < group.chunks.size(); ++i) {
      const Chunk& chunk = group.chunks[i];
      uncompressed += chunk.uncompressed;
      stored += chunk.stored;
      thrift.begin_struct().i64(2, 0).begin_struct(3);
      write_metadata(thrift, chunk, table_->columns[i], group.rows);
      thrift.end_struct().end_struct();
    }
    thrift.i64(2, uncompressed).i64(3, group.rows).i64(5, group.chunks.front().offset);
    thrift.i64(6, stored).end_struct();
  }

  /// ColumnMetaData.
  static void write_metadata(ThriftWriter& thrift, const Chunk& chunk, const result::Column& column,
                             std::int64_t rows) {
    thrift.i32(1, number(physical(column.type)));
    thrift.begin_list(2, ThriftType::Integer32, 2).i32(kPlain).i32(kRle);
    thrift.begin_list(3, ThriftType::Binary, 1).binary(column.name);
    thrift.i32(4, kZstd).i64(5, rows).i64(6, chunk.uncompressed).i64(7, chunk.stored);
    thrift.i64(9, chunk.offset).begin_struct(12).i64(3, chunk.nulls);
    if (!chunk.least.empty()) thrift.binary(5, chunk.greatest).binary(6, chunk.least);
    thrift.end_struct();
  }

  const timeline::TableSource* table_;
  ParquetOptions options_;
  result::OutputFile file_;
  std::vector<ColumnBuffer> columns_;
  std::int64_t held_rows_ = 0;
  std::size_t held_bytes_ = 0;
  std::vector<RowGroup> groups_;
};

}  // namespace

std::unique_ptr<TableWriter> parquet_writer(result::OutputFolder& folder,
                                            const timeline::TableSource& table,
                                            const ParquetOptions& options) {
  return std::make_unique<ParquetWriter>(folder, table, options);
}

}  // namespace tw::exports
