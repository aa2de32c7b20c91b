/** Parts of the console: answers, history, and an introduction. */

import { msg, str } from "@lit/localize";
import { html, nothing, type TemplateResult } from "lit";
import { icon } from "#ui/components/style/icons.ts";
import "#ui/components/editor/json-view.ts";
import type { AnswerTable } from "#ui/services/console/answer-table.ts";
import type { ConsoleAnswer } from "#ui/services/console/console-client.ts";
import type { PastRequest } from "#ui/services/console/history.ts";
import { formatAgo, formatBytes } from "#ui/services/text/format.ts";
import type { Result } from "./console-model.ts";

/** Larger answers are offered as a file: drawing them would stall the page. */
const MAX_SHOWN_BYTES = 8_000_000;
/** Larger answers are folded to their first level. */
const MAX_JSON_BYTES = 3_000_000;

const KEYS: readonly (readonly [string, string])[] = [
  [msg("Ctrl+Enter"), msg("run the request, or all selected")],
  [msg("Ctrl+Space"), msg("suggest")],
  [msg("Tab"), msg("accept, indent")],
  [msg("Esc, Tab"), msg("leave the editor")],
];

/** Returns the text that is shown before the first answer. */
export function introductionView(): TemplateResult {
  return html`<div class="empty"><p>${msg("Answers appear here.")}</p>
    <dl>${KEYS.map(([key, text]) => html`<dt><kbd>${key}</kbd></dt><dd>${text}</dd>`)}</dl></div>`;
}

export interface ResultActions {
  readonly onCopy: (text: string) => void;
  readonly onSave: (answer: ConsoleAnswer) => void;
  readonly onTable: () => void;
}

/** Returns a request's answer, as a table where `isTable` and it holds rows. */
export function resultView(
  { request, answer, table }: Result,
  isTable: boolean,
  { onCopy, onSave, onTable }: ResultActions,
): TemplateResult {
  const title = `${request.method} ${request.path}`;
  if (answer === undefined)
    return html`<article><header><h2 title=${title}>${title}</h2><span role="status">${msg("Waiting …")}</span></header></article>`;
  const reason = reasonOf(answer);
  return html`<article aria-label=${msg(str`Answer of ${title}`)}>
    <header>
      <h2 title=${title}>${title}</h2>
      <span role="status" class="state ${stateOf(answer.status)}">${stateText(answer)}</span>
      <span>${msg(str`${Math.round(answer.tookMs)} ms`)}</span><span>${formatBytes(answer.sizeBytes)}</span>
      ${table === undefined ? nothing : html`<button class="plain small icon" aria-pressed=${isTable} aria-label=${msg("Answer as a table")} title=${msg("Table")} @click=${onTable}>${icon("columns")}</button>`}
      <button class="plain small icon" aria-label=${msg("Copy the answer")} title=${msg("Copy")} @click=${() => onCopy(answer.text)}>${icon("copy")}</button>
      <button class="plain small icon" aria-label=${msg("Save the answer as a file")} title=${msg("Save as a file")} @click=${() => onSave(answer)}>${icon("download")}</button>
    </header>
    ${reason === undefined ? nothing : html`<p class="reason">${reason}</p>`}
    ${answer.warning === undefined ? nothing : html`<p class="reason">${answer.warning}</p>`}
    ${isTable && table !== undefined ? tableView(table) : contentView(answer)}
  </article>`;
}

function tableView({ columns, rows, numeric, more }: AnswerTable): TemplateResult {
  const look = (at: number): string => (numeric.has(at) ? "number" : "");
  return html`<div class="table" tabindex="0" role="region" aria-label=${msg("Answer as a table")}><table>
      <thead><tr>${columns.map((name, at) => html`<th scope="col" class=${look(at)}>${name}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr>${row.map((text, at) => html`<td class=${look(at)} title=${text}>${text}</td>`)}</tr>`)}</tbody></table></div>
    ${more.rows + more.columns === 0 ? nothing : html`<p class="muted">${msg(str`${more.rows} rows and ${more.columns} columns more aren't shown.`)}</p>`}`;
}

function contentView({
  text,
  contentType,
  sizeBytes,
  status,
}: ConsoleAnswer): TemplateResult | typeof nothing {
  if (status === 0 || text === "") return nothing;
  if (sizeBytes > MAX_SHOWN_BYTES)
    return html`<p class="reason">${msg("The answer is too long to be shown here; save it as a file.")}</p>`;
  if (contentType.includes("json") && sizeBytes <= MAX_JSON_BYTES)
    return html`<tr-json-view .text=${text}></tr-json-view>`;
  return html`<pre tabindex="0">${text}</pre>`;
}

function stateText({ status, statusText }: ConsoleAnswer): string {
  return status === 0 ? msg("Not sent") : `${status} ${statusText}`;
}

function stateOf(status: number): string {
  if (status === 0 || status >= 500) return "failed";
  return status >= 400 ? "wrong" : "";
}

/** Returns an error's own words, which answers bury. */
function reasonOf({ status, text }: ConsoleAnswer): string | undefined {
  if (status === 0) return text;
  if (status < 400) return undefined;
  try {
    const { error } = JSON.parse(text) as {
      error?: string | { reason?: string; root_cause?: { reason?: string }[] };
    };
    return typeof error === "string" ? error : (error?.root_cause?.[0]?.reason ?? error?.reason);
  } catch {
    return undefined;
  }
}

/** Returns the requests of the past that hold `search`. */
export function historyView(
  history: readonly PastRequest[],
  search: string,
  onChoose: (entry: PastRequest) => void,
): TemplateResult {
  const wanted = search.toLowerCase();
  const found = history.filter(({ text }) => text.toLowerCase().includes(wanted));
  if (found.length === 0)
    return html`<p>${history.length === 0 ? msg("Nothing was sent from this browser yet.") : msg("No request holds this.")}</p>`;
  const nowMs = Date.now();
  return html`<ul>${found.map(
    (entry) => html`<li><button title=${entry.text} @click=${() => onChoose(entry)}>
      <span>${entry.text.split("\n", 1)[0]}</span>
      <small class=${stateOf(entry.status)}>${entry.status === 0 ? msg("not sent") : entry.status}</small>
      <small>${formatAgo(entry.atMs, nowMs)}</small></button></li>`,
  )}</ul>`;
}
