// SPDX-License-Identifier: Apache-2.0
// Several runs side by side; the first is what the others are compared with.

import { Cdf } from "./cdf";
import type { Run } from "./data";
import { difference } from "./format";
import { keyFigures, qualityOf, runTitle } from "./overview";
import { Missing, Section } from "./parts";
import { type Cell, How, TableView } from "./table";

export function uniqueLabels(runs: Run[]): string[] {
  const labels = runs.map((run) => run.label);
  return runs.map((run, i) => (labels.indexOf(run.label) !== i || labels.lastIndexOf(run.label) !== i ? run.path : run.label));
}

export function SideBySide(props: { runs: Run[] }) {
  const { runs } = props;
  const labels = uniqueLabels(runs);
  const figures = runs.map((run) => new Map(keyFigures(run).map((figure) => [figure.name, figure])));
  const names = [...new Set(figures.flatMap((all) => [...all.keys()]))];
  const rows = names.map((name): Cell[] => {
    const base = figures[0]?.get(name)?.raw ?? null;
    return [
      name,
      ...figures.map((all, i) => {
        const figure = all.get(name);
        if (!figure) return null;
        const other = i > 0 && base !== null && typeof figure.raw === "number";
        return other ? `${figure.value} (${difference(figure.raw as number, base)})` : figure.value;
      }),
    ];
  });
  const all = runs.flatMap((run, i) => {
    const steps = run.steps[0];
    return steps ? [{ name: labels[i] as string, colour: i, of: steps.step.distribution }] : [];
  });
  return (
    <Section id="side-by-side" title="Side by side" lead={`Differences are from ${labels[0]}.`}>
      {all.length > 0 ? (
        <Cdf id="compare-cdf" title={`Step times of ${all.length} runs.`} label="step time" kind="time" height={300} all={all} how={<p>Step times of the first job of each run, warm-up left out.</p>} />
      ) : (
        <Missing>None of the runs has training steps to compare.</Missing>
      )}
      <div class="card">
        <TableView table={{ columns: [{ name: "" }, ...labels.map((name) => ({ name }))], rows: [["", ...runs.map((run) => runTitle(run))], ["data", ...runs.map((run) => qualityOf(run).word)], ...rows] }} />
        <How>
          <p>Differences of the figures as they stand. Whether one is more than chance, <code>trainwire compare</code> tells, with intervals and a verdict.</p>
        </How>
      </div>
    </Section>
  );
}
