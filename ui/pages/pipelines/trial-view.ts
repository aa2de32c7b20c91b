/** A line's way through a pipeline: what each step did to it. */

import { msg } from "@lit/localize";
import { css, html, nothing, type TemplateResult } from "lit";
import { type Change, changesOf, type Trial } from "#ui/services/administration/pipeline-client.ts";
import { valueText } from "#ui/services/search/log-document.ts";

const SIGNS: Readonly<Record<Change["kind"], string>> = { added: "+", changed: "~", removed: "−" };

/** Styles of `trialView`. */
export const trialStyles = css`
  .trial {
    margin: 0 0 12px;
    padding: 10px 12px;
    border: 1px solid var(--line);
    border-radius: 8px;
    background: var(--surface);
  }
  .trial code {
    display: block;
    margin-bottom: 8px;
    font: var(--text-small) / 1.5 var(--font-mono);
    overflow-wrap: anywhere;
  }
  .trial ol {
    margin: 0;
    padding: 0;
    list-style: none;
  }
  .trial li {
    padding: 6px 0 6px 12px;
    border-left: 3px solid var(--accent);
  }
  .trial li + li {
    margin-top: 4px;
  }
  .trial li.idle {
    border-left-color: var(--line-strong);
  }
  .trial li.dropped {
    border-left-color: var(--level-error);
  }
  .trial table {
    width: 100%;
    margin-top: 4px;
    border-collapse: collapse;
    font: var(--text-small) / 1.5 var(--font-mono);
  }
  .trial td {
    padding: 1px 8px 1px 0;
    border: 0;
    white-space: normal;
    overflow-wrap: anywhere;
    vertical-align: top;
  }
  .trial .added td:first-child {
    color: var(--code-string);
  }
  .trial .changed td:first-child {
    color: var(--code-key);
  }
  .trial .removed td {
    color: var(--level-error);
    text-decoration: line-through;
  }
`;

/** Returns one line's way. */
export function trialView({ input, steps, refused }: Trial): TemplateResult {
  let before = input;
  return html`<section class="trial"><code>${valueText(input["message"])}</code>
    ${steps.length === 0 ? html`<p class="muted">${msg("No filter does anything.")}</p>` : nothing}
    <ol>${steps.map(({ name, matched, event }) => {
      const changes = event === null ? [] : changesOf(before, event);
      if (event !== null) before = event;
      const look = event === null ? "dropped" : matched ? "" : "idle";
      return html`<li class=${look}><b>${name}</b> <span class="muted">${event === null ? msg("drops the event") : matched ? nothing : msg("does nothing: it didn't match")}</span>
        ${changes.length === 0 ? nothing : html`<table><tbody>${changes.map(({ field, kind, value }) => html`<tr class=${kind}><td>${SIGNS[kind]} ${field}</td><td>${value}</td></tr>`)}</tbody></table>`}</li>`;
    })}</ol>
    ${refused.map((reason) => html`<p role="alert">${reason}</p>`)}
  </section>`;
}
