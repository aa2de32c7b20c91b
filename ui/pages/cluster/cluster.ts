/** Cluster: nodes and their load, the location of each index's shards, and the running tasks. */

import { msg, str } from "@lit/localize";
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { errorView } from "#ui/components/controls/error-view.ts";
import { addListKeys } from "#ui/components/controls/hotkeys.ts";
import { Refreshing } from "#ui/components/controls/polling-controller.ts";
import { roveLists } from "#ui/components/controls/roving-focus.ts";
import { icon } from "#ui/components/style/icons.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { skeleton } from "#ui/components/style/skeleton.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import { cardTableStyles } from "#ui/components/table/card-table.ts";
import {
  type ClusterState,
  cancelTask,
  fetchCluster,
  type RunningTask,
} from "#ui/services/administration/cluster-client.ts";
import { formatCount, formatDuration } from "#ui/services/text/format.ts";
import { clusterStyles, nodesView, recoveriesView, shardsView, unassignedView } from "./cluster-views.ts";

const REFRESH_MS = 5_000;

export class ClusterPage extends LitElement {
  /** Part of the names of the indices that are shown. */
  @state() accessor _search = "";

  static override styles = [controls, notices, pageStyles, cardTableStyles, clusterStyles];

  readonly #cluster = new Refreshing(this, fetchCluster, REFRESH_MS);

  constructor() {
    super();
    roveLists(this);
    addListKeys(this, () => void this.#cluster.refresh());
  }

  override render(): TemplateResult {
    const { value, fault } = this.#cluster;
    return html`<div class="page">
      <div class="title"><h1>${msg("Cluster")}</h1><span class="space"></span>
        <button @click=${() => void this.#cluster.refresh()} title=${msg("Refresh (r)")}>${icon("refresh")}${msg("Refresh")}</button></div>
      ${fault === undefined ? nothing : errorView(fault)}
      ${value === undefined ? (fault === undefined ? skeleton(8) : nothing) : this.#content(value)}
    </div>`;
  }

  protected override updated(): void {
    for (const bar of this.renderRoot.querySelectorAll<HTMLElement>("[data-share]"))
      bar.style.width = `${bar.dataset["share"]}%`;
  }

  #content(cluster: ClusterState): TemplateResult {
    const { name, health, nodes, shards, unassigned, tasks } = cluster;
    const facts: readonly (readonly [string, TemplateResult | string])[] = [
      [msg("Health"), html`<span class="badge ${health}">${HEALTH_NAMES[health] ?? health}</span>`],
      [msg("Name"), name],
      [msg("Nodes"), formatCount(nodes.length)],
      [msg("Copies of shards"), formatCount(shards.length - unassigned)],
      [msg("Unassigned"), formatCount(unassigned)],
    ];
    return html`<dl class="facts">${facts.map(([title, fact]) => html`<div><dt>${title}</dt><dd>${fact}</dd></div>`)}</dl>
      ${unassignedView(cluster)}
      <h2>${msg("Nodes")}</h2>${nodesView(cluster)}
      ${recoveriesView(cluster)}
      <h2>${msg("Shards")}</h2>
      <div class="tools"><input type="search" aria-label=${msg("Search indices")} placeholder=${msg("Search indices")} .value=${this._search}
        @input=${(event: Event) => {
          this._search = (event.currentTarget as HTMLInputElement).value;
        }} /></div>
      ${shardsView(cluster, this._search)}
      <h2>${msg("Running tasks")}</h2>${this.#tasks(tasks)}`;
  }

  #tasks(tasks: readonly RunningTask[]): TemplateResult {
    if (tasks.length === 0) return html`<p class="muted">${msg("No task is running.")}</p>`;
    return html`<div class="table" tabindex="0" role="region" aria-label=${msg("Running tasks")}><table>
      <thead><tr><th scope="col">${msg("Task")}</th><th scope="col">${msg("Description")}</th><th scope="col" class="number">${msg("Running for")}</th><th scope="col"></th></tr></thead>
      <tbody>${tasks.map(
        ({
          id,
          action,
          description,
          runningMs,
          isCancellable,
        }) => html`<tr><td class="name">${action}</td><td>${description || "–"}</td>
          <td class="number">${formatDuration(runningMs)}</td><td class="number">${isCancellable ? html`<button class="small" aria-label=${msg(str`Cancel the task ${description || action}`)} @click=${() => void this.#cancel(id)}>${msg("Cancel")}</button>` : nothing}</td></tr>`,
      )}</tbody></table></div>`;
  }

  #cancel(id: string): Promise<boolean> {
    return this.#cluster.attempt((signal) => cancelTask(id, signal));
  }
}

const HEALTH_NAMES: Readonly<Record<string, string>> = {
  green: msg("green: every copy is there"),
  yellow: msg("yellow: not every replica is there"),
  red: msg("red: not every primary is there"),
};

customElements.define("tr-page-cluster", ClusterPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-cluster": ClusterPage;
  }
}
