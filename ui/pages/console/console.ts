/** The console: requests to the search interface, written, completed, run and answered on one page. */

import { msg, str } from "@lit/localize";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { HotkeyController } from "#ui/components/controls/hotkeys.ts";
import type { CodeEditor, LineRange } from "#ui/components/editor/code-editor.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { copyText } from "#ui/services/browser/copy-text.ts";
import { readPreference, writePreference } from "#ui/services/browser/preferences.ts";
import { navigate, rememberAddress } from "#ui/services/browser/router.ts";
import { saveFile } from "#ui/services/browser/save-file.ts";
import { bodyProblems, type TextProblem } from "#ui/services/console/body-problems.ts";
import { complete } from "#ui/services/console/completion.ts";
import { type ConsoleAnswer, ConsoleClient } from "#ui/services/console/console-client.ts";
import type { PastRequest } from "#ui/services/console/history.ts";
import {
  type ConsoleRequest,
  formatRequest,
  fromCurl,
  indexOf,
  isDestructive,
  parseRequests,
  requestsAt,
  toCall,
  toCurl,
} from "#ui/services/console/requests.ts";
import { HUB_BACK_EVENT } from "#ui/services/hub/session-client.ts";
import { ConsoleModel, type Result } from "./console-model.ts";
import { consoleStyles } from "./console-styles.ts";
import { historyView, introductionView, resultView } from "./console-views.ts";
import "#ui/components/editor/code-editor.ts";
import "#ui/components/controls/confirm-dialog.ts";

const COPIED_MS = 1_500;
/** After the last key: half a body isn't a mistake while it is typed. */
const CHECK_AFTER_MS = 600;
const TABLE_KEY = "console.table";

export class ConsolePage extends LitElement {
  /** Of the address: `request` is appended to the text. */
  @property({ attribute: false }) accessor parameters = new URLSearchParams();
  @state() accessor _chosen: readonly ConsoleRequest[] = [];
  @state() accessor _hasHistory = false;
  @state() accessor _search = "";
  @state() accessor _said = "";
  /** True once the text of this account is shown: what is typed before would be lost. */
  @state() accessor _isOpen = false;
  @state() accessor _problems: readonly TextProblem[] = [];
  /** Shows answers with rows as tables. */
  @state() accessor _isTable: boolean = readPreference(TABLE_KEY) === "on";

  static override styles = [controls, consoleStyles];

  readonly #client = new ConsoleClient();
  readonly #model = new ConsoleModel(
    this.#client,
    () => this.requestUpdate(),
    () => this.#editor?.refreshSuggestions(),
  );
  readonly #opened = Promise.withResolvers<void>();
  readonly #onHubBack = (): void => {
    if (this._isOpen && this.#model.isOfNobody) void this.#open();
  };
  #saidTimer: ReturnType<typeof setTimeout> | undefined;
  #checkTimer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    new HotkeyController(this, {
      "/": () => this.#editor?.focus(),
      h: () => this.#toggleHistory(),
      Escape: () => this.#closeHistory(),
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#model.loadFacts();
    addEventListener(HUB_BACK_EVENT, this.#onHubBack);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener(HUB_BACK_EVENT, this.#onHubBack);
    clearTimeout(this.#saidTimer);
    clearTimeout(this.#checkTimer);
    this.#model.stop();
  }

  override render(): TemplateResult {
    const { results, isRunning } = this.#model;
    const first = this._chosen[0];
    const last = this._chosen.at(-1);
    const active = first === undefined ? undefined : { firstLine: first.firstLine, lastLine: last!.lastLine };
    return html`
      <h1 class="hidden-text">${msg("Console")}</h1>
      <div class="bar" role="toolbar" aria-label=${msg("Console")}>
        ${
          isRunning
            ? html`<button @click=${() => this.#model.stop()}>${icon("close")}${msg("Stop")}</button>`
            : html`<button class="primary" ?disabled=${first === undefined} @click=${() => void this.#run()}>${icon("play")}${msg("Run")}<kbd>${msg("Ctrl ⏎")}</kbd></button>`
        }
        <button ?disabled=${first === undefined} @click=${this.#format} title=${msg("Indent the request's body")}>${icon("braces")}<span>${msg("Format")}</span></button>
        <button ?disabled=${first === undefined} @click=${() => void this.#copyCurl()} title=${msg("Copy the request as a curl command")}>${icon("copy")}<span>${msg("Copy as curl")}</span></button>
        <span role="status" class="muted">${this._said || (this.#model.isKept ? "" : msg("This browser can't keep the text: copy it before you leave."))}</span>
        <span class="space"></span>
        <button aria-pressed=${this._hasHistory} @click=${this.#toggleHistory} title=${msg("History (h)")}>${icon("clock")}<span>${msg("History")}</span></button>
      </div>
      <div class="panes ${this._hasHistory ? "with-history" : ""}">
        <tr-code-editor ?inert=${!this._isOpen} label=${msg("Requests")} .active=${active} .problems=${this._problems} .complete=${(text: string, caret: number) => complete(text, caret, this.#model)}
          .convertPaste=${fromCurl} @tr-edit=${this.#onEdit} @tr-caret=${this.#onCaret} @tr-run=${() => void this.#run()}>
          <div slot="actions" class="actions">
            <button class="small primary icon" aria-label=${this._chosen.length > 1 ? msg(str`Run ${this._chosen.length} requests`) : msg("Run this request")} title=${msg("Run (Ctrl+Enter)")} @click=${() => void this.#run()}>${icon("play")}</button>
          </div>
        </tr-code-editor>
        <section class="answers" aria-label=${msg("Answers")}>
          ${results.length === 0 ? introductionView() : results.map((result) => this.#result(result))}
        </section>
        ${this._hasHistory ? this.#history() : nothing}
      </div>
      <tr-confirm-dialog></tr-confirm-dialog>
    `;
  }

  protected override firstUpdated(): void {
    void this.#open();
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("parameters")) void this.#begin();
  }

  get #editor(): CodeEditor | null {
    return this.renderRoot?.querySelector?.("tr-code-editor") ?? null;
  }

  #result(result: Result): TemplateResult {
    return resultView(result, this._isTable, {
      onCopy: (text) => void this.#copy(text),
      onSave: saveAnswer,
      onTable: () => {
        this._isTable = !this._isTable;
        writePreference(TABLE_KEY, this._isTable ? "on" : undefined);
      },
    });
  }

  #history(): TemplateResult {
    return html`<aside aria-label=${msg("History")}>
      <header>
        <input type="search" aria-label=${msg("Search the history")} placeholder=${msg("Search the history")} .value=${this._search} @input=${this.#onSearch} />
        <button class="small" ?disabled=${this.#model.history.length === 0} @click=${() => this.#model.forgetHistory()}>${msg("Clear history")}</button>
        <button class="plain small icon" aria-label=${msg("Close the history")} @click=${this.#closeHistory}>${icon("close")}</button>
      </header>
      ${historyView(this.#model.history, this._search, (entry) => this.#reuse(entry))}
    </aside>`;
  }

  /** Shows the text that this account left here. */
  async #open(): Promise<void> {
    const editor = this.#editor!;
    const text = await this.#model.loadOwn(() => editor.value);
    // Another value would move the caret.
    if (editor.value !== text) editor.value = text;
    this._chosen = parseRequests(text).slice(0, 1);
    this._isOpen = true;
    await this.updateComplete;
    this.#opened.resolve();
  }

  async #begin(): Promise<void> {
    const isHere = rememberAddress();
    await this.#opened.promise;
    await this.#editor!.updateComplete;
    await this.#editor!.loaded;
    if (!this.isConnected || !isHere()) return;
    const request = this.parameters.get("request");
    if (request !== null) {
      this.#append(request);
      navigate({ page: "console", parameters: new URLSearchParams() }, true);
    } else if (matchMedia("(width >= 900px)").matches) this.#editor!.focus();
  }

  async #run(): Promise<void> {
    const requests = this._chosen;
    if (requests.length === 0 || this.#model.isRunning) return;
    const isMeant = await this.#isMeant(requests.filter(isDestructive));
    // At once: when the answer arrives, the user may write elsewhere.
    this.#editor?.focus();
    if (!isMeant) return;
    await this.#model.run(requests);
    this.renderRoot.querySelector(".answers")?.scrollTo(0, 0);
  }

  /** Asks for confirmation before anything is destroyed, and names what would be. */
  async #isMeant(requests: readonly ConsoleRequest[]): Promise<boolean> {
    if (requests.length === 0) return true;
    const found = await Promise.all(
      requests.map(async (request) => {
        const index = indexOf(request.path);
        const concerned = index === undefined ? [] : await this.#model.concerned(index);
        return [`${request.method} ${request.path}`, ...concerned.map((line) => `    ${line}`)];
      }),
    );
    return this.renderRoot.querySelector("tr-confirm-dialog")!.ask({
      title: requests.length === 1 ? msg("This request destroys data") : msg("These requests destroy data"),
      text: msg("This can't be undone."),
      items: found.flat(),
      action: msg("Run anyway"),
    });
  }

  #format(): void {
    const [first] = this._chosen;
    const last = this._chosen.at(-1);
    if (first === undefined || last === undefined) return;
    const text = this._chosen.map(formatRequest).join("\n\n");
    this.#editor?.replaceLines(first.firstLine, last.lastLine, text);
  }

  async #copyCurl(): Promise<void> {
    const address = await this.#client.address(location.origin);
    await this.#copy(this._chosen.map((request) => toCurl(toCall(request), address)).join("\n"));
  }

  async #copy(text: string): Promise<void> {
    this.#say((await copyText(text)) ? msg("Copied") : msg("The browser blocked copying"));
  }

  #say(text: string): void {
    this._said = text;
    clearTimeout(this.#saidTimer);
    this.#saidTimer = setTimeout(() => {
      this._said = "";
    }, COPIED_MS);
  }

  #append(text: string): void {
    const editor = this.#editor!;
    const before = editor.value.trimEnd();
    editor.focus();
    editor.replace(before.length, editor.value.length, `${before === "" ? "" : "\n\n"}${text}\n`);
  }

  #reuse(entry: PastRequest): void {
    this.#append(entry.text);
    if (!matchMedia("(width >= 900px)").matches) this._hasHistory = false;
  }

  #onEdit({ detail }: CustomEvent<string>): void {
    this.#model.writeText(detail);
    clearTimeout(this.#checkTimer);
    this.#checkTimer = setTimeout(() => {
      this._problems = bodyProblems(this.#editor?.value ?? "");
    }, CHECK_AFTER_MS);
  }

  #onCaret({ detail }: CustomEvent<LineRange>): void {
    const requests = parseRequests(this.#editor!.value);
    this._chosen = requestsAt(requests, detail.firstLine, detail.lastLine);
  }

  #onSearch(event: Event): void {
    this._search = (event.currentTarget as HTMLInputElement).value;
  }

  #toggleHistory(): void {
    this._hasHistory = !this._hasHistory;
  }

  #closeHistory(): void {
    this._hasHistory = false;
  }
}

function saveAnswer({ text, contentType }: ConsoleAnswer): void {
  saveFile(contentType.includes("json") ? "answer.json" : "answer.txt", contentType, [text]);
}

customElements.define("tr-page-console", ConsolePage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-console": ConsolePage;
  }
}
