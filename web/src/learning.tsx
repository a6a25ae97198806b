// SPDX-License-Identifier: Apache-2.0
// What models that were really trained knew, against bytes, seconds, steps or samples.

import { useMemo, useState } from "preact/hooks";
import { at, type Json, list, num, type Run, str, type Values } from "./data";
import { type Kind, show } from "./format";
import { Choice, Section } from "./parts";
import { type Drawn, Plot } from "./plot";
import { namedValue } from "./sweep_axes";
import { type Cell, columns } from "./table";
import type { Range } from "./zoom";

interface Look {
  step: number;
  time_s: number;
  samples: number;
  sent_bytes: number;
  accuracy: number;
}

/** One training: its looks at the test set, in the order of steps. */
export interface Curve {
  name: string;
  data: string;
  target: number | null;
  looks: Look[];
}

const AXES = {
  "bytes sent": { key: "sent_bytes", kind: "bytes", label: "payload sent by all ranks" },
  seconds: { key: "time_s", kind: "time", label: "time since the first step" },
  steps: { key: "step", kind: "count", label: "steps" },
  samples: { key: "samples", kind: "count", label: "samples trained on" },
} as const satisfies Record<string, { key: keyof Look; kind: Kind; label: string }>;
type Over = keyof typeof AXES;
const OVER = Object.keys(AXES) as Over[];

/** Looks of one step by several ranks count as one: the mean, when the last of them looked. */
function merged(points: Json[]): Look[] {
  const bySteps = new Map<number, Json[]>();
  for (const point of points) {
    const step = num(point, "step");
    if (step !== null && num(point, "accuracy") !== null) bySteps.set(step, [...(bySteps.get(step) ?? []), point]);
  }
  const looks = [...bySteps].map(([step, some]): Look => {
    const all = (key: string) => some.map((point) => num(point, key) ?? 0);
    return {
      step,
      time_s: Math.max(...all("time_s")),
      samples: Math.max(...all("samples")),
      sent_bytes: Math.max(...all("sent_bytes")),
      accuracy: all("accuracy").reduce((sum, value) => sum + value, 0) / some.length,
    };
  });
  return looks.sort((a, b) => a.step - b.step);
}

function curveOf(job: Json, name: string): Curve | null {
  const looks = merged(list(job, "learning", "points"));
  if (looks.length === 0) return null;
  return { name, data: str(job, "learning", "data") ?? "", target: num(job, "learning", "target", "accuracy"), looks };
}

/** What goes along with the way to train, and would only make its name longer. */
const FOLLOWS = new Set(["job.steps", "job.epochs", "job.learning_rate"]);

/** Of each job of a run; of each point of a sweep, named by what was varied. */
export function curvesOf(run: Run): Curve[] {
  const points = list(run.summary, "points");
  const axes = (run.sweep?.axes ?? []).filter((axis) => !FOLLOWS.has(axis.key));
  const curves: (Curve | null)[] = list(run.summary, "jobs").map((job) => curveOf(job, str(job, "name") ?? "job"));
  points.forEach((point, place) => {
    const name = axes.map((axis) => namedValue(axis, place)).join(", ") || (str(point, "folder") ?? String(place));
    for (const job of list(point, "jobs")) curves.push(curveOf(job, name));
  });
  return curves.filter((curve): curve is Curve => curve !== null);
}

const best = (curve: Curve) => curve.looks[curve.looks.length - 1]?.accuracy ?? 0;

/** The first look at which an accuracy was reached. */
const reached = (curve: Curve, accuracy: number): Look | null => curve.looks.find((look) => look.accuracy >= accuracy) ?? null;

function sentence(curves: Curve[], over: Over): string {
  const first = curves[0] as Curve;
  const last = first.looks[first.looks.length - 1] as Look;
  if (curves.length === 1) return `It names ${show("share", last.accuracy)} of the test set right after ${show("bytes", last.sent_bytes)} and ${show("time", last.time_s)}.`;
  // What all reach is what they can be compared by.
  const common = first.target ?? Math.min(...curves.map((curve) => Math.max(...curve.looks.map((look) => look.accuracy))));
  const { key, kind } = AXES[over];
  const costs = curves.flatMap((curve) => {
    const look = reached(curve, common);
    return look ? [{ name: curve.name, cost: look[key] }] : [];
  });
  costs.sort((a, b) => a.cost - b.cost);
  const [least, most] = [costs[0], costs[costs.length - 1]];
  if (!least || !most || costs.length < 2) return `How accurate models are against ${over}.`;
  const unit = kind === "count" ? ` ${over}` : "";
  return `To ${show("share", common)} it takes ${show(kind, least.cost)}${unit} with ${least.name} and ${show(kind, most.cost)}${unit} with ${most.name}.`;
}

function drawnOf(curves: Curve[], key: keyof Look): Drawn {
  const xs = [...new Set(curves.flatMap((curve) => curve.looks.map((look) => look[key])))].sort((a, b) => a - b);
  const place = new Map(xs.map((x, i) => [x, i]));
  const ys = curves.map((curve) => {
    const values: Values = new Array(xs.length).fill(null);
    for (const look of curve.looks) values[place.get(look[key]) as number] = look.accuracy;
    return { values };
  });
  return { xs, ys };
}

/** From 0, unless all values lie in the upper half: then from the step of 10 % below the least, so that ways that end near each other are told apart. */
function span(curves: Curve[]): Range {
  const values = curves.flatMap((curve) => curve.looks.map((look) => look.accuracy));
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (least < most / 2) return [0, most * 1.06];
  const from = Math.floor(least * 10 - 1e-9) / 10;
  return [from, most + 0.06 * (most - from)];
}

export function Learning(props: { curves: Curve[] }) {
  const { curves } = props;
  const [over, setOver] = useState<Over>("bytes sent");
  const axis = AXES[over];
  const drawn = useMemo(() => drawnOf(curves, axis.key), [curves, over]);
  const sets = [...new Set(curves.map((curve) => curve.data))].join(", ");
  const target = curves[0]?.target ?? null;
  return (
    <Section id="learning" title="Accuracy" lead={`Ranks really trained: on ${sets}.`}>
      <Plot
        key={over}
        id="accuracy"
        title={sentence(curves, over)}
        height={320}
        x={{ label: axis.label, kind: axis.kind }}
        y={{ label: "test set named right", kind: "share", full: span(curves) }}
        lines={curves.map((curve, i) => ({ label: `${curve.name} (${show("share", best(curve))})`, colour: i, points: true, spanGaps: true }))}
        data={() => drawn}
        controls={<Choice label="against" values={OVER} value={over} onChange={setOver} />}
        table={() => ({
          columns: columns("of|step:count|time:time|samples:count|bytes sent:bytes|accuracy:share"),
          rows: curves.flatMap((curve) => curve.looks.map((look): Cell[] => [curve.name, look.step, look.time_s, look.samples, look.sent_bytes, look.accuracy])),
        })}
        how={
          <p>
            After every few steps a copy of the model is kept, and all copies are judged by the test set when the training is over, so that judging takes no time of it (accuracy.csv). Where every rank has a
            model of its own, the mean over ranks is drawn. Bytes are the payload that all ranks had sent by then, first model included, as their schedule says and the checks confirm.
            {target !== null && ` Asked for was an accuracy of ${show("share", target)}.`}
          </p>
        }
      />
    </Section>
  );
}

/** Of several runs, on one plot. */
export const curvesOfAll = (runs: Run[], labels: string[]): Curve[] =>
  runs.flatMap((run, i) => {
    const own = curvesOf(run);
    return own.map((curve) => ({ ...curve, name: own.length > 1 ? `${labels[i]}: ${curve.name}` : (labels[i] as string) }));
  });

/** Whether anything of a run was really trained. */
export const hasLearnt = (run: Run): boolean => [...list(run.summary, "jobs"), ...list(run.summary, "points").flatMap((point) => list(point, "jobs"))].some((job) => at(job, "learning") !== null);
