/** The user's own colours of lines: a list behind a button. Fires `tr-rules` with the rules when they change. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { dropPanel, toggleDropPanel } from "#ui/components/controls/drop-panel.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { type ColourRule, MAX_RULES, RULE_COLOURS } from "#ui/services/live/colour-rules.ts";

export class ColourRulesPanel extends LitElement {
  @property({ attribute: false }) accessor rules: readonly ColourRule[] = [];
  /** Of the rule that is to be added. */
  @state() accessor _colour = 1;

  static override styles = [
    controls,
    dropPanel,
    css`
      :host {
        display: inline-flex;
      }
      p {
        margin: 0 0 10px;
        color: var(--ink-muted);
      }
      ul {
        margin: 0 0 10px;
        padding: 0;
        list-style: none;
      }
      li,
      form {
        display: flex;
        align-items: center;
        gap: 8px;
        margin-bottom: 4px;
      }
      li span {
        flex: 1;
        min-width: 0;
        overflow-wrap: anywhere;
        font-family: var(--font-mono);
      }
      form input {
        flex: 1;
      }
      i {
        flex: none;
        width: 14px;
        height: 14px;
        border-radius: 4px;
        background: var(--series-1);
      }
      .colours {
        display: flex;
        gap: 2px;
        margin-bottom: 8px;
      }
      [data-colour="2"] i {
        background: var(--series-2);
      }
      [data-colour="3"] i {
        background: var(--series-3);
      }
      [data-colour="4"] i {
        background: var(--series-4);
      }
      [data-colour="5"] i {
        background: var(--series-5);
      }
      [data-colour="6"] i {
        background: var(--series-6);
      }
    `,
  ];

  override render(): TemplateResult {
    const count = this.rules.length === 0 ? "" : ` ${this.rules.length}`;
    return html`<button class="plain small" aria-haspopup="dialog" title=${msg("Colour lines that hold a text")} @click=${(event: Event) => toggleDropPanel(event.currentTarget as HTMLElement)}>${icon("highlighter")}${msg("Colours")}${count}</button>
      <div class="panel" popover role="dialog" aria-label=${msg("Colours of lines")}>
        <h2>${msg("Colours of lines")}</h2>
        <p>${msg("Lines that hold a text get its colour; the first rule that fits counts.")}</p>
        <ul>${this.rules.map((rule) => this.#rule(rule))}</ul>
        <div class="colours" role="group" aria-label=${msg("Colour")}>
          ${Array.from({ length: RULE_COLOURS }, (_, at) => this.#swatch(at + 1))}
        </div>
        <form @submit=${this.#add}>
          <input name="text" aria-label=${msg("Text")} placeholder=${msg("Text, such as timeout")} maxlength="200" autocomplete="off" />
          <button ?disabled=${this.rules.length >= MAX_RULES}>${msg("Add")}</button>
        </form>
      </div>`;
  }

  #rule(rule: ColourRule): TemplateResult {
    return html`<li data-colour=${rule.colour}><i></i><span>${rule.text}</span>
      <button class="plain small icon" aria-label=${msg(str`Remove the colour of ${rule.text}`)} title=${msg("Remove")} @click=${() => this.#fire(this.rules.filter((one) => one !== rule))}>${icon("close")}</button></li>`;
  }

  #swatch(colour: number): TemplateResult {
    return html`<button type="button" class="plain small icon" data-colour=${colour} aria-label=${msg(str`Colour ${colour}`)} aria-pressed=${colour === this._colour}
      @click=${() => {
        this._colour = colour;
      }}><i></i></button>`;
  }

  #add(event: Event): void {
    event.preventDefault();
    const input = this.renderRoot.querySelector("input");
    const text = input?.value.trim() ?? "";
    if (input === null || text === "") return;
    input.value = "";
    const others = this.rules.filter((rule) => rule.text !== text);
    this.#fire([...others, { text, colour: this._colour }]);
    this._colour = (this._colour % RULE_COLOURS) + 1;
  }

  #fire(rules: readonly ColourRule[]): void {
    this.dispatchEvent(new CustomEvent<readonly ColourRule[]>("tr-rules", { detail: rules }));
  }
}

customElements.define("tr-colour-rules", ColourRulesPanel);

declare global {
  interface HTMLElementTagNameMap {
    "tr-colour-rules": ColourRulesPanel;
  }
}
