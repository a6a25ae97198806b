// SPDX-License-Identifier: Apache-2.0
// What a claim is worth: how often such claims were right, of captures whose truth is known.
//
// Recognition scores its explanations (recognise/likelihood.h), and steps have a share of the bytes
// that repeat. These scores order claims, but terms that depend on each other are added up in them,
// so they are no probabilities yet. Here each becomes one, by a logistic line over its log-odds
// (Platt 1999; Cox 1958): two numbers for each kind of claim, which rise with the score. They were
// fitted to simulated captures (bench/recognition), and judged on others; docs/recognition.md has
// the curves.
//
// Limits: fitted to what bench/recognition draws. Where other traffic is common, other shares hold.

#pragma once

namespace tw::diagnose {

enum class Claim { Steps, Strategy, Bytes, SlowLink, Straggler };

/// Probability that a claim with this score, in 0..1, is right; never below 0.02 or above 0.98.
double confidence(Claim claim, double score);

}  // namespace tw::diagnose
