// SPDX-License-Identifier: Apache-2.0
// A plot as a PNG image with its title and key, for papers and tickets.

import type uPlot from "uplot";
import { variable } from "./colours";

const LINE = 20;

interface KeyEntry {
  label: string;
  colour: string;
}

function drawKey(context: CanvasRenderingContext2D, entries: KeyEntry[], top: number, width: number) {
  let x = 12;
  context.font = "12px system-ui, sans-serif";
  for (const entry of entries) {
    const needed = context.measureText(entry.label).width + 34;
    if (x + needed > width) break;
    context.fillStyle = entry.colour;
    context.fillRect(x, top - 9, 12, 10);
    context.fillStyle = variable("--text");
    context.fillText(entry.label, x + 17, top);
    x += needed;
  }
}

export function plotImage(plot: uPlot, title: string, entries: KeyEntry[], done: (image: Blob) => void) {
  const source = plot.ctx.canvas;
  const ratio = devicePixelRatio;
  const head = LINE * (entries.length > 0 ? 2.4 : 1.4);
  const canvas = document.createElement("canvas");
  canvas.width = source.width;
  canvas.height = source.height + head * ratio;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.fillStyle = variable("--card");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.scale(ratio, ratio);
  context.fillStyle = variable("--text");
  context.font = "600 14px system-ui, sans-serif";
  context.fillText(title, 12, LINE);
  drawKey(context, entries, 2 * LINE, canvas.width / ratio);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.drawImage(source, 0, head * ratio);
  canvas.toBlob((blob) => blob && done(blob), "image/png");
}
