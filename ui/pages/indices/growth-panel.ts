/** The sizes of indices by day, and how long the disk lasts at this pace. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import "#ui/components/chart/chart.ts";
import { controls } from "#ui/components/style/styles.ts";
import { fetchCluster } from "#ui/services/administration/cluster-client.ts";
import type { IndexRow } from "#ui/services/administration/index-admin.ts";
import { daysUntilFull, type IndexGrowth, indexGrowth } from "#ui/services/administration/index-growth.ts";
import { formatBytes, formatCount, formatTime } from "#ui/services/text/format.ts";
import { DEFAULT_LOOK } from "#ui/services/visualise/chart-look.ts";
import { type ChartData, othersName } from "#ui/services/visualise/series.ts";

const LOOK = { ...DEFAULT_LOOK, unit: "bytes" } as const;

export class GrowthPanel extends LitElement {
  @property({ attribute: false }) accessor rows: readonly IndexRow[] = [];
  /** Of the node whose disk is fullest; undefined if no node reports it. */
  @state() accessor _freeBytes: number | undefined;

  static override styles = [
    controls,
    css`
      :host {
        display: block;
        margin-bottom: 16px;
      }
      tr-chart {
        height: 200px;
      }
      p {
        margin: 0 0 6px;
        color: var(--ink-muted);
      }
    `,
  ];

  #abort = new AbortController();

  override connectedCallback(): void {
    super.connectedCallback();
    this.#abort = new AbortController();
    void this.#loadDisk(this.#abort.signal);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#abort.abort();
  }

  override render(): TemplateResult {
    const growth = indexGrowth(this.rows, Date.now());
    return html`<p role="status">${forecastText(growth, this._freeBytes)}</p>
      ${growth.families.length === 0 ? nothing : html`<tr-chart .data=${chartOf(growth)} chart="bar" .label=${msg("Size by the day of creation")} .look=${LOOK}></tr-chart>`}`;
  }

  async #loadDisk(signal: AbortSignal): Promise<void> {
    try {
      const { nodes } = await fetchCluster(signal);
      const free = nodes.flatMap(({ diskFreeBytes }) => diskFreeBytes ?? []);
      this._freeBytes = free.length === 0 ? undefined : Math.min(...free);
    } catch {
      // Without the right to see nodes there is no forecast; sizes are shown nevertheless.
    }
  }
}

function forecastText(growth: IndexGrowth, freeBytes: number | undefined): string {
  const { bytesPerDay } = growth;
  if (bytesPerDay === undefined) return msg("Indices of whole days are needed for a forecast.");
  const pace = msg(str`${formatBytes(bytesPerDay)} a day, the mean of the last days.`);
  const days = freeBytes === undefined ? undefined : daysUntilFull(freeBytes, growth);
  if (freeBytes === undefined || days === undefined) return pace;
  return `${pace} ${msg(str`${formatBytes(freeBytes)} are free: enough for about ${formatCount(days)} days if nothing is deleted.`)}`;
}

function chartOf({ days, families }: IndexGrowth): ChartData {
  return {
    isTime: true,
    isUtc: true,
    isAdditive: true,
    groups: days.map((key) => ({ key, label: formatTime(key, true).slice(0, 10), part: "value" })),
    series: families.map(({ name, bytes }) => ({
      name: name === "" ? othersName() : name,
      value: name,
      part: name === "" ? "others" : "value",
      values: bytes,
    })),
    total: undefined,
  };
}

customElements.define("tr-growth-panel", GrowthPanel);

declare global {
  interface HTMLElementTagNameMap {
    "tr-growth-panel": GrowthPanel;
  }
}
