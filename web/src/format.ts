// SPDX-License-Identifier: Apache-2.0
// The one place where numbers become text: three to four significant digits, a blank, a unit.

export type Kind = "time" | "rate" | "bytes" | "share" | "bus" | "count" | "number";

interface Unit {
  name: string;
  factor: number;
}

const UNITS: Record<Kind, Unit[]> = {
  time: [
    { name: "ns", factor: 1e-9 },
    { name: "µs", factor: 1e-6 },
    { name: "ms", factor: 1e-3 },
    { name: "s", factor: 1 },
  ],
  rate: [
    { name: "bit/s", factor: 1 },
    { name: "kbit/s", factor: 1e3 },
    { name: "Mbit/s", factor: 1e6 },
    { name: "Gbit/s", factor: 1e9 },
    { name: "Tbit/s", factor: 1e12 },
  ],
  bytes: [
    { name: "B", factor: 1 },
    { name: "kB", factor: 1e3 },
    { name: "MB", factor: 1e6 },
    { name: "GB", factor: 1e9 },
    { name: "TB", factor: 1e12 },
  ],
  share: [{ name: "%", factor: 0.01 }],
  // Bus bandwidth, from bits a second: the one unit of nccl-tests.
  bus: [{ name: "GB/s", factor: 8e9 }],
  count: [{ name: "", factor: 1 }],
  number: [{ name: "", factor: 1 }],
};

/** The largest unit in which `largest` is 1 at least, as it is written: 999.99 Mbit/s are 1 Gbit/s. */
export function unitFor(kind: Kind, largest: number): Unit {
  const units = UNITS[kind];
  let chosen = units[0] as Unit;
  for (const unit of units) if (Math.abs(largest) >= 0.99995 * unit.factor) chosen = unit;
  return chosen;
}

/** Four significant digits without trailing zeros; thousands grouped. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-6) return value.toExponential(2);
  const decimals = Math.max(0, 3 - Math.floor(Math.log10(size)));
  return value.toLocaleString("en-US", { maximumFractionDigits: Math.min(decimals, 9) });
}

export function show(kind: Kind, value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (kind === "count") return Math.round(value).toLocaleString("en-US");
  const unit = unitFor(kind, value);
  const scaled = value / unit.factor;
  // Shares are seldom known to four digits.
  const text = digits(kind === "share" ? Number(scaled.toPrecision(3)) : scaled);
  return unit.name ? `${text} ${unit.name}` : text;
}

/** "1.9 s [1.7 s, 2.1 s]" */
export function interval(kind: Kind, value: number | null, low: number | null, high: number | null): string {
  const text = show(kind, value);
  return low === null || high === null ? text : `${text} [${show(kind, low)}, ${show(kind, high)}]`;
}

/** "+3.2 %" */
export function difference(value: number, baseline: number): string {
  if (baseline === 0) return "–";
  const share = value / baseline - 1;
  return `${share >= 0 ? "+" : "−"}${digits(Number((Math.abs(share) * 100).toPrecision(3)))} %`;
}
