// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/saturation.h"

#include "trainwire/base/error.h"
#include "trainwire/base/random.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

namespace tw::stats {
namespace {

using testing::HasSubstr;

constexpr double kCapacity = 25;

/// A printed curve and how far its loads reached.
struct Printed {
  const char* name;
  double a;
  double b;
  double n;
  double to;
};

/// Salamy 2022: equation 3.3, tables 3.9 and 3.10. The curve with n = 2 is of a short range (its
/// text says so): at 24 Gbit/s it would be at 10^9 s.
constexpr Printed kPrinted[] = {
    {"BERT iperf", 0.618, 9.95, 1, 22},          {"VGG iperf", 0.254, 10.75, 1, 22},
    {"BERT RDMA", 0.200, 7.281, 0.5, 24},        {"BERT TCP", 0.564, 3.667, 0.5, 24},
    {"ResNet RDMA", 0.140, 22.793, 2, 22},       {"ResNet TCP", 0.0645, 3.311, 0.5, 24},
    {"BERT burst TCP", 0.268, 7.310, 0.5, 24.7}, {"ResNet burst TCP", 0.0862, 4.174, 0.5, 24.7},
};

struct Points {
  std::vector<double> x;
  std::vector<double> t;
};

/// Evenly spaced loads; each time off by a share that is normal with deviation `noise`.
Points sampled(const Printed& curve, double noise, std::uint64_t seed, int count = 13) {
  Random random(seed, "saturation_test");
  Points points;
  for (int i = 0; i < count; ++i) {
    const double x = curve.to * i / (count - 1);
    points.x.push_back(x);
    points.t.push_back(curve.a * std::exp(curve.b / std::pow(kCapacity - x, curve.n)) *
                       std::exp(noise * random.normal()));
  }
  return points;
}

SaturationFit fit(const Points& points, SaturationOptions options = {.capacity = kCapacity}) {
  return fit_saturation(points.x, points.t, options);
}

bool holds(const Estimate& estimate, double truth) {
  return estimate.low <= truth && truth <= estimate.high;
}

/// Share of 400 seeds whose interval holds the truth. With a true 95 % its deviation is
/// sqrt(0.95 * 0.05 / 400) = 1.1 %: outside 91..99 % once in thousands of trials.
template <typename Holds>
double coverage(Holds holds_at) {
  int held = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) held += holds_at(seed);
  return held / 400.0;
}

TEST(Saturation, FindsThePrintedCurvesWithoutNoise) {
  for (const Printed& curve : kPrinted) {
    for (const Space space : {Space::Log, Space::Linear}) {
      const SaturationFit found =
          fit(sampled(curve, 0, 1), {.capacity = kCapacity, .space = space});
      EXPECT_NEAR(found.a.value, curve.a, 1e-6 * curve.a) << curve.name;
      EXPECT_NEAR(found.b.value, curve.b, 1e-6 * curve.b) << curve.name;
      EXPECT_EQ(found.n.value, curve.n) << curve.name;
      EXPECT_NEAR(found.r_squared, 1, 1e-9) << curve.name;
      EXPECT_NEAR(found.r_squared_log, 1, 1e-9) << curve.name;
    }
  }
}

TEST(Saturation, FindsThePrintedCurvesInTheirIntervalsWithThreePercentNoise) {
  for (const Printed& curve : kPrinted) {
    const SaturationFit found = fit(sampled(curve, 0.03, 20));
    EXPECT_TRUE(holds(found.a, curve.a)) << curve.name << ' ' << found.a.value;
    EXPECT_TRUE(holds(found.b, curve.b)) << curve.name << ' ' << found.b.value;
    EXPECT_EQ(found.n.value, curve.n) << curve.name;
    EXPECT_NEAR(found.residual_deviation, 0.03, 0.02) << curve.name;
  }
}

TEST(Saturation, FitsNToo) {
  for (const Printed& curve : kPrinted) {
    const SaturationFit found =
        fit(sampled(curve, 0.02, 21, 25), {.capacity = kCapacity, .exponent = Exponent::Fitted});
    EXPECT_TRUE(holds(found.n, curve.n)) << curve.name << ' ' << found.n.value;
    EXPECT_TRUE(holds(found.a, curve.a)) << curve.name << ' ' << found.a.value;
    EXPECT_TRUE(holds(found.b, curve.b)) << curve.name << ' ' << found.b.value;
  }
}

TEST(Saturation, FittedNComesOutExactWithoutNoiseInEitherSpace) {
  const Printed curve{"n = 0.75", 0.3, 6, 0.75, 23};
  for (const Space space : {Space::Log, Space::Linear}) {
    const SaturationFit found =
        fit(sampled(curve, 0, 1),
            {.capacity = kCapacity, .exponent = Exponent::Fitted, .space = space});
    EXPECT_NEAR(found.n.value, 0.75, 1e-5);
    EXPECT_NEAR(found.b.value, 6, 1e-4);
  }
}

TEST(Saturation, IntervalsHoldTheTruthAsOftenAsTheySay) {
  for (const Printed& curve : {kPrinted[0], kPrinted[2], kPrinted[4]}) {
    const SaturationOptions fixed{
        .capacity = kCapacity, .exponent = Exponent::Fixed, .fixed = curve.n};
    const double a = coverage(
        [&](auto seed) { return holds(fit(sampled(curve, 0.05, seed), fixed).a, curve.a); });
    const double b = coverage(
        [&](auto seed) { return holds(fit(sampled(curve, 0.05, seed), fixed).b, curve.b); });
    EXPECT_THAT(a, testing::AllOf(testing::Gt(0.91), testing::Lt(0.99))) << curve.name;
    EXPECT_THAT(b, testing::AllOf(testing::Gt(0.91), testing::Lt(0.99))) << curve.name;
  }
}

TEST(Saturation, IntervalOfTheCurveHoldsItAsOftenAsItSays) {
  const Printed& curve = kPrinted[2];
  const double truth = curve.a * std::exp(curve.b / std::sqrt(kCapacity - 20));
  const double share = coverage([&](auto seed) {
    const SaturationOptions fixed{
        .capacity = kCapacity, .exponent = Exponent::Fixed, .fixed = curve.n};
    return holds(evaluate(fit(sampled(curve, 0.05, seed), fixed), 20), truth);
  });
  EXPECT_THAT(share, testing::AllOf(testing::Gt(0.91), testing::Lt(0.99)));
}

TEST(Saturation, ChoosesNRightFromNoisyPoints) {
  for (const Printed& curve : kPrinted) {
    const double right =
        coverage([&](auto seed) { return fit(sampled(curve, 0.03, seed)).n.value == curve.n; });
    EXPECT_GT(right, 0.95) << curve.name;
  }
}

TEST(Saturation, LinearSpaceFollowsTheLargestTime) {
  // One point far above the curve near the asymptote: residuals of t bend the curve to it,
  // residuals of ln t spread the error.
  Points points = sampled(kPrinted[2], 0, 1);
  points.t.back() *= 2;
  const SaturationOptions linear{
      .capacity = kCapacity, .exponent = Exponent::Fixed, .fixed = 0.5, .space = Space::Linear};
  const SaturationOptions log{.capacity = kCapacity, .exponent = Exponent::Fixed, .fixed = 0.5};
  const double asked = points.x.back();
  EXPECT_NEAR(evaluate(fit(points, linear), asked).value, points.t.back(), 0.02 * points.t.back());
  EXPECT_LT(evaluate(fit(points, log), asked).value, 0.9 * points.t.back());
  EXPECT_GT(fit(points, linear).r_squared, fit(points, log).r_squared);
}

TEST(Saturation, RescalesTheAxisAsEquation32Does) {
  EXPECT_EQ(rescaled(0, 25), 1);
  EXPECT_EQ(rescaled(20, 25), 5);
}

TEST(Saturation, IsNotReadBeyondItsPoints) {
  const SaturationFit found = fit(sampled(kPrinted[2], 0.01, 3));
  EXPECT_EQ(found.valid_from, 0);
  EXPECT_EQ(found.valid_to, 24);
  EXPECT_FALSE(refusal(found, 24));
  EXPECT_THAT(refusal(found, 24.1).value(), HasSubstr("asymptote at 25"));
  EXPECT_THAT(refusal(found, 26).value(), HasSubstr("asymptote"));
  // 5 % of the range of 24 below its start.
  EXPECT_FALSE(refusal(found, -1.19));
  EXPECT_THAT(refusal(found, -1.21).value(), HasSubstr("smallest load"));
  EXPECT_TRUE(refusal(found, std::nan("")));
  EXPECT_THROW(evaluate(found, 24.9), DataError);
}

TEST(Saturation, SaysNothingWithinOnePercentOfTheCapacity) {
  // Measured up to 24.9, but 24.75 is 99 % of 25.
  Printed curve = kPrinted[3];
  curve.to = 24.9;
  const SaturationFit found = fit(sampled(curve, 0.01, 3));
  EXPECT_EQ(found.valid_to, 24.75);
  EXPECT_TRUE(refusal(found, 24.8));
}

/// The message of the refusal.
std::string refused(const Points& points, SaturationOptions options = {.capacity = kCapacity}) {
  try {
    fit(points, options);
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Saturation, RefusesTooFewLoads) {
  EXPECT_THAT(refused({{0, 10}, {1, 2}}), HasSubstr("2 different loads"));
  EXPECT_THAT(refused({{0, 0, 10, 10}, {1, 1.1, 2, 2.1}}), HasSubstr("2 different loads"));
  EXPECT_THAT(refused({{0, 10, 20}, {1, 2, 3}}), HasSubstr("or 3 when n is fixed"));
  EXPECT_THAT(refused({{}, {}}), HasSubstr("0 different loads"));
  EXPECT_EQ(refused({{0, 10, 20}, {1, 2, 3}}, {.capacity = kCapacity, .exponent = Exponent::Fixed}),
            "accepted");
}

TEST(Saturation, RefusesWhatIsNoLoadedStep) {
  EXPECT_THAT(refused({{0, 5, 10, 25}, {1, 2, 3, 4}}), HasSubstr("point 4: a load of 25"));
  EXPECT_THAT(refused({{0, 5, 10, std::nan("")}, {1, 2, 3, 4}}), HasSubstr("point 4"));
  EXPECT_THAT(refused({{0, 5, 10, 20}, {1, 0, 3, 4}}), HasSubstr("point 2: 0 is no positive time"));
  EXPECT_THAT(refused({{0, 5, 10, 20}, {2, 2, 2, 2}}), HasSubstr("no rise"));
}

TEST(Saturation, RefusesAnNThatThePointsDoNotDetermine) {
  // A step: nothing until the last load. The larger n, the better.
  const SaturationOptions options{.capacity = kCapacity, .exponent = Exponent::Fitted};
  EXPECT_THAT(refused({{0, 5, 10, 15, 20}, {1, 1, 1, 1, 9}}, options), HasSubstr("fix it"));
  EXPECT_THAT(refused({{0, 5, 10, 15, 20}, {5, 4.8, 4.4, 3.9, 2}}, options),
              HasSubstr("do not rise"));
}

}  // namespace
}  // namespace tw::stats
