// SPDX-License-Identifier: Apache-2.0
// Forward that begins a bucket when its parameters are there.
#include "trainwire/play/play.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace tw::play {
namespace {

using workload::Training;
using namespace std::chrono_literals;

/// One worker and a server: forward of 20 ms, backward of 40 ms that fills two buckets.
Training two_buckets() {
  Training training;
  training.strategy = "ps";
  training.arrangement = {.layout = collective::evenly(2, 2), .servers = 1};
  training.buckets = {{.elements = 10, .ready = 20ms}, {.elements = 10, .ready = 40ms}};
  training.compute = {.forward = 20ms, .backward = 40ms};
  training.steps = 3;
  training.broadcast = false;
  return training;
}

/// Ends of the worker's steps, where each message takes 30 ms.
std::vector<Duration> ends(const Training& training) {
  std::vector<Duration> ends;
  for (const Step& step :
       play(training, [](const Message&) { return Journey{.leaving = 30ms}; }).steps) {
    if (step.rank == 0) ends.push_back(step.end);
  }
  return ends;
}

// 60 ms and two buckets up and down, one after another.
TEST(ForwardOverlap, WithoutItAStepIsComputingAndExchange) {
  EXPECT_EQ(ends(two_buckets()), (std::vector<Duration>{180ms, 360ms, 540ms}));
}

// The last bucket goes first and is there 60 ms after backward; its 10 ms of forward pass while the
// other one comes, 120 ms after backward. So a step is 120 + 10 + 40 ms, but for the first one, which
// has nothing to wait for; the last exchange comes after all steps.
TEST(ForwardOverlap, HidesAllOfForwardButTheLastBucket) {
  Training training = two_buckets();
  training.forward_overlap = true;
  EXPECT_EQ(ends(training), (std::vector<Duration>{60ms, 230ms, 400ms}));
  EXPECT_EQ(play(training, [](const Message&) { return Journey{.leaving = 30ms}; }).end, 520ms);
}

// Three equal buckets, exchanged in 20 ms each way; backward of 60 ms, forward of 30. Bucket 0 is
// filled 20 ms after backward's begin and takes until 60. Then 1 and 2 are filled, and 2 goes first,
// until 100: forward begins, and bucket 1 comes at 140. 10 ms of its forward and 10 of bucket 0's
// end at 160, 100 ms after backward.
TEST(ForwardOverlap, WhatForwardNeedsFirstGoesFirst) {
  Training training = two_buckets();
  training.buckets = {{.elements = 10, .ready = 20ms},
                      {.elements = 10, .ready = 40ms},
                      {.elements = 10, .ready = 60ms}};
  training.compute = {.forward = 30ms, .backward = 60ms};
  training.overlap = training.forward_overlap = true;
  std::vector<Step> steps;
  for (const Step& step :
       play(training, [](const Message&) { return Journey{.leaving = 20ms}; }).steps) {
    if (step.rank == 0) steps.push_back(step);
  }
  EXPECT_EQ(steps[1].end - steps[0].end, 100ms + 60ms);  // from backward's end to the next one's
}

// With jitter, stragglers and several ranks that begin buckets at different times, all agree on one
// order, and everything comes.
TEST(ForwardOverlap, AllRanksAgreeOnAnOrder) {
  for (const std::string strategy : {"ps", "ring", "star", "clique", "halving_doubling"}) {
    for (const bool asynchronous : {false, true}) {
      if (asynchronous && strategy != "ps") continue;
      Training training = two_buckets();
      training.strategy = strategy;
      training.arrangement = {.layout = collective::evenly(6, 6),
                              .servers = 2,
                              .asynchronous = asynchronous,
                              .seed = 3};
      training.buckets = {{.elements = 31, .ready = 10ms},
                          {.elements = 5, .ready = 25ms},
                          {.elements = 17, .ready = 30ms},
                          {.elements = 1, .ready = 40ms}};
      training.compute.jitter = 0.5;
      training.overlap = training.forward_overlap = true;
      training.warmup = 1;
      std::map<int, int> steps;
      for (const Step& step : play(training, [](const Message& message) {
                                return Journey{.leaving = 1ms * message.bytes() / 40};
                              }).steps) {
        ++steps[step.rank];
      }
      EXPECT_EQ(steps[0], 4) << strategy;
      EXPECT_EQ(steps[3], 4) << strategy;
    }
  }
}

}  // namespace
}  // namespace tw::play
