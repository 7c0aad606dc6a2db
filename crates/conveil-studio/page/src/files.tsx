// Opening a spec, and making a new one with sample data.

import { useState } from "preact/hooks";
import { api, type Refused, type State } from "./api";
import { desk } from "./desk";
import { Trouble } from "./frame";

export function Files({ state }: { state: State }) {
  const [path, setPath] = useState("");
  const [model, setModel] = useState("");
  const [name, setName] = useState("");
  const [refused, setRefused] = useState<Refused | null>(null);
  const chosen = path || state.open?.path || state.specs[0] || "";
  const kind = model || state.models[0] || "";
  const open = async (event: Event) => {
    event.preventDefault();
    setRefused(await desk.change(() => api.open(chosen)));
    setPath("");
  };
  const create = async (event: Event) => {
    event.preventDefault();
    const error = await desk.change(() => api.create(kind, name));
    setRefused(error);
    if (!error) setName("");
  };
  return (
    <details class="files" open={state.open === null}>
      <summary>Open or create a spec</summary>
      <form onSubmit={(event) => void open(event)}>
        <label for="open-path">Spec</label>
        <select id="open-path" value={chosen} onChange={(event) => setPath(event.currentTarget.value)}>
          {state.specs.map((spec) => <option key={spec} value={spec} selected={spec === chosen}>{spec}</option>)}
        </select>
        <button type="submit" disabled={!chosen}>Open</button>
      </form>
      <form onSubmit={(event) => void create(event)}>
        <label for="create-model">New, of model</label>
        <select id="create-model" value={kind} onChange={(event) => setModel(event.currentTarget.value)}>
          {state.models.map((word) => <option key={word} value={word} selected={word === kind}>{word}</option>)}
        </select>
        <label for="create-name">in the new folder</label>
        <input type="text" id="create-name" value={name} required autocomplete="off"
          onInput={(event) => setName(event.currentTarget.value)} />
        <button type="submit">Create</button>
      </form>
      <p class="note">Folder: {state.folder}</p>
      <Trouble text={refused?.message} help={refused?.help} />
    </details>
  );
}
