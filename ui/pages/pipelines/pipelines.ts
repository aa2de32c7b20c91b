/**
 * Pipelines: the running ones, an editor with a trial as you type, dead letters, a grok debugger. The address selects
 * the view.
 */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { errorView } from "#ui/components/controls/error-view.ts";
import { Refreshing } from "#ui/components/controls/polling-controller.ts";
import { roveLists } from "#ui/components/controls/roving-focus.ts";
import { icon } from "#ui/components/style/icons.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { skeleton } from "#ui/components/style/skeleton.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import { cardTableStyles } from "#ui/components/table/card-table.ts";
import { OwnRights } from "#ui/services/administration/own-rights.ts";
import {
  deletePipeline,
  listLetters,
  listPipelines,
  replayLetter,
} from "#ui/services/administration/pipeline-client.ts";
import { type FlowStep, PipelineFlow } from "#ui/services/administration/pipeline-flow.ts";
import { navigate } from "#ui/services/browser/router.ts";
import type { Facts } from "#ui/services/hub/json-call.ts";
import { valueText } from "#ui/services/search/log-document.ts";
import { formatCount, formatShort } from "#ui/services/text/format.ts";
import "#ui/components/controls/confirm-dialog.ts";
import "./grok-debugger.ts";
import "./pipeline-editor.ts";
import "./sources-panel.ts";

const flowStyles = css`
  td.wrapped {
    min-width: 14rem;
    white-space: normal;
  }
  .flow {
    display: flex;
    flex-wrap: wrap;
    gap: 10px 26px;
    margin: 0;
    padding: 0;
    list-style: none;
  }
  .flow li {
    position: relative;
    min-width: 8.5rem;
    padding: 8px 12px;
    border: 1px solid var(--line);
    border-radius: 8px;
    background: var(--surface);
  }
  .flow li:not(:last-child)::after {
    content: "→";
    position: absolute;
    top: 50%;
    right: -20px;
    color: var(--ink-muted);
    transform: translateY(-50%);
  }
  .flow strong,
  .flow span {
    display: block;
  }
  .flow span {
    color: var(--ink-muted);
    font-size: var(--text-small);
    font-variant-numeric: tabular-nums;
  }
  .flow .wrong {
    color: var(--level-error);
  }
`;

/** Returns a pipeline's steps under its name; nothing if it has none. */
function flowView(id: string, steps: readonly FlowStep[]): TemplateResult | typeof nothing {
  if (steps.length === 0) return nothing;
  return html`<h2>${msg(str`Flow of ${id}`)}</h2>
    <ol class="flow" aria-label=${msg(str`Flow of ${id}`)}>${steps.map(stepView)}</ol>`;
}

function stepView({ name, count, dropped, failures, perSecond, eventMs }: FlowStep): TemplateResult {
  return html`<li><strong>${name}</strong>
    <span>${perSecond === undefined ? "–" : msg(str`${formatShort(perSecond)} per second`)}</span>
    <span>${msg(str`${formatCount(count)} events`)}</span>
    ${eventMs === undefined ? nothing : html`<span>${msg(str`${eventMs.toPrecision(2)} ms each`)}</span>`}
    ${dropped === 0 ? nothing : html`<span>${msg(str`${formatCount(dropped)} dropped`)}</span>`}
    ${failures === 0 ? nothing : html`<span class="wrong">${msg(str`${formatCount(failures)} failed`)}</span>`}</li>`;
}

const REFRESH_MS = 5_000;

type View = "list" | "letters" | "grok";

const VIEWS: readonly (readonly [view: View, title: string])[] = [
  ["list", msg("Pipelines")],
  ["letters", msg("Dead letters")],
  ["grok", msg("Grok debugger")],
];

/** The data requested so far. */
interface PipelineFacts {
  readonly pipelines?: readonly Facts[];
  readonly letters?: readonly Facts[];
}

export class PipelinesPage extends LitElement {
  /** Of the address: `view`; `id` of a pipeline, `new`, `sample` lines to try and a `grok` expression to begin with. */
  @property({ attribute: false }) accessor parameters = new URLSearchParams();
  @state() accessor _said = "";
  /** Lines of all sources; undefined until they are loaded. */
  @state() accessor _perSecond: number | undefined;

  static override styles = [controls, notices, pageStyles, cardTableStyles, flowStyles];

  constructor() {
    super();
    roveLists(this);
  }

  readonly #flow = new PipelineFlow();
  readonly #rights = new OwnRights(this);
  readonly #facts = new Refreshing(this, (signal) => this.#ask(signal), REFRESH_MS, ["/api/pipelines"]);

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("parameters") && changed.get("parameters") !== undefined) void this.#facts.refresh();
  }

  override render(): TemplateResult {
    const isEditor = this.parameters.has("id") || this.parameters.has("new");
    if (isEditor)
      return html`<tr-pipeline-editor .name=${this.parameters.get("id") ?? ""} .sample=${this.parameters.get("sample") ?? ""} .grok=${this.parameters.get("grok") ?? ""}></tr-pipeline-editor>`;
    const view = this.#view;
    const { fault } = this.#facts;
    return html`<div class="page">
      <div class="title"><h1>${msg("Pipelines")}</h1><span class="space"></span>
        ${this.#rights.may("pipeline") ? html`<a class="button" href="#/pipelines?new=1">${icon("plus")}${msg("New pipeline")}</a>` : nothing}</div>
      <div class="tabs" role="tablist" aria-label=${msg("Pipelines")}>${VIEWS.map(
        ([name, title]) =>
          html`<button role="tab" aria-selected=${name === view} @click=${() => navigate({ page: "pipelines", parameters: new URLSearchParams({ view: name }) })}>${title}</button>`,
      )}</div>
      ${fault === undefined ? nothing : errorView(fault)}
      <p role="status" class="muted">${this._said}</p>
      ${view === "grok" ? html`<tr-grok-debugger></tr-grok-debugger>` : view === "letters" ? this.#letters() : this.#list()}
      <tr-confirm-dialog></tr-confirm-dialog>
    </div>`;
  }

  #list(): TemplateResult | typeof nothing {
    const pipelines = this.#facts.value?.pipelines;
    if (pipelines === undefined) return this.#facts.fault === undefined ? skeleton(4) : nothing;
    const titles = [msg("State"), msg("From"), msg("In"), msg("Out"), msg("Description")];
    return html`<div class="table cards" tabindex="0" role="region" aria-label=${msg("Pipelines")}><table role="table">
      <thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">${msg("Pipeline")}</th>
        ${titles.map((title, at) => html`<th scope="col" role="columnheader" class=${at === 2 || at === 3 ? "number" : ""}>${title}</th>`)}
        <th scope="col" role="columnheader"><span class="hidden-text">${msg("Actions")}</span></th></tr></thead>
      <tbody role="rowgroup">${pipelines.length === 0 ? defaultRow(this._perSecond) : pipelines.map((pipeline) => this.#row(pipeline))}</tbody></table></div>
      <tr-sources-panel @tr-rate=${this.#onRate}></tr-sources-panel>
      ${pipelines.map((pipeline) => flowView(valueText(pipeline["id"]), this.#flow.steps(pipeline)))}`;
  }

  #row(pipeline: Facts): TemplateResult {
    const id = valueText(pipeline["id"]);
    const isRunning = pipeline["running"] !== false;
    const problem = valueText(pipeline["problem"]);
    const count = (name: string): string => {
      const number = Number(pipeline[name] ?? mostOf(pipeline["plugins"], name) ?? Number.NaN);
      return Number.isNaN(number) ? "–" : formatCount(number);
    };
    return html`<tr role="row">
      <td role="cell"><a class="name" href="#/pipelines?id=${encodeURIComponent(id)}">${id}</a></td>
      <td role="cell" data-label=${msg("State")}><span class="badge ${problem !== "" ? "warning" : isRunning ? "ok" : "failed"}">${problem || (isRunning ? msg("Running") : msg("Stopped"))}</span></td>
      <td role="cell" data-label=${msg("From")}>${valueText(pipeline["origin"]) === "page" ? msg("This page") : msg("Files")}</td>
      <td role="cell" class="number" data-label=${msg("In")}>${count("in")}</td><td role="cell" class="number" data-label=${msg("Out")}>${count("out")}</td>
      <td role="cell" class="wrapped" data-label=${msg("Description")}>${valueText(pipeline["description"]) || "–"}</td>
      <td role="cell">${valueText(pipeline["origin"]) === "page" && this.#rights.may("pipeline") ? html`<button class="plain small icon" aria-label=${msg(str`Delete ${id}`)} title=${msg("Delete")} @click=${() => void this.#delete(id)}>${icon("trash")}</button>` : nothing}</td>
    </tr>`;
  }

  #letters(): TemplateResult | typeof nothing {
    const letters = this.#facts.value?.letters;
    if (letters === undefined) return this.#facts.fault === undefined ? skeleton(4) : nothing;
    if (letters.length === 0)
      return html`<div class="card empty"><h2>${msg("No dead letters")}</h2><p>${msg("Events that no output accepts are kept here with the reason.")}</p></div>`;
    return html`<div class="table" tabindex="0" role="region" aria-label=${msg("Dead letters")}><table>
      <thead><tr><th scope="col" class="number">#</th><th scope="col">${msg("Reason")}</th><th scope="col">${msg("Event")}</th><th scope="col"><span class="hidden-text">${msg("Actions")}</span></th></tr></thead>
      <tbody>${letters.map((letter) => {
        const sequence = Number(letter["sequence"]);
        const event = letter["event"] ?? letter["document"] ?? letter["message"];
        return html`<tr><td class="number">${sequence}</td><td>${valueText(letter["reason"])}</td><td class="mono">${valueText(event).slice(0, 160)}</td>
          <td><button class="small" aria-label=${msg(str`Replay letter ${sequence}`)} @click=${() => void this.#replay(sequence)}>${icon("refresh")}${msg("Replay")}</button></td></tr>`;
      })}</tbody></table></div>`;
  }

  #onRate({ detail }: CustomEvent<number>): void {
    this._perSecond = detail;
  }

  get #view(): View {
    return VIEWS.find(([view]) => view === this.parameters.get("view"))?.[0] ?? "list";
  }

  async #ask(signal: AbortSignal): Promise<PipelineFacts> {
    const before = this.#facts.value;
    if (this.#view === "list") {
      const pipelines = await listPipelines(signal);
      this.#flow.take(pipelines, Date.now());
      return { ...before, pipelines };
    }
    return this.#view === "letters" ? { ...before, letters: await listLetters(0, signal) } : { ...before };
  }

  async #replay(sequence: number): Promise<void> {
    if (await this.#facts.attempt(() => replayLetter(sequence, undefined)))
      this._said = msg(str`Letter ${sequence} was replayed through the pipelines.`);
  }

  async #delete(id: string): Promise<void> {
    const isSure = await this.renderRoot.querySelector("tr-confirm-dialog")!.ask({
      title: msg(str`Delete “${id}”?`),
      text: msg("It stops at once. Where it was the only one, the default pipeline takes over."),
      action: msg("Delete pipeline"),
      typed: id,
    });
    if (isSure) await this.#facts.attempt(() => deletePipeline(id));
  }
}

/** The pipeline that runs if there is no other one. */
function defaultRow(perSecond: number | undefined): TemplateResult {
  return html`<tr role="row"><td role="cell" class="name">${msg("Default pipeline")}</td><td role="cell" data-label=${msg("State")}><span class="badge ok">${msg("Running")}</span></td>
    <td role="cell" data-label=${msg("From")}>${msg("Built in")}</td>
    <td role="cell" class="number" data-label=${msg("In")}>${perSecond === undefined ? "–" : msg(str`${formatShort(perSecond)} per second`)}</td><td role="cell" class="number" data-label=${msg("Out")}>–</td>
    <td role="cell" class="wrapped" data-label=${msg("Description")}>${msg("Recognises access logs, JSON lines and syslog lines. A pipeline of your own takes its place.")}</td><td role="cell"></td></tr>`;
}

/** Returns the largest count of a pipeline's plugins; undefined if they have none. */
function mostOf(plugins: unknown, name: string): number | undefined {
  if (!Array.isArray(plugins) || plugins.length === 0) return undefined;
  return Math.max(...plugins.map((plugin: Facts) => Number(plugin[name] ?? 0) || 0));
}

customElements.define("tr-page-pipelines", PipelinesPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-pipelines": PipelinesPage;
  }
}
