// SPDX-License-Identifier: Apache-2.0
// Who sent how much to whom.

import { useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { variable, viridis } from "./colours";
import type { Matrix, Run } from "./data";
import { show } from "./format";
import { Missing, Section } from "./parts";
import { type Drawn, Plot } from "./plot";
import { type Cell, columns, TableView } from "./table";

/** 0 to 1 on a logarithmic scale over three decades below the largest, so that acknowledgements show. */
function shade(bytes: number, largest: number): number {
  return Math.max(0, 1 + Math.log10(bytes / largest) / 3);
}

function paintMatrix(plot: uPlot, matrix: Matrix, largest: number) {
  const { ctx } = plot;
  const width = plot.valToPos(1, "x", true) - plot.valToPos(0, "x", true);
  const height = Math.abs(plot.valToPos(1, "y", true) - plot.valToPos(0, "y", true));
  const { left, top, width: across, height: down } = plot.bbox;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, across, down);
  ctx.clip();
  const gap = matrix.hosts.length <= 32 ? devicePixelRatio : 0;
  matrix.bytes.forEach((line, from) => {
    line.forEach((bytes, to) => {
      ctx.fillStyle = bytes > 0 ? viridis(shade(bytes, largest)) : variable("--empty");
      ctx.fillRect(plot.valToPos(to - 0.5, "x", true), plot.valToPos(from, "y", true) - height / 2, width - gap, height - gap);
    });
  });
  ctx.restore();
}

export function TrafficMatrix(props: { run: Run }) {
  const matrix = props.run.matrix;
  const view = useMemo(() => {
    const largest = Math.max(1, ...(matrix?.bytes.flat() ?? []));
    const drawn: Drawn = { xs: [-0.5, (matrix?.hosts.length ?? 1) - 0.5], ys: [{ values: [null, null] }] };
    return { largest, data: () => drawn, paint: (plot: uPlot) => matrix && paintMatrix(plot, matrix, largest) };
  }, [matrix]);
  if (!matrix || matrix.hosts.length === 0) {
    return (
      <Section id="matrix" title="Traffic matrix">
        <Missing>pairs.csv is missing or empty: nothing was captured.</Missing>
      </Section>
    );
  }
  const cells = matrix.bytes.flatMap((line, from) => line.map((bytes, to) => ({ from, to, bytes }))).sort((a, b) => b.bytes - a.bytes);
  const most = cells[0];
  const sum = cells.reduce((all, cell) => all + cell.bytes, 0);
  const pairs = () => ({
    columns: columns("from|to|frames:bytes|share of all:share"),
    rows: cells.filter((cell) => cell.bytes > 0).map(({ from, to, bytes }): Cell[] => [matrix.hosts[from] ?? "", matrix.hosts[to] ?? "", bytes, bytes / sum]),
  });
  return (
    <Section id="matrix" title="Traffic matrix">
      <div class="plots">
      <Plot
        id="matrix-plot"
        title={most ? `The busiest pair is ${matrix.hosts[most.from]} to ${matrix.hosts[most.to]}: ${show("bytes", most.bytes)}.` : "Nobody sent anything."}
        height={Math.min(640, 90 + Math.max(16, 300 / matrix.hosts.length) * matrix.hosts.length)}
        x={{ label: "to", kind: "number", names: matrix.hosts }}
        y={{ label: "from", kind: "number", names: matrix.hosts }}
        lines={[]}
        legend={[1, 0.1, 0.01, 0.001].map((share) => ({ label: show("bytes", view.largest * share), colour: viridis(shade(share, 1)) }))}
        data={view.data}
        paint={view.paint}
        readout={(x, y) => {
          const [to, from] = [Math.round(x), Math.round(y)];
          const bytes = matrix.bytes[from]?.[to];
          return bytes === undefined ? "" : `${matrix.hosts[from]} > ${matrix.hosts[to]}: ${show("bytes", bytes)}`;
        }}
        table={pairs}
        how={
          <p>
            Bytes of captured frames from each host (rows) to each other (columns), headers and repetitions included, each packet once (pairs.csv). Colours are
            logarithmic over three decades; what is less has the darkest.{matrix.left_off > 0 ? ` ${matrix.left_off} hosts that moved less are left off.` : ""}
          </p>
        }
      />
      <div class="card">
        <TableView caption="The pairs that carried the most" most={12} table={pairs()} />
      </div>
      </div>
    </Section>
  );
}
