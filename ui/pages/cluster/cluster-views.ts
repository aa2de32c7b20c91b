/** Parts of the cluster page: its nodes, and a map of its shards. */

import { msg, str } from "@lit/localize";
import { css, html, nothing, type TemplateResult } from "lit";
import {
  type ClusterNode,
  type ClusterState,
  type IndexShards,
  type ShardCopy,
  shardsByIndex,
} from "#ui/services/administration/cluster-client.ts";
import { formatBytes, formatCount } from "#ui/services/text/format.ts";
import { sentence } from "#ui/services/text/sentence.ts";

/** Maximum of indices in the map: more are found by their names. */
const MAX_INDICES = 200;
/** Maximum of listed recoveries: after the loss of a node each of its shards is one. */
const MAX_RECOVERIES = 50;
/** A disk that is fuller is highlighted, percent. */
const FULL = 85;

/** Returns why a copy is on no node, for one of them. */
export function unassignedView({ explained }: ClusterState): TemplateResult | typeof nothing {
  if (explained === undefined) return nothing;
  const { index, shard, reason } = explained;
  return html`<div class="notice warning"><p><strong>${msg(str`Shard ${shard} of ${index} lacks a copy.`)}</strong> ${sentence(reason)}</p></div>`;
}

/** Returns the nodes with their load, as far as the answering hub has it. */
export function nodesView({ nodes, shards }: ClusterState): TemplateResult {
  const titles = [
    msg("Node"),
    msg("Address"),
    msg("CPU"),
    msg("Load"),
    msg("Heap"),
    msg("Disk"),
    msg("Shards"),
    msg("Size"),
  ];
  return html`<div class="table cards" tabindex="0" role="region" aria-label=${msg("Nodes")}><table role="table">
    <thead role="rowgroup"><tr role="row">${titles.map((title, at) => html`<th scope="col" role="columnheader" class=${isNumber(at) ? "number" : ""}>${title}</th>`)}</tr></thead>
    <tbody role="rowgroup">${nodes.map((node) => nodeRow(node, shards, titles))}</tbody></table></div>`;
}

/** CPU, load, heap, shards and size. */
function isNumber(column: number): boolean {
  return [2, 3, 4, 6, 7].includes(column);
}

function nodeRow(node: ClusterNode, shards: readonly ShardCopy[], titles: readonly string[]): TemplateResult {
  const own = shards.filter((copy) => copy.node === node.name);
  const cells: readonly (TemplateResult | string)[] = [
    html`<span class="name">${node.name}</span>${node.isMaster ? html` <span class="tag">${msg("master")}</span>` : nothing}`,
    node.ip || "–",
    node.cpu === undefined ? "–" : `${formatCount(node.cpu)} %`,
    node.load === undefined ? "–" : formatCount(node.load),
    node.heapBytes === undefined ? "–" : formatBytes(node.heapBytes),
    usageView(
      node.diskBytes === undefined || node.diskFreeBytes === undefined
        ? undefined
        : node.diskBytes - node.diskFreeBytes,
      node.diskBytes,
    ),
    formatCount(own.length),
    formatBytes(own.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)),
  ];
  return html`<tr role="row">${cells.map((cell, at) => html`<td role="cell" class=${isNumber(at) ? "number" : ""} data-label=${at === 0 ? nothing : titles[at]!}>${cell}</td>`)}</tr>`;
}

function usageView(used: number | undefined, all: number | undefined): TemplateResult | string {
  if (used === undefined) return "–";
  if (all === undefined || all === 0) return formatBytes(used);
  const percent = Math.min(100, (used / all) * 100);
  return html`<span class="fill ${percent >= FULL ? "warning" : ""}"><i data-share=${percent}></i></span>${msg(str`${formatBytes(used)} of ${formatBytes(all)}`)}`;
}

/** Returns how many copies are assigned and which are being copied; nothing if there is none. */
export function recoveriesView({
  recoveries,
  presentPercent,
}: ClusterState): TemplateResult | typeof nothing {
  if (recoveries.length === 0) return nothing;
  const shown = recoveries.slice(0, MAX_RECOVERIES);
  return html`<h2>${msg("Recoveries")}</h2>
    <p>${shareView(presentPercent)}${msg(str`${formatCount(Math.floor(presentPercent))} % of the copies are there, ${formatCount(recoveries.length)} on their way.`)}</p>
    <div class="table" tabindex="0" role="region" aria-label=${msg("Recoveries")}><table>
      <thead><tr><th scope="col">${msg("Index")}</th><th scope="col" class="number">${msg("Shard")}</th><th scope="col">${msg("From node")}</th><th scope="col">${msg("To node")}</th><th scope="col">${msg("State")}</th></tr></thead>
      <tbody>${shown.map(
        ({ index, shard, from, to }) =>
          html`<tr><td class="name">${index}</td><td class="number">${shard}</td><td>${from ?? "–"}</td><td>${to}</td><td>${from === undefined ? msg("Waits for a copy") : msg("Copying")}</td></tr>`,
      )}</tbody></table></div>
    ${recoveries.length <= shown.length ? nothing : html`<p class="muted">${msg(str`${formatCount(recoveries.length - shown.length)} more are on their way.`)}</p>`}`;
}

function shareView(percent: number): TemplateResult {
  return html`<span class="fill" aria-hidden="true"><i data-share=${percent}></i></span>`;
}

const LEGEND: readonly (readonly [string, string])[] = [
  ["primary", msg("primary")],
  ["", msg("replica")],
  ["moving", msg("starting or moving")],
  ["missing", msg("unassigned")],
];

/** Returns a table of indices by nodes whose cells hold a square for each copy of a shard. */
export function shardsView({ nodes, shards }: ClusterState, search: string): TemplateResult {
  const found = shardsByIndex(shards).filter(({ index }) => index.includes(search.trim()));
  if (found.length === 0) return html`<p class="muted">${msg("No index has such a name.")}</p>`;
  const places = [
    ...nodes.map(({ name }): string | undefined => name),
    ...(shards.some(({ node }) => node === undefined) ? [undefined] : []),
  ];
  return html`<p class="legend muted" aria-hidden="true">${LEGEND.map(([look, text]) => html`<span><i class="shard ${look}"></i>${text}</span>`)}</p>
    <div class="table" tabindex="0" role="region" aria-label=${msg("Shards")}><table>
      <thead><tr><th scope="col">${msg("Index")}</th>${places.map((place) => html`<th scope="col">${place ?? msg("Unassigned")}</th>`)}<th scope="col" class="number">${msg("Size")}</th></tr></thead>
      <tbody>${found.slice(0, MAX_INDICES).map((row) => indexRow(row, places))}</tbody></table></div>
    ${found.length <= MAX_INDICES ? nothing : html`<p class="muted">${msg(str`${formatCount(found.length - MAX_INDICES)} more indices: search for their names.`)}</p>`}`;
}

function indexRow(
  { index, byNode, sizeBytes }: IndexShards,
  places: readonly (string | undefined)[],
): TemplateResult {
  return html`<tr><th scope="row"><a class="name" href="#/indices?index=${encodeURIComponent(index)}">${index}</a></th>
    ${places.map((place) => html`<td>${(byNode.get(place) ?? []).map(shardView)}</td>`)}
    <td class="number">${formatBytes(sizeBytes)}</td></tr>`;
}

function shardView({ shard, isPrimary, state, docs, sizeBytes }: ShardCopy): TemplateResult {
  const look = state === "STARTED" ? "" : state === "UNASSIGNED" ? "missing" : "moving";
  const kind = isPrimary ? msg(str`Primary of shard ${shard}`) : msg(str`Replica of shard ${shard}`);
  const text =
    look === "missing"
      ? msg(str`${kind}: unassigned`)
      : docs === 1
        ? msg(str`${kind}: ${state.toLowerCase()}, 1 document, ${formatBytes(sizeBytes)}`)
        : msg(
            str`${kind}: ${state.toLowerCase()}, ${formatCount(docs)} documents, ${formatBytes(sizeBytes)}`,
          );
  return html`<span class="shard ${isPrimary ? "primary" : ""} ${look}" role="img" aria-label=${text} title=${text}>${shard}</span>`;
}

export const clusterStyles = css`
  .tag {
    padding: 1px 7px;
    border: 1px solid var(--line-strong);
    border-radius: 9px;
    color: var(--ink-muted);
    font-size: var(--text-small);
  }
  tbody th {
    color: inherit;
    font-size: inherit;
  }
  th a.name {
    color: inherit;
  }
  .shard {
    display: inline-grid;
    place-items: center;
    min-width: 24px;
    height: 24px;
    margin: 1px 3px 1px 0;
    padding: 0 4px;
    border: 1px solid var(--accent);
    border-radius: 4px;
    background: none;
    color: var(--accent);
    font: 600 var(--text-small) / 1 var(--font-mono);
  }
  .shard.primary {
    background: var(--accent-soft);
    border-width: 2px;
  }
  .shard.moving {
    border-style: dotted;
  }
  .shard.missing {
    border-style: dashed;
    border-color: var(--level-warn);
    background: none;
    color: var(--level-warn);
  }
  .legend {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 16px;
    margin: 0 0 8px;
    font-size: var(--text-small);
  }
  .legend .shard {
    min-width: 16px;
    height: 16px;
    margin: 0 6px 0 0;
    padding: 0;
    vertical-align: middle;
  }
`;
