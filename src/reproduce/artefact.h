// SPDX-License-Identifier: Apache-2.0
// One figure, table, equation, algorithm, claim, system or technique of a paper, as data: what was
// published and where, how it is computed here, how close is close enough and why.
//
// A folder holds one: artefact.toml, the experiments it names, and recorded.toml, the verdicts that
// the tree last had (recorded.h). docs/reproduce.md has every key.

#pragma once

#include "trainwire/reproduce/expression.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::reproduce {

/// Who computes a value.
enum class Engine {
  Equation,  ///< arithmetic over published and computed numbers
  Plan,
  Predict,
  Flow,     ///< simulated flow by flow
  Packet,   ///< simulated packet by packet
  Analyze,  ///< found in a capture, or in packets so simulated
  Run,      ///< real packets on an emulated network: --full
};
std::string_view name_of(Engine engine);
std::optional<Engine> engine_named(std::string_view name);

/// Numbers that an engine gives: `metric` of its document, for each of the settings in turn.
struct Compute {
  std::string name;
  Engine engine = Engine::Plan;
  std::string experiment = {};        ///< path of the file, or of a capture
  std::vector<std::string> set = {};  ///< as --set takes them
  /// Settings that are varied together: the first of each, then the second of each...
  std::vector<std::pair<std::string, std::vector<std::string>>> vary = {};
  std::string metric = {};  ///< a path into the document; "*" stands for every item of a list
  int line = 1;

  std::size_t points() const { return vary.empty() ? 1 : vary.front().second.size(); }
  /// As --set takes them, of one point.
  std::vector<std::string> settings(std::size_t point) const;
};

struct Let {
  std::string name;
  Expression is;
  int line = 1;
};

/// How far off still counts: absolute, or a share of what was published.
struct Tolerance {
  double amount = 0;
  bool is_share = false;

  double of(double published) const;
};

/// Where a paper prints a limit and no value.
enum class Bound { None, AtLeast, AtMost };

/// What was published, held against what comes out; several numbers of one kind make one row.
struct Row {
  std::string what;
  std::string place = {};           ///< in the paper, where it differs from the artefact's
  std::vector<std::string> each{};  ///< a name for every number; empty: one number, or a claim
  std::vector<double> published{};
  std::vector<double> published_low{};  ///< the paper's own interval
  std::vector<double> published_high{};
  std::string unit = {};
  std::optional<Expression> ours = {};
  std::optional<Expression> low = {};  ///< of ours; a plain name has its own
  std::optional<Expression> high = {};
  Bound bound = Bound::None;               ///< no tolerance then
  std::vector<Tolerance> tolerance{};      ///< one, or one for every number
  std::string because = {};                ///< why so close, and no closer
  std::optional<Expression> holds = {};    ///< a claim, in place of numbers
  std::vector<std::string> fitted{};       ///< values chosen so that it comes out, named
  std::optional<Expression> shape = {};    ///< order and trend, where sizes differ
  std::optional<Expression> refutes = {};  ///< holds where the published value cannot be
  std::string argument = {};               ///< why that is so, or why only the shape comes out
  std::string missing = {};                ///< what it would take to tell
  int line = 1;

  bool is_claim() const { return holds.has_value(); }
  std::size_t numbers() const { return published.empty() ? 1 : published.size(); }
};

/// A line of a plot: x against y, lists of the same length.
struct Curve {
  std::string name;
  bool is_published = false;
  Expression x;
  Expression y;
  int line = 1;
};

struct Plot {
  std::string x = {};  ///< what the axes say
  std::string y = {};
  bool log_x = false;
  bool log_y = false;
  std::vector<Curve> curves = {};
};

struct Artefact {
  std::string id;
  std::string paper;   ///< the folder above its own
  std::string name;    ///< paper/folder
  std::string folder;  ///< where it lies
  std::string kind;
  std::string what;
  std::string place = {};
  std::string about = {};  ///< what is to be known, in sentences
  std::string does = {};   ///< the command that does it, of systems and techniques
  std::vector<Compute> computes = {};
  std::vector<Let> lets = {};
  std::vector<Row> rows = {};
  Plot plot = {};

  std::string path() const { return folder + "/artefact.toml"; }
};

/// Reads artefact.toml of `folder`. Throws SpecError with every problem, its line and what to do;
/// SystemError when the file cannot be read.
Artefact read_artefact(const std::string& folder);
/// The same of a text, for tests; experiments are not looked for.
Artefact parse_artefact(const std::string& text, const std::string& folder);

}  // namespace tw::reproduce
