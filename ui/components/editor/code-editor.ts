/**
 * A text editor for requests: a text area, its coloured twin below it, and a list of what may be written at the
 * cursor. Fires `tr-edit` (the text), `tr-caret` (first and last line of the selection) and `tr-run` (Ctrl+Enter).
 * Tab indents; after Escape it leaves the editor.
 */

import { msg } from "@lit/localize";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { controls } from "#ui/components/style/styles.ts";
import type { Completion } from "#ui/services/console/completion.ts";
import { highlightConsole } from "#ui/services/console/highlight.ts";
import { codeColours, codeEditorStyles, LINE_PX, PADDING_PX } from "./code-editor-styles.ts";
import { MirrorLines } from "./code-mirror-lines.ts";
import { CompletionList } from "./completion-list.ts";
import { type Edit, editForKey } from "./editor-keys.ts";

export interface CaretDetail {
  /** Lines from 0 that the selection touches. */
  readonly firstLine: number;
  readonly lastLine: number;
}

export class CodeEditor extends LitElement {
  /** Its name for screen readers. */
  @property() accessor label = "";
  /** Lines of the chosen requests. */
  @property({ attribute: false }) accessor active: CaretDetail | undefined;
  @property({ attribute: false }) accessor complete: (text: string, caret: number) => Completion | undefined =
    () => undefined;
  /** Returns what a pasted text becomes; undefined: itself. */
  @property({ attribute: false }) accessor convertPaste: (text: string) => string | undefined = () =>
    undefined;

  static override styles = [controls, codeColours, codeEditorStyles];

  readonly #list = new CompletionList();
  #mirror: MirrorLines | undefined;
  #text = "";
  /** Something was begun for which nothing was known yet. */
  #isAwaited = false;
  /** After Escape, Tab leaves. */
  #isLeaving = false;

  get value(): string {
    return this.#text;
  }

  /** Replaces the whole text; can't be undone by its reader. */
  set value(text: string) {
    this.#text = text;
    if (this.#area !== null) {
      this.#area.value = text;
      this.#area.setSelectionRange(0, 0);
      this.#refresh();
    }
  }

  /** Puts the cursor into the text. */
  override focus(): void {
    this.#area?.focus();
  }

  /** Replaces a part of the text as if it had been typed, so that it can be undone. */
  replace(from: number, to: number, text: string, caret = from + text.length): void {
    this.#apply({ from, to, text, caretFrom: caret, caretTo: caret });
  }

  /** Replaces whole lines, both inclusive. */
  replaceLines(first: number, last: number, text: string): void {
    const lines = this.#text.split("\n");
    const start = lines.slice(0, first).join("\n").length + (first > 0 ? 1 : 0);
    const length = lines.slice(first, last + 1).join("\n").length;
    this.replace(start, start + length, text);
  }

  /** Suggests anew: what is known has changed. */
  refreshSuggestions(): void {
    if (this.#list.isOpen || this.#isAwaited) this.#suggest();
  }

  override render(): TemplateResult {
    const list = this.#list;
    return html`<div class="scroll" @scroll=${this.#placeActions}>
        <div class="sheet">
          <div class="mirror" aria-hidden="true"></div>
          <textarea aria-label=${this.label} aria-autocomplete="list" aria-controls="suggestions" aria-describedby="hint"
            aria-activedescendant=${list.isOpen ? `item-${list.chosen}` : nothing} autocomplete="off" autocapitalize="off"
            spellcheck="false" wrap="off" @input=${this.#onInput} @keydown=${this.#onKey} @paste=${this.#onPaste}
            @selectionchange=${this.#caretMoved} @keyup=${this.#caretMoved} @pointerup=${this.#caretMoved} @blur=${this.#close}></textarea>
          <ul id="suggestions" class="popup" role="listbox" aria-label=${msg("Suggestions")} ?hidden=${!list.isOpen}>
            ${list.items.map(
              (one, index) => html`<li id="item-${index}" role="option" aria-selected=${index === list.chosen}
                @pointerdown=${(event: Event) => this.#accept(event, index)}>${one.label}<span>${one.detail}</span></li>`,
            )}
          </ul>
        </div>
      </div>
      <span id="hint" class="hidden-text">${msg("Control and Enter runs the request. Escape, then Tab leaves the editor.")}</span>
      <div class="actions" ?hidden=${this.active === undefined}><slot name="actions"></slot></div>`;
  }

  protected override firstUpdated(): void {
    this.#mirror = new MirrorLines(this.renderRoot.querySelector<HTMLElement>(".mirror")!);
    this.value = this.#text;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("active")) this.#markActive();
    if (!this.#list.isOpen) return;
    const { from } = this.#list.completion!;
    const lines = this.#text.slice(0, from).split("\n");
    const popup = this.renderRoot.querySelector<HTMLElement>(".popup")!;
    const scroll = this.renderRoot.querySelector<HTMLElement>(".scroll")!;
    const top = PADDING_PX + lines.length * LINE_PX;
    const fitsBelow = top - scroll.scrollTop + popup.offsetHeight < scroll.clientHeight;
    const above = top - LINE_PX - popup.offsetHeight;
    popup.style.top = `${fitsBelow || above < scroll.scrollTop ? top : above}px`;
    const left = this.#mirror!.offsetOf(lines.length - 1, lines.at(-1)!.length);
    const farthest = scroll.scrollLeft + scroll.clientWidth - popup.offsetWidth - 8;
    popup.style.left = `${Math.max(scroll.scrollLeft, Math.min(left, farthest))}px`;
    popup.children[this.#list.chosen]?.scrollIntoView({ block: "nearest" });
  }

  get #area(): HTMLTextAreaElement | null {
    return this.renderRoot?.querySelector?.("textarea") ?? null;
  }

  #refresh(): void {
    this.#mirror?.show(highlightConsole(this.#text));
    this.#markActive();
  }

  #markActive(): void {
    this.#mirror?.mark(this.active?.firstLine ?? -1, this.active?.lastLine ?? -1);
    this.#placeActions();
  }

  #placeActions(): void {
    const actions = this.renderRoot.querySelector<HTMLElement>(".actions");
    const scroll = this.renderRoot.querySelector<HTMLElement>(".scroll");
    if (actions === null || scroll === null || this.active === undefined) return;
    const top = PADDING_PX + this.active.firstLine * LINE_PX - scroll.scrollTop;
    const end = PADDING_PX + (this.active.lastLine + 1) * LINE_PX - scroll.scrollTop;
    const isSeen = end > 0 && top < scroll.clientHeight;
    actions.style.visibility = isSeen ? "" : "hidden";
    actions.style.transform = `translateY(${Math.max(4, top - 2)}px)`;
  }

  #onInput(event: Event): void {
    this.#text = this.#area!.value;
    this.#refresh();
    this.dispatchEvent(new CustomEvent<string>("tr-edit", { detail: this.#text }));
    const typed = event instanceof InputEvent && event.inputType === "insertText" ? (event.data ?? "") : "";
    if (this.#list.isOpen || /\S/.test(typed) || (typed === " " && this.#isBehindMethod())) this.#suggest();
    this.#caretMoved();
  }

  #caretMoved(): void {
    const { selectionStart, selectionEnd } = this.#area!;
    const { completion } = this.#list;
    if (completion !== undefined && (selectionEnd < completion.from || selectionEnd > completion.to))
      this.#close();
    const lineOf = (at: number): number => this.#text.slice(0, at).split("\n").length - 1;
    const detail = { firstLine: lineOf(selectionStart), lastLine: lineOf(selectionEnd) };
    this.dispatchEvent(new CustomEvent<CaretDetail>("tr-caret", { detail }));
  }

  #isBehindMethod(): boolean {
    return /(^|\n)\s*[A-Z]+ $/i.test(this.#text.slice(0, this.#area!.selectionEnd));
  }

  #suggest(): void {
    const { selectionStart, selectionEnd } = this.#area!;
    this.#list.show(selectionStart === selectionEnd ? this.complete(this.#text, selectionEnd) : undefined);
    this.#isAwaited = !this.#list.isOpen;
    this.requestUpdate();
  }

  #close(): void {
    this.#isAwaited = false;
    if (!this.#list.isOpen) return;
    this.#list.show(undefined);
    this.requestUpdate();
  }

  #accept(event: Event, index: number): void {
    event.preventDefault();
    const found = this.#list.completion;
    const chosen = this.#list.items[index];
    if (found === undefined || chosen === undefined) return;
    this.#list.show(undefined);
    this.replace(found.from, found.to, chosen.insert, found.from + chosen.caret);
    this.#suggest();
  }

  #onKey(event: KeyboardEvent): void {
    if (event.isComposing) return;
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && event.key === "Enter") {
      event.preventDefault();
      this.#close();
      this.#caretMoved();
      this.dispatchEvent(new CustomEvent("tr-run"));
    } else if (isCommand && event.key === " ") {
      event.preventDefault();
      this.#suggest();
    } else if (this.#list.isOpen && this.#listKey(event)) event.preventDefault();
    else if (event.key === "Escape") this.#isLeaving = true;
    else if (event.key !== "Tab" || !this.#isLeaving) this.#edit(event);
    if (!/^(Escape|Tab|Shift)$/.test(event.key)) this.#isLeaving = false;
  }

  #listKey(event: KeyboardEvent): boolean {
    if (event.key === "ArrowDown" || event.key === "ArrowUp")
      this.#list.move(event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Escape") this.#list.show(undefined);
    else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey && this.#isChoosing()))
      this.#accept(event, this.#list.chosen);
    else return false;
    this.requestUpdate();
    return true;
  }

  /** Enter accepts only where something was begun or chosen; else it begins a line. */
  #isChoosing(): boolean {
    const { completion, items, chosen, isMoved } = this.#list;
    const begun = this.#text.slice(completion!.from, this.#area!.selectionEnd);
    return isMoved || (begun.replace('"', "") !== "" && begun !== items[chosen]!.insert);
  }

  #edit(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { selectionStart, selectionEnd } = this.#area!;
    const edit = editForKey(event.key, event.shiftKey, this.#text, selectionStart, selectionEnd);
    if (edit === undefined) return;
    event.preventDefault();
    this.#apply(edit);
    if (event.key === '"' || event.key === "Backspace") this.#suggest();
  }

  #onPaste(event: ClipboardEvent): void {
    const converted = this.convertPaste(event.clipboardData?.getData("text/plain") ?? "");
    if (converted === undefined) return;
    event.preventDefault();
    const { selectionStart, selectionEnd } = this.#area!;
    this.replace(selectionStart, selectionEnd, converted);
  }

  /** Through the browser's own editing, as that alone keeps what can be undone. */
  #apply({ from, to, text, caretFrom, caretTo }: Edit): void {
    const area = this.#area!;
    area.focus();
    area.setSelectionRange(from, to);
    const isDone =
      text === "" && from === to
        ? true
        : document.execCommand(text === "" ? "delete" : "insertText", false, text);
    if (!isDone) {
      area.setRangeText(text, from, to);
      area.dispatchEvent(new InputEvent("input"));
    }
    area.setSelectionRange(caretFrom, caretTo);
    this.#caretMoved();
  }
}

customElements.define("tr-code-editor", CodeEditor);

declare global {
  interface HTMLElementTagNameMap {
    "tr-code-editor": CodeEditor;
  }
}
