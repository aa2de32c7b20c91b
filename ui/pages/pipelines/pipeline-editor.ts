/** A pipeline's text, checked and tried on sample lines as it is written. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { errorView } from "#ui/components/controls/error-view.ts";
import { formText } from "#ui/components/controls/form-text.ts";
import { icon } from "#ui/components/style/icons.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import { pipelineWith } from "#ui/services/administration/grok-proposal.ts";
import {
  getPipeline,
  type PipelineText,
  problemsOf,
  putPipeline,
  type Trial,
  tryPipeline,
} from "#ui/services/administration/pipeline-client.ts";
import { completePipeline } from "#ui/services/administration/pipeline-completion.ts";
import { PipelineEdit } from "#ui/services/administration/pipeline-edit.ts";
import { loadPluginReference, type PluginReference } from "#ui/services/administration/plugin-reference.ts";
import { navigate, rememberAddress } from "#ui/services/browser/router.ts";
import type { TextProblem } from "#ui/services/console/body-problems.ts";
import type { Completion } from "#ui/services/console/suggestions.ts";
import { HubError, toHubError } from "#ui/services/hub/json-call.ts";
import { knownViewer } from "#ui/services/hub/session-client.ts";
import { LogDocument } from "#ui/services/search/log-document.ts";
import { SearchClient } from "#ui/services/search/search-client.ts";
import { rowsRequest } from "#ui/services/search/search-request.ts";
import { DAY_MS } from "#ui/services/text/time-units.ts";
import { trialStyles, trialView } from "./trial-view.ts";
import "#ui/components/editor/code-editor.ts";

/** After the last key. */
const TRY_AFTER_MS = 350;
const NEWEST_LINES = 5;

const FIRST_TEXT = `input { shipper {} }

filter {
  grok {
    match => { message => "%{COMBINEDAPACHELOG}" }
  }
  date {
    match => [timestamp, "dd/MMM/yyyy:HH:mm:ss Z"]
  }
}

output { elasticsearch { index => "logs-%{+yyyy.MM.dd}" } }
`;
const FIRST_LINE =
  '198.51.100.7 - - [31/Jan/2026:14:05:09 +0000] "GET /cart HTTP/1.1" 200 5123 "-" "curl/8.9.1"';

export class PipelineEditor extends LitElement {
  /** "": a new one. */
  @property() accessor name = "";
  @property() accessor sample = "";
  /** Expression that a new pipeline begins with; "": an example. */
  @property() accessor grok = "";
  @state() accessor _stored: PipelineText | undefined;
  /** Undefined until the text and its reader are known. */
  @state() accessor _edit: PipelineEdit | undefined;
  @state() accessor _lines: string = FIRST_LINE;
  @state() accessor _trials: readonly Trial[] = [];
  /** The fault of the text, as reported by the hub. */
  @state() accessor _problem = "";
  /** The same, at its position in the text. */
  @state() accessor _problems: readonly TextProblem[] = [];
  @state() accessor _fault: HubError | undefined;
  @state() accessor _said = "";
  /** False if nobody has to sign in. */
  @state() accessor _canSignOut = false;

  static override styles = [
    controls,
    notices,
    pageStyles,
    trialStyles,
    css`
      .page {
        max-width: 96rem;
      }
      .halves {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(28rem, 100%), 1fr));
        gap: 16px;
      }
      h2 {
        margin: 0 0 5px;
        font-size: inherit;
        font-weight: 600;
      }
      tr-code-editor {
        height: 34rem;
        border: 1px solid var(--control-line);
        border-radius: var(--radius);
      }
      label.block {
        display: grid;
        gap: 5px;
        margin-bottom: 12px;
        font-weight: 600;
      }
      pre {
        margin: 0 0 12px;
        padding: 10px 12px;
        border-left: 3px solid var(--level-error);
        border-radius: var(--radius);
        background: var(--surface);
        font: var(--text-small) / 1.5 var(--font-mono);
        overflow-x: auto;
      }
      .valid {
        display: flex;
        align-items: center;
        gap: 5px;
        color: var(--accent);
        font-weight: 600;
      }
    `,
  ];

  /** Undefined until it is loaded; without it nothing is suggested. */
  #reference: PluginReference | undefined;
  readonly #complete = (text: string, caret: number): Completion | undefined =>
    this.#reference && completePipeline(text, caret, this.#reference);
  #abort = new AbortController();
  #trial = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
    this.#abort.abort();
    this.#trial.abort();
  }

  protected override firstUpdated(): void {
    void this.#loadReference();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("sample") && this.sample !== "") this._lines = this.sample;
    if (!changed.has("name") && !changed.has("grok")) return;
    // Just saved under this name.
    if (this._stored !== undefined && this._stored.id === this.name) return;
    this._stored = undefined;
    this._edit = undefined;
    void this.#load();
  }

  override render(): TemplateResult {
    const isFile = this._stored !== undefined && this._stored.origin !== "page";
    // Text typed before the stored text is loaded would be lost, or would overwrite it.
    const isAwaited = this._edit === undefined;
    return html`<div class="page">
      <div class="title"><a class="button icon" href="#/pipelines" aria-label=${msg("All pipelines")} title=${msg("All pipelines")}>${icon("arrowLeft")}</a>
        <h1>${this.name === "" ? msg("New pipeline") : this.name}</h1><span class="space"></span>
        <form class="form" ?inert=${isAwaited} @submit=${this.#save}>
          ${this.name === "" ? html`<label>${msg("Name")}<input name="name" required pattern="[A-Za-z0-9_\\-]{1,64}" autocomplete="off" /></label>` : nothing}
          <label>${msg("Description")}<input name="description" maxlength="300" autocomplete="off" value=${this._stored?.description ?? ""} /></label>
          <button class="primary" ?disabled=${isFile || this._problem !== ""}>${icon("save")}${msg("Save and run")}</button>
        </form></div>
      ${this._fault === undefined ? nothing : errorView(this._fault)}
      ${isFile ? html`<div class="notice"><p>${msg("This pipeline comes from files of the hub; it can be tried here, and changed there.")}</p></div>` : nothing}
      <p role="status">${this._said}</p>
      ${this.#unsaved()}
      <div class="halves" ?inert=${isAwaited}>
        <div>
          <h2>${msg("Pipeline")}</h2>
          <tr-code-editor label=${msg("Pipeline")} syntax="pipeline" .problems=${this._problems} .complete=${this.#complete} @tr-edit=${this.#onText}></tr-code-editor>
        </div>
        <div>
          <label class="block">${msg("Sample lines")}<textarea spellcheck="false" wrap="off" .value=${this._lines} @input=${this.#onLines}></textarea></label>
          <p><button class="small" @click=${() => void this.#takeNewest()}>${icon("list")}${msg("Use the newest lines")}</button></p>
          <div role="status">${this.#verdict()}</div>
          ${this._trials.map(trialView)}
        </div>
      </div>
    </div>`;
  }

  #unsaved(): TemplateResult | typeof nothing {
    if (this._edit?.isDraft !== true) return nothing;
    return html`<div class="notice"><p>${this.#unsavedText(this._edit)}</p>
      <button class="small" @click=${() => this.#discard()}>${msg("Discard changes")}</button></div>`;
  }

  #unsavedText({ isOutdated, isKept }: PipelineEdit): string {
    if (isOutdated)
      return msg("Somebody saved this pipeline after your changes began; saving yours replaces theirs.");
    if (!isKept)
      return msg("Your changes aren't saved yet, and this browser can't keep them: save before you leave.");
    return this._canSignOut
      ? msg("Your changes aren't saved yet. This browser keeps them until you sign out.")
      : msg("Your changes aren't saved yet. This browser keeps them.");
  }

  #discard(): void {
    this._edit?.discard();
    this.#showText();
    this.#trySoon();
  }

  #showText(): void {
    this.requestUpdate();
    this.renderRoot.querySelector("tr-code-editor")!.value = this._edit?.text ?? "";
  }

  #verdict(): TemplateResult | typeof nothing {
    if (this._problem !== "") return html`<pre tabindex="0">${this._problem}</pre>`;
    if (this._trials.length === 0) return nothing;
    return html`<p class="valid">${icon("check")}${msg("The pipeline is valid.")}</p>`;
  }

  async #loadReference(): Promise<void> {
    try {
      this.#reference = await loadPluginReference();
      this.renderRoot.querySelector("tr-code-editor")?.refreshSuggestions();
    } catch {
      // A pipeline can be written without suggestions.
    }
  }

  async #load(): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const { name, grok } = this;
    try {
      const [viewer, stored] = await Promise.all([
        knownViewer(),
        name === "" ? undefined : getPipeline(name, signal),
      ]);
      if (signal.aborted) return;
      this._fault = undefined;
      this._canSignOut = viewer?.canSignOut === true;
      this._stored = stored;
      this._edit = new PipelineEdit({
        account: viewer?.name,
        name,
        grok,
        text: stored?.text ?? (grok === "" ? FIRST_TEXT : pipelineWith(grok)),
        revision: stored?.revision ?? 0,
      });
      this.#showText();
      await this.#try();
    } catch (error) {
      if (!signal.aborted) this._fault = toHubError(error);
    }
  }

  #onText({ detail }: CustomEvent<string>): void {
    this._edit?.change(detail);
    this.requestUpdate();
    this.#trySoon();
  }

  #onLines(event: Event): void {
    this._lines = (event.currentTarget as HTMLTextAreaElement).value;
    this.#trySoon();
  }

  #trySoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#try(), TRY_AFTER_MS);
  }

  async #try(): Promise<void> {
    this.#trial.abort();
    this.#trial = new AbortController();
    const { signal } = this.#trial;
    const text = this._edit?.text ?? "";
    try {
      const trials = await tryPipeline(text, this._lines.split("\n").filter(Boolean), signal);
      if (signal.aborted) return;
      this._trials = trials;
      this._problem = "";
      this._problems = [];
      this._fault = undefined;
    } catch (error) {
      if (signal.aborted) return;
      // The hub runs few trials at a time, and may still be at one that this page has given up.
      if (error instanceof HubError && error.status === 429) return this.#trySoon();
      // The result of an earlier text doesn't apply to this one.
      this._trials = [];
      const isRefused = error instanceof HubError && error.status === 400;
      this._problem = isRefused ? error.message : "";
      this._problems = isRefused ? problemsOf(error, text) : [];
      this._fault = isRefused ? undefined : toHubError(error);
    }
  }

  async #takeNewest(): Promise<void> {
    const nowMs = Date.now();
    const body = rowsRequest({ query: "", filters: [] }, { fromMs: nowMs - DAY_MS, toMs: nowMs + DAY_MS });
    try {
      const { hits } = await new SearchClient().search("logs-*", body, this.#abort.signal);
      const lines = hits.hits
        .slice(0, NEWEST_LINES)
        .map((hit) => new LogDocument(hit).message.replaceAll("\n", " "));
      if (lines.length > 0) this._lines = lines.join("\n");
      await this.#try();
    } catch (error) {
      this._fault = toHubError(error);
    }
  }

  async #save(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const name = this.name || formText(data, "name");
    const description = formText(data, "description");
    const isHere = rememberAddress();
    const edit = this._edit!;
    const { text } = edit;
    this._said = "";
    this._fault = undefined;
    try {
      const stored = await putPipeline(name, text, description, this._stored?.revision ?? 0);
      edit.saved(name, text, stored.revision);
      if (this._edit !== edit) return;
      this._stored = stored;
      this._said = msg(str`“${name}” is saved and runs.`);
      if (this.name === "" && isHere())
        navigate({ page: "pipelines", parameters: new URLSearchParams({ id: name }) });
    } catch (error) {
      if (this._edit === edit)
        this._fault = this._stored === undefined ? nameFault(error, name) : toHubError(error);
    }
  }
}

/** Returns why a new pipeline wasn't saved. */
function nameFault(error: unknown, name: string): HubError {
  const fault = toHubError(error);
  if (fault.status !== 409) return fault;
  return new HubError(
    409,
    fault.type,
    msg(str`There is a pipeline “${name}” already.`),
    msg("Choose another name."),
    {
      cause: error,
    },
  );
}

customElements.define("tr-pipeline-editor", PipelineEditor);

declare global {
  interface HTMLElementTagNameMap {
    "tr-pipeline-editor": PipelineEditor;
  }
}
