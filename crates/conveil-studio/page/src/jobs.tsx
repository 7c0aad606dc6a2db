// Long work: the frontier, the comparison of strategies, why it is infeasible, the audit; with progress, and an end.

import { useEffect, useState } from "preact/hooks";
import { api, Refused, type Job, type JobKind } from "./api";
import { desk, useDesk } from "./desk";
import { Figures } from "./figure";
import { Framed, Trouble, Words } from "./frame";

/** How often a running job is asked for its progress, in milliseconds. */
const OFTEN = 250;

/** So many results are kept on the page. */
const KEPT = 6;

const TITLES: Record<JobKind, string> = {
  frontier: "Frontier",
  compare: "Strategies compared",
  explain: "Why it is feasible or not",
  audit: "Audit",
};

const OVER: [string, string][] = [["epsilon", "ε"], ["alpha", "α"], ["eta", "η"]];

let jobs: Job[] = [];
let trouble: string | null = null;
const listeners = new Set<() => void>();
const changed = () => listeners.forEach((listener) => listener());

function put(job: Job): void {
  const others = jobs.filter((known) => known.id !== job.id);
  jobs = [job, ...others].sort((a, b) => b.id - a.id).slice(0, KEPT);
  changed();
}

async function follow(job: Job): Promise<void> {
  put(job);
  while (job.state === "running") {
    await new Promise((rest) => setTimeout(rest, OFTEN));
    job = await api.job(job.id);
    put(job);
  }
  desk.tell(`${TITLES[job.kind] ?? job.kind}: ${job.state}`);
}

/** Starts work and follows it to its end. */
export async function startJob(start: () => Promise<Job>): Promise<void> {
  try {
    trouble = null;
    await follow(await start());
  } catch (error) {
    trouble = error instanceof Refused ? error.message : "The server does not answer.";
    changed();
  }
}

function Progress({ job }: { job: Job }) {
  const known = job.total > 0;
  return (
    <div class="progress">
      <label>
        {job.stage || "working"} {known && `${job.done} of ${job.total}`}
        <progress max={known ? job.total : 1} {...(known ? { value: job.done } : {})} />
      </label>
      <button type="button" onClick={() => void api.cancel(job.id).then(put, () => undefined)}>Stop</button>
    </div>
  );
}

function OneJob({ job }: { job: Job }) {
  const { state } = useDesk();
  const over = OVER.find(([name]) => name === job.over)?.[1];
  const title = `${TITLES[job.kind] ?? job.kind}${over ? ` over ${over}` : ""}`;
  const isOld = state !== null && job.asked !== state.asked;
  return (
    <article class="job" data-state={job.state} data-kind={job.kind} data-id={job.id}>
      <h3>{title}</h3>
      {isOld && <p class="note">Settings or data were changed since this was started.</p>}
      {job.state === "running" && <Progress job={job} />}
      {job.state === "cancelled" && <p class="note">Stopped.</p>}
      <Framed isPrivate={job.private}>
        {!job.private && job.state === "done" && <p class="stamp">{job.stamp}</p>}
        {job.state === "failed" ? <Trouble text={job.text} /> : job.text && <Words label={title} text={job.text} />}
        <Figures figures={job.figures} />
      </Framed>
    </article>
  );
}

export function Jobs({ spec }: { spec: string }) {
  const [, setCount] = useState(0);
  const [over, setOver] = useState("epsilon");
  useEffect(() => {
    const listener = () => setCount((count) => count + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  const button = (kind: JobKind, words: string) => (
    <button type="button" onClick={() => void startJob(() => api.start(kind, kind === "frontier" ? over : undefined))}>
      {words}
    </button>
  );
  return (
    <section class="panel" aria-labelledby="jobs-title">
      <h2 id="jobs-title">Look closer</h2>
      <div class="buttons">
        <span class="pair">
          <label for="over">Frontier over</label>
          <select id="over" value={over} onChange={(event) => setOver(event.currentTarget.value)}>
            {OVER.map(([name, letter]) => <option key={name} value={name}>{letter}</option>)}
          </select>
          {button("frontier", "Trace")}
        </span>
        {button("compare", "Compare strategies")}
        {button("explain", "Explain feasibility")}
        {button("audit", "Audit")}
      </div>
      <Trouble text={trouble} />
      {jobs.filter((job) => job.spec === spec).map((job) => <OneJob key={job.id} job={job} />)}
    </section>
  );
}
