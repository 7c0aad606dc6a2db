// The desk as this tab sees it: the server's state, the view of it, and the moves that are on their way.

import { useEffect, useState } from "preact/hooks";
import { api, FORBIDDEN, Refused, SUPERSEDED, type State, type View } from "./api";

/** A slider that rests so long, in milliseconds, is sent. */
const REST = 120;

/** A view that another tab overtook is asked for again after about so long. */
const AGAIN = 150;

class Desk {
  state: State | null = null;
  view: View | null = null;
  /** What went wrong with the desk as a whole. */
  trouble: string | null = null;
  /** Refused values, by the setting's name. */
  refused = new Map<string, Refused>();
  /** What a screen reader is told. */
  told = "";

  private moves = new Map<string, number | string>();
  private timer = 0;
  private sending = false;
  private changing = 0;
  private looking: AbortController | null = null;
  private listeners = new Set<() => void>();

  /** Whether the numbers shown will change without a further move. */
  get busy(): boolean {
    return this.moves.size > 0 || this.sending || this.changing > 0 || this.looking !== null;
  }

  /** The value a setting is on its way to. */
  coming(name: string): number | string | undefined {
    return this.moves.get(name);
  }

  /** Reads the desk, and follows the changes that other tabs make. */
  start(): void {
    void this.refresh();
    const changes = new EventSource("/api/changes");
    changes.onmessage = () => void this.refresh();
    changes.onerror = () => {
      if (changes.readyState === EventSource.CLOSED) void this.refresh();
    };
  }

  move(name: string, value: number | string): void {
    this.refused.delete(name);
    this.moves.set(name, value);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.send(), REST);
    this.changed();
  }

  /** Does what changes the desk; the error is the caller's to show. */
  async change(work: () => Promise<State>): Promise<Refused | null> {
    this.changing += 1;
    this.changed();
    try {
      this.take(await work());
      return null;
    } catch (error) {
      return this.failed(error);
    } finally {
      this.changing -= 1;
      this.changed();
    }
  }

  async refresh(): Promise<void> {
    try {
      this.take(await api.state());
      this.trouble = null;
    } catch (error) {
      this.trouble = this.failed(error).message;
    }
    this.changed();
  }

  /** Tells a screen reader. */
  tell(words: string): void {
    this.told = words;
    this.changed();
  }

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private async send(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    for (let next = this.moves.entries().next(); !next.done; next = this.moves.entries().next()) {
      const [name, value] = next.value;
      const refused = await this.change(() => api.move(name, value));
      if (refused) this.refused.set(name, refused);
      // A value that came meanwhile is sent in its turn.
      if (this.moves.get(name) === value) this.moves.delete(name);
    }
    this.sending = false;
    this.changed();
  }

  /** Answers may overtake one another: an older state is dropped. */
  private take(state: State): void {
    if (this.state && state.revision < this.state.revision) return;
    const specChanged = this.state?.open?.path !== state.open?.path;
    this.state = state;
    if (specChanged) {
      this.refused.clear();
      this.view = null;
    }
    this.changed();
    if (!state.open) this.view = null;
    else if (this.view?.revision !== state.revision) void this.look();
  }

  private async look(): Promise<void> {
    this.looking?.abort();
    const mine = new AbortController();
    this.looking = mine;
    this.changed();
    while (this.looking === mine) {
      try {
        const view = await api.view(mine.signal);
        if (this.looking !== mine) return;
        this.view = view;
        this.told = announcement(view);
        this.looking = null;
      } catch (error) {
        if (this.looking !== mine) return;
        if (error instanceof Refused && error.status === SUPERSEDED) {
          await new Promise((rest) => setTimeout(rest, AGAIN * (0.5 + Math.random())));
          continue;
        }
        this.looking = null;
        this.trouble = this.failed(error).message;
      }
    }
    this.changed();
  }

  private failed(error: unknown): Refused {
    if (error instanceof Refused && error.status === FORBIDDEN) {
      const message = "This page is not let in. Open the address that the terminal shows.";
      return new Refused(FORBIDDEN, message);
    }
    if (error instanceof Refused) return error;
    return new Refused(0, "The server does not answer. Is conveil studio still running?");
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}

/** The new loss, or what stands in its way. */
function announcement(view: View): string {
  if (view.error) return view.error.message;
  const loss = view.answer.find((line) => line.startsWith("costs: "));
  return loss ?? view.answer[0] ?? "";
}

export const desk = new Desk();

/** Draws again whenever the desk changes. */
export function useDesk(): Desk {
  const [, setCount] = useState(0);
  useEffect(() => desk.listen(() => setCount((count) => count + 1)), []);
  return desk;
}
