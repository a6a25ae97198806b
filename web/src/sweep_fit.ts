// SPDX-License-Identifier: Apache-2.0
// What `trainwire fit` has put through the points of a sweep (fit.json), as curves to draw.

import { at, type Json, list, num, str, type SweepAxis } from "./data";
import { digits, interval } from "./format";

export interface Fit {
  /** Settings of the series that it is of: key and value. */
  by: Map<string, string>;
  equation: string;
  /** "A = 0.2 [0.1, 0.3] s; ...; R² = 0.98" */
  parameters: string;
  xs: number[];
  at: (x: number) => number;
  congestion: { x: number; low: number | null; high: number | null; y: number } | null;
}

const UNIT: Record<string, number> = { "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12 };

/** "job.model="a b" network.loss=0.1": a word without "=" belongs to the value before it. */
export function settingsOf(text: string): [string, string][] {
  const settings: [string, string][] = [];
  for (const word of text.split(" ")) {
    const equals = word.indexOf("=");
    const last = settings[settings.length - 1];
    if (equals > 0) settings.push([word.slice(0, equals), word.slice(equals + 1)]);
    else if (last) last[1] += ` ${word}`;
  }
  return settings.map(([key, value]) => [key, value.replace(/^"(.*)"$/, "$1")]);
}

function parametersText(one: Json): string {
  const parts = list(one, "parameters").map((each) => `${str(each, "name")} = ${interval("number", num(each, "value"), num(each, "ci_low"), num(each, "ci_high"))}${str(each, "unit") ? ` ${str(each, "unit")}` : ""}`);
  const r2 = num(one, "r_squared");
  return [...parts, ...(r2 === null ? [] : [`R² = ${digits(r2)}`])].join("; ");
}

/** A exp(B / (C - x)^n), x and C in the equation's unit. */
function saturation(one: Json, unitName: string | null): ((x: number) => number) | null {
  const value = (name: string) => num(list(one, "parameters").find((each) => str(each, "name") === name), "value");
  const [a, b, n, capacity] = [value("A"), value("B"), value("n"), num(one, "capacity")];
  if (a === null || b === null || n === null || capacity === null) return null;
  const unit = UNIT[unitName ?? "bit/s"] ?? 1;
  return (x) => a * Math.exp(b / Math.pow((capacity - x) / unit, n));
}

const STEPS = 120;

/** A curve by its formula where that is known here, or else through the fitted values of its points. */
function fitOf(one: Json, fit: Json): Fit | null {
  const points = list(one, "points")
    .map((point): [number | null, number | null] => [num(point, "x"), num(point, "fitted")])
    .filter((pair): pair is [number, number] => pair[0] !== null && pair[1] !== null)
    .sort((a, b) => a[0] - b[0]);
  const [from, to] = [num(one, "valid_from") ?? points[0]?.[0] ?? null, num(one, "valid_to") ?? points[points.length - 1]?.[0] ?? null];
  const smooth = (str(one, "model") ?? str(fit, "model")) === "saturation" ? saturation(one, str(one, "equation_x_unit") ?? str(fit, "equation_x_unit")) : null;
  if (!smooth && points.length < 2) return null;
  const known = new Map(points);
  const mark = at(one, "congestion_point");
  const [x, y] = [num(mark, "x"), num(mark, "y")];
  return {
    by: new Map(settingsOf(str(one, "name") ?? "")),
    equation: str(one, "equation") ?? "",
    parameters: parametersText(one),
    xs: smooth && from !== null && to !== null ? Array.from({ length: STEPS + 1 }, (_none, k) => from + ((to - from) * k) / STEPS) : points.map(([each]) => each),
    at: smooth ?? ((each) => known.get(each) ?? NaN),
    congestion: x === null || y === null ? null : { x, y, low: num(mark, "ci_low"), high: num(mark, "ci_high") },
  };
}

/** Those over this axis; none when fit.json is of other columns. */
export function fitsOver(fit: Json, x: SweepAxis | null, isLoad: boolean): Fit[] {
  const of = str(fit, "x");
  if (of !== (isLoad ? "traffic_achieved_bps" : x?.key) && !(isLoad && of === null)) return [];
  if (!/^step_(mean_)?s$/.test(str(fit, "y") ?? "step_mean_s")) return [];
  const all = list(fit, "series").length > 0 ? list(fit, "series") : [fit];
  return all.map((one) => fitOf(one, fit)).filter((one): one is Fit => one !== null);
}

/** Whether a point with these settings belongs to the fit's series. */
export const isOf = (fit: Fit, axes: SweepAxis[], place: number): boolean => axes.every((axis) => !fit.by.has(axis.key) || fit.by.get(axis.key) === axis.texts[place]);
