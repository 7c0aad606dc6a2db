// The answer: what holds, what it costs, what it looks like.

import { useEffect, useState } from "preact/hooks";
import { api, Refused, type Checked } from "./api";
import { useDesk } from "./desk";
import { Figures } from "./figure";
import { Framed, Trouble, Words } from "./frame";
import { startJob } from "./jobs";

/** The check, which tries every strategy and takes longer than a view: read when somebody opens it, after the view. */
function Guarantee({ wanted }: { wanted: boolean }) {
  const { state, busy } = useDesk();
  const [checked, setChecked] = useState<Checked | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const asked = state?.asked ?? 0;
  useEffect(() => {
    if (!wanted || busy) return;
    const mine = new AbortController();
    setTrouble(null);
    api.check(mine.signal).then(setChecked, (error: unknown) => {
      if (!mine.signal.aborted) setTrouble(error instanceof Refused ? error.message : "The server does not answer.");
    });
    return () => mine.abort();
  }, [wanted, busy, asked]);
  if (trouble) return <Trouble text={trouble} />;
  if (checked?.asked !== asked) return <p class="note">Computing…</p>;
  return <Words label="The guarantee in full" text={checked.text} />;
}

export function Answer() {
  const { view, busy } = useDesk();
  const [wanted, setWanted] = useState(false);
  if (!view) {
    return (
      <section class="panel" aria-labelledby="answer-title" aria-busy={busy}>
        <h2 id="answer-title">Answer</h2>
        <p class="note">{busy ? "Computing…" : "Nothing to show."}</p>
      </section>
    );
  }
  const publicFigures = view.figures.filter((figure) => !figure.private);
  const privateFigures = view.figures.filter((figure) => figure.private);
  return (
    <section class={busy ? "panel busy" : "panel"} aria-labelledby="answer-title" aria-busy={busy}
      data-revision={view.revision}>
      <h2 id="answer-title">Answer <span class="time">{busy ? "computing…" : `${view.milliseconds.toFixed(0)} ms`}</span></h2>
      <Framed isPrivate={view.private}>
        {!view.private && <p class="stamp">{view.stamp}</p>}
        {view.error && (
          <div class="trouble">
            <p>{view.error.message}</p>
            {view.error.infeasible && (
              <button type="button" onClick={() => void startJob(() => api.start("explain"))}>Explain why it is infeasible</button>
            )}
          </div>
        )}
        <ul class="answer">
          {view.answer.map((line, place) => <li key={place}>{line}</li>)}
        </ul>
        {view.private && <Figures figures={privateFigures} />}
        {view.solve && (
          <details>
            <summary>The solve in full</summary>
            <Words label="The solve in full" text={view.solve} />
          </details>
        )}
      </Framed>
      {!view.private && privateFigures.length > 0 && <Framed isPrivate><Figures figures={privateFigures} /></Framed>}
      <Figures figures={publicFigures} />
      <details onToggle={(event) => setWanted(event.currentTarget.open)}>
        <summary>The guarantee in full (public)</summary>
        <Guarantee wanted={wanted} />
      </details>
    </section>
  );
}
