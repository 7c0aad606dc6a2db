// Which data are looked at, and the settings: a slider on a logarithmic scale beside a number, or words.

import { useState } from "preact/hooks";
import { api, type About, type Open, type Refused, type Setting } from "./api";
import { desk, useDesk } from "./desk";
import { Modal, Trouble } from "./frame";

/** Steps of a slider from end to end. */
const STEPS = 600;

/** A slider's value has so many digits. */
const DIGITS = 3;

export function placeOf(value: number, low: number, high: number): number {
  const share = low > 0 ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Math.round(STEPS * Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0)));
}

export function valueAt(place: number, low: number, high: number): number {
  if (place <= 0) return low;
  if (place >= STEPS) return high;
  const share = place / STEPS;
  const value = low > 0 ? low * (high / low) ** share : low + (high - low) * share;
  return Number(value.toPrecision(DIGITS));
}

function Uncovered({ setting }: { setting: Setting }) {
  if (setting.covered) return null;
  return <p class="uncovered">not covered by the guarantee: moved after the private data were looked at</p>;
}

function NumberSetting({ setting, low, high }: { setting: Setting; low: number; high: number }) {
  const id = `setting-${setting.name}`;
  const coming = desk.coming(setting.name);
  const value = Number(coming ?? setting.value);
  const spoken = `${value} ${setting.unit}`.trim();
  const slid = (event: Event) => {
    const place = Number((event.currentTarget as HTMLInputElement).value);
    desk.move(setting.name, valueAt(place, low, high));
  };
  const typed = (event: Event) => {
    const next = (event.currentTarget as HTMLInputElement).valueAsNumber;
    if (Number.isFinite(next) && next !== value) desk.move(setting.name, next);
  };
  return (
    <div class="pair">
      <input type="range" aria-label={`${setting.label}, slider`} min={0} max={STEPS} step={1}
        value={placeOf(value, low, high)} aria-valuetext={spoken} onInput={slid} data-setting={setting.name} />
      <input type="number" id={id} step="any" value={String(value)} onChange={typed}
        aria-describedby={`${id}-note`} />
      <span class="unit">{setting.unit}</span>
    </div>
  );
}

function WordSetting({ setting, choices }: { setting: Setting; choices: string[] }) {
  const chosen = (event: Event) => desk.move(setting.name, (event.currentTarget as HTMLSelectElement).value);
  const value = String(desk.coming(setting.name) ?? setting.value);
  const known = choices.includes(value) ? choices : [value, ...choices];
  return (
    <select id={`setting-${setting.name}`} value={value} onChange={chosen}
      aria-describedby={`setting-${setting.name}-note`}>
      {known.map((choice) => <option key={choice} value={choice} selected={choice === value}>{choice}</option>)}
    </select>
  );
}

function OneSetting({ setting }: { setting: Setting }) {
  const { low, high, choices } = setting;
  const id = `setting-${setting.name}`;
  const refused = desk.refused.get(setting.name);
  const moved = setting.value !== setting.original;
  const isNumber = typeof low === "number" && typeof high === "number";
  return (
    <div class={setting.covered ? "setting" : "setting off"}>
      <label for={id}>{setting.label}</label>
      {isNumber && <NumberSetting setting={setting} low={low} high={high} />}
      {!isNumber && choices && <WordSetting setting={setting} choices={choices} />}
      {!isNumber && !choices && <output id={id}>{String(setting.value)}</output>}
      <p class="note" id={`${id}-note`}>
        {moved && `the spec says ${setting.original} ${setting.unit}`.trim()}
        {moved && setting.note && "; "}
        {setting.note}
      </p>
      <Uncovered setting={setting} />
      <Trouble text={refused?.message} help={refused?.help} />
    </div>
  );
}

const DATA: Record<About, string> = {
  nominal: "nominal values (public)",
  twin: "twin data (public)",
  private: "the private data",
};

function DataChoice({ open }: { open: Open }) {
  const [asked, setAsked] = useState(false);
  const [refused, setRefused] = useState<Refused | null>(null);
  const choose = async (about: About) => {
    setAsked(false);
    setRefused(await desk.change(() => api.data(about)));
  };
  // The first look at private data is a decision of its own.
  const pick = (about: About) => (about === "private" && !open.looked ? setAsked(true) : void choose(about));
  return (
    <fieldset>
      <legend>Look at</legend>
      {open.choices.map(({ about, refused: why }) => (
        <div class="choice" key={about}>
          <input type="radio" name="about" id={`about-${about}`} value={about} checked={open.about === about}
            disabled={why !== null} aria-describedby={why ? `about-${about}-why` : undefined}
            onClick={(event) => {
              // The server says which one is on.
              event.preventDefault();
              if (open.about !== about) pick(about);
            }} />
          <label for={`about-${about}`}>{DATA[about] ?? about}</label>
          {why && <p class="note" id={`about-${about}-why`}>{why}</p>}
        </div>
      ))}
      <Trouble text={refused?.message} help={refused?.help} />
      {asked && (
        <Modal title="Look at the private data?" onClose={() => setAsked(false)}>
          <p>What this page then shows depends on them and must not be published.</p>
          <p>
            The guarantee assumes that settings are chosen without looking. Every setting that you move after this is
            marked “not covered by the guarantee”, here and on what is released.
          </p>
          <div class="buttons">
            <button type="button" onClick={() => setAsked(false)}>Stay with public data</button>
            <button type="button" class="serious" onClick={() => void choose("private")}>Look at the private data</button>
          </div>
        </Modal>
      )}
    </fieldset>
  );
}

function Keep({ open }: { open: Open }) {
  const [name, setName] = useState("");
  const [refused, setRefused] = useState<Refused | null>(null);
  const [saved, setSaved] = useState("");
  const save = async (event: Event) => {
    event.preventDefault();
    const error = await desk.change(() => api.save(name));
    setRefused(error);
    const marked = open.moved_after.length > 0
      ? " It begins with a comment that names the settings that are not covered; the command line does not know of them, and its cards do not say it."
      : "";
    setSaved(error ? "" : `Saved as ${name}.${marked}`);
  };
  const moved = open.settings.some((setting) => setting.value !== setting.original);
  return (
    <form class="keep" onSubmit={(event) => void save(event)}>
      <button type="button" disabled={!moved} onClick={() => void desk.change(api.reset)}>Back to the spec’s settings</button>
      <label for="save-name">Save as a new spec</label>
      <div class="pair">
        <input type="text" id="save-name" value={name} placeholder="name.toml" required autocomplete="off"
          onInput={(event) => setName(event.currentTarget.value)} />
        <button type="submit">Save</button>
      </div>
      <p class="note" role="status">{saved}</p>
      <Trouble text={refused?.message} help={refused?.help} />
    </form>
  );
}

export function Settings({ open }: { open: Open }) {
  useDesk();
  return (
    <section class="panel" aria-labelledby="settings-title">
      <h2 id="settings-title">Settings</h2>
      <DataChoice open={open} />
      {open.moved_after.length > 0 && (
        <p class="uncovered" role="status">
          Not covered by the guarantee, moved after the private data were looked at: {open.moved_after.join(", ")}
        </p>
      )}
      {open.settings.map((setting) => <OneSetting key={setting.name} setting={setting} />)}
      <Keep open={open} />
    </section>
  );
}
