// SPDX-License-Identifier: Apache-2.0
// Bars in named rows over time, for plots whose y axis has names.

import type uPlot from "uplot";

export interface Bar {
  row: number;
  from: number;
  to: number;
  colour: string;
  /** 0 to 1. */
  opacity: number;
  /** Share of the row's height. */
  height: number;
}

/** Draws those bars that the plot shows, at least a pixel wide. */
export function paintRows(plot: uPlot, bars: Bar[]) {
  const { ctx } = plot;
  const tall = Math.abs(plot.valToPos(1, "y", true) - plot.valToPos(0, "y", true));
  const { min, max } = plot.scales.x as { min: number; max: number };
  ctx.save();
  clipToPlot(plot);
  for (const bar of bars) {
    if (bar.to < min || bar.from > max) continue;
    // Whole pixels: halves would show as seams between neighbours.
    const left = Math.round(plot.valToPos(bar.from, "x", true));
    const width = Math.max(devicePixelRatio, Math.round(plot.valToPos(bar.to, "x", true)) - left);
    const height = Math.max(1, tall * bar.height);
    ctx.globalAlpha = bar.opacity;
    ctx.fillStyle = bar.colour;
    ctx.fillRect(left, plot.valToPos(bar.row, "y", true) - height / 2, width, height);
  }
  ctx.restore();
}

export function clipToPlot(plot: uPlot) {
  const { left, top, width, height } = plot.bbox;
  plot.ctx.beginPath();
  plot.ctx.rect(left, top, width, height);
  plot.ctx.clip();
}
