// The page.

import { useDesk } from "./desk";
import { Files } from "./files";
import { Framed, Trouble, Words } from "./frame";
import { Jobs } from "./jobs";
import { Ledger } from "./ledger";
import { Release } from "./release";
import { Settings } from "./settings";
import { Answer } from "./view";

export function App() {
  const { state, trouble, told } = useDesk();
  const open = state?.open ?? null;
  return (
    <>
      <header>
        <h1>Conveil studio</h1>
        <p class="where">{open ? open.path : "no spec is open"}</p>
        {open && <p class={open.about === "private" ? "badge bad" : "badge good"}>
          {open.about === "private" ? "looking at the PRIVATE data" : `looking at public data: ${open.about}`}
        </p>}
        {state && <Files state={state} />}
      </header>
      <main data-revision={state?.revision}>
        <Trouble text={trouble} />
        <p class="unseen" role="status" aria-live="polite" id="told">{told}</p>
        {open && (
          <div class="desk" key={open.path}>
            <div class="left">
              <Settings open={open} />
            </div>
            <div class="right">
              <Answer />
              <Jobs spec={open.path} />
              <Release open={open} />
              {open.ledger && <Ledger path={open.path} revision={state?.revision ?? 0} />}
              <section class="panel" aria-labelledby="spec-title">
                <h2 id="spec-title">Spec</h2>
                <details>
                  <summary>The spec as it is now</summary>
                  <Framed isPrivate={open.text_private}>
                    <Words label="The spec as it is now" text={open.text} />
                  </Framed>
                </details>
              </section>
            </div>
          </div>
        )}
      </main>
    </>
  );
}
