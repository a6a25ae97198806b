// SPDX-License-Identifier: Apache-2.0
// A plot as an image with its title and key, for papers and tickets: PNG of its pixels, SVG of its lines.

import type uPlot from "uplot";
import { variable } from "./colours";
import { SvgNotes, svgFile } from "./svg";

const LINE = 20;

export interface KeyEntry {
  label: string;
  colour: string;
}

/** Sentences become lines that fit. */
function wrapped(context: CanvasRenderingContext2D, text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last !== undefined && context.measureText(`${last} ${word}`).width <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Draws title and key, or only measures them; returns the height that they take. */
function drawHead(context: CanvasRenderingContext2D, title: string, entries: KeyEntry[], width: number, draw: boolean): number {
  let y = LINE;
  context.fillStyle = variable("--text");
  context.font = "600 14px system-ui, sans-serif";
  for (const line of wrapped(context, title, width - 24)) {
    if (draw) context.fillText(line, 12, y);
    y += LINE;
  }
  let x = 12;
  context.font = "12px system-ui, sans-serif";
  for (const entry of entries) {
    const needed = context.measureText(entry.label).width + 34;
    if (x > 12 && x + needed > width) [x, y] = [12, y + LINE];
    if (draw) {
      context.fillStyle = entry.colour;
      context.fillRect(x, y - 9, 12, 10);
      context.fillStyle = variable("--text");
      context.fillText(entry.label, x + 17, y);
    }
    x += needed;
  }
  return entries.length > 0 ? y + LINE / 2 : y - LINE / 2;
}

/** A canvas with title and key, and room for the plot below `head` pixels. */
function framed(plot: uPlot, title: string, entries: KeyEntry[]) {
  const source = plot.ctx.canvas;
  const ratio = devicePixelRatio;
  const canvas = document.createElement("canvas");
  canvas.width = source.width;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const head = Math.ceil(drawHead(context, title, entries, source.width / ratio, false)) * ratio;
  canvas.height = source.height + head;
  const draw = () => {
    context.fillStyle = variable("--card");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.scale(ratio, ratio);
    drawHead(context, title, entries, source.width / ratio, true);
    context.setTransform(1, 0, 0, 1, 0, 0);
  };
  return { canvas, context, head, draw };
}

export function plotImage(plot: uPlot, title: string, entries: KeyEntry[], done: (image: Blob) => void) {
  const { canvas, context, head, draw } = framed(plot, title, entries);
  draw();
  context.drawImage(plot.ctx.canvas, 0, head);
  canvas.toBlob((blob) => blob && done(blob), "image/png");
}

export function plotSvg(plot: uPlot, title: string, entries: KeyEntry[]): Blob {
  const { canvas, context, head, draw } = framed(plot, title, entries);
  const frame = new SvgNotes(context);
  frame.during(draw);
  const body = new SvgNotes(plot.ctx);
  body.during(() => plot.batch(() => plot.redraw(true)));
  const size = { width: canvas.width, height: canvas.height, ratio: devicePixelRatio };
  return new Blob([svgFile(size, title, frame.elements(), `<g transform="translate(0 ${head})">`, body.elements(), "</g>")], { type: "image/svg+xml" });
}

/** An SVG drawing as pixels, two for each of its units. */
export function svgImage(source: string, width: number, height: number, done: (image: Blob) => void) {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * width, 2 * height];
    const context = canvas.getContext("2d") as CanvasRenderingContext2D;
    context.fillStyle = variable("--card");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => blob && done(blob), "image/png");
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
}
