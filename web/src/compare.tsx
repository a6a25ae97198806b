// SPDX-License-Identifier: Apache-2.0
// Several runs side by side; the first is what the others are compared with.

import { useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { Cdf } from "./cdf";
import { seriesColour, variable } from "./colours";
import { type Json, list, num, type Run, str } from "./data";
import { difference, digits, show } from "./format";
import { type Figure as KeyFigure, keyFigures, qualityOf, runTitle } from "./overview";
import { Missing, Section } from "./parts";
import { Plot } from "./plot";
import { paintRows } from "./rows";
import { type Cell, columns, How, TableView } from "./table";
import type { Range } from "./zoom";

export function uniqueLabels(runs: Run[]): string[] {
  const labels = runs.map((run) => run.label);
  return runs.map((run, i) => (labels.indexOf(run.label) !== i || labels.lastIndexOf(run.label) !== i ? run.path : run.label));
}

/** One metric of one run against the first run's. */
interface Difference {
  /** Place among the runs. */
  run: number;
  metric: string;
  value: number;
  low: number;
  high: number;
  p: number | null;
  /** higher, lower, same, no_evidence, too_few */
  verdict: string;
  text: string;
}

const signed = (share: number) => `${share < 0 ? "−" : "+"}${show("share", Math.abs(share))}`;

function differencesOf(comparisons: Json[]): Difference[] {
  const all = comparisons.flatMap((comparison, i) =>
    list(comparison, "metrics").flatMap((row): Difference[] => {
      const value = num(row, "relative", "value");
      const job = str(row, "job");
      const metric = `${str(row, "metric") ?? ""} ${str(row, "statistic") ?? ""}${job ? ` of ${job}` : ""}`;
      if (value === null) return [];
      return [{ run: i + 1, metric, value, low: num(row, "relative", "ci_low") ?? value, high: num(row, "relative", "ci_high") ?? value, p: num(row, "p"), verdict: str(row, "verdict") ?? "", text: str(row, "text") ?? "" }];
    }),
  );
  const metrics = [...new Set(all.map((each) => each.metric))];
  return all.sort((a, b) => metrics.indexOf(a.metric) - metrics.indexOf(b.metric) || a.run - b.run);
}

/** The lowest and highest that is drawn, with room to both sides; 0 is always seen. */
function reach(all: Difference[]): Range {
  const low = Math.min(0, ...all.map((each) => each.low));
  const high = Math.max(0, ...all.map((each) => each.high));
  const room = 0.06 * Math.max(high - low, 0.01);
  return [low - room, high + room];
}

function paintDifferences(plot: uPlot, all: Difference[]) {
  paintRows(
    plot,
    all.map((each, row) => ({ row, from: each.low, to: each.high, colour: seriesColour(each.run), opacity: each.verdict === "too_few" ? 0.15 : 0.45, height: 0.3 })),
  );
  const { ctx } = plot;
  ctx.save();
  all.forEach((each, row) => {
    ctx.fillStyle = seriesColour(each.run);
    ctx.beginPath();
    ctx.arc(plot.valToPos(each.value, "x", true), plot.valToPos(row, "y", true), 4.5 * devicePixelRatio, 0, 2 * Math.PI);
    ctx.fill();
  });
  ctx.restore();
}

function paintZero(plot: uPlot) {
  const { ctx } = plot;
  const x = Math.round(plot.valToPos(0, "x", true));
  ctx.save();
  ctx.strokeStyle = variable("--text");
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(x, plot.bbox.top);
  ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
  ctx.stroke();
  ctx.restore();
}

function Differences(props: { comparisons: Json[]; labels: string[] }) {
  const { comparisons, labels } = props;
  const all = useMemo(() => differencesOf(comparisons), [comparisons]);
  if (all.length === 0) return null;
  const full = reach(all);
  const clear = all.filter((each) => /^(higher|lower)$/.test(each.verdict)).length;
  return (
    <Plot
      id="compare-differences"
      title={clear > 0 ? `${clear} of ${all.length} differences from ${labels[0]} are more than chance.` : `No difference from ${labels[0]} is more than chance.`}
      height={90 + 24 * all.length}
      x={{ label: `difference from ${labels[0]}`, kind: "share", full }}
      y={{ label: "", kind: "number", names: all.map((each, i) => (all[i - 1]?.metric === each.metric ? "" : each.metric)) }}
      lines={[]}
      legend={[...new Set(all.map((each) => each.run))].map((run) => ({ label: labels[run] as string, colour: seriesColour(run) }))}
      data={() => ({ xs: full, ys: [{ values: [null, null] }] })}
      paint={(plot) => paintDifferences(plot, all)}
      paintUnder={paintZero}
      readout={(_x, y) => {
        const each = all[Math.round(y)];
        return each ? `${labels[each.run]}, ${each.metric}: ${signed(each.value)} [${signed(each.low)}, ${signed(each.high)}], ${each.text}` : "";
      }}
      table={() => ({
        columns: columns("metric|run|difference:share|low:share|high:share|p:number|verdict"),
        rows: all.map((each): Cell[] => [each.metric, labels[each.run] as string, each.value, each.low, each.high, each.p, each.text]),
      })}
      how={
        <>
          <p>
            The dot is the run's figure over that of {labels[0]}, less one; the bar its 95 % interval, pale where there were too few steps to tell. Times are compared by the log of their ratio with errors from a moving-block
            bootstrap, for steps that follow one another are not independent. Bytes are counted: they have no interval. <code>trainwire compare</code> prints the same.
          </p>
          {comparisons.flatMap((comparison, i) => (str(comparison, "problem") ? [<p>{`${labels[i + 1]}: ${str(comparison, "problem")}`}</p>] : []))}
        </>
      }
    />
  );
}

/** "star is 2.3 times slower", of the median step where it was compared. */
function verdictOf(comparison: Json, label: string): { text: string; differs: boolean } | null {
  const step = (row: Json) => /^step/.test(str(row, "metric") ?? "") && num(row, "relative", "value") !== null;
  const rows = list(comparison, "metrics").filter(step);
  const row = rows.find((each) => /median/.test(str(each, "statistic") ?? "")) ?? rows[0];
  const relative = num(row, "relative", "value");
  if (row === undefined || relative === null) return null;
  const job = list(comparison, "metrics").some((each) => str(each, "job") !== str(row, "job")) ? str(row, "job") : null;
  const name = `${label}${job ? ` (${job})` : ""}`;
  const verdict = str(row, "verdict");
  if (verdict === "too_few") return { text: `${name} has too few steps to tell`, differs: false };
  if (verdict !== "higher" && verdict !== "lower") return { text: `${name} is not different`, differs: false };
  const factor = relative > 0 ? 1 + relative : 1 / (1 + relative);
  const word = relative > 0 ? "slower" : "faster";
  return { text: `${name} is ${factor >= 1.5 ? `${digits(Number(factor.toPrecision(2)))} times ${word}` : `${show("share", Math.abs(relative))} ${word}`}`, differs: true };
}

/** What the runs are, where they differ in one setting alone: "ring", "star"; else what they are called. */
function settingNames(comparisons: Json[], labels: string[]): string[] {
  const settings = comparisons.map((comparison) => list(comparison, "differing_settings"));
  const keys = new Set(settings.flatMap((some) => some.map((each) => str(each, "key"))));
  if (keys.size !== 1 || settings.some((some) => some.length !== 1)) return labels;
  const plain = (text: string | null) => (text ?? "").replace(/^"(.*)"$/, "$1");
  const named = (text: string) => (/^[a-z]/i.test(text) ? text : `${String([...keys][0]).replace(/^.*\./, "").replace(/_/g, " ")} ${text}`);
  return [named(plain(str(settings[0]?.[0], "baseline"))), ...settings.map((some) => named(plain(str(some[0], "other"))))];
}

/** One sentence over all runs: what differs first. */
export function comparisonSentence(comparisons: Json[], runs: string[]): string {
  const labels = settingNames(comparisons, runs);
  const all = comparisons.flatMap((comparison, i) => verdictOf(comparison, labels[i + 1] ?? "") ?? []);
  if (all.length === 0) return "";
  const ordered = [...all.filter((each) => each.differs), ...all.filter((each) => !each.differs)];
  return `By the time of a step ${ordered.map((each, i) => (i === 0 ? `${each.text}${each.differs ? ` than ${labels[0]}` : ` from ${labels[0]}`}` : each.text)).join(", ")}.`;
}

function Settings(props: { comparisons: Json[]; labels: string[] }) {
  const rows = props.comparisons.flatMap((comparison, i) =>
    list(comparison, "differing_settings").map((each): Cell[] => [props.labels[i + 1] as string, str(each, "key") ?? "", str(each, "baseline") ?? "", str(each, "other") ?? ""]),
  );
  if (rows.length === 0) return null;
  return (
    <div class="card">
      <TableView table={{ columns: [{ name: "run" }, { name: "setting" }, { name: props.labels[0] as string }, { name: "there" }], rows }} caption="Settings that differ" />
    </div>
  );
}

/** Of shares in points: 1.2 % is not "14,000 % more" than 0.01 %. */
function change(figure: KeyFigure, base: number): string {
  const value = figure.raw ?? base;
  return figure.value.endsWith("%") ? `${signed(value - base).replace(/ %$/, "")} points` : difference(value, base);
}

export function SideBySide(props: { runs: Run[]; comparisons: Json[] }) {
  const { runs } = props;
  const labels = uniqueLabels(runs);
  const figures = runs.map((run) => new Map(keyFigures(run).map((figure) => [figure.name, figure])));
  const names = [...new Set(figures.flatMap((all) => [...all.keys()]))];
  const rows = names.map((name): Cell[] => {
    const base = figures[0]?.get(name)?.raw ?? null;
    return [
      name,
      ...figures.map((all, i) => {
        const figure = all.get(name);
        if (!figure) return null;
        const other = i > 0 && base !== null && typeof figure.raw === "number";
        return other ? `${figure.value} (${change(figure, base)})` : figure.value;
      }),
    ];
  });
  const sentence = comparisonSentence(props.comparisons, labels);
  const all = runs.flatMap((run, i) => {
    const steps = run.steps[0];
    return steps ? [{ name: labels[i] as string, colour: i, of: steps.step.distribution }] : [];
  });
  return (
    <Section id="side-by-side" title="Side by side" lead={`Differences are from ${labels[0]}.`}>
      {sentence && <p class="answer">{sentence}</p>}
      {all.length > 0 ? (
        <Cdf id="compare-cdf" title={`Step times of ${all.length} runs.`} label="step time" kind="time" height={300} all={all} how={<p>Step times of the first job of each run, warm-up left out.</p>} />
      ) : (
        <Missing>None of the runs has training steps to compare.</Missing>
      )}
      <Differences comparisons={props.comparisons} labels={labels} />
      <Settings comparisons={props.comparisons} labels={labels} />
      <div class="card">
        <TableView table={{ columns: [{ name: "" }, ...labels.map((name) => ({ name }))], rows: [["", ...runs.map((run) => runTitle(run))], ["data", ...runs.map((run) => qualityOf(run).word)], ...rows] }} />
        <How>
          <p>Differences of the figures as they stand; the plot above tells which are more than chance.</p>
        </How>
      </div>
    </Section>
  );
}
