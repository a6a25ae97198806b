// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/expression.h"

#include "trainwire/base/error.h"
#include "trainwire/keys/problem.h"
#include "trainwire/reproduce/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace tw::reproduce {

struct Expression::Node {
  enum class Kind { Number, Name, Call, List, Binary, Negative };
  Kind kind;
  double number = 0;
  std::string word = {};  ///< a name, or the sign of a Binary
  const Function* function = nullptr;
  std::vector<std::shared_ptr<const Node>> parts = {};
};

namespace {

using Node = Expression::Node;
using Part = std::shared_ptr<const Node>;

/// Deeper than any equation, and shallow enough for any stack.
constexpr int kDeepest = 100;
/// Sums of as many terms are as deep as they are long.
constexpr std::size_t kLongest = 10'000;

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Recursive descent; each function reads what binds tighter than the one before.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Part whole() {
    Part part = claim();
    skip_space();
    if (at_ < text_.size()) fail(fmt::format("{} is not expected", keys::in_quotes(rest())));
    return part;
  }
  std::vector<std::string> names() && { return std::move(names_); }

 private:
  [[noreturn]] static void fail(const std::string& what) {
    throw SpecError(what + "; write arithmetic, such as \"at(step, 1) / at(step, 0)\"");
  }
  std::string_view rest() const { return text_.substr(at_, 12); }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(std::string_view sign) {
    skip_space();
    if (text_.substr(at_, sign.size()) != sign) return false;
    // "and" must not begin a longer name.
    const std::size_t end = at_ + sign.size();
    if (begins_name(sign[0]) && end < text_.size() && begins_name(text_[end])) return false;
    at_ = end;
    return true;
  }
  std::optional<std::string> one_of(std::initializer_list<std::string_view> signs) {
    for (const std::string_view sign : signs) {
      if (take(sign)) return std::string(sign);
    }
    return {};
  }
  static Part binary(std::string sign, Part left, Part right) {
    return std::make_shared<Node>(Node{.kind = Node::Kind::Binary,
                                       .word = std::move(sign),
                                       .parts = {std::move(left), std::move(right)}});
  }

  Part claim() {
    if (++depth_ > kDeepest) fail("too many brackets within one another");
    Part left = comparison();
    while (take("and")) left = binary("and", left, comparison());
    --depth_;
    return left;
  }
  Part comparison() {
    Part left = sum();
    if (auto sign = one_of({"<=", ">=", "<", ">"})) return binary(*sign, left, sum());
    return left;
  }
  Part sum() {
    Part left = product();
    while (auto sign = one_of({"+", "-"})) left = binary(*sign, left, product());
    return left;
  }
  Part product() {
    Part left = negative();
    while (auto sign = one_of({"*", "/"})) left = binary(*sign, left, negative());
    return left;
  }
  Part negative() {
    if (!take("-")) return power();
    if (++depth_ > kDeepest) fail("too many signs");
    Part inner = negative();
    --depth_;
    return std::make_shared<Node>(Node{.kind = Node::Kind::Negative, .parts = {std::move(inner)}});
  }
  Part power() {
    Part base = primary();
    if (!take("^")) return base;
    if (++depth_ > kDeepest) fail("too many powers");
    Part exponent = negative();
    --depth_;
    return binary("^", std::move(base), std::move(exponent));
  }
  Part primary() {
    skip_space();
    if (take("(")) return closed(claim(), ")");
    if (take("[")) return list("]", {.kind = Node::Kind::List});
    if (at_ == text_.size()) fail("something is missing at the end");
    if (is_digit(text_[at_]) || text_[at_] == '.') return number();
    if (begins_name(text_[at_])) return name();
    fail(fmt::format("{} is not expected", keys::in_quotes(rest())));
  }
  Part closed(Part part, std::string_view sign) {
    if (!take(sign)) fail(fmt::format("\"{}\" is missing", sign));
    return part;
  }
  Part number() {
    double value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail(fmt::format("{} is no number", keys::in_quotes(rest())));
    at_ = static_cast<std::size_t>(end - text_.data());
    return std::make_shared<Node>(Node{.kind = Node::Kind::Number, .number = value});
  }
  Part name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (begins_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    std::string word(text_.substr(begin, at_ - begin));
    if (take("(")) return call(std::move(word));
    if (std::find(names_.begin(), names_.end(), word) == names_.end()) names_.push_back(word);
    return std::make_shared<Node>(Node{.kind = Node::Kind::Name, .word = std::move(word)});
  }
  Part call(std::string word) {
    const Function* function = find_function(word);
    if (function == nullptr) {
      std::vector<std::string_view> known;
      for (const Function& each : functions()) known.push_back(each.name);
      throw SpecError(fmt::format("there is no function {}; {}", keys::in_quotes(word),
                                  keys::remedy(word, known, "docs/reproduce.md")));
    }
    const Part made = list(")", {.kind = Node::Kind::Call, .function = function});
    if (made->parts.size() != function->arguments) {
      fail(
          fmt::format("{} takes {} values, not {}", word, function->arguments, made->parts.size()));
    }
    return made;
  }
  Part list(std::string_view end, Node node) {
    if (!take(end)) {
      do {
        node.parts.push_back(claim());
      } while (take(","));
      if (!take(end)) fail(fmt::format("\"{}\" is missing", end));
    }
    return std::make_shared<Node>(std::move(node));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<std::string> names_ = {};
};

double combined(char sign, double a, double b) {
  switch (sign) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    default:
      return std::pow(a, b);
  }
}

bool holds(std::string_view sign, double a, double b) {
  if (sign == "<") return a < b;
  if (sign == "<=") return a <= b;
  if (sign == ">") return a > b;
  if (sign == ">=") return a >= b;
  return a != 0 && b != 0;  // and
}

/// Item by item; a single number goes with every item.
Values both(const std::string& sign, const Values& left, const Values& right) {
  const std::size_t size = left.size() == 1 ? right.size() : left.size();
  if (right.size() != size && right.size() != 1) {
    throw DataError(fmt::format("\"{}\" of {} values and {}", sign, left.size(), right.size()));
  }
  const bool is_claim = sign == "and" || sign[0] == '<' || sign[0] == '>';
  Values result;
  bool all = true;
  for (std::size_t i = 0; i < size; ++i) {
    const double a = left.size() == 1 ? left[0] : left[i];
    const double b = right.size() == 1 ? right[0] : right[i];
    if (is_claim) {
      all = all && holds(sign, a, b);
    } else {
      result.push_back(combined(sign[0], a, b));
    }
  }
  return is_claim ? Values{all ? 1.0 : 0.0} : result;
}

Values value_of(const Node& node, const Lookup& lookup) {
  switch (node.kind) {
    case Node::Kind::Number:
      return {node.number};
    case Node::Kind::Name:
      return lookup(node.word);
    case Node::Kind::Negative: {
      Values values = value_of(*node.parts[0], lookup);
      for (double& value : values) value = -value;
      return values;
    }
    case Node::Kind::Binary:
      return both(node.word, value_of(*node.parts[0], lookup), value_of(*node.parts[1], lookup));
    case Node::Kind::List:
    case Node::Kind::Call:
      break;
  }
  std::vector<Values> parts;
  for (const Part& part : node.parts) parts.push_back(value_of(*part, lookup));
  if (node.kind == Node::Kind::Call) return node.function->call(parts);
  Values joined;
  for (const Values& part : parts) joined.insert(joined.end(), part.begin(), part.end());
  return joined;
}

}  // namespace

Expression::Expression(std::string text) : text_(std::move(text)) {
  if (text_.size() > kLongest) throw SpecError("too long; make it a [[let]] or two");
  Parser parser(text_);
  root_ = parser.whole();
  names_ = std::move(parser).names();
}

Values Expression::evaluate(const Lookup& lookup) const { return value_of(*root_, lookup); }

double single(const Values& values, std::string_view what) {
  if (values.size() != 1) {
    throw DataError(fmt::format("{}: {} values where one is meant", what, values.size()));
  }
  return values[0];
}

}  // namespace tw::reproduce
