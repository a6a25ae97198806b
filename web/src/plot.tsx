// SPDX-License-Identifier: Apache-2.0
// One plot: a sentence, a key that shows the values under the cursor, the drawing, its table, how it was
// computed, and buttons to take it away.
//
// uPlot draws axes, lines, cursor and selection; `paint` draws whatever else belongs on the canvas.
// Zooming is by dragging, or by keys: the new data and the new range are set in one batch, since
// setting data inside uPlot's own scale hook leaves it blank.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { dashOf, faded, onThemeChange, seriesColour, variable } from "./colours";
import type { Values } from "./data";
import { digits, type Kind, show, unitFor } from "./format";
import { Figure } from "./figure";
import { plotImage, plotSvg } from "./image";
import { save, type Table } from "./table";
import { join, type Range, zoomTo } from "./zoom";

export interface Axis {
  label: string;
  kind: Kind;
  log?: boolean;
  /** Named places 0, 1, 2... instead of numbers. */
  names?: string[];
  full?: Range;
  /** A value that the axis reaches to, unless what is drawn is far below it. */
  mark?: number;
  /** Places that have a name, instead of ticks of the axis's own choice; from left to right. */
  ticks?: Tick[];
}

export interface Tick {
  at: number;
  text: string;
}

export interface Line {
  label: string;
  /** Place in the palette. */
  colour: number;
  dashed?: boolean;
  stepped?: boolean;
  points?: boolean;
  noLine?: boolean;
  /** Joins points across times without one. */
  spanGaps?: boolean;
}

export interface Drawn {
  xs: number[];
  /** For each line its values, and optionally a band around them. */
  ys: { values: Values; low?: Values; high?: Values }[];
}

export interface PlotProps {
  id: string;
  title: string;
  x: Axis;
  y: Axis;
  lines: Line[];
  /** What to draw of a stretch of x (null: all) on `points` pixels. */
  data: (range: Range | null, points: number) => Drawn;
  table: () => Table;
  how: ComponentChildren;
  group?: string;
  height?: number;
  /** Entries of the key beyond the lines. */
  legend?: { colour: string; label: string }[];
  paint?: (plot: uPlot) => void;
  /** Below lines and grid. */
  paintUnder?: (plot: uPlot) => void;
  /** Text for a place of the plot, instead of the lines' values. */
  readout?: (x: number, y: number) => string;
  controls?: ComponentChildren;
}

function axisText(axis: Axis, largest: number): string {
  if (axis.names || axis.log || axis.ticks) return axis.label;
  const unit = unitFor(axis.kind, largest).name;
  return unit ? `${axis.label} (${unit})` : axis.label;
}

function largestOf(drawn: Drawn): number {
  let largest = 0;
  for (const line of drawn.ys) {
    for (const value of line.high ?? line.values) if (value !== null && value > largest) largest = value;
  }
  return largest;
}

/** uPlot's data: x, then for each line its values, the upper and the lower end of its band. */
function aligned(drawn: Drawn): uPlot.AlignedData {
  const columns: Values[] = [];
  for (const line of drawn.ys) columns.push(line.values, line.high ?? [], line.low ?? []);
  return [drawn.xs, ...columns] as unknown as uPlot.AlignedData;
}

function seriesOf(lines: Line[]): uPlot.Series[] {
  const list: uPlot.Series[] = [{}];
  for (const line of lines) {
    const stroke = () => seriesColour(line.colour);
    const dash = line.dashed ? [6, 4] : dashOf(line.colour);
    const edge: uPlot.Series = { stroke: "transparent", width: 0, points: { show: false } };
    const drawnLine: uPlot.Series = { stroke, width: line.noLine ? 0 : 1.6, spanGaps: line.spanGaps ?? false };
    drawnLine.points = line.points ? { show: true, size: 6, fill: stroke, stroke } : { show: false };
    if (line.noLine) drawnLine.paths = () => null;
    if (line.stepped) drawnLine.paths = edge.paths = uPlot.paths.stepped?.({ align: 1 });
    if (dash) drawnLine.dash = dash;
    list.push(drawnLine, edge, { ...edge });
  }
  return list;
}

function bandsOf(lines: Line[]): uPlot.Band[] {
  return lines.map((line, i) => ({
    series: [3 * i + 2, 3 * i + 3] as [number, number],
    fill: () => faded(seriesColour(line.colour), 0.2),
  }));
}

/** There is no step 2.5. */
const WHOLE_STEPS = [0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));

function axisOf(axis: Axis, largest: number, side: "x" | "y"): uPlot.Axis {
  const factor = axis.names ? 1 : unitFor(axis.kind, largest).factor;
  const names = axis.names;
  const grid = { stroke: () => variable("--grid"), width: 1 };
  return {
    label: axisText(axis, largest),
    labelSize: 18,
    labelFont: "12px system-ui, sans-serif",
    font: "11px system-ui, sans-serif",
    stroke: () => variable("--quiet"),
    grid,
    ticks: { ...grid, size: 4 },
    ...(axis.kind === "count" ? { incrs: WHOLE_STEPS } : {}),
    ...(side === "y"
      ? { size: names ? Math.min(174, 24 + 6.2 * Math.max(...names.map((name) => name.length))) : 56 }
      : { size: 34 }),
    ...(names
      ? {
          splits: (plot: uPlot, _axis: number, min: number, max: number) =>
            places(names.length, min, max, side === "y" ? 40 : Math.max(2, Math.min(14, Math.floor((plot.width - 90) / (7 * longestOf(names) + 10))))),
          values: (_plot: uPlot, splits: number[]) => splits.map((place) => shortName(names[place] ?? "")),
        }
      : axis.ticks
      ? {
          splits: (plot: uPlot, _axis: number, min: number, max: number) => apart(axis.ticks ?? [], min, max, plot.width).map((tick) => tick.at),
          values: (_plot: uPlot, splits: number[]) => splits.map((place) => shortName(axis.ticks?.find((tick) => tick.at === place)?.text ?? "")),
        }
      : {
          values: (_plot: uPlot, splits: number[], _axis: number, _space: number, step: number) =>
            splits.map((value) => (value === null ? "" : axis.log ? tickText(axis.kind, value, splits) : tickDigits(value / factor, step / factor))),
        }),
  };
}

/** A logarithmic axis spans units: each power of ten has its own, and where there are few of them 2 and 5 too. */
function tickText(kind: Kind, value: number, all: number[]): string {
  const few = Math.max(...all) < FEW_DECADES * Math.min(...all.filter((each) => each > 0));
  const digit = Number(value.toExponential(3).slice(0, 5));
  return digit === 1 || (few && (digit === 2 || digit === 5)) ? show(kind, value) : "";
}
const FEW_DECADES = 300;

/** Ticks whose texts do not run into one another. */
function apart(ticks: Tick[], min: number, max: number, width: number): Tick[] {
  let free = -Infinity;
  return ticks.filter((tick) => {
    if (tick.at < min || tick.at > max) return false;
    const [middle, half] = [((tick.at - min) / (max - min || 1)) * width, 3.6 * Math.min(24, tick.text.length) + 3];
    if (middle - half < free) return false;
    free = middle + half;
    return true;
  });
}

/** As many decimals as tell neighbouring ticks apart. */
function tickDigits(value: number, step: number): string {
  let decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  // Steps of 2.5 and 0.25 need one more.
  if (Math.abs((step * 10 ** decimals) % 1) > 1e-6 && Math.abs((step * 10 ** decimals) % 1) < 1 - 1e-6) decimals++;
  return decimals > 9 ? value.toExponential(3) : value.toLocaleString("en-US", { maximumFractionDigits: decimals });
}

/** Plots share where the cursor is, but not the drag: the others zoom because this one tells them to. */
function sharedCursor(key: string): uPlot.Cursor.Sync {
  return { key, scales: ["x", null], filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } };
}

const longestOf = (names: string[]) => Math.min(24, Math.max(1, ...names.map((name) => name.length)));

const shortName = (name: string) => (name.length > 24 ? `${name.slice(0, 23)}…` : name);

/** Whole places between min and max, at most `most` of them. */
function places(count: number, min: number, max: number, most: number): number[] {
  const from = Math.max(0, Math.ceil(min));
  const to = Math.min(count - 1, Math.floor(max));
  const step = Math.max(1, Math.ceil((to - from + 1) / most));
  const list: number[] = [];
  for (let i = from; i <= to; i += step) list.push(i);
  return list;
}

function scaleOf(axis: Axis, side: "x" | "y"): uPlot.Scale {
  // The first name is at the top, as in a table.
  if (axis.names) return { time: false, dir: side === "y" ? -1 : 1, ...(side === "y" ? { range: [-0.5, axis.names.length - 0.5] as Range } : {}) };
  if (axis.log && side === "y") return { distr: 3, range: (_plot, min, max) => [min * 0.8, max * 1.25] };
  if (axis.log) return { time: false, distr: 3 };
  if (side === "x") return { time: false };
  return {
    range: (_plot, _min, max) => axis.full ?? [0, upTo(max, axis.mark) * 1.06],
  };
}

function upTo(largest: number, mark: number | undefined): number {
  if (!(largest > 0)) return mark ?? 1;
  return mark !== undefined && largest < mark && largest * 3 > mark ? mark * 1.08 : largest;
}

export function Plot(props: PlotProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const values = useRef<(HTMLElement | null)[]>([]);
  const place = useRef<HTMLOutputElement>(null);
  const [zoomed, setZoomed] = useState<Range | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const group = props.group ?? props.id;
  const whole = useMemo(() => props.data(null, 900), [props.data]);

  function showValues(u: uPlot) {
    const { idx, left, top } = u.cursor;
    const inside = left !== undefined && left !== null && left >= 0;
    const x = inside ? u.posToVal(left, "x") : 0;
    if (props.readout) {
      const text = inside ? props.readout(x, u.posToVal(top ?? 0, "y")) : "";
      if (place.current) place.current.textContent = text;
      return;
    }
    const at = inside && idx !== null && idx !== undefined ? idx : null;
    const xValue = at === null ? null : (u.data[0][at] ?? null);
    if (place.current) place.current.textContent = xValue === null ? "" : xText(props.x, xValue);
    props.lines.forEach((_line, i) => {
      const cell = values.current[i];
      if (cell) cell.textContent = at === null ? "" : valueText(u, i, at, props.y.kind);
    });
  }

  function apply(range: Range | null) {
    const u = plot.current;
    if (!u) return;
    const drawn = props.data(range, Math.max(200, u.bbox.width / devicePixelRatio));
    const full = fullRange(props.x, drawn.xs);
    u.batch(() => {
      u.setData(aligned(drawn), false);
      u.setScale("x", { min: (range ?? full)[0], max: (range ?? full)[1] });
      if (props.y.names) u.setScale("y", { min: -0.5, max: props.y.names.length - 0.5 });
    });
    setZoomed(range);
  }

  useEffect(() => {
    const box = holder.current;
    if (!box) return;
    const largestX = Math.max(...(props.x.full ?? [0]), whole.xs[whole.xs.length - 1] ?? 0);
    const u = new uPlot(
      {
        width: box.clientWidth || 800,
        height: props.height ?? 240,
        legend: { show: false },
        padding: [props.paintUnder ? 16 : 8, props.x.log ? 26 : 14, 0, 0],
        scales: { x: scaleOf(props.x, "x"), y: scaleOf(props.y, "y") },
        axes: [axisOf(props.x, largestX, "x"), axisOf(props.y, props.y.full?.[1] ?? largestOf(whole), "y")],
        series: seriesOf(props.lines),
        bands: bandsOf(props.lines),
        cursor: {
          y: props.readout !== undefined,
          points: { show: props.readout === undefined, size: 7 },
          drag: { x: true, y: false, setScale: false },
          bind: { dblclick: () => () => (zoomTo(group, null), null) },
          ...(props.group ? { sync: sharedCursor(props.group) } : {}),
        },
        hooks: {
          setSelect: [
            (self) => {
              const { left, width } = self.select;
              if (width < 4) return;
              const range: Range = [self.posToVal(left, "x"), self.posToVal(left + width, "x")];
              self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              if (range[1] > range[0]) zoomTo(group, range);
            },
          ],
          setCursor: [showValues],
          drawClear: props.paintUnder ? [props.paintUnder] : [],
          draw: props.paint ? [props.paint] : [],
        },
      },
      aligned(whole),
      box,
    );
    plot.current = u;
    const leave = join(group, apply);
    apply(null);
    const forget = onThemeChange(() => u.redraw(true, true));
    const observer = new ResizeObserver(() => {
      if (box.clientWidth > 0 && box.clientWidth !== u.width) u.setSize({ width: box.clientWidth, height: u.height });
    });
    observer.observe(box);
    setHidden(new Set());
    return () => {
      observer.disconnect();
      forget();
      leave();
      u.destroy();
      plot.current = null;
    };
  }, [props.data, props.paint]);

  function toggle(i: number) {
    const next = new Set(hidden);
    if (!next.delete(i)) next.add(i);
    setHidden(next);
    for (const k of [1, 2, 3]) plot.current?.setSeries(3 * i + k, { show: !next.has(i) });
  }

  function onKeyDown(event: KeyboardEvent) {
    const u = plot.current;
    if (!u || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!moveByKey(u, event.key, (range) => zoomTo(group, range))) return;
    event.preventDefault();
  }

  const keyEntries = [
    ...props.lines.map((line) => ({ label: line.label, colour: seriesColour(line.colour) })),
    ...(props.legend ?? []),
  ];
  return (
    <Figure
      id={props.id}
      title={props.title}
      takeImage={() => plot.current && plotImage(plot.current, props.title, keyEntries, (blob) => save(`${props.id}.png`, blob))}
      takeSvg={() => plot.current && save(`${props.id}.svg`, plotSvg(plot.current, props.title, keyEntries))}
      table={props.table}
      how={props.how}
      onReset={zoomed ? () => zoomTo(group, null) : undefined}
    >
      {props.controls}
      <div class="key">
        <output ref={place} class="place" />
        {props.lines.length + (props.legend?.length ?? 0) > 0 &&
          props.lines.map((line, i) => (
            <button type="button" class="entry" aria-pressed={!hidden.has(i)} title="show or hide" onClick={() => toggle(i)}>
              <Swatch colour={line.colour} dashed={line.dashed ?? false} />
              {line.label} <b ref={(element) => void (values.current[i] = element)} />
            </button>
          ))}
        {props.legend?.map((entry) => (
          <span class="entry">
            <i class="swatch" style={{ background: entry.colour }} />
            {entry.label}
          </span>
        ))}
      </div>
      <div
        ref={holder}
        class="drawing"
        tabIndex={0}
        role="img"
        aria-label={`${props.title} Arrow keys read values, + and − zoom, 0 shows all; a table follows.`}
        onKeyDown={onKeyDown}
      />
    </Figure>
  );
}

function Swatch(props: { colour: number; dashed: boolean }) {
  const [, redraw] = useState(0);
  useEffect(() => onThemeChange(() => redraw((n) => n + 1)), []);
  const colour = seriesColour(props.colour);
  return <i class={props.dashed ? "swatch dashed" : "swatch"} style={{ background: colour, borderColor: colour }} />;
}

function fullRange(axis: Axis, xs: number[]): Range {
  if (axis.names) return [-0.5, axis.names.length - 0.5];
  if (axis.full) return axis.full;
  const low = xs[0] ?? 0;
  const high = xs[xs.length - 1] ?? 1;
  return high > low ? [low, high] : [low - 0.5, high + 0.5];
}

function xText(axis: Axis, value: number): string {
  if (axis.names) return axis.names[Math.round(value)] ?? "";
  if (axis.ticks) return `${axis.label} ${axis.ticks.reduce((a, b) => (Math.abs(b.at - value) < Math.abs(a.at - value) ? b : a)).text}`;
  return axis.kind === "number" || axis.kind === "count" ? `${axis.label} ${digits(value)}` : show(axis.kind, value);
}

function valueText(u: uPlot, line: number, index: number, kind: Kind): string {
  const pick = (k: number) => (u.data[3 * line + k] as Values | undefined)?.[index] ?? null;
  const [value, high, low] = [pick(1), pick(2), pick(3)];
  if (value === null) return "";
  return high === null || low === null ? show(kind, value) : `${show(kind, value)} (${show(kind, low)} … ${show(kind, high)})`;
}

/** True when the key was one of ours. */
function moveByKey(u: uPlot, key: string, zoom: (range: Range | null) => void): boolean {
  const width = u.bbox.width / devicePixelRatio;
  const height = u.bbox.height / devicePixelRatio;
  const left = u.cursor.left !== undefined && u.cursor.left >= 0 ? u.cursor.left : width / 2;
  const top = u.cursor.top !== undefined && u.cursor.top >= 0 ? u.cursor.top : height / 2;
  const { min, max } = u.scales.x as { min: number; max: number };
  const around = (factor: number): Range => {
    const x = u.posToVal(left, "x");
    return [x - (x - min) * factor, x + (max - x) * factor];
  };
  const moves: Record<string, () => void> = {
    ArrowLeft: () => u.setCursor({ left: Math.max(0, left - 8), top }),
    ArrowRight: () => u.setCursor({ left: Math.min(width, left + 8), top }),
    ArrowUp: () => u.setCursor({ left, top: Math.max(0, top - 8) }),
    ArrowDown: () => u.setCursor({ left, top: Math.min(height, top + 8) }),
    "+": () => zoom(around(0.5)),
    "=": () => zoom(around(0.5)),
    "-": () => zoom(around(2)),
    "0": () => zoom(null),
    Escape: () => zoom(null),
  };
  const move = moves[key];
  move?.();
  return move !== undefined;
}
