// SPDX-License-Identifier: Apache-2.0
// Colours that stay apart for colour-blind readers (Okabe & Ito 2008) and on both backgrounds; what is
// not a series is read from the style sheet's variables, so that light, dark and print need no code.

const LIGHT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5B5B5B", "#8C6D00"];
const DARK = ["#56B4E9", "#E69F00", "#2FBF94", "#E29BC4", "#F0E442", "#FF8A3D", "#BDBDBD", "#7C9CFF"];

const darkQuery = matchMedia("(prefers-color-scheme: dark)");
const printQuery = matchMedia("print");

export const isDark = () => darkQuery.matches && !printQuery.matches;

export function onThemeChange(act: () => void): () => void {
  const queries = [darkQuery, printQuery];
  for (const query of queries) query.addEventListener("change", act);
  return () => {
    for (const query of queries) query.removeEventListener("change", act);
  };
}

/** Past the eighth series colours repeat, and dashes tell them apart. */
export function seriesColour(index: number): string {
  const palette = isDark() ? DARK : LIGHT;
  return palette[index % palette.length] as string;
}

export const dashOf = (index: number): number[] | undefined =>
  index >= LIGHT.length ? (index >= 2 * LIGHT.length ? [2, 3] : [7, 4]) : undefined;

export function variable(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function faded(colour: string, share: number): string {
  return colour + Math.round(share * 255).toString(16).padStart(2, "0");
}

/** The same on both backgrounds: phases fill areas, which need no contrast of lines. */
const PHASES: Record<string, string> = {
  forward: "#56B4E9",
  backward: "#0072B2",
  exchange: "#D55E00",
  wait: "#E69F00",
  optimiser: "#009E73",
  aggregation: "#CC79A7",
  distribution: "#8C6D00",
};

export const phaseColour = (phase: string): string => PHASES[phase] ?? "#888888";

/** Classes of flows in a fixed order, so that each keeps its colour. */
export const CLASSES = ["gradient", "cross", "acknowledgement", "control", "tiny"];

/** Place in the palette. */
export const classPlace = (name: string): number => (CLASSES.includes(name) ? CLASSES.indexOf(name) : 6);

/** Viridis by nine of its colours (van der Walt & Smith), 0 to 1. */
const VIRIDIS = ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"];

export function viridis(share: number): string {
  const place = Math.min(1, Math.max(0, share)) * (VIRIDIS.length - 1);
  const i = Math.min(VIRIDIS.length - 2, Math.floor(place));
  const part = (text: string, k: number) => parseInt(text.slice(2 * k, 2 * k + 2), 16);
  const [from, to] = [VIRIDIS[i] as string, VIRIDIS[i + 1] as string];
  const mix = [0, 1, 2].map((k) => Math.round(part(from, k) + (part(to, k) - part(from, k)) * (place - i)));
  return `rgb(${mix.join(",")})`;
}
