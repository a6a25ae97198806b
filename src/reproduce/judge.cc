// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/judge.h"

#include "trainwire/base/error.h"
#include "trainwire/reproduce/origins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tw::reproduce {
namespace {

Question question_of(const Artefact& artefact, const Compute& compute, std::size_t point) {
  return {.engine = compute.engine,
          .experiment = compute.experiment,
          .settings = compute.settings(point),
          .asked_at = fmt::format("{}:{}", artefact.path(), compute.line)};
}

/// The path of a median's bound; "" where there is none.
std::string bound_of(const std::string& metric, std::string_view bound) {
  constexpr std::string_view kMedian = "median_s";
  if (!metric.ends_with(kMedian)) return {};
  return metric.substr(0, metric.size() - kMedian.size()) + std::string(bound);
}

/// Names and what they stand for, found when they are asked for.
class Known {
 public:
  Known(const Artefact& artefact, const Answers& answers)
      : artefact_(artefact), answers_(answers) {}

  Values of(const Expression& expression) {
    return expression.evaluate(
        [this](const std::string& name) -> const Values& { return named(name); });
  }
  /// A bound of a name that is a median; nothing for any other expression.
  std::optional<Values> bound(const Expression& expression, std::string_view bound) {
    for (const Compute& compute : artefact_.computes) {
      if (compute.name != expression.text()) continue;
      const std::string path = bound_of(compute.metric, bound);
      if (path.empty()) return {};
      try {
        return computed(compute, path);
      } catch (const DataError&) {
        return {};  // of few steps there is no interval
      }
    }
    return {};
  }

 private:
  const Values& named(const std::string& name) {
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    return values_.emplace(name, found(name)).first->second;
  }
  Values found(const std::string& name) {
    for (const Compute& compute : artefact_.computes) {
      if (compute.name == name) return computed(compute, compute.metric);
    }
    for (const Let& let : artefact_.lets) {
      if (let.name == name) return of(let.is);
    }
    throw DataError(fmt::format("nothing is named \"{}\"", name));
  }
  Values computed(const Compute& compute, const std::string& path) {
    Values all;
    for (std::size_t i = 0; i < compute.points(); ++i) {
      const auto found = answers_.find(question_of(artefact_, compute, i).key());
      if (found == answers_.end()) throw DataError("it was interrupted");
      if (!found->second.failure.empty()) throw DataError(found->second.failure);
      const Values some = numbers_at(found->second.document, path);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  const Artefact& artefact_;
  const Answers& answers_;
  std::map<std::string, Values> values_ = {};
};

/// Judges one row.
class RowJudge {
 public:
  RowJudge(const Artefact& artefact, const Row& row, Known& known, std::string engine)
      : artefact_(artefact), row_(row), known_(known), engine_(std::move(engine)) {}

  std::vector<Judged> judged() {
    std::vector<Judged> all;
    for (std::size_t i = 0; i < row_.numbers(); ++i) all.push_back(begun(i));
    if (!row_.missing.empty()) return with_reason(std::move(all), row_.missing);
    try {
      if (row_.is_claim()) {
        judge_claim(all.front());
      } else {
        judge_numbers(all);
      }
    } catch (const Error& error) {
      return with_reason(std::move(all), error.what());
    }
    return all;
  }

 private:
  Judged begun(std::size_t i) const {
    Judged one{.what = row_.bound == Bound::None      ? row_.what
                       : row_.bound == Bound::AtLeast ? row_.what + " (at least)"
                                                      : row_.what + " (at most)",
               .place = row_.place.empty() ? artefact_.place : row_.place,
               .unit = row_.unit,
               .engine = engine_};
    if (i < row_.each.size()) one.what += ": " + row_.each[i];
    if (i < row_.published.size()) one.published = row_.published[i];
    if (i < row_.published_low.size()) one.published_low = row_.published_low[i];
    if (i < row_.published_high.size()) one.published_high = row_.published_high[i];
    return one;
  }

  static std::vector<Judged> with_reason(std::vector<Judged> all, const std::string& reason) {
    for (Judged& one : all) {
      if (one.verdict == Verdict::NotDetermined) one.reason = reason;
    }
    return all;
  }

  void judge_claim(Judged& one) {
    one.value = single(known_.of(*row_.holds), "holds");
    if (*one.value != 0) {
      accept(one);
    } else {
      explain(one);
    }
  }

  void judge_numbers(std::vector<Judged>& all) {
    const Values ours = known_.of(*row_.ours);
    if (ours.size() != all.size()) {
      throw DataError(fmt::format("{} numbers were published and {} computed by \"{}\"", all.size(),
                                  ours.size(), row_.ours->text()));
    }
    const auto low = bounds(row_.low, "ci_low_s");
    const auto high = bounds(row_.high, "ci_high_s");
    for (std::size_t i = 0; i < all.size(); ++i) {
      Judged& one = all[i];
      one.value = ours[i];
      if (low && low->size() == all.size()) one.low = (*low)[i];
      if (high && high->size() == all.size()) one.high = (*high)[i];
      if (is_close(ours[i], *one.published, i)) {
        accept(one);
      } else {
        explain(one);
      }
    }
  }

  bool is_close(double value, double published, std::size_t i) const {
    if (row_.bound == Bound::AtLeast) return value >= published;
    if (row_.bound == Bound::AtMost) return value <= published;
    const Tolerance& tolerance = row_.tolerance[row_.tolerance.size() == 1 ? 0 : i];
    // A billionth: what is printed in decimals is not exact in binary.
    return std::fabs(value - published) <= tolerance.of(published) + 1e-9 * std::fabs(published);
  }

  std::optional<Values> bounds(const std::optional<Expression>& written, std::string_view name) {
    if (written) return known_.of(*written);
    return known_.bound(*row_.ours, name);
  }

  void accept(Judged& one) const {
    one.verdict = row_.fitted.empty() ? Verdict::Reproduced : Verdict::Fitted;
    one.fitted = row_.fitted;
    one.reason = row_.because;
  }

  /// It is not what was published: is that explained?
  void explain(Judged& one) {
    one.reason = row_.argument;
    if (row_.shape && single(known_.of(*row_.shape), "shape") != 0) {
      one.verdict = Verdict::Shape;
    } else if (row_.refutes && single(known_.of(*row_.refutes), "refutes") != 0) {
      one.verdict = Verdict::Contradicted;
    } else {
      one.reason = "it is not what was published, and nothing here explains why";
    }
  }

  const Artefact& artefact_;
  const Row& row_;
  Known& known_;
  std::string engine_;
};

std::vector<DrawnCurve> curves_of(const Artefact& artefact, const Origins& origins,
                                  const Asking& asking, Known& known) {
  std::vector<DrawnCurve> drawn;
  for (const Curve& curve : artefact.plot.curves) {
    if (!may_ask(origins.of(curve.y), asking)) continue;
    try {
      DrawnCurve one{.name = curve.name,
                     .is_published = curve.is_published,
                     .x = known.of(curve.x),
                     .y = known.of(curve.y)};
      if (one.x.size() == one.y.size()) drawn.push_back(std::move(one));
    } catch (const Error&) {
      // Rows tell what could not be computed.
    }
  }
  return drawn;
}

/// The sentence for all: of the numbers that decide.
std::string reason_of(const Outcome& outcome) {
  for (const Judged& one : outcome.judged) {
    if (one.verdict == outcome.verdict) return one.reason;
  }
  return {};
}

}  // namespace

std::vector<Question> questions_of(const Artefact& artefact, const Asking& asking) {
  const std::set<std::string> needed = needed_names(artefact, asking);
  std::vector<Question> questions;
  for (const Compute& compute : artefact.computes) {
    if (!needed.contains(compute.name)) continue;
    for (std::size_t i = 0; i < compute.points(); ++i) {
      questions.push_back(question_of(artefact, compute, i));
    }
  }
  return questions;
}

Outcome judge(const Artefact& artefact, const Asking& asking, const Answers& answers) {
  Outcome outcome{.artefact = artefact, .reason = {}};
  if (artefact.rows.empty()) {
    outcome.verdict = Verdict::Reproduced;
    outcome.reason = "done by " + artefact.does;
    return outcome;
  }
  const Origins origins(artefact);
  Known known(artefact, answers);
  std::vector<Verdict> verdicts;
  for (const Row& row : artefact.rows) {
    const std::set<Engine> engines = origins.of(row);
    if (!may_ask(engines, asking)) continue;
    for (Judged& one : RowJudge(artefact, row, known, names_of(engines)).judged()) {
      verdicts.push_back(one.verdict);
      outcome.judged.push_back(std::move(one));
    }
  }
  outcome.curves = curves_of(artefact, origins, asking, known);
  outcome.verdict = together(verdicts);
  outcome.reason = reason_of(outcome);
  return outcome;
}

}  // namespace tw::reproduce
