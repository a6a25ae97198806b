// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/traffic_talk.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tw::lab {

using nlohmann::json;

TrafficTalk::TrafficTalk(const std::vector<CrossTraffic>& traffic)
    : traffic_(traffic), outcomes_(traffic.size()) {
  const auto line = [](const json& task) {
    auto [ours, theirs] = transport::make_control_sockets();
    Line made{.control = transport::Control(std::move(ours)), .other_end = std::move(theirs)};
    made.control.send(task);
    return made;
  };
  for (std::size_t i = 0; i < traffic.size(); ++i) {
    if (traffic[i].is_silent()) continue;
    plays_.push_back({.entry = i,
                      .sink = line(to_json(traffic[i].sink)),
                      .source = line(to_json(traffic[i].source))});
  }
}

std::vector<RankCommand> TrafficTalk::commands(const os::OwnProgram& program,
                                               int first_group) const {
  std::vector<RankCommand> commands;
  for (const Play& play : plays_) {
    const CrossTraffic& entry = traffic_[play.entry];
    const auto add = [&](const char* role, int host, const Line& line) {
      commands.push_back({.host = host,
                          .label = fmt::format("{} of {}", role, entry.name),
                          .file = fmt::format("traffic{}-{}", play.entry, role),
                          .group = first_group + static_cast<int>(commands.size()),
                          .input = line.other_end.get(),
                          .words = program.words,
                          .environment = program.environment});
      commands.back().words.emplace_back("crosstraffic");
    };
    add("sink", entry.to, play.sink);
    add("source", entry.from, play.source);
  }
  return commands;
}

void TrafficTalk::take(Line& line, Play& play) {
  line.other_end = {};
  while (const auto message = line.control.poll()) {
    if (message->contains("failed")) message->at("failed").get_to(line.failure);
    if (message->contains("port")) message->at("port").get_to(play.port);
    if (message->contains("ready")) line.ready = true;
    if (message->contains("done")) line.done = true;
    if (message->contains("outcome")) {
      outcomes_[play.entry] = traffic::outcome_from(message->at("outcome"));
    }
  }
}

/// One step at a time: what a process has not answered is waited for at the next look.
void TrafficTalk::advance(Play& play, bool started, bool finished) {
  const auto next = [&](const Line& line, const json& message, Stage stage) {
    line.control.send(message);
    play.stage = stage;
  };
  switch (play.stage) {
    case Stage::Waiting:
      if (play.port == 0) return;
      return next(play.source,
                  {{"to", {{"address", traffic_[play.entry].sink.address}, {"port", play.port}}}},
                  Stage::Introduced);
    case Stage::Introduced:
      if (started) next(play.source, {{"start", true}}, Stage::Started);
      return;
    case Stage::Started:
      if (finished) next(play.source, {{"stop", true}}, Stage::Stopping);
      return;
    case Stage::Stopping:
      if (play.source.done) next(play.sink, {{"stop", true}}, Stage::Done);
      return;
    case Stage::Done:
      if (play.sink.done) next(play.source, {{"leave", true}}, Stage::Left);
      return;
    case Stage::Left:
      return;
  }
}

void TrafficTalk::attend(bool started, bool finished) {
  for (Play& play : plays_) {
    take(play.sink, play);
    take(play.source, play);
    advance(play, started, finished);
  }
}

bool TrafficTalk::ready() const {
  return std::all_of(plays_.begin(), plays_.end(),
                     [](const Play& play) { return play.source.ready; });
}

RankCare::Explanation TrafficTalk::explain(std::size_t process) const {
  const Play& play = plays_[process / 2];
  return {.text = process % 2 == 0 ? play.sink.failure : play.source.failure};
}

std::vector<transport::tcp::Endpoint> TrafficTalk::sinks() const {
  std::vector<transport::tcp::Endpoint> sinks;
  for (const Play& play : plays_) {
    sinks.push_back({.address = traffic_[play.entry].sink.address, .port = play.port});
  }
  return sinks;
}

}  // namespace tw::lab
