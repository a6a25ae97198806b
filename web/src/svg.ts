// SPDX-License-Identifier: Apache-2.0
// A drawing on a canvas written down as SVG, while it is drawn.
//
// The context goes on drawing and keeping its state; its methods are covered by ones that first note
// what they were called with, and the style is asked from the context itself. uPlot draws with Path2D,
// which cannot be read back: while noting, new ones are of a kind that remembers.
//
// Limits: what uPlot and the painters of this page use. No images, no gradients, no shadows.

const escaped = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`).replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");

const short = (value: number) => String(Math.round(value * 100) / 100);

/** SVG's path data, as the calls of a canvas path make it. */
class PathText {
  text = "";
  add(letter: string, ...values: number[]) {
    this.text += letter + values.map(short).join(" ");
  }
  /** A line from nowhere only goes there. */
  line(x: number, y: number) {
    this.add(this.text ? "L" : "M", x, y);
  }
  rect(x: number, y: number, width: number, height: number) {
    this.add("M", x, y);
    this.add("h", width);
    this.add("v", height);
    this.add("h", -width);
    this.text += "z";
  }
  arc(x: number, y: number, radius: number, from: number, to: number) {
    const place = (angle: number): [number, number] => [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
    const middle = (from + to) / 2;
    // In two halves: SVG has no arc that ends where it begins.
    this.line(...place(from));
    for (const end of [middle, to]) this.text += `A${short(radius)} ${short(radius)} 0 0 1 ${place(end).map(short).join(" ")}`;
  }
}

function remembering(Plain: typeof Path2D) {
  return class extends Plain {
    noted = new PathText();
    constructor(from?: Path2D | string) {
      super(from);
      if (from && typeof from === "object") this.noted.text = notedIn(from);
    }
    override moveTo(x: number, y: number) {
      this.noted.add("M", x, y);
      super.moveTo(x, y);
    }
    override lineTo(x: number, y: number) {
      this.noted.line(x, y);
      super.lineTo(x, y);
    }
    override rect(x: number, y: number, width: number, height: number) {
      this.noted.rect(x, y, width, height);
      super.rect(x, y, width, height);
    }
    override arc(x: number, y: number, radius: number, from: number, to: number) {
      this.noted.arc(x, y, radius, from, to);
      super.arc(x, y, radius, from, to);
    }
    override closePath() {
      this.noted.text += "z";
      super.closePath();
    }
  };
}

const notedIn = (path: Path2D): string => (path as Path2D & { noted?: PathText }).noted?.text ?? "";

/** "#rrggbb" or "rgba(r, g, b, a)", as a context gives its colours, as two attributes. */
function paintText(name: "fill" | "stroke", colour: unknown, alpha: number): string {
  const parts = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(String(colour));
  const opacity = alpha * (parts?.[4] === undefined ? 1 : Number(parts[4]));
  const plain = parts ? `rgb(${parts[1]},${parts[2]},${parts[3]})` : String(colour);
  return ` ${name}="${escaped(plain)}"${opacity < 1 ? ` ${name}-opacity="${short(opacity)}"` : ""}`;
}

const ANCHOR: Record<string, string> = { center: "middle", right: "end", end: "end" };
const BASELINE: Record<string, string> = { top: "hanging", hanging: "hanging", middle: "central", bottom: "text-after-edge" };

export class SvgNotes {
  private parts: string[] = [];
  private defined = 0;
  private clip = "";
  private clips: string[] = [];
  private path = new PathText();
  /** What the next path element is made of. */
  private style = "";
  private data: string[] = [];

  constructor(private context: CanvasRenderingContext2D) {}

  /** The same style as just before makes one element of many. */
  private shape(style: string, data: string) {
    if (!data) return;
    const attributes = style + this.place();
    if (attributes !== this.style) this.add("");
    this.style = attributes;
    this.data.push(data);
  }

  private add(element: string) {
    if (this.data.length > 0) this.parts.push(`<path${this.style} d="${this.data.join("")}"/>`);
    if (element) this.parts.push(element);
    this.data = [];
    this.style = "";
  }

  private place(): string {
    const { a, b, c, d, e, f } = this.context.getTransform();
    const moved = [a, b, c, d, e, f].map(short).join(" ");
    return (moved === "1 0 0 1 0 0" ? "" : ` transform="matrix(${moved})"`) + (this.clip ? ` clip-path="url(#${this.clip})"` : "");
  }

  private stroke(data: string) {
    const { strokeStyle, lineWidth, globalAlpha, lineJoin } = this.context;
    const dash = this.context.getLineDash();
    if (lineWidth > 0 && !/, 0\)$/.test(String(strokeStyle)))
      this.shape(`${paintText("stroke", strokeStyle, globalAlpha)} fill="none" stroke-width="${short(lineWidth)}" stroke-linejoin="${lineJoin}"${dash.length > 0 ? ` stroke-dasharray="${dash.map(short).join(" ")}"` : ""}`, data);
  }

  private fill(data: string) {
    const { fillStyle, globalAlpha } = this.context;
    if (!/, 0\)$/.test(String(fillStyle))) this.shape(paintText("fill", fillStyle, globalAlpha), data);
  }

  private text(text: string, x: number, y: number) {
    const { font, fillStyle, globalAlpha, textAlign, textBaseline } = this.context;
    const anchor = ANCHOR[textAlign];
    const baseline = BASELINE[textBaseline];
    const [, weight, size, family] = /^(\d+ |bold )?([\d.]+)px (.*)$/.exec(font) ?? ["", "", "10", "sans-serif"];
    this.add(
      `<text x="${short(x)}" y="${short(y)}"${paintText("fill", fillStyle, globalAlpha)} font-family="${escaped(family ?? "")}" font-size="${size}"${weight ? ` font-weight="${weight.trim()}"` : ""}${anchor ? ` text-anchor="${anchor}"` : ""}${baseline ? ` dominant-baseline="${baseline}"` : ""}${this.place()}>${escaped(text)}</text>`,
    );
  }

  private clipTo(data: string) {
    const id = `clip${++this.defined}`;
    // What clips is itself clipped by what clipped before.
    const outer = this.clip ? ` clip-path="url(#${this.clip})"` : "";
    this.add(`<clipPath id="${id}"${outer}><path d="${data}"/></clipPath>`);
    this.clip = id;
  }

  private covers(): Partial<Record<keyof CanvasRenderingContext2D, (...values: never[]) => void>> {
    const data = (path?: Path2D) => (path instanceof Object ? notedIn(path) : this.path.text);
    return {
      save: () => void this.clips.push(this.clip),
      restore: () => void (this.clip = this.clips.pop() ?? ""),
      beginPath: () => void (this.path = new PathText()),
      moveTo: (x: number, y: number) => this.path.add("M", x, y),
      lineTo: (x: number, y: number) => this.path.line(x, y),
      rect: (x: number, y: number, width: number, height: number) => this.path.rect(x, y, width, height),
      arc: (x: number, y: number, radius: number, from: number, to: number) => this.path.arc(x, y, radius, from, to),
      closePath: () => void (this.path.text += "z"),
      stroke: (path?: Path2D) => this.stroke(data(path)),
      fill: (path?: Path2D) => this.fill(data(path)),
      clip: (path?: Path2D) => this.clipTo(data(path)),
      fillText: (text: string, x: number, y: number) => this.text(text, x, y),
      fillRect: (x: number, y: number, width: number, height: number) => {
        const one = new PathText();
        one.rect(x, y, width, height);
        this.fill(one.text);
      },
    };
  }

  /** Notes what `draw` draws on the context. */
  during(draw: () => void) {
    const target = this.context as unknown as Record<string, unknown>;
    const covers = this.covers() as Record<string, (...values: unknown[]) => void>;
    const plain = window.Path2D;
    const methods = Object.getPrototypeOf(this.context) as Record<string, (...values: unknown[]) => unknown>;
    for (const [name, note] of Object.entries(covers)) {
      target[name] = (...values: unknown[]) => {
        note(...values);
        return (methods[name] as (...values: unknown[]) => unknown).apply(this.context, values);
      };
    }
    window.Path2D = remembering(plain) as unknown as typeof Path2D;
    try {
      draw();
    } finally {
      window.Path2D = plain;
      for (const name of Object.keys(covers)) delete target[name];
    }
  }

  elements(): string {
    this.add("");
    return this.parts.join("\n");
  }
}

/** A whole file. `ratio`: units of the drawing for each pixel of its size. */
export function svgFile(size: { width: number; height: number; ratio: number }, title: string, ...elements: string[]): string {
  const { width, height, ratio } = size;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${short(width / ratio)}" height="${short(height / ratio)}" viewBox="0 0 ${short(width)} ${short(height)}">
<title>${escaped(title)}</title>
${elements.join("\n")}
</svg>
`;
}
