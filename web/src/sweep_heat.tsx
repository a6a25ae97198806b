// SPDX-License-Identifier: Apache-2.0
// Step time over two settings that are numbers: a cell for each combination.

import { useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { variable, viridis } from "./colours";
import type { Run, SweepAxis } from "./data";
import { show } from "./format";
import { type Drawn, Plot } from "./plot";
import { clipToPlot } from "./rows";
import { type Point, scaleFor, valueText } from "./sweep_axes";
import { isWide } from "./sweep_curve";
import type { Table } from "./table";

interface Cells {
  x: string[];
  y: string[];
  /** Of cell x of row y; repeats are averaged. */
  means: (number | null)[][];
}

/** Values of an axis from small to large. */
function valuesOf(axis: SweepAxis): { names: string[]; of: (place: number) => number } {
  const names = scaleFor(axis).ticks.map((tick) => tick.text);
  return { names, of: (place) => names.indexOf(valueText(axis, place)) };
}

function cellsOf(points: Point[], x: SweepAxis, y: SweepAxis): Cells {
  const [across, down] = [valuesOf(x), valuesOf(y)];
  const sums = down.names.map(() => across.names.map(() => ({ sum: 0, count: 0 })));
  for (const point of points) {
    const cell = sums[down.of(point.place)]?.[across.of(point.place)];
    if (!cell || point.mean === null) continue;
    cell.sum += point.mean;
    cell.count++;
  }
  return { x: across.names, y: down.names, means: sums.map((row) => row.map((cell) => (cell.count > 0 ? cell.sum / cell.count : null))) };
}

export function HeatMap(props: { run: Run; points: Point[]; x: SweepAxis; y: SweepAxis; table: () => Table }) {
  const { points, x, y } = props;
  const wide = isWide(points);
  const view = useMemo(() => {
    const cells = cellsOf(points, x, y);
    const means = points.flatMap((point) => point.mean ?? []);
    const [low, high] = [Math.min(...means), Math.max(...means)];
    const share = (mean: number) => (high > low ? (wide ? Math.log(mean / low) / Math.log(high / low) : (mean - low) / (high - low)) : 0);
    const between = (part: number) => (wide ? low * Math.pow(high / low, part) : low + (high - low) * part);
    const drawn: Drawn = { xs: [-0.5, cells.x.length - 0.5], ys: [{ values: [null, null] }] };
    const paint = (plot: uPlot) => {
      const { ctx } = plot;
      const width = plot.valToPos(1, "x", true) - plot.valToPos(0, "x", true);
      const height = Math.abs(plot.valToPos(1, "y", true) - plot.valToPos(0, "y", true));
      ctx.save();
      clipToPlot(plot);
      ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      ctx.textAlign = "center";
      ctx.textBaseline = "middle";
      cells.means.forEach((row, j) =>
        row.forEach((mean, i) => {
          const [left, middle] = [plot.valToPos(i - 0.5, "x", true), plot.valToPos(j, "y", true)];
          ctx.fillStyle = mean === null ? variable("--empty") : viridis(share(mean));
          ctx.fillRect(left, middle - height / 2, width - devicePixelRatio, height - devicePixelRatio);
          if (width < 62 * devicePixelRatio) return;
          ctx.fillStyle = mean === null ? variable("--quiet") : share(mean) > 0.55 ? "#000000" : "#ffffff";
          ctx.fillText(mean === null ? "no result" : show("time", mean), left + width / 2, middle);
        }),
      );
      ctx.restore();
    };
    return { cells, drawn, data: () => drawn, paint, legend: [0, 1 / 3, 2 / 3, 1].map((part) => ({ label: show("time", between(part)), colour: viridis(part) })) };
  }, [props.run]);
  const { cells } = view;
  return (
    <Plot
      id="sweep-heat"
      title={`Mean step time over ${x.label} and ${y.label}.`}
      height={Math.min(560, 96 + Math.max(30, 200 / cells.y.length) * cells.y.length)}
      x={{ label: x.label, kind: "number", names: cells.x }}
      y={{ label: y.label, kind: "number", names: cells.y }}
      lines={[]}
      legend={view.legend}
      data={view.data}
      paint={view.paint}
      readout={(across, down) => {
        const [i, j] = [Math.round(across), Math.round(down)];
        const mean = cells.means[j]?.[i];
        return mean === undefined ? "" : `${x.label} ${cells.x[i]}, ${y.label} ${cells.y[j]}: ${mean === null ? "no result" : show("time", mean)}`;
      }}
      table={props.table}
      how={<p>Mean step times (points.csv) for each combination, repeats averaged; colours are {wide ? "logarithmic" : "even"} from the shortest (dark) to the longest (bright).</p>}
    />
  );
}
