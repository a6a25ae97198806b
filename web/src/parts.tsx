// SPDX-License-Identifier: Apache-2.0
// Pieces that sections share.

import type { ComponentChildren } from "preact";

/** A section of the page and its entry in the index. */
export interface Part {
  id: string;
  title: string;
  show: () => ComponentChildren;
}

export function Section(props: { id: string; title: string; lead?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section id={props.id} aria-labelledby={`${props.id}-title`}>
      <h2 id={`${props.id}-title`}>{props.title}</h2>
      {props.lead && <p class="lead">{props.lead}</p>}
      {props.children}
    </section>
  );
}

/** What a section cannot show, and why. */
export function Missing(props: { children: ComponentChildren }) {
  return <p class="missing">{props.children}</p>;
}

/** A sentence where a plot would have nothing to show. */
export function Told(props: { id: string; title: string; children: ComponentChildren }) {
  return (
    <p class="card told" id={props.id}>
      {props.title} <span class="quiet">{props.children}</span>
    </p>
  );
}

export function Choice<T extends string>(props: { label: string; values: readonly T[]; value: T; onChange: (value: T) => void }) {
  return (
    <div class="choice" role="group" aria-label={props.label}>
      {props.values.map((value) => (
        <button type="button" aria-pressed={value === props.value} onClick={() => props.onChange(value)}>
          {value}
        </button>
      ))}
    </div>
  );
}

export function FigureCard(props: { name: string; value: string; note?: string | undefined }) {
  return (
    <div class="figure">
      <div class="name">{props.name}</div>
      <div class="value">{props.value}</div>
      {props.note && <div class="note">{props.note}</div>}
    </div>
  );
}
