// SPDX-License-Identifier: Apache-2.0
// A plot of a histogram.

import { useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { faded, seriesColour } from "./colours";
import type { Histogram } from "./data";
import { type Kind, show } from "./format";
import { Told } from "./parts";
import { type Drawn, Plot } from "./plot";
import type { Cell } from "./table";

interface BarsProps {
  id: string;
  title: string;
  label: string;
  kind: Kind;
  exponent?: boolean;
  of: Histogram;
  how: string;
}

const totalOf = (of: Histogram) => of.counts.reduce((sum, count) => sum + count, 0);
const edgeOf = (props: BarsProps, i: number) => (props.exponent ? Math.pow(10, props.of.low + i * props.of.width) : props.of.low + i * props.of.width);

/** One bar, or fewer than three values, are told, not drawn. */
export function Bars(props: BarsProps) {
  const total = totalOf(props.of);
  const used = props.of.counts.flatMap((count, i) => (count > 0 ? [i] : []));
  if (used.length > 1 && total > 2) return <BarsPlot {...props} />;
  const [low, high] = [show(props.kind, edgeOf(props, used[0] ?? 0)), show(props.kind, edgeOf(props, (used[used.length - 1] ?? 0) + 1))];
  return (
    <Told id={props.id} title={props.title}>
      No plot: {props.label} {low === high ? `is ${low}` : `lies between ${low} and ${high}`} in {total === 1 ? "the only case" : `all ${show("count", total)} cases`}.
    </Told>
  );
}

function BarsPlot(props: BarsProps) {
  const { of } = props;
  const total = totalOf(of);
  const edge = (i: number) => edgeOf(props, i);
  const view = useMemo(() => {
    const drawn: Drawn = { xs: of.counts.map((_count, i) => edge(i)), ys: [{ values: of.counts.map((count) => count / total) }] };
    drawn.xs.push(edge(of.counts.length));
    drawn.ys[0]?.values.push(0);
    const paint = (plot: uPlot) => {
      const { ctx, bbox } = plot;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.fillStyle = faded(seriesColour(0), 0.8);
      of.counts.forEach((count, i) => {
        const [left, right] = [plot.valToPos(edge(i), "x", true), plot.valToPos(edge(i + 1), "x", true)];
        const top = plot.valToPos(count / total, "y", true);
        ctx.fillRect(left + 0.5, top, Math.max(1, right - left - 1), bbox.top + bbox.height - top);
      });
      ctx.restore();
    };
    return { data: () => drawn, paint };
  }, [of]);
  return (
    <Plot
      id={props.id}
      title={props.title}
      height={240}
      x={{ label: props.label, kind: props.kind, log: props.exponent ?? false }}
      y={{ label: "share", kind: "share" }}
      lines={[{ label: "share", colour: 0, noLine: true }]}
      data={view.data}
      paint={view.paint}
      table={() => ({
        columns: [{ name: "from", kind: props.kind }, { name: "to", kind: props.kind }, { name: "count", kind: "count" }, { name: "share", kind: "share" }],
        rows: of.counts.map((count, i): Cell[] => [edge(i), edge(i + 1), count, count / total]),
      })}
      how={<p>{props.how}</p>}
    />
  );
}
