// SPDX-License-Identifier: Apache-2.0
// The emulated network as a picture: hosts, switches, and how full the links between them were.
//
// How full they were the record says (network.links[].counted): one figure for the picture, the key figures and
// the table.

import { useEffect, useRef, useState } from "preact/hooks";
import { onThemeChange, seriesColour, variable } from "./colours";
import { list, num, type Run, str } from "./data";
import { Figure } from "./figure";
import { show } from "./format";
import { svgImage } from "./image";
import { type Cell, columns, save } from "./table";

const WIDTH = 900;
const ROW = 110;
const MOST_HOSTS = 128;
/** From here on hosts have their number alone, and of many more every n-th has. */
const NARROW_HOSTS = 14;

interface Node {
  name: string;
  x: number;
  y: number;
  /** Beside its name. */
  note: string;
}

/** One direction of one link. */
interface Arm {
  link: string;
  from: Node;
  to: Node;
  capacity: number | null;
  /** Mean, in bit/s. */
  carried: number | null;
  use: number | null;
  /** Whose it was, where several share it. */
  shares: string;
}

interface Picture {
  nodes: Node[];
  arms: Arm[];
  height: number;
}

interface Shape {
  hosts: number;
  leaves: number;
  spines: number;
  kind: string;
  /** Switch of a host, as a number of leaf. */
  leafOf: (host: number) => number;
}

function shapeOf(run: Run): Shape {
  const network = (key: string) => num(run.summary, "experiment", "network", key, "value") ?? 0;
  const kind = str(run.summary, "experiment", "network", "topology", "value") ?? "star";
  const hosts = network("hosts");
  const leaves = kind === "leafspine" ? network("leaves") : kind === "dumbbell" ? 2 : 1;
  const left = network("left");
  const leafOf = (host: number) => (kind === "dumbbell" ? Number(host >= left) : Math.floor((host * leaves) / Math.max(1, hosts)));
  return { hosts, leaves, spines: kind === "leafspine" ? network("spines") : 0, kind, leafOf };
}

function notesOf(run: Run): Map<string, string> {
  const notes = new Map<string, string[]>();
  const jobs = list(run.summary, "experiment", "jobs");
  jobs.forEach((job, i) => {
    const of = jobs.length > 1 ? `${str(job, "name", "value") ?? `job${i}`} ` : "";
    list(job, "placement", "value").forEach((host, rank) => notes.set(String(host), [...(notes.get(String(host)) ?? []), `${of}${rank}`]));
  });
  return new Map([...notes].map(([host, ranks]) => [host, ranks.length > 4 ? `${ranks.length} ranks` : jobs.length > 1 ? ranks.join(", ") : ranks.length === 1 ? `rank ${ranks[0]}` : `ranks ${ranks.join(", ")}`]));
}

const drawn = new WeakMap<Run, Picture | null>();

/** Null when there is nothing to tell of a network, or too much for a picture. */
function pictureOf(run: Run): Picture | null {
  if (!drawn.has(run)) drawn.set(run, newPicture(run));
  return drawn.get(run) ?? null;
}

export const hasTopology = (run: Run): boolean => pictureOf(run) !== null;

const busiestOf = (picture: Picture): Arm | null => picture.arms.reduce<Arm | null>((most, arm) => ((arm.use ?? 0) > (most?.use ?? 0) ? arm : most), null);

/** The fullest link, as the picture has it. */
export function busiestLink(run: Run): { name: string; use: number } | null {
  const picture = pictureOf(run);
  const busiest = picture && busiestOf(picture);
  return busiest?.use ? { name: `${busiest.from.name} to ${busiest.to.name}`, use: busiest.use } : null;
}

function newPicture(run: Run): Picture | null {
  const shape = shapeOf(run);
  const links = list(run.summary, "network", "links");
  if (shape.hosts < 1 || shape.hosts > MOST_HOSTS || links.length === 0) return null;
  const notes = notesOf(run);
  const bottom = shape.spines > 0 ? 40 + 2 * ROW : 40 + ROW;
  const across = (i: number, count: number) => (WIDTH * (i + 0.5)) / count;
  const nodes = new Map<string, Node>();
  const add = (name: string, x: number, y: number) => nodes.set(name, { name, x, y, note: notes.get(name) ?? "" });
  for (let i = 0; i < shape.hosts; i++) add(`host${i}`, across(i, shape.hosts), bottom);
  const leafName = (i: number) => (shape.kind === "star" ? "switch" : shape.kind === "dumbbell" ? ["left", "right"][i] : `leaf${i}`) as string;
  for (let i = 0; i < shape.leaves; i++) {
    const below = Array.from({ length: shape.hosts }, (_none, host) => host).filter((host) => shape.leafOf(host) === i);
    const middle = below.reduce((sum, host) => sum + across(host, shape.hosts), 0) / Math.max(1, below.length);
    add(leafName(i), below.length > 0 ? middle : across(i, shape.leaves), bottom - ROW);
  }
  for (let i = 0; i < shape.spines; i++) add(`spine${i}`, across(i, shape.spines), bottom - 2 * ROW);
  const ends = (link: string): [Node | undefined, Node | undefined] => {
    const core = /^(leaf\d+)-(spine\d+)$/.exec(link);
    if (core) return [nodes.get(core[1] as string), nodes.get(core[2] as string)];
    if (link === "core") return [nodes.get("left"), nodes.get("right")];
    return [nodes.get(link), nodes.get(leafName(shape.leafOf(Number(link.slice(4)))))];
  };
  const arms = links.flatMap((link): Arm[] => {
    const [name, direction] = [str(link, "name") ?? "", str(link, "direction") ?? ""];
    const [lower, upper] = ends(name);
    if (!lower || !upper) return [];
    const capacity = num(link, "requested", "rate_bps");
    const [carried, use] = [num(link, "counted", "rate_bps"), num(link, "counted", "share")];
    const up = direction === "from_host";
    const shares = list(link, "shares").map((each) => `${str(each, "of")} ${show("share", num(each, "share"))}`);
    return [{ link: name, from: up ? lower : upper, to: up ? upper : lower, capacity, carried, use, shares: shares.join(", ") }];
  });
  // On loopback there are links in the experiment but none in the world.
  return arms.some((arm) => arm.use !== null) ? { nodes: [...nodes.values()], arms, height: bottom + 52 } : null;
}

/** Three levels that are told apart at a glance, and by width. */
const LEVELS: [number, string, () => string][] = [
  [0.8, "80 % or more", () => "#D55E00"],
  [0.5, "50 % to 80 %", () => "#E69F00"],
  [0, "less than 50 %", () => seriesColour(0)],
];
const colourOf = (use: number | null) => (use === null ? variable("--line") : (LEVELS.find(([least]) => use >= least) ?? LEVELS[2])?.[2]()) as string;
const widthOf = (use: number | null) => 1.5 + 6 * Math.min(1, use ?? 0);

const armText = (arm: Arm) =>
  `${arm.from.name} > ${arm.to.name}: ${arm.use === null ? "not counted" : `${show("rate", arm.carried)} of ${show("rate", arm.capacity)}, ${show("share", arm.use)}${arm.shares ? ` (${arm.shares})` : ""}`}`;

/** Each direction a little to its right, as on a road. */
function lineOf(arm: Arm) {
  const [dx, dy] = [arm.to.x - arm.from.x, arm.to.y - arm.from.y];
  const length = Math.hypot(dx, dy) || 1;
  const [sx, sy] = [(-dy / length) * 5, (dx / length) * 5];
  return { x1: arm.from.x + sx, y1: arm.from.y + sy, x2: arm.to.x + sx, y2: arm.to.y + sy, dx: dx / length, dy: dy / length };
}

function ArmShape(props: { arm: Arm; onShow: (text: string) => void }) {
  const { arm } = props;
  const { x1, y1, x2, y2, dx, dy } = lineOf(arm);
  const colour = colourOf(arm.use);
  // The arrow head nearer to where it goes, so that those of both directions do not meet.
  const [ax, ay] = [x1 + (x2 - x1) * 0.62, y1 + (y2 - y1) * 0.62];
  const size = 3 + widthOf(arm.use) * 0.8;
  const corner = (along: number, aside: number) => `${(ax + dx * along - dy * aside).toFixed(1)},${(ay + dy * along + dx * aside).toFixed(1)}`;
  return (
    <g onMouseEnter={() => props.onShow(armText(arm))}>
      <title>{armText(arm)}</title>
      <line x1={x1} y1={y1} x2={x2} y2={y2} stroke="transparent" stroke-width="12" />
      <line x1={x1} y1={y1} x2={x2} y2={y2} stroke={colour} stroke-width={widthOf(arm.use)} stroke-dasharray={arm.use === null ? "3 3" : "none"} />
      <polygon points={[corner(size, 0), corner(-size, size), corner(-size, -size)].join(" ")} fill={colour} />
    </g>
  );
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Whether a line crosses the box: looked at in small steps. */
function crosses(arm: Arm, box: Box): boolean {
  const { x1, y1, x2, y2 } = lineOf(arm);
  const reach = widthOf(arm.use) / 2 + 2;
  for (let k = 0; k <= 60; k++) {
    const [x, y] = [x1 + ((x2 - x1) * k) / 60, y1 + ((y2 - y1) * k) / 60];
    if (x > box.x - reach && x < box.x + box.width + reach && y > box.y - reach && y < box.y + box.height + reach) return true;
  }
  return false;
}

const covers = (node: Node, box: Box) => Math.abs(node.x - (box.x + box.width / 2)) < box.width / 2 + 30 && node.y + 46 > box.y && node.y - 14 < box.y + box.height;

/** Where a text beside `arm` lies on nothing else: along it on either side, or else in a corner of the picture. */
function freeBox(arm: Arm, picture: Picture, width: number): Box {
  const { x1, y1, x2, y2, dx, dy } = lineOf(arm);
  const height = 16;
  // Far enough for the whole text to be on one side; on the left the other direction lies between.
  const away = (Math.abs(dy) * width + Math.abs(dx) * height) / 2 + 7;
  const beside = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8].flatMap((share) =>
    [away, -away - 12].map((far) => ({ x: x1 + (x2 - x1) * share - dy * far - width / 2, y: y1 + (y2 - y1) * share + dx * far - height / 2 })),
  );
  const corners = [{ x: 6, y: 4 }, { x: WIDTH - width - 6, y: 4 }];
  const trouble = (box: Box) => picture.arms.filter((each) => crosses(each, box)).length + 3 * picture.nodes.filter((node) => covers(node, box)).length + (box.x < 0 || box.x + width > WIDTH || box.y < 0 ? 9 : 0);
  const boxes = [...beside, ...corners].map((place) => ({ ...place, width, height }));
  return boxes.reduce((best, box) => (trouble(box) < trouble(best) ? box : best));
}

/** How full the busiest link is, with a line to it where the text had to go elsewhere. */
function Mark(props: { arm: Arm; picture: Picture }) {
  const text = `busiest: ${show("share", props.arm.use)}`;
  const box = freeBox(props.arm, props.picture, 7.4 * text.length);
  const { x1, y1, x2, y2 } = lineOf(props.arm);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const far = Math.hypot((x1 + x2) / 2 - x, (y1 + y2) / 2 - y) > 120;
  return (
    <g>
      {far && <line x1={x} y1={box.y + box.height} x2={(x1 + x2) / 2} y2={(y1 + y2) / 2} stroke={variable("--quiet")} stroke-width="1" stroke-dasharray="2 3" />}
      <text id="busiest-mark" x={x} y={y + 4.5} text-anchor="middle" font-size="13" font-weight="600" fill={variable("--text")} stroke={variable("--card")} stroke-width="5" stroke-linejoin="round" paint-order="stroke">
        {text}
      </text>
    </g>
  );
}

function NodeShape(props: { node: Node; host: boolean; hosts: number }) {
  const { node, host } = props;
  const narrow = props.hosts > NARROW_HOSTS;
  const half = host ? (narrow ? Math.min(5, (0.36 * WIDTH) / props.hosts) : 15) : 26;
  const number = node.name.replace("host", "");
  const numbered = Number(number) % Math.ceil(props.hosts / 40) === 0;
  return (
    <g>
      <rect x={node.x - half} y={node.y - 11} width={2 * half} height="22" rx={host ? 4 : 11} fill={variable("--card")} stroke={variable("--quiet")} stroke-width="1.4" />
      {!host && (
        <text x={node.x} y={node.y + 4} font-size="11" text-anchor="middle" fill={variable("--text")}>
          {node.name}
        </text>
      )}
      {host && !narrow && (
        <>
          <text x={node.x} y={node.y + 26} font-size="12" text-anchor="middle" fill={variable("--text")}>
            {node.name}
          </text>
          <text x={node.x} y={node.y + 41} font-size="11" text-anchor="middle" fill={variable("--quiet")}>
            {node.note}
          </text>
        </>
      )}
      {host && narrow && numbered && (
        <text x={node.x} y={node.y + 26} font-size="10" text-anchor="middle" fill={variable("--quiet")}>
          {number}
        </text>
      )}
    </g>
  );
}

export function Topology(props: { run: Run }) {
  const [text, setText] = useState("");
  const [, redraw] = useState(0);
  useEffect(() => onThemeChange(() => redraw((n) => n + 1)), []);
  const drawing = useRef<SVGSVGElement>(null);
  const picture = pictureOf(props.run);
  if (!picture) return null;
  const busiest = busiestOf(picture);
  const hosts = picture.nodes.filter((node) => /^host\d/.test(node.name));
  const shared = picture.arms.some((arm) => arm.shares);
  const kind = shapeOf(props.run).kind === "leafspine" ? "leaves and spines" : shapeOf(props.run).kind;
  const title = busiest ? `The busiest link, ${busiest.from.name} to ${busiest.to.name}, was used to ${show("share", busiest.use)}.` : `${hosts.length} hosts, ${kind}.`;
  const source = () => (drawing.current ? new XMLSerializer().serializeToString(drawing.current) : "");
  return (
    <Figure
      id="topology"
      title={title}
      takeImage={() => svgImage(source(), WIDTH, picture.height, (blob) => save("topology.png", blob))}
      takeSvg={() => save("topology.svg", new Blob([source()], { type: "image/svg+xml" }))}
      table={() => ({
        columns: columns(`from|to|rate:rate|carried, mean:rate|used:share${shared ? "|by" : ""}`),
        rows: picture.arms.map((arm): Cell[] => [arm.from.name, arm.to.name, arm.capacity, arm.carried, arm.use, ...(shared ? [arm.shares] : [])]),
      })}
      how={
        <p>
          Used is the mean rate that a link carried in one direction over the rate asked for, pauses between exchanges included: what its device counted in the time of the measured steps (run.json).
          Each direction is drawn on its right side.
        </p>
      }
    >
      <div class="key">
        <output class="place">{text}</output>
        {LEVELS.map(([, label, colour]) => (
          <span class="entry">
            <i class="swatch" style={{ background: colour() }} />
            {label}
          </span>
        ))}
      </div>
      <svg ref={drawing} class="topology" viewBox={`0 0 ${WIDTH} ${picture.height}`} role="img" aria-label={`${title} A table follows.`} font-family="system-ui, sans-serif" onMouseLeave={() => setText("")}>
        {picture.arms.map((arm) => (
          <ArmShape arm={arm} onShow={setText} />
        ))}
        {picture.nodes.map((node) => (
          <NodeShape node={node} host={hosts.includes(node)} hosts={hosts.length} />
        ))}
        {busiest && <Mark arm={busiest} picture={picture} />}
      </svg>
    </Figure>
  );
}
