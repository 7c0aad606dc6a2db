// A release: first everything that needs no charge, then a question that names the budget left, then one charge.

import { useRef, useState } from "preact/hooks";
import { api, cardAt, Refused, type Card, type Open, type Released, type Ticket } from "./api";
import { desk } from "./desk";
import { Modal, Trouble, Words } from "./frame";

function messageOf(error: unknown): string {
  return error instanceof Refused ? error.message : "The server does not answer.";
}

function Stamps({ stamps }: { stamps: string[] }) {
  return <>{stamps.map((stamp, place) => <p class="uncovered" key={place}>{stamp}</p>)}</>;
}

function Confirm({ ticket, onDone, onClose }: {
  ticket: Ticket;
  onDone: (released: Released) => void;
  onClose: () => void;
}) {
  // Set at the first click, before anything is drawn again: a second click finds it.
  const clicked = useRef(false);
  const [sent, setSent] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const release = async () => {
    if (clicked.current) return;
    clicked.current = true;
    setSent(true);
    try {
      onDone(await api.release(ticket.ticket));
    } catch (error) {
      setTrouble(messageOf(error));
      // The same ticket is charged at most once: an answer that was lost may be asked for again.
      clicked.current = false;
      setSent(false);
    }
  };
  return (
    <Modal title="Release this?" onClose={() => !clicked.current && onClose()}>
      <dl>
        <dt>Charge</dt>
        <dd>{ticket.charge}</dd>
        <dt>Budget left</dt>
        <dd>{ticket.left}</dd>
      </dl>
      <Stamps stamps={ticket.stamps} />
      <Words label="What would be released" text={ticket.text} />
      <p class="note">A release cannot be taken back, nor its charge.</p>
      <Trouble text={trouble} />
      <div class="buttons">
        <button type="button" disabled={sent} onClick={onClose}>Do not release</button>
        <button type="button" class="serious" id="confirm-release" disabled={sent} onClick={() => void release()}>
          {sent ? "Releasing…" : trouble ? "Try again, charged at most once" : "Release and charge"}
        </button>
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
    desk.tell(`Released: ${made.card.file}`);
    void desk.refresh();
  };
  return (
    <section class="panel" aria-labelledby="release-title">
      <h2 id="release-title">Release</h2>
      <p class="note">
        {open.ledger ? "The ledger of this spec is charged once." : "This spec names no ledger, and a release from here is charged to one."}
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
