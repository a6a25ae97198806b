// SPDX-License-Identifier: Apache-2.0
// The page: which sections there are, in their order.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { type ComponentChildren, render } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Answer, firstPicture } from "./answer";
import { SideBySide, uniqueLabels } from "./compare";
import { CrossTraffic } from "./cross";
import { isSimulated, list, type Page, readPage, type Run } from "./data";
import { Flows } from "./flows";
import { Health } from "./health";
import { Iterations } from "./iterations";
import { curvesOf, curvesOfAll, hasLearnt, Learning } from "./learning";
import { loadParts } from "./load";
import { TrafficMatrix } from "./matrix";
import { Collectives, Distributions, Links, Provenance } from "./network";
import { hasOperations, Operations } from "./operations";
import { Checks, Findings, RunHeader, runTitle } from "./overview";
import { Choice, type Part, Section } from "./parts";
import { Serve } from "./serve";
import { Sweep } from "./sweep";
import { endOf, Throughput } from "./throughput";
import { isWatched, Watched } from "./watched";
import { hasWhatIf, WhatIf } from "./what_if";
import type { Range } from "./zoom";

/** The time that all plots over time show. */
function timeOf(run: Run): Range {
  const ends = (run.throughput ?? []).map(endOf);
  const timeline = run.phases?.timeline;
  if (timeline) ends.push(...timeline.start_us.slice(-1).map((start, i) => (start + (timeline.length_us.slice(-1)[i] ?? 0)) * 1e-6));
  for (const part of [run.sockets, run.load]) if (part) ends.push(part.start_s + part.bucket_s * ((part as Partial<NonNullable<Run["load"]>>).busy?.n ?? 0));
  return [0, Math.max(...ends, 1e-6)];
}

/** Sections of captures and machines that a simulation has nothing for. */
function emptyParts(run: Run): Set<string> {
  if (!isSimulated(run)) return new Set();
  const there: Record<string, boolean> = {
    throughput: (run.throughput ?? []).length > 0,
    flows: run.flow_rows !== null || run.transfers !== null,
    matrix: run.matrix !== null,
    distributions: run.flows !== null,
    collectives: list(run.summary, "collectives").length > 0,
    health: run.sockets !== null || run.queues !== null || run.load !== null,
  };
  return new Set(Object.keys(there).filter((id) => !there[id]));
}

function partsOf(run: Run, full: Range): Part[] {
  const sweep = run.points !== null || list(run.summary, "points").length > 0;
  const first = sweep ? null : firstPicture(run);
  const parts: (Part | null)[] = [
    sweep && hasLearnt(run) ? { id: "learning", title: "Accuracy", show: () => <Learning curves={curvesOf(run)} /> } : null,
    sweep ? { id: "sweep", title: "Sweep", show: () => <Sweep run={run} /> } : null,
    sweep ? null : { id: "answer", title: "At a glance", show: () => null },
    !sweep && hasLearnt(run) ? { id: "learning", title: "Accuracy", show: () => <Learning curves={curvesOf(run)} /> } : null,
    sweep || !hasWhatIf(run) ? null : { id: "what-if", title: "What if", show: () => <WhatIf run={run} /> },
    !sweep && isWatched(run) ? { id: "watched", title: "Watched", show: () => <Watched run={run} /> } : null,
    sweep ? null : { id: "checks", title: "Checks", show: () => <Checks run={run} /> },
    sweep ? null : { id: "iterations", title: "Iterations", show: () => <Iterations run={run} full={full} timeline={first !== "timeline"} /> },
    sweep ? null : { id: "throughput", title: "Throughput", show: () => <Throughput run={run} full={full} close={first !== "close"} /> },
    sweep ? null : { id: "flows", title: "Flows over time", show: () => <Flows run={run} full={full} /> },
    sweep ? null : { id: "matrix", title: "Traffic matrix", show: () => <TrafficMatrix run={run} /> },
    sweep ? null : { id: "distributions", title: "Distributions", show: () => <Distributions run={run} /> },
    sweep ? null : { id: "collectives", title: "Collectives", show: () => <Collectives run={run} /> },
    sweep || !hasOperations(run) ? null : { id: "operations", title: "Operations", show: () => <Operations run={run} /> },
    list(run.summary, "cross_traffic", "entries").length > 0 ? { id: "cross", title: "Cross traffic", show: () => <CrossTraffic run={run} /> } : null,
    sweep ? null : { id: "health", title: "Transport health", show: () => <Health run={run} full={full} /> },
    list(run.summary, "network", "links").length > 0 ? { id: "links", title: "Network and links", show: () => <Links run={run} picture={first !== "network"} /> } : null,
  ];
  const empty = emptyParts(run);
  const there = parts.filter((part): part is Part => part !== null && !empty.has(part.id));
  const ids = new Set(there.map((part) => part.id));
  const answer = () => (
    <Answer run={run} full={full}>
      <Findings run={run} sections={ids} />
    </Answer>
  );
  return there.map((part) => (part.id === "answer" ? { ...part, show: answer } : part));
}

function Frame(props: { title: string; head: ComponentChildren; parts: Part[]; page: Page }) {
  return (
    <div class="frame">
      <nav aria-label="sections">
        {props.parts.map((part) => (
          <a href={`#${part.id}`}>{part.title}</a>
        ))}
      </nav>
      <main>
        <header class="top">
          {!props.page.serve && <p class="brand">trainwire report</p>}
          <h1>{props.title}</h1>
          {props.head}
        </header>
        {props.parts.map((part) => (
          <div key={part.id}>{part.show()}</div>
        ))}
        <footer>
          trainwire {props.page.version} ({props.page.commit}){props.page.full ? ", with every window" : ""}.{!props.page.serve && " This file holds its data and asks the network for nothing."}
        </footer>
      </main>
    </div>
  );
}

function Runs(props: { page: Page; runs: Run[] }) {
  const { runs, page } = props;
  const labels = useMemo(() => uniqueLabels(runs), [runs]);
  const [chosen, setChosen] = useState(labels[0] as string);
  const run = runs[labels.indexOf(chosen)] as Run;
  const full = useMemo(() => timeOf(run), [run]);
  const several = runs.length > 1;
  const parts: Part[] = [
    ...(several ? [{ id: "side-by-side", title: "Side by side", show: () => <SideBySide runs={runs} comparisons={page.comparisons ?? []} /> }] : []),
    ...(several && runs.filter(hasLearnt).length > 1 ? [{ id: "learning", title: "Accuracy", show: () => <Learning curves={curvesOfAll(runs, labels)} /> }] : []),
    ...(several
      ? [
          {
            id: "one-run",
            title: "One run",
            show: () => (
              <Section id="one-run" title={`One run: ${runTitle(run)}`} lead="What follows is of the run chosen here.">
                <Choice label="run" values={labels} value={chosen} onChange={setChosen} />
                <RunHeader run={run} />
              </Section>
            ),
          },
        ]
      : []),
    ...partsOf(run, full)
      .filter((part) => !several || part.id !== "learning" || runs.filter(hasLearnt).length < 2)
      .map((part) => ({ ...part, show: () => <div key={`${part.id} ${run.path}`}>{part.show()}</div> })),
    {
      id: "provenance",
      title: "Method and provenance",
      show: () => (
        <Section id="provenance" title="Method and provenance" lead={<>How to make it again. <code>trainwire schema</code> explains the columns of all tables.</>}>
          {runs.map((each) => (
            <Provenance run={each} />
          ))}
        </Section>
      ),
    },
  ];
  return <Frame title={several ? `${runs.length} runs` : runTitle(run)} head={several ? null : <RunHeader run={run} />} parts={parts} page={page} />;
}

function Whole(props: { page: Page }) {
  const { page } = props;
  if (page.runs && page.runs.length > 0) return <Runs page={page} runs={page.runs} />;
  const load = page.load;
  if (!load) return <p class="banner bad">This page has no data in it: it is the template alone.</p>;
  const parts = loadParts(load);
  return <Frame title={`Load ${load.path}`} head={<p class="facts">Cross traffic as a list of flows, as <code>trainwire traffic make</code> writes it.</p>} parts={parts} page={page} />;
}

const page = readPage();
const title = page.runs?.[0] ? runTitle(page.runs[0]) : (page.load?.path ?? "");
document.title = `${title}: trainwire report`;
const root = document.getElementById("page");
if (root) {
  root.textContent = "";
  const whole = (of: Page) => <Whole page={of} />;
  render(page.serve ? <Serve page={page} show={whole} /> : whole(page), root);
}
