// The context laboratory: a query and one or two settings, and for each the context that would be built.

import { html, useCallback, useMemo, useState } from "./vendor/htm-preact.js";
import { BudgetBar } from "./budget_bar.js";
import { DEFAULT_SETTING, requestOf, useExperiment } from "./experiment.js";
import { LaboratorySettings } from "./laboratory_settings.js";
import { useEvents } from "./live.js";
import { roleOf } from "./message_detail.js";
import { ReceiptItems, differences } from "./receipt.js";
import { SentenceFinder } from "./sentence_finder.js";
import { Excerpt, Text, number, plural, words } from "./text.js";
import { Entry, Notice, Switch, useThrottled } from "./widgets.js";

const REBUILD_MS = 1_000;
const FIRST_MESSAGES = 30;
const DEGRADATIONS = {
  DEGRADATION_INDEX_UNAVAILABLE: "without the index: only the newest messages were searched",
  DEGRADATION_EMBEDDER_UNAVAILABLE: "without vectors: searched by keywords only",
  DEGRADATION_DEADLINE: "no time was left for retrieval",
  DEGRADATION_STALE: "facts or the summary may be out of date",
};
const NAMES = ["Setting A", "Setting B"];

export function Laboratory({ live, place, go, caller }) {
  const [query, setQuery] = useState("");
  const [settings, setSettings] = useState([DEFAULT_SETTING]);
  const isCompared = settings.length > 1;
  const first = useExperiment(requestOf(place, query, settings[0]));
  if (!place.session) return html`<${Notice}>Choose a session in the list.<//>`;
  return html`
    <section class="laboratory" aria-label="Context laboratory">
      <header class="view-heading">
        <h1>What would the model see?</h1>
        <p>The context of session <b><${Excerpt} text=${place.session} length=${60} /></b> for a query, as BuildContext
          returns it. A dry run: nothing is stored or sent to a model.</p>
        <${Entry} label="Query" rows="2" value=${query} onValue=${setQuery} data-query
          placeholder="Empty: the newest user message" />
        <${Switch} label="Compare two settings" checked=${isCompared}
          onValue=${(isOn) => setSettings(isOn ? [settings[0], { ...settings[0] }] : [settings[0]])} />
      </header>
      ${isCompared
        ? html`<${Comparison} first=${first} settings=${settings} setSettings=${setSettings} query=${query}
            live=${live} place=${place} go=${go} caller=${caller} />`
        : html`<${Columns} experiments=${[first]} settings=${settings} setSettings=${setSettings} live=${live}
            place=${place} go=${go} caller=${caller} />`}
    </section>`;
}

/** Both settings. The second context is built while this is shown only. */
function Comparison({ first, query, ...properties }) {
  const second = useExperiment(requestOf(properties.place, query, properties.settings[1]));
  return html`<${Columns} experiments=${[first, second]} ...${properties} />`;
}

function Columns({ experiments, settings, setSettings, live, place, go, caller }) {
  const contexts = experiments.map((experiment) => experiment.context);
  const changed = useMemo(() => contexts[1] && differences(contexts[0], contexts[1]), contexts);
  const rebuild = useThrottled(() => experiments.forEach((experiment) => experiment.again()), REBUILD_MS);
  useEvents(live, (events) => concerns(events, place) && rebuild(), [live, place.session, place.user]);
  const onMessage = useCallback((session, message) => go({
    view: "conversation", session, message, user: place.user,
  }), [go, place.user]);
  const replace = (index, setting) => setSettings(settings.map((old, at) => (at === index ? setting : old)));
  return html`
    <div class="columns columns-${settings.length}">
      ${settings.map((setting, index) => html`
        <${LaboratorySettings} key="settings-${index}" name=${settings.length > 1 ? NAMES[index] : "Setting"}
          setting=${setting} onSetting=${(changedSetting) => replace(index, changedSetting)} caller=${caller} />`)}
      ${experiments.map((experiment, index) => html`
        <${Drawing} key="bar-${index}" experiment=${experiment} name=${settings.length > 1 ? NAMES[index] : ""} />`)}
      <${SentenceFinder} place=${place} onMessage=${onMessage}
        contexts=${contexts.map((context, index) => ({
          name: NAMES[index], context, disabled: settings[index].disabled,
        }))} />
    </div>
    <div class="columns columns-${settings.length}">
      ${experiments.map(({ context }, index) => context && html`
        <div class="outcome" key="items-${index}">
          <h2>Items${settings.length > 1 && `, ${NAMES[index]}`}</h2>
          <${ReceiptItems} receipt=${context.receipt} changed=${changed} onMessage=${onMessage} />
        </div>`)}
      ${experiments.map(({ context }, index) => context && html`
        <div class="outcome" key="messages-${index}">
          <h2>Messages${settings.length > 1 && `, ${NAMES[index]}`}</h2>
          <${ContextMessages} context=${context} />
        </div>`)}
    </div>`;
}

function concerns(events, place) {
  return events.some((event) => event.sessionId === place.session || event.userId === place.user || !event.sessionId);
}

function Drawing({ experiment, name }) {
  const { context, error, isRunning, milliseconds } = experiment;
  return html`
    <div class="drawing" aria-busy=${isRunning ? "true" : "false"}>
      ${name && html`<h2>${name}</h2>`}
      ${error && html`<${Notice} error=${explained(error)} />`}
      ${!context && !error && html`<${Notice}>Building…<//>`}
      ${context && html`
        <${BudgetBar} context=${context} name=${name} />
        <p class="status">built in ${number(Math.round(milliseconds))} ms${(context.degraded ?? []).map((cause) => html`
          <span class="warning"> · ${DEGRADATIONS[cause] ?? words(cause, "DEGRADATION_")}</span>`)}</p>
        ${(context.receipt?.warnings ?? []).map((warning) => html`<p class="warning">${warning}</p>`)}`}
    </div>`;
}

function explained(error) {
  if (error.reason !== "BUDGET_TOO_SMALL") return error;
  const { required_tokens: required, item } = error.metadata;
  return new Error(`This budget is too small: ${number(required)} tokens are needed, the most of them for ${item}.`);
}

/** The exact messages, in order. The leading ones of the stable prefix are marked: a provider can cache them. */
function ContextMessages({ context }) {
  const messages = context.messages ?? [];
  const stable = context.stablePrefixCount ?? 0;
  const [shown, setShown] = useState(FIRST_MESSAGES);
  return html`
    <p class="prefix">Stable prefix: ${plural(stable, "message")}
      ${context.stablePrefixSha256 && html`, <code>${context.stablePrefixSha256.slice(0, 12)}</code>`}</p>
    <ol class="messages">
      ${messages.slice(0, shown).map((message, index) => html`
        <li class="message ${index < stable ? "is-stable" : ""}">
          <p><span class="role ${roleOf(message)}">${roleOf(message)}</span>
            ${message.synthetic && html` <span class="badge">composed</span>`}
            ${index < stable && html` <span class="badge stable">stable prefix</span>`}</p>
          ${message.reasoning && html`<${Text} text=${message.reasoning} />`}
          ${message.content && html`<${Text} text=${message.content} />`}
          ${(message.toolCalls ?? []).map((call) => html`
            <p>calls <b><${Excerpt} text=${call.name} /></b></p><${Text} text=${call.argumentsJson ?? ""} />`)}
        </li>`)}
    </ol>
    ${messages.length > shown && html`
      <button type="button" onClick=${() => setShown(messages.length)}>
        Show all ${plural(messages.length, "message")}</button>`}`;
}
