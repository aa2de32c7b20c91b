/** Shown for an address without a page. */

import { msg } from "@lit/localize";
import { css, html, LitElement, type TemplateResult } from "lit";

export class NotFoundPage extends LitElement {
  static override styles = css`
    :host {
      display: grid;
      place-content: center;
      height: 100%;
      padding: 20px;
      text-align: center;
      color: var(--ink-muted);
    }
    h1 {
      margin: 0 0 6px;
      color: var(--ink);
      font-size: 1.25rem;
    }
    a {
      color: var(--accent);
    }
  `;

  override render(): TemplateResult {
    return html`<h1>${msg("There is no such page")}</h1><p>${msg("The address may be mistyped.")} <a href="#/discover">${msg("Go to Discover")}</a></p>`;
  }
}

customElements.define("tr-page-not-found", NotFoundPage);
