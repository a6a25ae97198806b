// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/nearest.h"
#include "trainwire/guide/commands.h"
#include "trainwire/result/schema.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace tw::guide {
namespace {

using nlohmann::ordered_json;

struct SchemaOptions {
  std::string table;
  bool json = false;
};

std::vector<result::Table> chosen_tables(const std::string& name) {
  if (name.empty()) return {result::tables().begin(), result::tables().end()};
  if (const result::Table* table = result::find_table(name)) return {*table};
  std::vector<std::string_view> known;
  for (const result::Table& table : result::tables()) known.push_back(table.name);
  const auto near = nearest(name, known);
  throw SpecError(fmt::format("there is no table \"{}\"; {}", name,
                              near ? fmt::format("did you mean \"{}\"?", *near)
                                   : std::string("`trainwire schema` lists them")));
}

ordered_json document_of(const result::Table& table) {
  ordered_json columns = ordered_json::array();
  for (const result::Column& column : table.columns) {
    columns.push_back({{"name", column.name},
                       {"type", name_of(column.type)},
                       {"unit", column.unit},
                       {"meaning", column.meaning}});
  }
  return {{"name", table.name},
          {"file", fmt::format("{}.csv", table.name)},
          {"meaning", table.meaning},
          {"columns", std::move(columns)}};
}

void print_table(const result::Table& table, std::ostream& out) {
  fmt::print(out, "{}.csv: {}\n", table.name, table.meaning);
  for (const result::Column& column : table.columns) {
    fmt::print(out, "  {:<24} {:<8} {:<6} {}\n", column.name, name_of(column.type), column.unit,
               column.meaning);
  }
}

int print_schema(const SchemaOptions& options, command::Streams streams) {
  const std::vector<result::Table> tables = chosen_tables(options.table);
  if (options.json) {
    ordered_json document{
        {"schema", result::kSchema}, {"command", "schema"}, {"tables", ordered_json::array()}};
    for (const result::Table& table : tables) document["tables"].push_back(document_of(table));
    fmt::print(streams.out, "{}\n", document.dump(2));
    return 0;
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (i > 0) fmt::print(streams.out, "\n");
    print_table(tables[i], streams.out);
  }
  fmt::print(streams.out,
             "\nnext: trainwire analyze CAPTURE writes these tables into CAPTURE.run\n");
  return 0;
}

}  // namespace

command::Body declare_schema(command::CommandLine& app) {
  const auto options = std::make_shared<SchemaOptions>();
  std::vector<std::string> names;
  for (const result::Table& table : result::tables()) names.emplace_back(table.name);
  app.add_option("TABLE", options->table, "only this table").type_name("").suggests(names);
  app.add_flag("--json", options->json, "print one JSON document");
  return [options](command::Streams streams) { return print_schema(*options, streams); };
}

}  // namespace tw::guide
