// SPDX-License-Identifier: Apache-2.0
// The page of `trainwire serve`. The part of its address after # says what is shown:
//   #/  #/run/ID  #/compare/ID,ID...  #/live/ID
// so that back, reload and bookmarks work. Links to sections of a page (#iterations) would overwrite
// that: they scroll instead.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Page } from "./data";
import { show } from "./format";
import { runTitle } from "./overview";
import { ask, type RunList, type Rounds, rounds, troubleText } from "./serve_api";
import { Live } from "./serve_live";
import { FIRST_STATE, Runs } from "./serve_runs";
import { DropZone, FileButton, UploadList, useUploads } from "./serve_upload";
import { forgetZoom } from "./zoom";

interface Route {
  kind: string;
  ids: string[];
}

function readRoute(): Route {
  const [, kind = "", ids = ""] = location.hash.split("/");
  try {
    return { kind, ids: ids.split(",").filter(Boolean).map(decodeURIComponent) };
  } catch {
    return { kind: "", ids: [] };
  }
}

function useRoute(): Route {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const onChange = () => {
      forgetZoom();
      setRoute(readRoute());
    };
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return route;
}

function scrollToSection(event: MouseEvent) {
  const link = (event.target as Element).closest("a")?.getAttribute("href");
  if (!link?.startsWith("#") || link.startsWith("#/")) return;
  event.preventDefault();
  const section = document.getElementById(link.slice(1));
  section?.scrollIntoView();
  // The next tab is of this section, as after a link of the browser's own.
  section?.setAttribute("tabindex", "-1");
  section?.focus({ preventScroll: true });
}

const RUNNING_MS = 2000;
const IDLE_MS = 10_000;

/** Asked for again and again while it is `shown`. */
function useRuns(shown: boolean) {
  const [list, setList] = useState<RunList | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const polling = useRef<Rounds | null>(null);
  useEffect(() => {
    if (!shown) return;
    polling.current = rounds(async () => {
      try {
        const answer = await ask<RunList>("/api/runs");
        setList(answer);
        setTrouble(null);
        return answer.runs.some((run) => run.state === "running") ? RUNNING_MS : IDLE_MS;
      } catch (error) {
        setTrouble(troubleText(error));
        return RUNNING_MS;
      }
    });
    return () => polling.current?.stop();
  }, [shown]);
  return { list, trouble, refresh: () => polling.current?.now() };
}

/** One run, or several: the document of a report, by the report's own components. */
function RunPage(props: { ids: string[]; page: Page; show: (page: Page) => ComponentChildren }) {
  const [page, setPage] = useState<Page | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  useEffect(() => {
    let gone = false;
    ask<Page>(`/api/page?${props.ids.map((id) => `id=${encodeURIComponent(id)}`).join("&")}`).then(
      (answer) => {
        if (gone) return;
        setPage({ ...answer, serve: props.page.serve! });
        document.title = answer.runs?.length === 1 && answer.runs[0] ? runTitle(answer.runs[0]) : `${answer.runs?.length} runs`;
      },
      (error: unknown) => gone || setTrouble(troubleText(error)),
    );
    return () => void (gone = true);
  }, []);
  if (page) return <>{props.show(page)}</>;
  return (
    <main class="frame one">
      {trouble ? (
        <div class="banner bad" role="alert">
          <p>
            <b>{trouble}</b> <button type="button" onClick={() => location.reload()}>try again</button>
          </p>
        </div>
      ) : (
        <p class="missing">Reading the run…</p>
      )}
    </main>
  );
}

function Bar(props: { home: boolean; children: ComponentChildren }) {
  return (
    <div class="bar row">
      <b>trainwire</b>
      {!props.home && <a href="#/">← all runs</a>}
      <span class="fill" />
      {props.children}
    </div>
  );
}

export function Serve(props: { page: Page; show: (page: Page) => ComponentChildren }) {
  const { folder, upload_limit_bytes: limit } = props.page.serve!;
  const route = useRoute();
  const home = !["run", "compare", "live"].includes(route.kind) || route.ids.length === 0;
  const { list, trouble, refresh } = useRuns(home);
  const uploads = useUploads(limit, refresh);
  const [state, setState] = useState(FIRST_STATE);
  const place = useRef(0);
  const address = `${route.kind}/${route.ids.join()}`;
  useLayoutEffect(() => {
    if (home) document.title = "trainwire: runs";
    scrollTo({ top: home ? place.current : 0, behavior: "instant" });
    const keep = () => home && (place.current = scrollY);
    addEventListener("scroll", keep);
    return () => removeEventListener("scroll", keep);
  }, [address]);
  const add = (files: Iterable<File>) => {
    uploads.add(files);
    location.hash = "#/";
  };
  return (
    <div onClick={scrollToSection}>
      <Bar home={home}>
        <span class="quiet wide">drop captures anywhere, at most {show("bytes", limit)}</span>
        <FileButton add={add} />
      </Bar>
      {route.kind === "live" && !home ? (
        <Live key={address} id={route.ids[0] as string} />
      ) : !home ? (
        <RunPage key={address} ids={route.ids} page={props.page} show={props.show} />
      ) : (
        <main class="frame one">
          {trouble && <div class="banner bad" role="alert"><p><b>{trouble}</b></p></div>}
          {list ? (
            <Runs list={list} folder={folder} state={state} change={(to) => setState({ ...state, ...to })}>
              <UploadList uploads={uploads} />
            </Runs>
          ) : (
            !trouble && <p class="missing">Looking for runs…</p>
          )}
          <footer>trainwire {props.page.version} ({props.page.commit})</footer>
        </main>
      )}
      <DropZone limit={limit} add={add} />
    </div>
  );
}
