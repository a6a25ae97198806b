// SPDX-License-Identifier: Apache-2.0
// Who sent how much to whom.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { variable, viridis } from "./colours";
import { list, type Matrix, type Run, type Transfers } from "./data";
import { show } from "./format";
import { Choice, Missing, Section } from "./parts";
import { type Drawn, Plot } from "./plot";
import { type Cell, columns, type Table, TableView } from "./table";
import { type Range, zoomTo } from "./zoom";

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

const cellsOf = (matrix: Matrix) => matrix.bytes.flatMap((line, from) => line.map((bytes, to) => ({ from, to, bytes })));

/** The busiest first. */
function pairTable(matrix: Matrix, bytesName: string): Table {
  const cells = cellsOf(matrix)
    .filter((cell) => cell.bytes > 0)
    .sort((a, b) => b.bytes - a.bytes);
  const sum = cells.reduce((all, cell) => all + cell.bytes, 0);
  return {
    columns: columns(`from|to|${bytesName}:bytes|share of all:share`),
    rows: cells.map(({ from, to, bytes }): Cell[] => [matrix.hosts[from] ?? "", matrix.hosts[to] ?? "", bytes, bytes / sum]),
  };
}

export const matrixHeight = (hosts: number) => Math.min(640, 90 + Math.max(16, 300 / hosts) * hosts);

/** A matrix that grows is painted again, not built again. REQUIRES: hosts, and as many as before. */
export function MatrixPlot(props: { id: string; title?: string; matrix: Matrix; bytesName: string; how: ComponentChildren; controls?: ComponentChildren }) {
  const { matrix, id } = props;
  const most = cellsOf(matrix).reduce((a, b) => (b.bytes > a.bytes ? b : a));
  const largest = Math.max(1, most.bytes);
  const shown = useRef<{ matrix: Matrix; largest: number; range: Range | null }>({ matrix, largest, range: null });
  Object.assign(shown.current, { matrix, largest });
  const view = useMemo(() => {
    const drawn: Drawn = { xs: [-0.5, matrix.hosts.length - 0.5], ys: [{ values: [null, null] }] };
    return {
      data: (range: Range | null) => ((shown.current.range = range), drawn),
      paint: (plot: uPlot) => paintMatrix(plot, shown.current.matrix, shown.current.largest),
    };
  }, []);
  useEffect(() => zoomTo(id, shown.current.range), [matrix]);
  return (
    <Plot
      id={id}
      title={props.title ?? (most.bytes > 0 ? `The busiest pair is ${matrix.hosts[most.from]} to ${matrix.hosts[most.to]}: ${show("bytes", most.bytes)}.` : "Nobody sent anything.")}
      height={matrixHeight(matrix.hosts.length)}
      x={{ label: "to", kind: "number", names: matrix.hosts }}
      y={{ label: "from", kind: "number", names: matrix.hosts }}
      lines={[]}
      legend={[1, 0.1, 0.01, 0.001].map((share) => ({ label: show("bytes", largest * share), colour: viridis(shade(share, 1)) }))}
      data={view.data}
      paint={view.paint}
      readout={(x, y) => {
        const [to, from] = [Math.round(x), Math.round(y)];
        const now = shown.current.matrix;
        const bytes = now.bytes[from]?.[to];
        return bytes === undefined ? "" : `${now.hosts[from]} > ${now.hosts[to]}: ${show("bytes", bytes)}`;
      }}
      table={() => pairTable(shown.current.matrix, props.bytesName)}
      how={props.how}
      controls={props.controls}
    />
  );
}

const ORDERS = ["by name", "by bytes", "as the collective goes"] as const;
type Order = (typeof ORDERS)[number];
const SPANS = ["whole run", "one iteration"] as const;

/** Hosts in the order of the first collective that was recognised; null when it is not of all of them. */
function collectiveOrder(run: Run, hosts: string[]): string[] | null {
  const order = list(run.summary, "collectives").map((each) => list(each, "order").map(String))[0] ?? [];
  return hosts.length > 2 && hosts.every((host) => order.includes(host)) ? order.filter((host) => hosts.includes(host)) : null;
}

function orderedHosts(run: Run, matrix: Matrix, order: Order): string[] {
  const moved = (host: string) => {
    const place = matrix.hosts.indexOf(host);
    return matrix.bytes.reduce((sum, line, i) => sum + (i === place ? line.reduce((all, bytes) => all + bytes, 0) : (line[place] ?? 0)), 0);
  };
  if (order === "by bytes") return [...matrix.hosts].sort((a, b) => moved(b) - moved(a));
  const natural = [...matrix.hosts].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return order === "by name" ? natural : (collectiveOrder(run, matrix.hosts) ?? natural);
}

function arranged(matrix: Matrix, hosts: string[]): Matrix {
  const places = hosts.map((host) => matrix.hosts.indexOf(host));
  return { ...matrix, hosts, bytes: places.map((from) => places.map((to) => matrix.bytes[from]?.[to] ?? 0)) };
}

/** What gradients each pair carried in one iteration. */
function iterationMatrix(transfers: Transfers, hosts: string[], iteration: number): Matrix {
  const bytes = hosts.map(() => hosts.map(() => 0));
  transfers.iteration.forEach((number, i) => {
    const [from, to] = transfers.pairs[transfers.pair[i] as number] ?? ["", ""];
    const line = bytes[hosts.indexOf(from)];
    if (number === iteration && line && hosts.includes(to)) line[hosts.indexOf(to)] = transfers.bytes[i] ?? 0;
  });
  return { hosts, bytes, left_off: 0 };
}

export function TrafficMatrix(props: { run: Run }) {
  const { matrix: whole, transfers } = props.run;
  const [order, setOrder] = useState<Order>("by name");
  const [span, setSpan] = useState<(typeof SPANS)[number]>("whole run");
  const iterations = useMemo(() => [...new Set(transfers?.iteration ?? [])], [transfers]);
  const [place, setPlace] = useState(() => Math.floor(iterations.length / 2));
  const iteration = iterations[place] ?? 0;
  const one = span === "one iteration" && transfers !== null;
  const matrix = useMemo(() => {
    if (!whole) return null;
    const hosts = orderedHosts(props.run, whole, order);
    return one ? iterationMatrix(transfers, hosts, iteration) : arranged(whole, hosts);
  }, [whole, order, one, iteration]);
  if (!whole || !matrix || whole.hosts.length === 0) {
    return (
      <Section id="matrix" title="Traffic matrix">
        <Missing>pairs.csv is missing or empty: nothing was captured.</Missing>
      </Section>
    );
  }
  const orders = ORDERS.filter((name) => name !== "as the collective goes" || collectiveOrder(props.run, whole.hosts));
  const bytesName = one ? "gradients" : "frames";
  return (
    <Section id="matrix" title="Traffic matrix">
      <div class="plots">
        <MatrixPlot
          key={order}
          id="matrix-plot"
          matrix={matrix}
          bytesName={bytesName}
          controls={
            <>
              {whole.hosts.length > 2 && <Choice label="order of hosts" values={orders} value={order} onChange={setOrder} />}
              {iterations.length > 0 && <Choice label="what is counted" values={SPANS} value={span} onChange={setSpan} />}
              {one && (
                <label class="slide">
                  iteration {iteration}
                  <input type="range" min={0} max={iterations.length - 1} step={1} value={place} onInput={(event) => setPlace(Number(event.currentTarget.value))} aria-label="iteration" />
                </label>
              )}
            </>
          }
          how={
            <p>
              {one
                ? `Distinct payload of gradients from each host (rows) to each other (columns) in iteration ${iteration} (iteration_pairs.csv).`
                : "Bytes of captured frames from each host (rows) to each other (columns), headers and repetitions included, each packet once (pairs.csv)."}{" "}
              Colours are logarithmic over three decades; what is less has the darkest.
              {one && transfers && transfers.left_off_pairs > 0 ? ` ${transfers.left_off_pairs} pairs that carried less are not kept in this page and look empty.` : ""}
              {whole.left_off > 0 ? ` ${whole.left_off} hosts that moved less are left off.` : ""}
            </p>
          }
        />
        <div class="card">
          <TableView caption={one ? `The pairs that carried the most in iteration ${iteration}` : "The pairs that carried the most"} most={12} table={pairTable(matrix, bytesName)} />
        </div>
      </div>
    </Section>
  );
}
