// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/ols.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tw::stats {
namespace {

void expect_close(double found, double expected, const std::string& what, double tolerance = 1e-9) {
  EXPECT_LE(std::abs(found - expected), tolerance * std::abs(expected)) << what << ": " << found;
}

/// NIST Statistical Reference Datasets, Longley (higher difficulty): total employment by GNP
/// deflator, GNP, unemployed, armed forces, population and year.
/// https://www.itl.nist.gov/div898/strd/lls/data/LINKS/DATA/Longley.dat
struct Longley {
  std::vector<double> employed{60323, 61122, 60171, 61187, 63221, 63639, 64989, 63761,
                               66019, 67857, 68169, 66513, 68655, 69564, 69331, 70551};
  std::vector<std::vector<double>> columns{
      {83.0, 88.5, 88.2, 89.5, 96.2, 98.1, 99.0, 100.0, 101.2, 104.6, 108.4, 110.8, 112.6, 114.2,
       115.7, 116.9},
      {234289, 259426, 258054, 284599, 328975, 346999, 365385, 363112, 397469, 419180, 442769,
       444546, 482704, 502601, 518173, 554894},
      {2356, 2325, 3682, 3351, 2099, 1932, 1870, 3578, 2904, 2822, 2936, 4681, 3813, 3931, 4806,
       4007},
      {1590, 1456, 1616, 1650, 3099, 3594, 3547, 3350, 3048, 2857, 2798, 2637, 2552, 2514, 2572,
       2827},
      {107608, 108632, 109773, 110929, 112075, 113270, 115094, 116219, 117388, 118734, 120445,
       121950, 123366, 125368, 127852, 130081},
      {1947, 1948, 1949, 1950, 1951, 1952, 1953, 1954, 1955, 1956, 1957, 1958, 1959, 1960, 1961,
       1962}};

  Design design() const {
    Design all;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      all.add("x" + std::to_string(i + 1), columns[i]);
    }
    return all;
  }
};

TEST(Ols, GivesNistsCertifiedValuesForLongley) {
  const Longley data;
  const OlsFit fit = ols(data.design(), data.employed);
  // Certified estimates and their standard deviations, 15 digits.
  constexpr std::array kCertified{std::pair{-3482258.63459582, 890420.383607373},
                                  std::pair{15.0618722713733, 84.9149257747669},
                                  std::pair{-0.358191792925910E-01, 0.334910077722432E-01},
                                  std::pair{-2.02022980381683, 0.488399681651699},
                                  std::pair{-1.03322686717359, 0.214274163161675},
                                  std::pair{-0.511041056535807E-01, 0.226073200069370},
                                  std::pair{1829.15146461355, 455.478499142212}};
  ASSERT_EQ(fit.coefficients.size(), kCertified.size());
  for (std::size_t i = 0; i < kCertified.size(); ++i) {
    const Coefficient& coefficient = fit.coefficients[i];
    expect_close(coefficient.value.value, kCertified[i].first, coefficient.name, 1e-12);
    expect_close(coefficient.standard_error, kCertified[i].second, coefficient.name, 1e-12);
  }
  expect_close(fit.residual_deviation, 304.854073561965, "residual deviation");
  expect_close(fit.r_squared, 0.995479004577296, "R^2");
  expect_close(fit.f, 330.285339234588, "F");
  EXPECT_EQ(fit.degrees_of_freedom, 9u);
}

// NIST's Wampler1: y = 1 + x + ... + x^5 at x = 0..20, fitted without an error. Centred and scaled
// the powers still have a condition number of about 1e6, so 1e-16 may become 1e-10: 1e-8 is asked.
TEST(Ols, FindsAPolynomialOfDegreeFive) {
  std::vector<std::vector<double>> powers(6);
  std::vector<double> y;
  for (int x = 0; x <= 20; ++x) {
    double sum = 0;
    for (std::size_t k = 0; k < powers.size(); ++k) {
      powers[k].push_back(std::pow(x, k));
      sum += powers[k].back();
    }
    y.push_back(sum);
  }
  Design design;
  for (std::size_t k = 1; k < powers.size(); ++k) design.add("x^" + std::to_string(k), powers[k]);
  const OlsFit fit = ols(design, y);
  for (const Coefficient& each : fit.coefficients)
    expect_close(each.value.value, 1, each.name, 1e-8);
  EXPECT_DOUBLE_EQ(fit.r_squared, 1);
}

// Expected: R 4.2.2, m <- lm(Employed ~ ., longley): sum(diff(e)^2) / sum(e^2) with e = resid(m);
// the condition number is Belsley's 43,275.
TEST(Ols, SaysThatLongleysColumnsCanHardlyBeToldApart) {
  const Longley data;
  const Diagnostics found = ols(data.design(), data.employed).diagnostics;
  expect_close(found.durbin_watson, 2.559487689281521, "Durbin-Watson");
  expect_close(found.condition_number, 43275.04358717992, "condition number");
  expect_close(found.largest_leverage, 0.6886146016938937, "leverage");
}

// R's PlantGrowth (Dobson 1983, table 7.1: dried weights of plants, a control and two treatments).
// Expected: R 4.2.2, summary(lm(weight ~ group, PlantGrowth)) and confint() of it.
TEST(Ols, AgreesWithROnAFactorAlone) {
  const std::vector<double> weight{4.17, 5.58, 5.18, 6.11, 4.5,  4.61, 5.17, 4.53, 5.33, 5.14,
                                   4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69,
                                   6.31, 5.12, 5.54, 5.5,  5.37, 5.29, 4.92, 6.15, 5.8,  5.26};
  std::vector<std::string> group(10, "ctrl");
  group.insert(group.end(), 10, "trt1");
  group.insert(group.end(), 10, "trt2");
  Design design;
  design.add_factor("group", group);
  const OlsFit fit = ols(design, weight);
  ASSERT_EQ(fit.coefficients.size(), 3u);
  EXPECT_EQ(fit.coefficients[2].name, "group[trt2]");
  expect_close(fit.coefficients[0].value.value, 5.032, "control");
  expect_close(fit.coefficients[1].value.value, -0.371, "treatment 1");
  expect_close(fit.coefficients[1].value.low, -0.94301261155996308, "low");
  expect_close(fit.coefficients[1].value.high, 0.2010126115599635, "high");
  expect_close(fit.coefficients[2].p, 8.768167506268323e-02, "p of treatment 2");
  expect_close(fit.coefficients[0].p, 1.936574646067873e-20, "p of the control");
  expect_close(fit.f_p, 0.015909958325623, "p of F");
}

/// R's mtcars (Henderson & Velleman 1981, 10.2307/2530428; Motor Trend 1974).
struct Cars {
  std::vector<double> mpg{21,   21,   22.8, 21.4, 18.7, 18.1, 14.3, 24.4, 22.8, 19.2, 17.8,
                          16.4, 17.3, 15.2, 10.4, 10.4, 14.7, 32.4, 30.4, 33.9, 21.5, 15.5,
                          15.2, 13.3, 19.2, 27.3, 26,   30.4, 15.8, 19.7, 15,   21.4};
  std::vector<double> weight{2.62,  2.875, 2.32,  3.215, 3.44,  3.46, 3.57,  3.19,
                             3.15,  3.44,  3.44,  4.07,  3.73,  3.78, 5.25,  5.424,
                             5.345, 2.2,   1.615, 1.835, 2.465, 3.52, 3.435, 3.84,
                             3.845, 1.935, 2.14,  1.513, 3.17,  2.77, 3.57,  2.78};
  std::vector<double> power{110, 110, 93,  110, 175, 105, 245, 62,  95,  123, 123,
                            180, 180, 180, 205, 215, 230, 66,  52,  65,  97,  150,
                            150, 245, 175, 66,  91,  113, 264, 175, 335, 109};
  std::vector<std::string> cylinders{"6", "6", "4", "6", "8", "6", "8", "4", "4", "6", "6",
                                     "8", "8", "8", "8", "8", "8", "4", "4", "4", "4", "8",
                                     "8", "8", "8", "4", "4", "4", "8", "6", "8", "4"};
  Design design() const {
    Design all;
    all.add("wt", weight);
    all.add("hp", power);
    all.add_factor("cyl", cylinders);
    return all;
  }
};

// Expected: R 4.2.2, summary(lm(mpg ~ wt + hp + factor(cyl), mtcars)).
TEST(Ols, AgreesWithROnNumbersAndAFactor) {
  const Cars cars;
  const OlsFit fit = ols(cars.design(), cars.mpg);
  struct Expected {
    std::string name;
    double value;
    double error;
    double t;
    double p;
  };
  const std::array<Expected, 5> expected{
      Expected{"intercept", 35.84599531518770021, 2.04101907141032957, 17.562792928935433,
               2.670320140681273e-16},
      Expected{"wt", -3.18140404667961496, 0.71960100213438871, -4.421066726204299,
               1.441755761059829e-04},
      Expected{"hp", -0.02311980915445465, 0.01195219600880081, -1.934356593334877,
               6.361268640187362e-02},
      Expected{"cyl[6]", -3.35902489593595099, 1.40166971929286110, -2.396445360630727,
               2.374718027668632e-02},
      Expected{"cyl[8]", -3.18588444497752610, 2.17047528969989134, -1.467828019096239,
               1.537047405676235e-01}};
  ASSERT_EQ(fit.coefficients.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(fit.coefficients[i].name, expected[i].name);
    expect_close(fit.coefficients[i].value.value, expected[i].value, expected[i].name);
    expect_close(fit.coefficients[i].standard_error, expected[i].error, expected[i].name);
    expect_close(fit.coefficients[i].t, expected[i].t, expected[i].name);
    expect_close(fit.coefficients[i].p, expected[i].p, expected[i].name);
  }
  expect_close(fit.r_squared, 0.8572194524621976, "R^2");
  expect_close(fit.adjusted_r_squared, 0.8360667787528935, "adjusted R^2");
  expect_close(fit.f, 40.52534749236676, "F");
  expect_close(fit.f_p, 4.869141931596675e-11, "p of F");
  expect_close(fit.residual_deviation, 2.440230969522508, "deviation");
}

// Expected: R 4.2.2 on the same model m, e = resid(m), X = model.matrix(m): Jarque-Bera from the
// moments of e; Breusch-Pagan 32 * summary(lm(e^2 ~ X[, -1]))$r.squared; cooks.distance(m), whose
// largest is the Chrysler Imperial's; svd() of X with columns of length 1; logLik(m).
TEST(Ols, AgreesWithROnDiagnostics) {
  const Cars cars;
  const Diagnostics found = ols(cars.design(), cars.mpg).diagnostics;
  expect_close(found.durbin_watson, 1.789948533741629, "Durbin-Watson");
  expect_close(found.jarque_bera, 1.863555855032574, "Jarque-Bera");
  expect_close(found.jarque_bera_p, 0.3938528457011907, "p of Jarque-Bera");
  expect_close(found.breusch_pagan, 6.17072193713031, "Breusch-Pagan");
  expect_close(found.breusch_pagan_p, 0.1867562702757211, "p of Breusch-Pagan");
  expect_close(found.condition_number, 14.50133516322122, "condition number");
  expect_close(found.largest_leverage, 0.4697350825198863, "leverage");
  expect_close(found.largest_cook, 0.2617440302664797, "Cook's distance");
  EXPECT_EQ(found.largest_cook_row, 16u);
  expect_close(found.log_likelihood, -71.23461469672048, "log-likelihood");
  expect_close(found.aic, 152.469229393441, "AIC");
  expect_close(found.bic, 159.7979089074396, "BIC");
}

TEST(Ols, WithoutColumnsIsTheMean) {
  // 1, 2, 6: mean 3, squares 4 + 1 + 9 = 14 on 2 degrees of freedom, error sqrt(7 / 3).
  const OlsFit fit = ols({}, std::vector<double>{1, 2, 6});
  ASSERT_EQ(fit.coefficients.size(), 1u);
  EXPECT_DOUBLE_EQ(fit.coefficients[0].value.value, 3);
  EXPECT_DOUBLE_EQ(fit.coefficients[0].standard_error, std::sqrt(7.0 / 3));
  EXPECT_DOUBLE_EQ(fit.f_p, 1);
}

TEST(Ols, OfAConstantResponseExplainsNothing) {
  Design design;
  design.add("x", std::vector<double>{1, 2, 3, 5});
  const OlsFit fit = ols(design, std::vector<double>(4, 7));
  EXPECT_DOUBLE_EQ(fit.coefficients[0].value.value, 7);
  EXPECT_DOUBLE_EQ(fit.coefficients[1].value.value, 0);
  EXPECT_DOUBLE_EQ(fit.coefficients[1].p, 1);
  EXPECT_DOUBLE_EQ(fit.r_squared, 0);
}

// Row 2 is the only one of its level, so its coefficient fits it exactly: leverage 1, residual 0.
TEST(Ols, SeesARowThatIsFittedWhateverItSays) {
  Design design;
  design.add_factor("rack", std::vector<std::string>{"a", "a", "b", "a"});
  const OlsFit fit = ols(design, std::vector<double>{1, 2, 9, 3});
  EXPECT_NEAR(fit.diagnostics.largest_leverage, 1, 1e-12);
  EXPECT_NEAR(fit.residuals[2], 0, 1e-12);
  EXPECT_NE(fit.diagnostics.largest_cook_row, 2u);
}

std::string refusal(const Design& design, const std::vector<double>& y) {
  try {
    ols(design, y);
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Ols, NamesColumnsThatDependOnOneAnother) {
  Design design;
  design.add("hosts", std::vector<double>{1, 2, 4, 8, 16, 3});
  design.add("delay", std::vector<double>{5, 1, 4, 2, 9, 6});
  design.add("ranks", std::vector<double>{4, 6, 10, 18, 34, 8});  // 2 + 2 hosts
  const std::string text = refusal(design, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(text, testing::HasSubstr("hosts"));
  EXPECT_THAT(text, testing::HasSubstr("ranks"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("delay")));
}

TEST(Ols, RefusesAColumnThatNeverChanges) {
  Design design;
  design.add("rate", std::vector<double>(5, 1e9 / 3));
  EXPECT_THAT(refusal(design, {1, 2, 3, 4, 5}),
              testing::HasSubstr("depend on one another: rate, intercept"));
}

TEST(Ols, RefusesTooFewRows) {
  Design design;
  design.add("x", std::vector<double>{1, 2});
  EXPECT_THAT(refusal(design, {1, 2}), testing::HasSubstr("2 rows for 2 coefficients"));
}

TEST(Ols, NamesTheRowThatIsNotFinite) {
  Design design;
  design.add("x", std::vector<double>{1, std::numeric_limits<double>::quiet_NaN(), 3, 4});
  EXPECT_THAT(refusal(design, {1, 2, 3, 4}), testing::HasSubstr("x of row 2 is nan"));
}

TEST(Design, TakesTheReferenceItIsGiven) {
  Design design;
  design.add_factor("cc", std::vector<std::string>{"cubic", "bbr", "cubic", "reno"}, "cubic");
  ASSERT_EQ(design.columns().size(), 2u);
  EXPECT_EQ(design.columns()[0].name, "cc[bbr]");
  EXPECT_EQ(design.columns()[1].values, (std::vector<double>{0, 0, 0, 1}));
}

TEST(Design, RefusesAFactorThatNeverChangesAndAnUnknownReference) {
  Design design;
  const std::vector<std::string> same(4, "cubic");
  const std::vector<std::string> two{"cubic", "bbr"};
  EXPECT_THROW(design.add_factor("cc", same), DataError);
  EXPECT_THROW(design.add_factor("cc", two, "vegas"), DataError);
}

}  // namespace
}  // namespace tw::stats
