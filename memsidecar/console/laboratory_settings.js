// The inputs of one setting of the laboratory: budget, sections, model, scope, and texts of the request.

import { html, useState } from "./vendor/htm-preact.js";
import { DEFAULT_SETTING, SECTION_NAMES, SWITCHED_SECTIONS } from "./experiment.js";
import { Choice, Entry, Switch, useId } from "./widgets.js";

const MIN_BUDGET = 100;
const MAX_BUDGET = 200_000;
const SLIDER_STEPS = 300;
const SCOPES = [["", "default (the user)"], ["SCOPE_SESSION", "this session"], ["SCOPE_USER", "the user"]];
// A search of the whole namespace needs the role admin.
const ADMIN_SCOPES = [...SCOPES, ["SCOPE_NAMESPACE", "the namespace"]];

export function LaboratorySettings({ name, setting, onSetting, caller }) {
  const change = (part) => onSetting({ ...setting, ...part });
  const isChanged = JSON.stringify(setting) !== JSON.stringify(DEFAULT_SETTING);
  return html`
    <fieldset class="settings">
      <legend>${name}</legend>
      <${Budget} value=${setting.maxTokens} onValue=${(maxTokens) => change({ maxTokens })} />
      <${SectionSwitches} setting=${setting} change=${change} />
      <details>
        <summary>More settings</summary>
        <div class="grid">
          <${Entry} label="Model" value=${setting.model} onValue=${(model) => change({ model })}
            placeholder="gpt-4o, claude…" />
          <${Choice} label="Retrieve from" value=${setting.scope} onValue=${(scope) => change({ scope })}
            choices=${caller.mayErase ? ADMIN_SCOPES : SCOPES} />
          <${Entry} label="Context fill, 0 to 1" type="number" min="0" max="1" step="0.1" value=${setting.contextFill}
            onValue=${(contextFill) => change({ contextFill })} placeholder="default" />
          <${Entry} label="Output reserve, tokens" type="number" min="0" value=${setting.reserveOutputTokens}
            onValue=${(reserveOutputTokens) => change({ reserveOutputTokens })} placeholder="0" />
        </div>
        <${Entry} label="System prompt" rows="2" value=${setting.systemPrompt}
          onValue=${(systemPrompt) => change({ systemPrompt })} placeholder="that of the session" />
        <${Entry} label="Profile" rows="2" value=${setting.profile} onValue=${(profile) => change({ profile })} />
        <div class="switches">
          <${Switch} label="Append the query" checked=${setting.appendQuery}
            onValue=${(appendQuery) => change({ appendQuery })} />
          <${Switch} label="Include reasoning" checked=${setting.includeReasoning}
            onValue=${(includeReasoning) => change({ includeReasoning })} />
        </div>
        <${SectionLimits} setting=${setting} change=${change} />
      </details>
      ${isChanged && html`
        <button type="button" class="link" onClick=${() => onSetting(DEFAULT_SETTING)}>Back to the defaults</button>`}
    </fieldset>`;
}

/** A slider and a number for the same value. The slider is logarithmic: small budgets are where contexts differ. */
function Budget({ value, onValue }) {
  const id = useId("budget");
  // What is typed is kept until it is complete, while contexts arrive and this is rendered again.
  const [typed, setTyped] = useState(null);
  const onNumber = (event) => {
    const given = Math.round(Number(event.currentTarget.value));
    if (given >= 1) onValue(given);
    setTyped(null);
  };
  return html`
    <div class="budget">
      <label for=${id}>Budget, tokens</label>
      <input type="number" id=${id} min="1" value=${typed ?? value} onChange=${onNumber}
        onInput=${(event) => setTyped(event.currentTarget.value)} />
      <input type="range" aria-label="Budget" aria-valuetext="${value} tokens" min="0" max=${SLIDER_STEPS}
        value=${stepOf(value)} onInput=${(event) => onValue(budgetOf(Number(event.currentTarget.value)))} />
    </div>`;
}

function stepOf(budget) {
  const share = Math.log(budget / MIN_BUDGET) / Math.log(MAX_BUDGET / MIN_BUDGET);
  return Math.round(Math.min(Math.max(share, 0), 1) * SLIDER_STEPS);
}

function budgetOf(step) {
  const exact = MIN_BUDGET * (MAX_BUDGET / MIN_BUDGET) ** (step / SLIDER_STEPS);
  const unit = 10 ** Math.max(1, Math.floor(Math.log10(exact)) - 1);
  return Math.round(exact / unit) * unit;
}

function SectionSwitches({ setting, change }) {
  const toggle = (name, isOn) =>
    change({ disabled: isOn ? setting.disabled.filter((other) => other !== name) : [...setting.disabled, name] });
  return html`
    <div class="switches" role="group" aria-label="Sections">
      ${SWITCHED_SECTIONS.map((name) => html`
        <${Switch} key=${name} label=${SECTION_NAMES[name]} checked=${!setting.disabled.includes(name)}
          onValue=${(isOn) => toggle(name, isOn)} />`)}
    </div>`;
}

function SectionLimits({ setting, change }) {
  return html`
    <details>
      <summary>Limit of each section</summary>
      <div class="grid">
        ${SWITCHED_SECTIONS.map((name) => html`
          <${Entry} key=${name} label="${SECTION_NAMES[name]}, tokens" type="number" min="0" placeholder="default"
            value=${setting.limits[name] ?? ""}
            onValue=${(limit) => change({ limits: { ...setting.limits, [name]: limit } })} />`)}
      </div>
    </details>`;
}
