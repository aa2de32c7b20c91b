/** The earlier versions of a dashboard. Fires `tr-revision` with one that is to be shown again. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { dropPanel, toggleDropPanel } from "#ui/components/controls/drop-panel.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { toHubError } from "#ui/services/hub/json-call.ts";
import { SavedClient, type SavedObject, type SavedRevision } from "#ui/services/hub/saved-client.ts";
import { formatMoment } from "#ui/services/text/format.ts";

export class RevisionsPanel extends LitElement {
  @property({ attribute: false }) accessor saved: SavedObject | undefined;
  @state() accessor _revisions: readonly SavedRevision[] | undefined;
  @state() accessor _fault = "";

  static override styles = [
    controls,
    dropPanel,
    css`
      ul {
        display: grid;
        gap: 2px;
        margin: 0;
        padding: 0;
        list-style: none;
      }
      li button {
        justify-content: space-between;
        width: 100%;
        font-variant-numeric: tabular-nums;
      }
      p {
        margin: 0 0 8px;
        color: var(--ink-muted);
      }
      span {
        overflow: hidden;
        color: var(--ink-muted);
        text-overflow: ellipsis;
      }
    `,
  ];

  readonly #store = new SavedClient();

  override render(): TemplateResult {
    return html`<button class="icon" aria-haspopup="dialog" aria-label=${msg("Versions")} title=${msg("Versions saved before")} @click=${this.#toggle}>${icon("clock")}</button>
      <div class="panel" popover role="dialog" aria-label=${msg("Versions saved before")}>
        <h2>${msg("Versions saved before")}</h2>${this.#list()}</div>`;
  }

  #list(): TemplateResult {
    if (this._fault !== "") return html`<p role="alert">${this._fault}</p>`;
    if (this._revisions === undefined) return html`<p>${msg("Asking …")}</p>`;
    if (this._revisions.length === 0)
      return html`<p>${msg("None: it was never saved otherwise. The last 20 versions are kept.")}</p>`;
    return html`<p>${msg("A version is shown as a change that isn't saved yet.")}</p>
      <ul>${this._revisions.map((one) => this.#revision(one))}</ul>`;
  }

  #revision({ revision, updated, by }: SavedRevision): TemplateResult {
    const moment = formatMoment(Date.parse(updated));
    return html`<li><button class="plain" aria-label=${msg(str`Show the version of ${moment}`)} @click=${() => void this.#show(revision)}>${moment}${by === undefined ? nothing : html`<span>${by}</span>`}</button></li>`;
  }

  #toggle(event: Event): void {
    toggleDropPanel(event.currentTarget as HTMLElement);
    if (this.renderRoot.querySelector(".panel:popover-open") !== null) void this.#load();
  }

  async #load(): Promise<void> {
    if (this.saved === undefined) return;
    try {
      this._revisions = await this.#store.revisions(this.saved);
      this._fault = "";
    } catch (error) {
      this._fault = toHubError(error).message;
    }
  }

  async #show(revision: number): Promise<void> {
    if (this.saved === undefined) return;
    try {
      const detail = await this.#store.revision(this.saved, revision);
      this.renderRoot.querySelector<HTMLElement>(".panel")?.hidePopover();
      this.dispatchEvent(new CustomEvent<SavedObject>("tr-revision", { detail }));
    } catch (error) {
      this._fault = toHubError(error).message;
    }
  }
}

customElements.define("tr-revisions-panel", RevisionsPanel);

declare global {
  interface HTMLElementTagNameMap {
    "tr-revisions-panel": RevisionsPanel;
  }
}
