// SPDX-License-Identifier: Apache-2.0
// Several curves on one x axis, as uPlot wants them: one list of x, and for each curve a value or none at
// every one of them.

import type { Distribution, Values } from "./data";
import type { Drawn } from "./plot";

export interface Curve {
  xs: number[];
  ys: number[];
}

/** Cumulative distributions: the share of values no larger than x. Between its points a curve is held. */
export function distributionCurves(all: Distribution[], log: boolean): Drawn {
  const curves = all.map((distribution) => cdf(distribution, log));
  const xs = [...new Set(curves.flatMap((curve) => curve.xs))].sort((a, b) => a - b);
  return { xs, ys: curves.map((curve, i) => banded(held(curve, xs), (all[i] as Distribution).band, curves.length)) };
}

/** With the band that holds the whole true curve, where there are not too many to see it; from the curve's
 * smallest value to its largest. */
function banded(values: Values, band: number, curves: number): Drawn["ys"][number] {
  if (curves > 2) return { values };
  const end = values.indexOf(1);
  const moved = (by: number) => values.map((value, i) => (value === 0 || i > end ? null : Math.min(1, Math.max(0, (value ?? 0) + by))));
  return { values, low: moved(-band), high: moved(band) };
}

function cdf(distribution: Distribution, log: boolean): Curve {
  const curve: Curve = { xs: [], ys: [] };
  const n = distribution.q.length;
  distribution.q.forEach((value, i) => {
    if (log && value <= 0) return;
    const last = curve.xs.length - 1;
    if (last >= 0 && curve.xs[last] === value) curve.ys[last] = (i + 1) / n;
    else {
      curve.xs.push(value);
      curve.ys.push((i + 1) / n);
    }
  });
  return curve;
}

/** 0 before the curve begins, its last value after it ends. */
function held(curve: Curve, xs: number[]): Values {
  let i = -1;
  return xs.map((x) => {
    while (i + 1 < curve.xs.length && (curve.xs[i + 1] as number) <= x) i++;
    return i < 0 ? 0 : (curve.ys[i] as number);
  });
}

/** Nothing where a curve has no point of its own; uPlot's spans are then lines between its points. */
export function pointsOf(all: Curve[]): Drawn {
  const xs = [...new Set(all.flatMap((curve) => curve.xs))].sort((a, b) => a - b);
  const ys = all.map((curve) => {
    const own = new Map(curve.xs.map((x, i) => [x, curve.ys[i] as number]));
    return { values: xs.map((x) => own.get(x) ?? null) };
  });
  return { xs, ys };
}
