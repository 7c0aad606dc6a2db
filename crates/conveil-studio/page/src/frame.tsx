// The frame around what depends on private data, and small parts that every panel uses.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export const PRIVATE = "PRIVATE: depends on the data, not to be published";

/** Framed and labelled when it is private; as it is otherwise. */
export function Framed({ isPrivate, children }: { isPrivate: boolean; children: ComponentChildren }) {
  if (!isPrivate) return <div>{children}</div>;
  return (
    <section class="private" aria-label={PRIVATE}>
      <p class="private-label">{PRIVATE}</p>
      {children}
    </section>
  );
}

export function Trouble({ text, help }: { text: string | null | undefined; help?: string | null | undefined }) {
  if (!text) return null;
  return (
    <p class="trouble" role="alert">
      {text}
      {help && <span class="help"> {help}</span>}
    </p>
  );
}

/** A line with columns: a gap inside it. Other lines may be folded. */
const COLUMNS = /\S {2,}\S/;

/** A text whose lines stay as they are: columns are scrolled to, by the keyboard too, and sentences are folded. */
export function Words({ label, text }: { label: string; text: string }) {
  const lines = text.split("\n");
  return (
    <pre tabIndex={0} role="region" aria-label={label}>
      {lines.map((line, place) => (
        <span key={place} class={COLUMNS.test(line) ? "columns" : "sentence"}>
          {place + 1 < lines.length ? `${line}\n` : line}
        </span>
      ))}
    </pre>
  );
}

/** A modal dialog that is open while it is there; Escape calls `onClose`. */
export function Modal(props: { title: string; onClose: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const gone = useRef(false);
  // At once: a key pressed right after the click finds it open.
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      gone.current = true;
      shown?.close();
    };
  }, []);
  const cancelled = (event: Event) => {
    event.preventDefault();
    props.onClose();
  };
  // A browser may close it without asking; while there is something to say, it comes back.
  const closed = () => {
    if (gone.current) return;
    props.onClose();
    window.setTimeout(() => {
      const shown = dialog.current;
      if (!gone.current && shown && !shown.open) shown.showModal();
    });
  };
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onCancel={cancelled} onClose={closed}>
      <h2 id="dialog-title">{props.title}</h2>
      {props.children}
    </dialog>
  );
}
