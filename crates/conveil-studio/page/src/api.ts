// What the server answers, and how it is asked. All of it is text and numbers: nothing is run, nothing is markup but
// the figures, which `figure.tsx` takes apart.

export type About = "nominal" | "twin" | "private";

export interface Setting {
  name: string;
  label: string;
  unit: string;
  value: number | string;
  original: number | string;
  /** Ends of the slider of a number. */
  low?: number | null;
  high?: number | null;
  /** Words to choose from. */
  choices?: string[] | null;
  /** Whether the guarantee still covers it: it was not moved after private data were looked at. */
  covered: boolean;
  note?: string | null;
}

export interface Card {
  id: number;
  file: string;
  /** The private file of the decision, where it was kept. */
  decision: string | null;
  stamps: string[];
}

export interface Open {
  path: string;
  text: string;
  /** Whether the text has private numbers. */
  text_private: boolean;
  about: About;
  choices: { about: About; refused: string | null }[];
  looked: boolean;
  settings: Setting[];
  moved_after: string[];
  ledger: boolean;
  cards: Card[];
}

export interface State {
  revision: number;
  /** Counts what changes the numbers: another spec, other settings, other data. */
  asked: number;
  folder: string;
  specs: string[];
  models: string[];
  open: Open | null;
}

export interface Figure {
  title: string;
  svg: string;
  /** What it shows, in a sentence; empty where nobody says. */
  caption: string;
  private: boolean;
}

export interface View {
  revision: number;
  private: boolean;
  stamp: string;
  answer: string[];
  solve: string | null;
  error: { message: string; infeasible: boolean } | null;
  figures: Figure[];
  milliseconds: number;
}

/** What `check --details` prints. */
export interface Checked {
  asked: number;
  text: string;
}

export type JobKind = "frontier" | "compare" | "explain" | "audit";

export interface Job {
  id: number;
  kind: JobKind;
  over?: string | null;
  /** The spec that it is about, and what was asked then. */
  spec: string;
  asked: number;
  state: "running" | "done" | "failed" | "cancelled";
  stage: string;
  done: number;
  total: number;
  private: boolean;
  stamp: string;
  text: string;
  figures: Figure[];
}

export interface Ticket {
  ticket: string;
  text: string;
  releases: number;
  /** How many charges, and of what. */
  charge: string;
  budget: string | null;
  now: string | null;
  after: string | null;
  left: string | null;
  /** Whether there is a decision that can be kept. */
  decision: boolean;
  stamps: string[];
}

export interface Released {
  card: Card | null;
  cards: Card[];
  text: string;
  /** Why it ended early, though it was charged: private. */
  failed: string | null;
}

export interface Ledger {
  text: string;
  figures: Figure[];
  charges: { when: string; dataset: string; amount: string; kind: string }[];
}

/** What the server refused, in its words. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly help: string | null = null,
  ) {
    super(message);
  }
}

/** The status of a view that a newer one has overtaken. */
export const SUPERSEDED = 409;

/** The status of a page whose session is over. */
export const FORBIDDEN = 403;

async function ask<T>(path: string, body?: object, signal?: AbortSignal): Promise<T> {
  const request: RequestInit = { cache: "no-store", credentials: "same-origin" };
  if (signal) request.signal = signal;
  if (body) {
    request.method = "POST";
    request.headers = { "Content-Type": "application/json" };
    request.body = JSON.stringify(body);
  }
  const answer = await fetch(path, request);
  const said: unknown = await answer.json().catch(() => null);
  if (answer.ok && said !== null) return said as T;
  const { message, help } = (said ?? {}) as { message?: string; help?: string };
  throw new Refused(answer.status, message ?? `The server answered ${answer.status}.`, help ?? null);
}

export const api = {
  state: () => ask<State>("/api/state"),
  view: (signal: AbortSignal) => ask<View>("/api/view", undefined, signal),
  check: (signal: AbortSignal) => ask<Checked>("/api/check", undefined, signal),
  open: (path: string) => ask<State>("/api/open", { path }),
  create: (model: string, name: string) => ask<State>("/api/create", { model, name }),
  move: (name: string, value: number | string) => ask<State>("/api/move", { name, value }),
  data: (about: About) => ask<State>("/api/data", { about }),
  reset: () => ask<State>("/api/reset", {}),
  save: (name: string) => ask<State>("/api/save", { name }),
  start: (kind: JobKind, over?: string) => ask<Job>("/api/jobs", over ? { kind, over } : { kind }),
  job: (id: number) => ask<Job>(`/api/jobs/${id}`),
  cancel: (id: number) => ask<Job>(`/api/jobs/${id}/cancel`, {}),
  prepare: () => ask<Ticket>("/api/release/prepare", {}),
  release: (ticket: string, decision: boolean) => ask<Released>("/api/release", { ticket, decision }),
  ledger: () => ask<Ledger>("/api/ledger"),
};

/** Where a card is downloaded from. */
export const cardAt = (id: number, format: "html" | "json" | "text") => `/api/cards/${id}/${format}`;
