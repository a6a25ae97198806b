// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/page.h"

#include "trainwire/reproduce/drawing.h"
#include "trainwire/reproduce/plots.h"
#include "trainwire/reproduce/tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tw::reproduce {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 1060px; padding: 1.5rem; color: #222; background: #fff;
       font: 16px/1.5 system-ui, Helvetica, Arial, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { margin: 2.6rem 0 .4rem; border-bottom: 2px solid #222; }
h3 { margin: 0; font-size: 1.06rem; } a { color: #1d4ed8; } p { margin: .4rem 0; }
section { border: 1px solid #ddd; border-radius: 8px; padding: .9rem 1.1rem; margin: .9rem 0; overflow: hidden; }
header.a { display: flex; gap: .7rem; align-items: baseline; flex-wrap: wrap; }
header.a h3 { flex: 1 1 20rem; }
.id { font-family: ui-monospace, monospace; color: #555; }
.v { border-radius: 999px; padding: .1rem .7rem; font-size: .85rem; white-space: nowrap; }
.reproduced { background: #dcfce7; color: #14532d; } .reproduced--fitted { background: #e0f2fe; color: #0c4a6e; }
.shape-only { background: #fef9c3; color: #713f12; } .contradicted { background: #fee2e2; color: #7f1d1d; }
.not-determined { background: #e5e5e5; color: #333; }
svg { max-width: 100%; height: auto; display: block; margin: .6rem 0; }
table { border-collapse: collapse; font-size: .88rem; width: 100%; } td, th { text-align: left; padding: .18rem .5rem; border-top: 1px solid #eee; vertical-align: top; }
th .v { white-space: normal; display: inline-block; padding: 0 .5rem; }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.w { overflow-x: auto; } code { background: #f3f3f3; padding: .05rem .3rem; border-radius: 4px; font-size: .88em; overflow-wrap: anywhere; }
.m { color: #555; font-size: .9rem; } summary { cursor: pointer; }
)";

constexpr std::array kBestFirst{Verdict::Reproduced, Verdict::Fitted, Verdict::Shape,
                                Verdict::Contradicted, Verdict::NotDetermined};

std::string class_of(Verdict verdict) {
  std::string name(name_of(verdict));
  for (char& c : name) {
    if (c == ' ' || c == ',') c = '-';
  }
  return name;
}

std::string badge(Verdict verdict) {
  return fmt::format("<span class=\"v {}\">{}</span>", class_of(verdict), name_of(verdict));
}

std::string anchor_of(const std::string& id) {
  std::string name = id;
  for (char& c : name) {
    if (c == ' ' || c == ',' || c == '"') c = '-';
  }
  return name;
}

std::string ours_of(const Judged& one) {
  if (!one.value || !one.published) return one.value ? "" : "&ndash;";
  std::string text = number_text(*one.value);
  if (one.low && one.high && number_text(*one.low) != number_text(*one.high)) {
    text += fmt::format(" <span class=\"m\">[{}, {}]</span>", number_text(*one.low),
                        number_text(*one.high));
  }
  return text;
}

std::string published_of(const Judged& one) {
  if (!one.published) return "<span class=\"m\">claim</span>";
  std::string text = number_text(*one.published);
  if (one.published_low && one.published_high) {
    text += fmt::format(" <span class=\"m\">[{}, {}]</span>", number_text(*one.published_low),
                        number_text(*one.published_high));
  }
  return text;
}

std::string rows_of(const Outcome& outcome) {
  std::string text =
      "<div class=\"w\"><table><tr><th>what</th><th class=\"n\">published</th><th "
      "class=\"n\">ours</th><th>unit</th><th class=\"n\">off by</th><th>engine</th>"
      "<th>verdict</th></tr>\n";
  for (const Judged& one : outcome.judged) {
    text += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td "
        "class=\"n\">{}</td><td>{}</td><td>{}</td></tr>\n",
        escaped(one.what), published_of(one), ours_of(one), escaped(one.unit),
        escaped(difference_text(one)), one.engine, badge(one.verdict));
  }
  return text + "</table></div>\n";
}

/// Each reason once, in order, with the verdict it is for.
std::string reasons_of(const Outcome& outcome) {
  std::string text;
  std::vector<std::string> told;
  for (const Judged& one : outcome.judged) {
    if (one.reason.empty() || std::find(told.begin(), told.end(), one.reason) != told.end()) {
      continue;
    }
    told.push_back(one.reason);
    const std::string fitted =
        one.fitted.empty() ? "" : fmt::format(" Fitted: {}.", fmt::join(one.fitted, "; "));
    text +=
        fmt::format("<p>{} {}{}</p>\n", badge(one.verdict), escaped(one.reason), escaped(fitted));
  }
  return text;
}

std::string section_of(const Outcome& outcome) {
  const Artefact& artefact = outcome.artefact;
  const bool by_command = outcome.judged.empty() && !artefact.does.empty();
  std::string text = fmt::format(
      "<section id=\"{}\"><header class=\"a\"><h3><span class=\"id\">{}</span> "
      "{}</h3>{}</header>\n",
      anchor_of(artefact.id), escaped(artefact.id), escaped(artefact.what),
      by_command ? "<span class=\"v reproduced\">by command</span>" : badge(outcome.verdict));
  text += fmt::format("<p class=\"m\">{}{}{}</p>\n", escaped(artefact.kind),
                      artefact.place.empty() ? "" : ", ", escaped(artefact.place));
  if (!artefact.about.empty()) text += fmt::format("<p>{}</p>\n", escaped(artefact.about));
  if (const auto drawing = drawing_of(outcome)) text += svg_of(*drawing);
  text += reasons_of(outcome);
  if (outcome.judged.size() > 6) {
    text += fmt::format("<details><summary>{} numbers and claims</summary>{}</details>\n",
                        outcome.judged.size(), rows_of(outcome));
  } else if (!outcome.judged.empty()) {
    text += rows_of(outcome);
  }
  if (!artefact.does.empty()) {
    text += fmt::format("<p class=\"m\">By hand: <code>{}</code></p>\n", escaped(artefact.does));
  }
  if (!by_command) {
    text += fmt::format("<p class=\"m\">Alone: <code>trainwire reproduce {}</code></p>\n",
                        escaped(artefact.id));
  }
  return text + "</section>\n";
}

std::string tally_row(const std::string& name, const std::map<Verdict, int>& counts) {
  std::string text = fmt::format("<tr><td>{}</td>", name);
  for (const Verdict verdict : kBestFirst) {
    const auto found = counts.find(verdict);
    text += fmt::format("<td class=\"n\">{}</td>", found == counts.end() ? 0 : found->second);
  }
  return text + "</tr>\n";
}

std::string tally_table(const Collection& collection, std::span<const Outcome> outcomes) {
  std::string text = "<div class=\"w\"><table><tr><th></th>";
  for (const Verdict verdict : kBestFirst) {
    text += fmt::format("<th class=\"n\">{}</th>", badge(verdict));
  }
  text += "</tr>\n";
  for (const Paper& paper : collection.papers) {
    std::vector<Outcome> of_paper;
    for (const Outcome& each : outcomes) {
      if (each.artefact.paper == paper.name) of_paper.push_back(each);
    }
    if (of_paper.empty()) continue;
    const Tally tally = tally_of(of_paper);
    text +=
        tally_row(fmt::format("<a href=\"#{}\">{}</a>", escaped(paper.name), escaped(paper.name)),
                  tally.artefacts);
  }
  const Tally tally = tally_of(outcomes);
  text += tally_row("<b>all artefacts</b>", tally.artefacts);
  text += tally_row("<b>published numbers</b>", tally.numbers);
  return text + "</table></div>\n";
}

}  // namespace

std::string page_of(const Collection& collection, std::span<const Outcome> outcomes) {
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>Published numbers, recomputed</title><style>{}</style>"
      "</head><body>\n<h1>Published numbers, recomputed</h1>\n<p>Every figure, table, equation, "
      "algorithm and claim, held against what trainwire plans, predicts or simulates. "
      "Circles are what was published, diamonds are ours.</p>\n",
      kStyle);
  text += tally_table(collection, outcomes);
  for (const Paper& paper : collection.papers) {
    bool is_begun = false;
    for (const Outcome& outcome : outcomes) {
      if (outcome.artefact.paper != paper.name) continue;
      if (!is_begun) {
        text += fmt::format("<h2 id=\"{}\">{}</h2>\n<p class=\"m\">{}</p>\n", escaped(paper.name),
                            escaped(paper.title), escaped(paper.by));
      }
      is_begun = true;
      text += section_of(outcome);
    }
  }
  return text + "</body></html>\n";
}

}  // namespace tw::reproduce
