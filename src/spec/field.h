// SPDX-License-Identifier: Apache-2.0
// One key of one section: how it is read into its member, written back and documented.
//
// fields.h lists the keys of every section once; reading, the search for misspelt keys, show, JSON
// and the reference all walk these lists.

#pragma once

#include "trainwire/spec/kind.h"
#include "trainwire/spec/setting.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tw::spec {

/// What a setting holds, as text for TOML and as plain numbers for JSON. Absent nodes stand for
/// "not set".
struct Held {
  keys::Node written;
  keys::Node measured;
  Origin origin;
};

template <typename S>
struct About {
  std::string_view help;
  /// The default in words, where it is computed or means something special.
  std::string_view otherwise = {};
  /// Whether the key matters to this section; empty: always. Others are not shown unless set.
  std::function<bool(const S&)> applies = {};
  /// Nothing but a simulation does as it says.
  bool simulated = false;
};

template <typename S>
struct Field {
  std::string_view key;
  std::string type;
  std::string_view suffix;
  About<S> about;
  /// What is wrong with the node, or "".
  std::function<std::string(S&, const keys::Node&)> read;
  /// Nothing where the section does not say (a link override that keeps the network's value).
  std::function<std::optional<Held>(const S&)> held;
};

inline Origin origin_of(const keys::Node& node) {
  return node.place.set >= 0 ? Origin::Override : Origin::File;
}

template <typename T>
Held hold(const Kind<T>& kind, const T& value, Origin origin) {
  keys::Node written = kind.write(value);
  keys::Node measured = kind.measure ? kind.measure(value) : written;
  return {std::move(written), std::move(measured), origin};
}

/// `assign` puts a value that was read into the section; `held` tells what the section holds.
template <typename S, typename T, typename Assign, typename Tell>
Field<S> make_field(std::string_view key, const Kind<T>& kind, About<S> about, Assign assign,
                    Tell held) {
  Field<S> field{.key = key,
                 .type = kind.type,
                 .suffix = kind.suffix,
                 .about = std::move(about),
                 .read = {},
                 .held = std::move(held)};
  field.read = [read = kind.read, assign](S& section, const keys::Node& node) {
    Reading<T> reading = read(node);
    if (reading.value) assign(section, *std::move(reading.value), origin_of(node));
    return std::move(reading.problem);
  };
  return field;
}

template <typename S, typename T>
Field<S> field(std::string_view key, Setting<T> S::*member, const Kind<T>& kind,
               std::type_identity_t<About<S>> about) {
  const auto assign = [member](S& section, T value, Origin origin) {
    section.*member = {std::move(value), origin};
  };
  const auto held = [member, kind](const S& section) {
    return std::optional(hold(kind, (section.*member).value, (section.*member).origin));
  };
  return make_field<S, T>(key, kind, std::move(about), assign, held);
}

/// A setting that the section may leave to another one.
template <typename S, typename T>
Field<S> field(std::string_view key, std::optional<Setting<T>> S::*member, const Kind<T>& kind,
               std::type_identity_t<About<S>> about) {
  const auto assign = [member](S& section, T value, Origin origin) {
    section.*member = Setting<T>{std::move(value), origin};
  };
  const auto held = [member, kind](const S& section) -> std::optional<Held> {
    const std::optional<Setting<T>>& setting = section.*member;
    if (!setting) return {};
    return hold(kind, setting->value, setting->origin);
  };
  return make_field<S, T>(key, kind, std::move(about), assign, held);
}

/// A member that does not record its origin.
template <typename S, typename T>
Field<S> bare_field(std::string_view key, T S::*member, const Kind<T>& kind,
                    std::type_identity_t<About<S>> about) {
  const auto assign = [member](S& section, T value, Origin) { section.*member = std::move(value); };
  const auto held = [member, kind](const S& section) {
    return std::optional(hold(kind, section.*member, Origin::File));
  };
  return make_field<S, T>(key, kind, std::move(about), assign, held);
}

/// A key of an inner struct that the file writes flat among the keys of the outer one.
template <typename Outer, typename Inner>
Field<Outer> flat(const Field<Inner>& inner, Inner Outer::*member) {
  return {.key = inner.key,
          .type = inner.type,
          .suffix = inner.suffix,
          .about = {.help = inner.about.help, .otherwise = inner.about.otherwise},
          .read = [read = inner.read, member](
                      Outer& outer, const keys::Node& node) { return read(outer.*member, node); },
          .held = [held = inner.held, member](const Outer& outer) { return held(outer.*member); }};
}

}  // namespace tw::spec
