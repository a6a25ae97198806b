// SPDX-License-Identifier: Apache-2.0
// A capture dropped on the page, or chosen: sent one after another, then analysed by the server.

import { useEffect, useRef, useState } from "preact/hooks";
import { show } from "./format";
import { ask, refusalText, type Rounds, rounds, type Task, TOKEN } from "./serve_api";

interface Sending {
  key: number;
  file: File;
  /** 0 to 1; null while it waits for its turn. */
  share: number | null;
  problem: string | null;
}

/** XMLHttpRequest, for fetch does not tell how much is sent. */
function send(file: File, progress: (share: number) => void): Promise<void> {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/api/upload?name=${encodeURIComponent(file.name)}`);
    for (const [name, value] of Object.entries(TOKEN)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => progress(event.lengthComputable ? event.loaded / event.total : 0);
    request.onerror = () => failed(new Error("It could not be sent: the connection was lost."));
    request.onload = () => (request.status < 300 ? done() : failed(new Error(refusalText(request.status, request.responseText))));
    request.send(file);
  });
}

/** The server lets eight wait. */
async function room(): Promise<void> {
  for (;;) {
    const answer = await ask<{ tasks: Task[] }>("/api/tasks").catch(() => null);
    if ((answer?.tasks.filter((task) => task.state === "waiting").length ?? 0) < 8) return;
    await new Promise((go) => setTimeout(go, 1000));
  }
}

export interface Uploads {
  sending: Sending[];
  tasks: Task[];
  add: (files: Iterable<File>) => void;
  forget: (key: number) => void;
}

let keys = 0;

/** `onDone` is called when the server has finished a capture: there is a new run. */
export function useUploads(limit: number, onDone: () => void): Uploads {
  const [sending, setSending] = useState<Sending[]>([]);
  const [tasks, setTasks] = useState<Task[]>([]);
  const polling = useRef<Rounds | null>(null);
  const queue = useRef<Promise<void>>(Promise.resolve());
  const tell = useRef(onDone);
  tell.current = onDone;
  const forget = (key: number) => setSending((all) => all.filter((each) => each.key !== key));
  const change = (key: number, to: Partial<Sending>) => setSending((all) => all.map((each) => (each.key === key ? { ...each, ...to } : each)));

  useEffect(() => {
    let finished = -1;
    polling.current = rounds(async () => {
      const answer = await ask<{ tasks: Task[] }>("/api/tasks").catch(() => null);
      if (!answer) return 5000;
      setTasks(answer.tasks);
      const now = answer.tasks.filter((task) => task.state === "done").length;
      if (finished >= 0 && now !== finished) tell.current();
      finished = now;
      return answer.tasks.some((task) => task.state === "waiting" || task.state === "running") ? 700 : 10_000;
    });
    return () => polling.current?.stop();
  }, []);

  async function sendOne(key: number, file: File) {
    try {
      await room();
      change(key, { share: 0 });
      await send(file, (share) => change(key, { share }));
      forget(key);
    } catch (error) {
      change(key, { problem: (error as Error).message });
    }
    polling.current?.now();
  }

  function add(files: Iterable<File>) {
    for (const file of files) {
      const key = ++keys;
      const problem = file.size > limit ? `It has ${show("bytes", file.size)}; the server takes ${show("bytes", limit)} at most. Analyse it where it is: trainwire analyze FILE.` : file.size === 0 ? "It is empty." : null;
      setSending((all) => [...all, { key, file, share: null, problem }]);
      if (!problem) queue.current = queue.current.then(() => sendOne(key, file));
    }
  }
  return { sending, tasks, add, forget };
}

/** How much of something is done, 0 to 1. */
export function Meter(props: { share: number; label: string }) {
  return (
    <div class="meter" role="progressbar" aria-label={props.label} aria-valuemin={0} aria-valuemax={1} aria-valuenow={props.share}>
      <i style={{ width: `${100 * props.share}%` }} />
    </div>
  );
}

function TaskState(props: { task: Task }) {
  const { task } = props;
  if (task.state === "failed") return <span class="problem">{task.message ?? "It could not be analysed."}</span>;
  if (task.state === "done")
    return (
      <>
        {task.run !== null && <a href={`#/run/${encodeURIComponent(task.run)}`}>open the run</a>} {task.message}
      </>
    );
  return <>{task.state === "running" ? `is being analysed, ${show("time", Math.round(task.seconds))} so far` : "waits for others"}</>;
}

/** Those that anybody may still care about. */
const MOST_TASKS = 6;

export function UploadList(props: { uploads: Uploads }) {
  const { sending, tasks, forget } = props.uploads;
  if (sending.length + tasks.length === 0) return null;
  const old = tasks.length - MOST_TASKS;
  return (
      <div class="card" aria-live="polite">
        <h3>Captures</h3>
        {sending.map((each) => (
          <div class="task" key={each.key}>
            <b>{each.file.name}</b>{" "}
            {each.problem ? (
              <>
                <span class="problem">{each.problem}</span> <button type="button" onClick={() => forget(each.key)}>dismiss</button>
              </>
            ) : each.share === null ? (
              "waits to be sent"
            ) : (
              <>
                {show("share", Math.round(each.share * 100) / 100)} of {show("bytes", each.file.size)} sent
                <Meter share={each.share} label={`sending ${each.file.name}`} />
              </>
            )}
          </div>
        ))}
        {tasks.slice(Math.max(0, old)).reverse().map((task) => (
          <div class="task" key={task.task}>
            <b>{task.name}</b> <TaskState task={task} />
          </div>
        ))}
      </div>
  );
}

export function FileButton(props: { add: (files: Iterable<File>) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class="main" onClick={() => input.current?.click()}>analyse a capture…</button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label="capture files"
        onChange={(event) => {
          props.add([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

/** Takes what is dropped anywhere on the page; shows itself while something is dragged over it. */
export function DropZone(props: { limit: number; add: (files: Iterable<File>) => void }) {
  const [over, setOver] = useState(false);
  const take = useRef(props.add);
  take.current = props.add;
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const onOver = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const onLeave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const onDrop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      take.current([...(event.dataTransfer?.files ?? [])]);
    };
    const all: [string, (event: DragEvent) => void][] = [["dragover", onOver], ["dragleave", onLeave], ["drop", onDrop]];
    for (const [name, act] of all) addEventListener(name, act as EventListener);
    return () => {
      for (const [name, act] of all) removeEventListener(name, act as EventListener);
    };
  }, []);
  if (!over) return null;
  return (
    <div class="dropping">
      <p>
        <b>Drop captures to analyse them</b>
        <br />
        pcap or pcapng, also gzip or zstd, at most {show("bytes", props.limit)} each
      </p>
    </div>
  );
}
