// SPDX-License-Identifier: Apache-2.0
// What a sweep is drawn over: which setting is the horizontal axis, where its values lie, which tell series apart.

import { at, num, type Row, type Run, type SweepAxis } from "./data";
import { digits, type Kind, show } from "./format";
import type { Tick } from "./plot";

export interface Point {
  row: Row;
  /** In the lists of the sweep. */
  place: number;
  mean: number | null;
  p99: number | null;
  /** What failed; null when nothing did. */
  why: { name: string; text: string }[] | null;
  whole: boolean;
}

export const rowScale = (row: Row) => num(row, "scale") || 1;

/** All points, also those that did not come to their end. */
export function pointsOf(run: Run): Point[] {
  return (run.points ?? []).map((row, place) => {
    const whole = at(row, "complete") !== 0;
    const mean = num(row, "step_mean_s") ?? num(row, "step_s");
    return { row, place, whole, mean: whole && mean !== null && mean > 0 ? mean : null, p99: num(row, "step_p99_s"), why: run.sweep?.why[place] ?? null };
  });
}

export const isLoadKey = (key: string) => /^traffic\.(\d+\.)?load$/.test(key);

export interface Plan {
  /** Null: the number of the point. */
  x: SweepAxis | null;
  /** The horizontal axis is the cross traffic that was reached. */
  isLoad: boolean;
  /** Each value of it has a plot of its own. */
  facet: SweepAxis | null;
  /** What tells series apart. */
  series: SweepAxis[];
}

const valuesOf = (axis: SweepAxis) => new Set(axis.texts);

/** Whether `axis` always goes along with `x`, so that it tells nothing new. */
function goesAlong(axis: SweepAxis, x: SweepAxis): boolean {
  const seen = new Map<string, string>();
  return axis.texts.every((text, i) => {
    const key = x.texts[i] ?? "";
    if (!seen.has(key)) seen.set(key, text);
    return seen.get(key) === text;
  });
}

export function planOf(run: Run, points: Point[]): Plan {
  const axes = run.sweep?.axes ?? [];
  const load = axes.find((axis) => isLoadKey(axis.key));
  const reached = points.filter((point) => point.mean !== null);
  const isLoad = load !== undefined && reached.length > 0 && reached.every((point) => num(point.row, "traffic_achieved_bps") !== null);
  const numbers = axes.filter((axis) => axis.kind !== "word");
  const most = (some: SweepAxis[]) => some.reduce<SweepAxis | null>((a, b) => (a && valuesOf(a).size >= valuesOf(b).size ? a : b), null);
  const x = isLoad ? (load as SweepAxis) : (most(numbers) ?? most(axes));
  const rest = axes.filter((axis) => axis !== x && x !== null && !goesAlong(axis, x) && !(isLoad && isLoadKey(axis.key)));
  return { x, isLoad, facet: rest.length > 1 ? (rest[0] as SweepAxis) : null, series: rest.length > 1 ? rest.slice(1) : rest };
}

/** A value as a reader would write it. */
export function valueText(axis: SweepAxis, place: number): string {
  const number = axis.numbers?.[place] ?? null;
  if (number === null || axis.kind === "word" || axis.kind === "bytes") return axis.texts[place] ?? "";
  return axis.kind === "number" ? digits(number) : show(axis.kind as Kind, number);
}

/** Words tell what they are of, numbers do not. */
export const namedValue = (axis: SweepAxis, place: number) => (axis.kind === "word" ? (axis.texts[place] ?? "") : `${axis.label} ${valueText(axis, place)}`);

/** Where values of an axis lie. */
export interface Scale {
  at: (place: number) => number;
  /** The same for a number between the points. */
  of: (value: number) => number;
  ticks: Tick[];
  log: boolean;
}

/** From here on a logarithmic axis is used. */
const DECADES = 20;

function distinctPlaces(axis: SweepAxis): number[] {
  return axis.texts.flatMap((text, i) => (axis.texts.indexOf(text) === i ? [i] : []));
}

/** Even for words; logarithmic for numbers that span decades, with 0, where it is among them, one gap to the left. */
export function scaleFor(axis: SweepAxis): Scale {
  const places = distinctPlaces(axis);
  const numbers = axis.numbers;
  if (!numbers) {
    const words = places.map((place) => axis.texts[place]);
    return { at: (place) => words.indexOf(axis.texts[place]), of: (value) => value, ticks: places.map((place, i) => ({ at: i, text: axis.texts[place] ?? "" })), log: false };
  }
  const positive = [...new Set(numbers.filter((value): value is number => value !== null && value > 0))].sort((a, b) => a - b);
  const [least, most] = [positive[0] ?? 1, positive[positive.length - 1] ?? 1];
  const log = positive.length > 1 && most >= DECADES * least && numbers.every((value) => (value ?? 0) >= 0);
  const gap = log ? Math.max(0.3, Math.log10(most / least) / (positive.length - 1)) : 0;
  const of = (value: number) => (!log ? value : value > 0 ? Math.log10(value) : Math.log10(least) - gap);
  const ticks = places.map((place) => ({ at: of(numbers[place] ?? 0), text: valueText(axis, place) })).sort((a, b) => a.at - b.at);
  return { at: (place) => of(numbers[place] ?? 0), of, ticks, log };
}
