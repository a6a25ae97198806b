// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/tables.h"

#include "trainwire/base/printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

namespace tw::reproduce {
namespace {

constexpr std::array kBestFirst{Verdict::Reproduced, Verdict::Fitted, Verdict::Shape,
                                Verdict::Contradicted, Verdict::NotDetermined};

std::string verdict_text(const Judged& one) {
  if (one.verdict != Verdict::Fitted) return std::string(name_of(one.verdict));
  return fmt::format("reproduced with {} fitted value{}", one.fitted.size(),
                     one.fitted.size() == 1 ? "" : "s");
}

std::string cut(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  std::size_t end = width - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string ours_text(const Judged& one) {
  if (!one.value || !one.published) return one.published ? "-" : one.value ? "(claim)" : "-";
  std::string text = number_text(*one.value);
  if (one.low && one.high && number_text(*one.low) != number_text(*one.high)) {
    text += fmt::format(" [{}, {}]", number_text(*one.low), number_text(*one.high));
  }
  return text;
}

/// The number that stands for an artefact: the first that decided.
const Judged* headline(const Outcome& outcome) {
  for (const Judged& one : outcome.judged) {
    if (one.verdict == outcome.verdict && one.published) return &one;
  }
  return outcome.judged.empty() ? nullptr : &outcome.judged.front();
}

std::string line_of(const Outcome& outcome) {
  const Artefact& artefact = outcome.artefact;
  const Judged* one = headline(outcome);
  const std::string published =
      one && one->published ? number_text(*one->published) + " " + one->unit : "";
  const std::string ours = one && one->published ? ours_text(*one) : "";
  const std::string verdict = outcome.judged.empty() && !artefact.does.empty()
                                  ? "by command"
                                  : std::string(name_of(outcome.verdict));
  const auto count = outcome.judged.size();
  return fmt::format("{:<9} {:<44} {:>15} {:>15} {:>8}  {}{}\n", artefact.id,
                     cut(artefact.what, 44), cut(published, 15), cut(ours, 15),
                     one ? difference_text(*one) : "", verdict,
                     count > 1 ? fmt::format(" ({})", count) : "");
}

std::string counts_text(const std::map<Verdict, int>& counts) {
  std::vector<std::string> parts;
  for (const Verdict verdict : kBestFirst) {
    if (const auto found = counts.find(verdict); found != counts.end()) {
      parts.push_back(fmt::format("{} {}", found->second, name_of(verdict)));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

int sum_of(const std::map<Verdict, int>& counts) {
  int sum = 0;
  for (const auto& [verdict, count] : counts) sum += count;
  return sum;
}

nlohmann::ordered_json or_null(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? nlohmann::ordered_json(*number)
                                          : nlohmann::ordered_json();
}

nlohmann::ordered_json to_json(const Judged& one) {
  return {{"what", one.what},
          {"place", one.place},
          {"published", or_null(one.published)},
          {"published_ci_low", or_null(one.published_low)},
          {"published_ci_high", or_null(one.published_high)},
          {"value", or_null(one.value)},
          {"ci_low", or_null(one.low)},
          {"ci_high", or_null(one.high)},
          {"unit", one.unit},
          {"engine", one.engine},
          {"verdict", name_of(one.verdict)},
          {"fitted", one.fitted},
          {"reason", one.reason}};
}

nlohmann::ordered_json to_json(const Outcome& outcome) {
  const Artefact& artefact = outcome.artefact;
  const Judged* one = headline(outcome);
  nlohmann::ordered_json values = nlohmann::ordered_json::array();
  for (const Judged& each : outcome.judged) values.push_back(to_json(each));
  return {{"id", artefact.id},
          {"paper", artefact.paper},
          {"name", artefact.name},
          {"kind", artefact.kind},
          {"what", artefact.what},
          {"place", artefact.place},
          {"published", or_null(one ? one->published : std::nullopt)},
          {"value", or_null(one && one->published ? one->value : std::nullopt)},
          {"ci_low", or_null(one ? one->low : std::nullopt)},
          {"ci_high", or_null(one ? one->high : std::nullopt)},
          {"unit", one ? one->unit : ""},
          {"engine", one ? one->engine : ""},
          {"verdict", name_of(outcome.verdict)},
          {"reason", outcome.reason},
          {"command", artefact.does},
          {"values", std::move(values)}};
}

nlohmann::ordered_json to_json(const std::map<Verdict, int>& counts) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const Verdict verdict : kBestFirst) {
    const auto found = counts.find(verdict);
    all[std::string(name_of(verdict))] = found == counts.end() ? 0 : found->second;
  }
  return all;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::string plain(const std::optional<double>& number) {
  return number ? fmt::format("{:.10g}", *number) : "";
}

std::string in_latex(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) result += '\\';
    if (c == '^' || c == '~' || c == '\\') {
      result += fmt::format("\\char{} ", static_cast<int>(c));
    } else {
      result += c;
    }
  }
  return result;
}

std::string latex_row(const Artefact& artefact, const Judged& one) {
  return fmt::format("{} & {} & {} & {} & {} & {} \\\\\n", in_latex(artefact.id),
                     in_latex(one.what), one.published ? number_text(*one.published) : "--",
                     one.published && one.value ? number_text(*one.value) : "--",
                     in_latex(one.unit), in_latex(verdict_text(one)));
}

}  // namespace

Tally tally_of(std::span<const Outcome> outcomes) {
  Tally tally;
  for (const Outcome& outcome : outcomes) {
    if (outcome.judged.empty() && outcome.artefact.does.empty()) continue;
    ++tally.artefacts[outcome.verdict];
    if (outcome.judged.empty()) ++tally.by_command;
    for (const Judged& one : outcome.judged) {
      if (one.published) ++tally.numbers[one.verdict];
    }
  }
  return tally;
}

std::string number_text(double value) {
  const double size = std::fabs(value);
  if (size >= 1e7 || (size > 0 && size < 1e-3)) return fmt::format("{:.4g}", value);
  if (size >= 1000) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.4g}", value);
  return text;
}

std::string difference_text(const Judged& one) {
  if (!one.published || !one.value) return {};
  const double off = *one.value - *one.published;
  if (*one.published == 0) return fmt::format("{:+.3g}", off);
  const double share = 100 * off / std::fabs(*one.published);
  if (std::fabs(share) < 0.05) return "0 %";
  return std::fabs(share) < 1000 ? fmt::format("{:+.{}f} %", share, std::fabs(share) < 10 ? 1 : 0)
                                 : fmt::format("x{:.3g}", *one.value / *one.published);
}

std::string table_text(std::span<const Outcome> outcomes) {
  std::string text = fmt::format("{:<9} {:<44} {:>15} {:>15} {:>8}  {}\n", "id", "what",
                                 "published", "ours", "off by", "verdict (numbers and claims)");
  std::string paper;
  for (const Outcome& outcome : outcomes) {
    if (outcome.artefact.paper != paper) {
      paper = outcome.artefact.paper;
      text += fmt::format("\n{}\n", paper);
    }
    text += line_of(outcome);
  }
  const Tally tally = tally_of(outcomes);
  text +=
      fmt::format("\n{} artefacts: {}; {} of them are systems and techniques that a command does\n",
                  sum_of(tally.artefacts), counts_text(tally.artefacts), tally.by_command);
  if (!tally.numbers.empty()) {
    text += fmt::format("{} published numbers: {}\n", sum_of(tally.numbers),
                        counts_text(tally.numbers));
  }
  return text;
}

std::string detail_text(const Outcome& outcome) {
  const Artefact& artefact = outcome.artefact;
  std::string text =
      fmt::format("{} ({}), {}: {}\n", artefact.id, artefact.name, artefact.place, artefact.what);
  if (!artefact.about.empty()) text += fmt::format("  {}\n", printable(artefact.about));
  if (!artefact.does.empty()) text += fmt::format("  by hand: {}\n", artefact.does);
  std::string reason;
  std::vector<std::string> fitted;
  for (const Judged& one : outcome.judged) {
    text += fmt::format("  {:<52} {:>12} {:>12} {:<8} {:>8}  {} ({})\n", cut(one.what, 52),
                        one.published ? number_text(*one.published) : "claim", ours_text(one),
                        one.unit, difference_text(one), verdict_text(one), one.engine);
    if (one.reason != reason && !one.reason.empty()) {
      reason = one.reason;
      text += fmt::format("      {}\n", printable(reason));
    }
    if (one.fitted != fitted && !one.fitted.empty()) {
      text += fmt::format("      fitted: {}\n", fmt::join(one.fitted, "; "));
    }
    fitted = one.fitted;
  }
  return text + fmt::format("  verdict: {}\n", name_of(outcome.verdict));
}

std::string list_text(std::span<const Artefact> artefacts) {
  std::string text;
  for (const Artefact& each : artefacts) {
    text += fmt::format("{:<9} {:<10} {:<28} {}\n", each.id, each.kind, each.name, each.what);
  }
  return text;
}

nlohmann::ordered_json document_of(std::span<const Outcome> outcomes) {
  nlohmann::ordered_json artefacts = nlohmann::ordered_json::array();
  for (const Outcome& outcome : outcomes) artefacts.push_back(to_json(outcome));
  const Tally tally = tally_of(outcomes);
  return {{"schema", 1},
          {"command", "reproduce"},
          {"tally",
           {{"artefacts", to_json(tally.artefacts)},
            {"numbers", to_json(tally.numbers)},
            {"by_command", tally.by_command}}},
          {"artefacts", std::move(artefacts)}};
}

std::string csv_of(std::span<const Outcome> outcomes) {
  std::string text =
      "id,paper,place,what,published,published_ci_low,published_ci_high,value,ci_low,ci_high,unit,"
      "engine,verdict,reason\n";
  for (const Outcome& outcome : outcomes) {
    for (const Judged& one : outcome.judged) {
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", outcome.artefact.id,
                          outcome.artefact.paper, quoted(one.place), quoted(one.what),
                          plain(one.published), plain(one.published_low), plain(one.published_high),
                          plain(one.value), plain(one.low), plain(one.high), quoted(one.unit),
                          quoted(one.engine), quoted(std::string(name_of(one.verdict))),
                          quoted(one.reason));
    }
  }
  return text;
}

std::string latex_of(const Collection& collection, std::span<const Outcome> outcomes) {
  std::string text =
      "% \\usepackage{longtable,booktabs}\n\\begin{longtable}{llrrll}\n\\toprule\n"
      "id & what & published & ours & unit & verdict \\\\\n\\midrule\n\\endhead\n";
  for (const Paper& paper : collection.papers) {
    bool is_begun = false;
    for (const Outcome& outcome : outcomes) {
      if (outcome.artefact.paper != paper.name || outcome.judged.empty()) continue;
      if (!is_begun) {
        text +=
            fmt::format("\\multicolumn{{6}}{{l}}{{\\emph{{{}}}}} \\\\\n", in_latex(paper.title));
      }
      is_begun = true;
      for (const Judged& one : outcome.judged) text += latex_row(outcome.artefact, one);
    }
  }
  return text + "\\bottomrule\n\\end{longtable}\n";
}

}  // namespace tw::reproduce
