// A release: first everything that needs no charge, then a question that names the budget left, then one charge.

import { useRef, useState } from "preact/hooks";
import { api, cardAt, Refused, type Card, type Open, type Released, type Ticket } from "./api";
import { desk } from "./desk";
import { Framed, Modal, Trouble, Words } from "./frame";

function messageOf(error: unknown): string {
  return error instanceof Refused ? error.message : "The server does not answer.";
}

function Stamps({ stamps }: { stamps: string[] }) {
  return <>{stamps.map((stamp, place) => <p class="uncovered" key={place}>{stamp}</p>)}</>;
}

/** What one line of the question says; nothing where there is nothing to say. */
function Field({ name, value }: { name: string; value: string | null }) {
  if (value === null) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

/** A release that was charged and failed: why it did depends on the data. */
function Failed({ text }: { text: string }) {
  return (
    <Framed isPrivate>
      <p>The charge stays spent, and the release failed. Why it did depends on the private data: settings moved from now on are not covered by the guarantee.</p>
      <Trouble text={text} />
    </Framed>
  );
}

function Confirm({ ticket, onDone, onClose }: {
  ticket: Ticket;
  onDone: (released: Released) => void;
  onClose: () => void;
}) {
  // Set at the first click, before anything is drawn again: a second click finds it.
  const clicked = useRef(false);
  const [sent, setSent] = useState(false);
  const [decision, setDecision] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  /** Whether the server has answered: the same ticket has no other answer then. */
  const [ended, setEnded] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const release = async () => {
    if (clicked.current) return;
    clicked.current = true;
    setSent(true);
    try {
      const released = await api.release(ticket.ticket, decision);
      if (released.failed === null) return onDone(released);
      setFailed(released.failed);
      void desk.refresh();
    } catch (error) {
      setTrouble(messageOf(error));
      setEnded(error instanceof Refused);
    }
    // The same ticket is charged at most once: an answer that was lost may be asked for again.
    clicked.current = false;
    setSent(false);
  };
  const isOver = ended || failed !== null;
  return (
    <Modal title={failed === null ? "Release this?" : "Charged, and not released"} onClose={() => !clicked.current && onClose()}>
      {failed !== null && <Failed text={failed} />}
      {!isOver && (
        <>
          <dl>
            <Field name="Charge" value={ticket.charge} />
            <Field name="Budget" value={ticket.budget} />
            <Field name="Spent now" value={ticket.now} />
            <Field name="Spent after it" value={ticket.after} />
            <Field name="Budget left after it" value={ticket.left} />
          </dl>
          <Stamps stamps={ticket.stamps} />
          <Words label="What would be released" text={ticket.text} />
          {ticket.decision && (
            <div class="choice">
              <input type="checkbox" id="keep-decision" checked={decision} disabled={sent || trouble !== null}
                aria-describedby="keep-decision-note" onChange={(event) => setDecision(event.currentTarget.checked)} />
              <label for="keep-decision">also write the private decision to a file beside the card</label>
              <p class="note" id="keep-decision-note">
                It carries the released answer out, and cannot be made again later. It is private: only you may read the file.
              </p>
            </div>
          )}
          <p class="note">A release cannot be taken back, nor its charge.</p>
        </>
      )}
      <Trouble text={trouble} />
      <div class="buttons">
        <button type="button" disabled={sent} onClick={onClose}>{isOver ? "Close" : "Do not release"}</button>
        {!isOver && (
          <button type="button" class="serious" id="confirm-release" disabled={sent} onClick={() => void release()}>
            {sent ? "Releasing…" : trouble ? "Try again, charged at most once" : "Release and charge"}
          </button>
        )}
      </div>
    </Modal>
  );
}

function Cards({ cards }: { cards: Card[] }) {
  if (cards.length === 0) return null;
  return (
    <>
      <h3>Public cards of this session</h3>
      <ul class="cards">
        {cards.map((card) => (
          <li key={card.id}>
            <span>{card.file}</span>
            {card.decision && <span class="note">PRIVATE, not to be published: its decision is in {card.decision}</span>}
            <Stamps stamps={card.stamps} />
            <span class="pair">
              {(["html", "json", "text"] as const).map((format) => (
                <a key={format} href={cardAt(card.id, format)} download aria-label={`Download ${card.file} as ${format}`}>
                  {format}
                </a>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

export function Release({ open }: { open: Open }) {
  const [ticket, setTicket] = useState<Ticket | null>(null);
  const [released, setReleased] = useState<Released | null>(null);
  const [preparing, setPreparing] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const prepare = async () => {
    if (preparing) return;
    setPreparing(true);
    setTrouble(null);
    setReleased(null);
    try {
      setTicket(await api.prepare());
    } catch (error) {
      setTrouble(messageOf(error));
    }
    setPreparing(false);
  };
  const done = (made: Released) => {
    setReleased(made);
    setTicket(null);
    desk.tell(`Released: ${made.cards.map((card) => card.file).join(", ")}`);
    void desk.refresh();
  };
  return (
    <section class="panel" aria-labelledby="release-title">
      <h2 id="release-title">Release</h2>
      <p class="note">
        {open.ledger ? "The ledger of this spec is charged: once for each answer, or once for a series that it declares." : "This spec names no ledger, and a release from here is charged to one."}
      </p>
      <button type="button" class="serious" disabled={preparing} onClick={() => void prepare()}>
        {preparing ? "Preparing…" : "Release…"}
      </button>
      <Trouble text={trouble} />
      {released && <Words label="What was released" text={released.text} />}
      <Cards cards={open.cards} />
      {ticket && <Confirm ticket={ticket} onDone={done} onClose={() => setTicket(null)} />}
    </section>
  );
}
