// The ledger as a timeline.

import { useEffect, useState } from "preact/hooks";
import { api, Refused, type Ledger as Account } from "./api";
import { Figures } from "./figure";
import { Trouble, Words } from "./frame";

function Charges({ charges }: { charges: Account["charges"] }) {
  if (charges.length === 0) return <p class="note">Nothing was charged yet.</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Charges">
      <table>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Dataset</th>
            <th scope="col">Amount</th>
            <th scope="col">What</th>
          </tr>
        </thead>
        <tbody>
          {charges.map((charge, place) => (
            <tr key={place}>
              <th scope="row">{charge.when}</th>
              <td>{charge.dataset}</td>
              <td>{charge.amount}</td>
              <td>{charge.kind}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Read anew for each spec and each revision: a release that fails may be charged as well. */
export function Ledger({ path, revision }: { path: string; revision: number }) {
  const [account, setAccount] = useState<Account | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const read = () => {
    api.ledger().then(
      (found) => {
        setAccount(found);
        setTrouble(null);
      },
      (error: unknown) => setTrouble(error instanceof Refused ? error.message : "The server does not answer."),
    );
  };
  useEffect(read, [path, revision]);
  return (
    <section class="panel" aria-labelledby="ledger-title">
      <h2 id="ledger-title">Ledger</h2>
      <Trouble text={trouble} />
      {account && <Figures figures={account.figures} />}
      {account && <Charges charges={account.charges} />}
      {account && (
        <details open={account.charges.length === 0}>
          <summary>The account in full</summary>
          <Words label="The account in full" text={account.text} />
        </details>
      )}
      <button type="button" onClick={read}>Read again</button>
    </section>
  );
}
