// The frame around what depends on private data, and small parts that every panel uses.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

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

/** A text whose lines stay as they are; the keyboard can scroll it. */
export function Words({ label, text }: { label: string; text: string }) {
  return (
    <pre tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
  );
}

/** A modal dialog that is open while it is there; Escape calls `onClose`. */
export function Modal(props: { title: string; onClose: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  const cancelled = (event: Event) => {
    event.preventDefault();
    props.onClose();
  };
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onCancel={cancelled}>
      <h2 id="dialog-title">{props.title}</h2>
      {props.children}
    </dialog>
  );
}
