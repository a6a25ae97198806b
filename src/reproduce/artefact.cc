// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/artefact.h"

#include "trainwire/base/error.h"
#include "trainwire/command/hosts_file.h"
#include "trainwire/reproduce/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

namespace tw::reproduce {
namespace {

struct Named {
  Engine engine;
  std::string_view name;
};
constexpr std::array kEngines{
    Named{Engine::Equation, "equation"}, Named{Engine::Plan, "plan"},
    Named{Engine::Predict, "predict"},   Named{Engine::Flow, "flow"},
    Named{Engine::Packet, "packet"},     Named{Engine::Analyze, "analyze"},
    Named{Engine::Run, "run"},
};

constexpr std::array<std::string_view, 7> kKinds{"system",   "technique", "figure", "table",
                                                 "equation", "algorithm", "claim"};

Compute compute_of(Fields& fields, const std::string& folder) {
  Compute compute{.name = fields.needed("name"), .line = fields.line()};
  const std::string engine = fields.needed("engine");
  const auto found = engine_named(engine);
  if (found && *found != Engine::Equation) {
    compute.engine = *found;
  } else {
    fields.refuse("engine", "write plan, predict, flow, packet, analyze or run");
  }
  compute.experiment = fields.needed("experiment");
  if (!compute.experiment.empty() && compute.experiment[0] != '/') {
    compute.experiment =
        (std::filesystem::path(folder) / compute.experiment).lexically_normal().string();
  }
  compute.set = fields.texts("set");
  compute.metric = fields.needed("metric");
  compute.vary = fields.lists_of_values("vary");
  for (const auto& [key, values] : compute.vary) {
    if (values.size() != compute.vary.front().second.size() || values.empty()) {
      fields.refuse("vary", "lists are gone through together; give each as many values");
      break;
    }
  }
  fields.refuse_others();
  return compute;
}

Let let_of(Fields& fields) {
  const std::string name = fields.needed("name");
  Let let{.name = name, .is = fields.needed_expression("is"), .line = fields.line()};
  fields.refuse_others();
  return let;
}

void read_numbers(Fields& fields, Row& row) {
  row.published = fields.numbers("published");
  row.published_low = fields.numbers("published_low");
  row.published_high = fields.numbers("published_high");
  row.each = fields.texts("each");
  row.unit = fields.text("unit");
  row.ours = fields.expression("ours");
  row.low = fields.expression("low");
  row.high = fields.expression("high");
  row.tolerance = fields.tolerances("tolerance");
  const std::string bound = fields.text("bound");
  if (bound == "at least") {
    row.bound = Bound::AtLeast;
  } else if (bound == "at most") {
    row.bound = Bound::AtMost;
  } else if (!bound.empty()) {
    fields.refuse("bound", "write \"at least\" or \"at most\"");
  }
  row.because = fields.text("because");
  row.holds = fields.expression("holds");
}

void require_whole(Fields& fields, const Row& row) {
  const std::size_t numbers = row.published.size();
  if (row.is_claim()) {
    if (numbers > 0 || row.ours) fields.refuse("holds", "a claim has no numbers; make two rows");
    return;
  }
  if (numbers == 0) {
    if (!row.missing.empty()) return;  // a claim that cannot be computed
    fields.refuse("published", "what did the paper print? Or write holds = \"...\" for a claim");
    return;
  }
  if (numbers > 1 && row.each.size() != numbers) {
    fields.refuse("each", fmt::format("give a name for each of {} numbers", numbers));
  }
  if (!row.missing.empty()) return;
  if (!row.ours) fields.refuse("ours", "say what it is compared with, or what is missing");
  if (row.bound != Bound::None) {
    if (!row.tolerance.empty()) fields.refuse("tolerance", "a bound has none; leave it out");
  } else if (row.tolerance.empty()) {
    fields.refuse("tolerance", "how close is close enough? A number in the unit, or \"5%\"");
  } else if (row.tolerance.size() != 1 && row.tolerance.size() != numbers) {
    fields.refuse("tolerance", "give one, or one for each number");
  }
  if (row.because.empty()) fields.refuse("because", "why is that close enough?");
  for (const auto* bounds : {&row.published_low, &row.published_high}) {
    if (!bounds->empty() && bounds->size() != numbers) {
      fields.refuse("published_low", "give one for each number, and published_high as well");
    }
  }
}

Row row_of(Fields& fields) {
  Row row{.what = fields.needed("what"), .line = fields.line()};
  row.place = fields.text("place");
  read_numbers(fields, row);
  row.fitted = fields.texts("fitted");
  row.shape = fields.expression("shape");
  row.refutes = fields.expression("refutes");
  row.argument = fields.text("argument");
  row.missing = fields.text("missing");
  if ((row.refutes || row.shape) && row.argument.empty()) {
    fields.refuse("argument", "say why it is so");
  }
  require_whole(fields, row);
  fields.refuse_others();
  return row;
}

Curve curve_of(Fields& fields) {
  const std::string name = fields.needed("name");
  Curve curve{.name = name,
              .is_published = fields.yes("published"),
              .x = fields.needed_expression("x"),
              .y = fields.needed_expression("y"),
              .line = fields.line()};
  fields.refuse_others();
  return curve;
}

Plot plot_of(Fields& fields) {
  Plot plot{.x = fields.text("x"), .y = fields.text("y")};
  plot.log_x = fields.yes("log_x");
  plot.log_y = fields.yes("log_y");
  fields.each_table("curve", [&](Fields& each) { plot.curves.push_back(curve_of(each)); });
  fields.refuse_others();
  return plot;
}

/// Names that expressions use must be there before them, and only once.
class Names {
 public:
  explicit Names(Problems& problems) : problems_(problems) {}

  void add(const std::string& name, int line) {
    if (name.empty()) return;
    if (!known_.insert(name).second) {
      problems_.add(line, "name", fmt::format("\"{}\" stands here for the second time", name));
    }
  }
  void require(const std::optional<Expression>& expression, int line, std::string_view key) {
    if (!expression) return;
    for (const std::string& name : expression->names()) {
      if (known_.contains(name)) continue;
      std::vector<std::string_view> known(known_.begin(), known_.end());
      problems_.add(line, key,
                    fmt::format("nothing is named {}; {}", keys::in_quotes(name),
                                known.empty() ? "add a [[compute]] or [[let]] of that name"
                                              : keys::remedy(name, known, "the file")));
    }
  }

 private:
  Problems& problems_;
  std::set<std::string, std::less<>> known_ = {};
};

void check_names(const Artefact& artefact, Problems& problems) {
  Names names(problems);
  for (const Compute& compute : artefact.computes) names.add(compute.name, compute.line);
  for (const Let& let : artefact.lets) {
    names.require(let.is, let.line, "is");
    names.add(let.name, let.line);
  }
  for (const Row& row : artefact.rows) {
    names.require(row.ours, row.line, "ours");
    names.require(row.low, row.line, "low");
    names.require(row.high, row.line, "high");
    names.require(row.holds, row.line, "holds");
    names.require(row.shape, row.line, "shape");
    names.require(row.refutes, row.line, "refutes");
  }
  for (const Curve& curve : artefact.plot.curves) {
    names.require(curve.x, curve.line, "x");
    names.require(curve.y, curve.line, "y");
  }
}

void check_experiments(const Artefact& artefact, Problems& problems) {
  for (const Compute& compute : artefact.computes) {
    if (compute.experiment.empty() || std::filesystem::exists(compute.experiment)) continue;
    problems.add(compute.line, "experiment",
                 fmt::format("there is no {}; paths begin at the artefact's folder",
                             keys::in_quotes(compute.experiment)));
  }
}

Artefact parsed(const std::string& text, const std::string& folder, bool looks_for_files) {
  const std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  Artefact artefact;
  artefact.folder = path.string();
  artefact.paper = path.parent_path().filename().string();
  artefact.name = artefact.paper + "/" + path.filename().string();
  Problems problems(artefact.path());
  const keys::Table table = keys::read_tree(text, artefact.path());
  Fields fields(table, "", 1, problems);
  artefact.id = fields.needed("id");
  artefact.kind = fields.needed("kind");
  if (std::find(kKinds.begin(), kKinds.end(), artefact.kind) == kKinds.end()) {
    fields.refuse("kind", keys::remedy(artefact.kind, kKinds, "docs/reproduce.md"));
  }
  artefact.what = fields.needed("what");
  artefact.place = fields.text("place");
  artefact.about = fields.text("about");
  artefact.does = fields.text("does");
  fields.each_table("compute", [&](Fields& each) {
    artefact.computes.push_back(compute_of(each, artefact.folder));
  });
  fields.each_table("let", [&](Fields& each) { artefact.lets.push_back(let_of(each)); });
  fields.each_table("row", [&](Fields& each) { artefact.rows.push_back(row_of(each)); });
  fields.table("plot", [&](Fields& each) { artefact.plot = plot_of(each); });
  fields.refuse_others();
  if (artefact.rows.empty() && artefact.does.empty()) {
    fields.refuse("row", "add [[row]] with what was published, or does = \"trainwire ...\"");
  }
  check_names(artefact, problems);
  if (looks_for_files) check_experiments(artefact, problems);
  problems.throw_if_any();
  return artefact;
}

}  // namespace

std::string_view name_of(Engine engine) {
  return std::find_if(kEngines.begin(), kEngines.end(),
                      [&](const Named& each) { return each.engine == engine; })
      ->name;
}

std::optional<Engine> engine_named(std::string_view name) {
  for (const Named& each : kEngines) {
    if (each.name == name) return each.engine;
  }
  return {};
}

std::vector<std::string> Compute::settings(std::size_t point) const {
  std::vector<std::string> settings = set;
  for (const auto& [key, values] : vary) settings.push_back(key + "=" + values[point]);
  return settings;
}

double Tolerance::of(double published) const {
  return is_share ? amount * (published < 0 ? -published : published) : amount;
}

Artefact read_artefact(const std::string& folder) {
  const std::string path = folder + "/artefact.toml";
  return parsed(command::read_whole(path), folder, true);
}

Artefact parse_artefact(const std::string& text, const std::string& folder) {
  return parsed(text, folder, false);
}

}  // namespace tw::reproduce
