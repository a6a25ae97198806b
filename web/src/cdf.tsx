// SPDX-License-Identifier: Apache-2.0
// A plot of cumulative distributions.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { distributionCurves } from "./curves";
import { type Distribution, isFlat, quantile } from "./data";
import { type Kind, show } from "./format";
import { Told } from "./parts";
import { Plot } from "./plot";

export interface NamedDistribution {
  name: string;
  colour: number;
  of: Distribution;
}

const LOG_FROM = 20;

interface CdfProps {
  id: string;
  title: string;
  label: string;
  kind: Kind;
  log?: boolean;
  all: NamedDistribution[];
  how: ComponentChildren;
  height?: number;
}

/** "3 gradient: 7.1 s", "2 control: 1 ms to 4 ms" */
const flatText = ({ name, of }: NamedDistribution, kind: Kind) => {
  const [low, high] = [show(kind, of.min), show(kind, of.max)];
  return `${show("count", of.n)} × ${name}: ${low === high ? low : `${low} to ${high}`}`;
};

/** Distributions of nearly one value each are told, not drawn. */
export function Cdf(props: CdfProps) {
  if (!props.all.every((each) => isFlat(each.of))) return <CdfPlot {...props} />;
  return (
    <Told id={props.id} title={props.title}>
      No plot, for there is next to nothing between the smallest and the largest: {props.all.map((each) => flatText(each, props.kind)).join("; ")}.
    </Told>
  );
}

function CdfPlot(props: CdfProps) {
  const [least, most] = [Math.min(...props.all.map((each) => each.of.min)), Math.max(...props.all.map((each) => each.of.max))];
  // Within a decade or so a logarithmic axis has nothing to tell, and hardly a tick.
  const log = (props.log ?? false) && !(most < LOG_FROM * least);
  const data = useMemo(() => {
    const drawn = distributionCurves(props.all.map((each) => each.of), log);
    return () => drawn;
  }, [props.all.map((each) => `${each.name}:${each.of.n}`).join("|"), log]);
  return (
    <Plot
      id={props.id}
      title={props.title}
      height={props.height ?? 220}
      x={{ label: props.label, kind: props.kind, log }}
      y={{ label: "share no larger", kind: "share", full: [0, 1] }}
      lines={props.all.map((each) => ({ label: `${each.name} (n = ${each.of.n.toLocaleString("en-US")})`, colour: each.colour, stepped: true }))}
      data={data}
      table={() => ({
        columns: [{ name: "of" }, { name: "n", kind: "count" }, ...["min", "p5", "p25", "median", "p75", "p95", "p99", "max", "mean"].map((name) => ({ name, kind: props.kind }))],
        rows: props.all.map(({ name, of }) => [name, of.n, of.min, ...[0.05, 0.25, 0.5, 0.75, 0.95, 0.99].map((p) => quantile(of, p)), of.max, of.mean]),
      })}
      how={
        <>
          {props.how}
          <p>
            Empirical distribution: at x the share of values that are x or less. Of long samples the quantiles at even shares are kept; the band of one or two holds
            the whole true curve in 95 of 100 cases, if values are independent (Dvoretzky, Kiefer, Wolfowitz), and is drawn from the smallest value to the largest
            {log ? "; the axis is logarithmic, values of 0 are left out" : ""}.
          </p>
        </>
      }
    />
  );
}
