// SPDX-License-Identifier: Apache-2.0
// Plots of one group show the same stretch of their x axis; time plots of a run are one group.

export type Range = [number, number];
type Listener = (range: Range | null) => void;

const groups = new Map<string, Set<Listener>>();
const present = new Map<string, Range | null>();

export function join(group: string, listener: Listener): () => void {
  const members = groups.get(group) ?? new Set<Listener>();
  groups.set(group, members.add(listener));
  const range = present.get(group);
  if (range) listener(range);
  return () => members.delete(listener);
}

/** null is everything. */
export function zoomTo(group: string, range: Range | null) {
  present.set(group, range);
  for (const listener of groups.get(group) ?? []) listener(range);
}

/** Another run is shown: its times are not those of the last one. */
export const forgetZoom = () => present.clear();
