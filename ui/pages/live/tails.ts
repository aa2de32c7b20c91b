/**
 * Several tails side by side: `#/tails?t=…&t=…`, each the parameters of an address of Live. Keys act on the most
 * recently used one.
 */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { icon } from "#ui/components/style/icons.ts";
import { controls, splitPage } from "#ui/components/style/styles.ts";
import { navigate } from "#ui/services/browser/router.ts";
import "./live.ts";

/** Narrower ones can't be read; the connection carries eight. */
const MAX_TAILS = 4;

export class TailsPage extends LitElement {
  /** Of the address. */
  @property({ attribute: false }) accessor parameters = new URLSearchParams();
  /** Number of the one that was used last. */
  @state() accessor _used = 0;
  @state() accessor _isPaused = false;

  static override styles = [
    controls,
    splitPage,
    css`
      .head {
        flex-wrap: wrap;
        gap: 6px 12px;
      }
      .tails {
        flex: 1;
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(34rem, 100%), 1fr));
        grid-auto-rows: minmax(18rem, 1fr);
        min-height: 0;
        overflow: auto;
      }
      section {
        position: relative;
        outline: 1px solid var(--line-strong);
      }
      tr-page-live {
        flex: 1;
        min-height: 0;
      }
    `,
  ];

  /** Kept while its part of the address is unchanged: another object would be another tail. */
  #kept: readonly URLSearchParams[] = [];

  override render(): TemplateResult {
    const tails = this.#tails();
    return html`<div class="head"><h1>${msg("Live")}</h1>
        <button class="small" ?disabled=${tails.length >= MAX_TAILS} @click=${() => this.#go([...tails, new URLSearchParams()])}>${icon("plus")}${msg("Add tail")}</button>
        <button class="small" aria-pressed=${this._isPaused} @click=${this.#pauseAll}>${icon(this._isPaused ? "play" : "pause")}${this._isPaused ? msg("Resume all") : msg("Pause all")}</button></div>
      <div class="tails">${tails.map((tail, at) => this.#tail(tail, at))}</div>`;
  }

  #tail(parameters: URLSearchParams, at: number): TemplateResult {
    const name = msg(str`Tail ${at + 1}`);
    const use = (): void => {
      this._used = at;
    };
    return html`<section aria-label=${name} ?data-idle=${this._used !== at} @pointerdown=${use} @focusin=${use}>
      <tr-page-live .parameters=${parameters} .isSide=${true} .go=${(next: URLSearchParams) => this.#go(this.#tails().with(at, next))}></tr-page-live>
      <button class="plain small close" aria-label=${msg(str`Close tail ${at + 1}`)} @click=${() => this.#close(at)}>${icon("close")}${msg("Close")}</button>
    </section>`;
  }

  #tails(): readonly URLSearchParams[] {
    const texts = this.parameters.getAll("t").slice(0, MAX_TAILS);
    // The address of the list of pages names none.
    if (texts.length === 0) texts.push("", "");
    this.#kept = texts.map((text, at) => {
      const known = this.#kept[at];
      return known?.toString() === text ? known : new URLSearchParams(text);
    });
    return this.#kept;
  }

  #close(at: number): void {
    const left = this.#tails().toSpliced(at, 1);
    this._used = 0;
    if (left.length === 1) navigate({ page: "live", parameters: left[0]! });
    else this.#go(left);
  }

  #go(tails: readonly URLSearchParams[]): void {
    const parameters = new URLSearchParams(tails.map((tail) => ["t", tail.toString()]));
    navigate({ page: "tails", parameters });
  }

  #pauseAll(): void {
    this._isPaused = !this._isPaused;
    for (const tail of this.renderRoot.querySelectorAll("tr-page-live")) tail.setPaused(this._isPaused);
  }
}

customElements.define("tr-page-tails", TailsPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-tails": TailsPage;
  }
}
