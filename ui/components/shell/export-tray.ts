/** The exports of this tab, shown over any page: progress, result, and a button to cancel or to remove them. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { ExportJob, type ExportRequest } from "#ui/services/discover/export-job.ts";
import { formatCount } from "#ui/services/text/format.ts";

/** Each uses memory for a page of lines, and a snapshot at the hub. */
const MAX_RUNNING = 3;
/** Time to read the result. */
const SHOWN_MS = 20_000;

export class ExportTray extends LitElement {
  @state() accessor _jobs: readonly ExportJob[] = [];
  @state() accessor _refused = false;

  static override styles = [
    controls,
    css`
      :host {
        position: fixed;
        z-index: 40;
        right: 12px;
        bottom: 12px;
        display: grid;
        gap: 6px;
        width: min(24rem, calc(100vw - 24px));
      }
      :host(:empty) {
        pointer-events: none;
      }
      section {
        display: grid;
        grid-template-columns: minmax(0, 1fr) auto;
        align-items: center;
        gap: 4px 8px;
        padding: 8px 8px 8px 12px;
        border: 1px solid var(--line-strong);
        border-radius: 8px;
        background: var(--surface);
        box-shadow: 0 14px 34px var(--shadow);
        pointer-events: auto;
      }
      strong {
        overflow: hidden;
        text-overflow: ellipsis;
        font-weight: 600;
        white-space: nowrap;
      }
      progress {
        grid-column: 1 / -1;
        width: 100%;
        height: 6px;
        accent-color: var(--accent);
      }
      p {
        grid-column: 1 / -1;
        margin: 0;
        color: var(--ink-muted);
        font-size: var(--text-small);
        font-variant-numeric: tabular-nums;
      }
      .failed {
        color: var(--level-error);
      }
    `,
  ];

  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const job of this._jobs) job.cancel();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Begins an export, unless too many are running. */
  start(request: ExportRequest): void {
    this._refused = this._jobs.filter(isRunning).length >= MAX_RUNNING;
    if (this._refused) return;
    const job = new ExportJob(request, () => this.requestUpdate());
    this._jobs = [...this._jobs, job];
    void job.run().then(() => this.#leaveLater(job));
  }

  override render(): TemplateResult {
    return html`${this._jobs.map((job) => this.#job(job))}
      ${this._refused ? html`<section role="alert"><p class="failed">${msg(str`${MAX_RUNNING} exports run already: wait for one, or cancel it.`)}</p></section>` : nothing}`;
  }

  #job(job: ExportJob): TemplateResult {
    const running = job.state.name === "running" ? job.state : undefined;
    return html`<section aria-label=${msg(str`Export ${job.title}`)}><strong>${job.title}</strong>
      ${
        running === undefined
          ? html`<button class="plain small icon" aria-label=${msg("Close")} title=${msg("Close")} @click=${() => this.#remove(job)}>${icon("close")}</button>`
          : html`<button class="plain small" @click=${() => job.cancel()}>${msg("Cancel")}</button>
              <progress max=${Math.max(1, running.total)} value=${running.written} aria-label=${msg("Lines written")}></progress>`
      }
      <p role="status" class=${job.state.name}>${stateText(job)}</p></section>`;
  }

  #leaveLater(job: ExportJob): void {
    if (job.state.name === "failed") return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#remove(job);
    }, SHOWN_MS);
    this.#timers.add(timer);
  }

  #remove(job: ExportJob): void {
    this._jobs = this._jobs.filter((one) => one !== job);
    this._refused = false;
  }
}

function isRunning({ state: { name } }: ExportJob): boolean {
  return name === "running";
}

function stateText({ state }: ExportJob): string {
  if (state.name === "running")
    return msg(str`${formatCount(state.written)} of ${formatCount(state.total)} lines`);
  if (state.name === "cancelled") return msg("Cancelled");
  if (state.name === "failed") return state.reason;
  return state.files === 1
    ? msg(str`${formatCount(state.lines)} lines are saved`)
    : msg(str`${formatCount(state.lines)} lines are saved in ${state.files} files`);
}

customElements.define("tr-export-tray", ExportTray);

declare global {
  interface HTMLElementTagNameMap {
    "tr-export-tray": ExportTray;
  }
}
