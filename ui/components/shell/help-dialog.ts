/** First steps, shortcuts and the query language, opened with one key. Fires `tr-tour` to show the hints again. */

import { msg } from "@lit/localize";
import { css, html, LitElement, type TemplateResult } from "lit";
import { icon } from "#ui/components/style/icons.ts";
import { controls, dialogFrame } from "#ui/components/style/styles.ts";

/** Functions that are hard to discover, each with its page. */
const FIRST_STEPS: readonly (readonly [address: string, title: string, text: string])[] = [
  [
    "#/discover",
    msg("Narrow what you see"),
    msg("Drag over the histogram to zoom. Open a field at the left and press + or − beside a value."),
  ],
  [
    "#/discover?view=patterns",
    msg("See kinds, not lines"),
    msg("Patterns groups the lines by their text and leaves out what you have seen enough of."),
  ],
  [
    "#/live",
    msg("Follow new lines"),
    msg("Live takes the same query. Scrolling up holds it; End follows again."),
  ],
  [
    "#/visualise",
    msg("Ask for a number"),
    msg("A chart takes formulas, and a click on a bar or a name filters by it, with Alt leaves it out."),
  ],
];

const KEYS: readonly (readonly [string, string])[] = [
  ["/", msg("Go to the query")],
  ["j  k", msg("Next and previous line")],
  [msg("Enter"), msg("Open the line")],
  [msg("Esc"), msg("Close what is open")],
  ["↓ ↑ → ←", msg("Within a list: rows, and the buttons of a row")],
  ["t", msg("Time range")],
  ["f", msg("Fields")],
  ["r", msg("Search again")],
  ["s", msg("Find in the lines that are loaded")],
  ["e  E", msg("Next and previous error")],
  ["w", msg("Wrap long lines")],
  ["y", msg("Copy a link to these lines")],
  ["l", msg("Follow the search live")],
  ["p", msg("Live: pause, go on")],
  ["c", msg("Live: clear")],
  [msg("End"), msg("Live: follow the newest line")],
  ["Ctrl+Enter", msg("Console: run the request at the cursor")],
  ["Ctrl+Space", msg("Console: suggest")],
  ["h", msg("Console: history")],
  ["e", msg("Dashboard: edit")],
  ["?", msg("This page")],
];

const LANGUAGE: readonly (readonly [string, string])[] = [
  ["connection refused", msg("lines with both words")],
  ['"connection refused"', msg("the words side by side")],
  ["timeout OR refused", msg("one of them")],
  ["error NOT healthcheck", msg("without a word")],
  ["host.name:web-1", msg("a field's value")],
  ["http.response.status_code:>=500", msg("a number's range")],
  ["url.original:\\/api\\/*", msg("beginnings, * and ? stand for anything")],
  ["_exists_:user.name", msg("lines that have the field")],
  ["(a OR b) AND c", msg("parentheses group")],
];

export class HelpDialog extends LitElement {
  static override styles = [
    controls,
    dialogFrame,
    css`
      dialog {
        width: min(46rem, calc(100vw - 24px));
        max-height: calc(100dvh - 40px);
        padding: 0;
      }
      header {
        display: flex;
        align-items: center;
        justify-content: space-between;
        padding: 10px 10px 10px 18px;
        border-bottom: 1px solid var(--line);
      }
      h2,
      h3 {
        margin: 0;
        font-size: var(--text-large);
        font-weight: 600;
      }
      h3 {
        margin-bottom: 8px;
        font-size: var(--text);
      }
      .columns {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr));
        gap: 20px 28px;
        padding: 18px;
      }
      .first {
        padding: 18px 18px 0;
      }
      ol {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr));
        gap: 12px 28px;
        margin: 0;
        padding-left: 1.2rem;
        color: var(--ink-muted);
      }
      .first button {
        margin-top: 12px;
      }
      li a {
        display: block;
        font-weight: 600;
      }
      dl {
        display: grid;
        grid-template-columns: auto 1fr;
        gap: 6px 14px;
        margin: 0;
      }
      dt {
        font: var(--text-small) / 20px var(--font-mono);
      }
      dd {
        margin: 0;
        color: var(--ink-muted);
      }
      .language dl {
        grid-template-columns: 1fr;
        gap: 0;
      }
      .language dd {
        margin-bottom: 7px;
      }
      kbd {
        padding: 1px 6px;
        border: 1px solid var(--line-strong);
        border-radius: 4px;
        background: var(--surface-sunken);
        font: inherit;
        white-space: pre;
      }
    `,
  ];

  /** Opens the dialog. */
  async show(): Promise<void> {
    await this.updateComplete;
    const dialog = this.renderRoot.querySelector("dialog");
    if (dialog?.open === false) dialog.showModal();
  }

  #close(): void {
    this.renderRoot.querySelector("dialog")?.close();
  }

  #tour(): void {
    this.#close();
    this.dispatchEvent(new CustomEvent("tr-tour"));
  }

  override render(): TemplateResult {
    return html`<dialog aria-labelledby="title">
      <header>
        <h2 id="title">${msg("Help")}</h2>
        <form method="dialog"><button class="plain icon" aria-label=${msg("Close")}>${icon("close")}</button></form>
      </header>
      <section class="first"><h3>${msg("First steps")}</h3><ol>${FIRST_STEPS.map(([address, title, text]) => html`<li><a href=${address} @click=${this.#close}>${title}</a>${text}</li>`)}</ol>
        <button class="small" @click=${this.#tour}>${msg("Show hints on the page")}</button></section>
      <div class="columns">
        <section><h3>${msg("Keyboard shortcuts")}</h3><dl>${KEYS.map(([key, text]) => html`<dt><kbd>${key}</kbd></dt><dd>${text}</dd>`)}</dl></section>
        <section class="language"><h3>${msg("Query")}</h3><dl>${LANGUAGE.map(([key, text]) => html`<dt>${key}</dt><dd>${text}</dd>`)}</dl></section>
      </div>
    </dialog>`;
  }
}

customElements.define("tr-help-dialog", HelpDialog);

declare global {
  interface HTMLElementTagNameMap {
    "tr-help-dialog": HelpDialog;
  }
}
