/**
 * A text editor with line numbers, colours, completion and problems at their position. CodeMirror is a separate chunk,
 * loaded when the first editor is shown. Fires `tr-edit` (the text), `tr-caret` (first and last line of the selection)
 * and `tr-run` (Ctrl+Enter). Tab indents; Escape, then Tab leaves the editor.
 */

import { msg } from "@lit/localize";
import { html, LitElement, type PropertyValues, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { controls } from "#ui/components/style/styles.ts";
import type { TextProblem } from "#ui/services/console/body-problems.ts";
import type { Completion } from "#ui/services/console/suggestions.ts";
import { codeColours, codeEditorStyles } from "./code-editor-styles.ts";
import type { CodeView, LineRange, Syntax } from "./code-view.ts";

export type { LineRange } from "./code-view.ts";

export class CodeEditor extends LitElement {
  /** Name for screen readers. */
  @property() accessor label = "";
  @property() accessor syntax: Syntax = "console";
  /** Lines of the selected requests; the slot `actions` is shown beside them. */
  @property({ attribute: false }) accessor active: LineRange | undefined;
  @property({ attribute: false }) accessor problems: readonly TextProblem[] = [];
  @property({ attribute: false }) accessor complete: (text: string, caret: number) => Completion | undefined =
    () => undefined;
  /** Returns what replaces a pasted text; undefined: the text stays. */
  @property({ attribute: false }) accessor convertPaste: (text: string) => string | undefined = () =>
    undefined;

  static override styles = [controls, codeColours, codeEditorStyles];

  #view: CodeView | undefined;
  readonly #loading = Promise.withResolvers<void>();
  /** The text until the view is loaded. */
  #text = "";
  #wantsFocus = false;

  /** Resolves when the library is loaded and the text can be edited. */
  get loaded(): Promise<void> {
    return this.#loading.promise;
  }

  get value(): string {
    return this.#view?.text ?? this.#text;
  }

  /** Replaces the whole text and forgets what could be undone. */
  set value(text: string) {
    this.#text = text;
    this.#view?.reset(text);
  }

  /** Puts the cursor into the text. */
  override focus(): void {
    if (this.#view === undefined) this.#wantsFocus = true;
    else this.#view.focus();
  }

  /** Replaces a part of the text as typing does, so that it can be undone, and puts the cursor after it. */
  replace(from: number, to: number, text: string): void {
    if (this.#view === undefined) this.#text = this.#text.slice(0, from) + text + this.#text.slice(to);
    else this.#view.replace(from, to, text);
  }

  /** Replaces whole lines, both inclusive. */
  replaceLines(first: number, last: number, text: string): void {
    const lines = this.value.split("\n");
    const start = lines.slice(0, first).join("\n").length + (first > 0 ? 1 : 0);
    const length = lines.slice(first, last + 1).join("\n").length;
    this.replace(start, start + length, text);
  }

  /** Suggests again after the known names have changed. */
  refreshSuggestions(): void {
    this.#view?.refreshSuggestions();
  }

  override render(): TemplateResult {
    return html`<div class="view"></div>
      <span id="hint" class="hidden-text">${this.syntax === "console" ? msg("Control and Enter runs the request. Escape, then Tab leaves the editor.") : msg("Escape, then Tab leaves the editor.")}</span>
      <div class="actions" ?hidden=${this.active === undefined}><slot name="actions"></slot></div>`;
  }

  protected override firstUpdated(): void {
    void this.#load();
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("active")) this.#view?.markActive(this.active);
    if (changed.has("problems")) this.#view?.showProblems(this.problems);
    this.#placeActions();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#text = this.value;
    this.#view?.destroy();
    this.#view = undefined;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated) void this.#load();
  }

  async #load(): Promise<void> {
    const { createCodeView } = await import("./code-view.ts");
    if (!this.isConnected || this.#view !== undefined) return;
    this.#view = createCodeView(this.renderRoot.querySelector<HTMLElement>(".view")!, this.#text, {
      root: this.renderRoot as ShadowRoot,
      label: this.label,
      syntax: this.syntax,
      complete: (text, caret) => this.complete(text, caret),
      convertPaste: (text) => this.convertPaste(text),
      onEdit: (text) => this.dispatchEvent(new CustomEvent<string>("tr-edit", { detail: text })),
      onCaret: (lines) => this.dispatchEvent(new CustomEvent<LineRange>("tr-caret", { detail: lines })),
      onRun: () => this.dispatchEvent(new CustomEvent("tr-run")),
      onMove: () => this.#placeActions(),
    });
    this.#view.markActive(this.active);
    this.#view.showProblems(this.problems);
    if (this.#wantsFocus) this.#view.focus();
    this.#placeActions();
    this.#loading.resolve();
  }

  #placeActions(): void {
    const actions = this.renderRoot.querySelector<HTMLElement>(".actions");
    if (actions === null || this.#view === undefined || this.active === undefined) return;
    const { top, bottom, height } = this.#view.extentOf(this.active);
    actions.style.visibility = bottom > 0 && top < height ? "" : "hidden";
    actions.style.transform = `translateY(${Math.max(4, top - 2)}px)`;
  }
}

customElements.define("tr-code-editor", CodeEditor);

declare global {
  interface HTMLElementTagNameMap {
    "tr-code-editor": CodeEditor;
  }
}
