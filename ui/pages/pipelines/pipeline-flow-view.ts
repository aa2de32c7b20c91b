/** A pipeline as a row of steps, each with how many events go through it. */

import { msg, str } from "@lit/localize";
import { css, html, nothing, type TemplateResult } from "lit";
import type { FlowStep } from "#ui/services/administration/pipeline-flow.ts";
import { formatCount, formatShort } from "#ui/services/text/format.ts";

export const flowStyles = css`
  .flow {
    display: flex;
    flex-wrap: wrap;
    gap: 10px 26px;
    margin: 0;
    padding: 0;
    list-style: none;
  }
  .flow li {
    position: relative;
    min-width: 8.5rem;
    padding: 8px 12px;
    border: 1px solid var(--line);
    border-radius: 8px;
    background: var(--surface);
  }
  .flow li:not(:last-child)::after {
    content: "→";
    position: absolute;
    top: 50%;
    right: -20px;
    color: var(--ink-muted);
    transform: translateY(-50%);
  }
  .flow strong,
  .flow span {
    display: block;
  }
  .flow span {
    color: var(--ink-muted);
    font-size: var(--text-small);
    font-variant-numeric: tabular-nums;
  }
  .flow .wrong {
    color: var(--level-error);
  }
`;

/** Returns a pipeline's steps under its name; nothing where it tells of none. */
export function flowView(id: string, steps: readonly FlowStep[]): TemplateResult | typeof nothing {
  if (steps.length === 0) return nothing;
  return html`<h2>${msg(str`Flow of ${id}`)}</h2>
    <ol class="flow" aria-label=${msg(str`Flow of ${id}`)}>${steps.map(stepView)}</ol>`;
}

function stepView({ name, count, dropped, failures, perSecond, eventMs }: FlowStep): TemplateResult {
  return html`<li><strong>${name}</strong>
    <span>${perSecond === undefined ? "–" : msg(str`${formatShort(perSecond)} per second`)}</span>
    <span>${msg(str`${formatCount(count)} events`)}</span>
    ${eventMs === undefined ? nothing : html`<span>${msg(str`${eventMs.toPrecision(2)} ms each`)}</span>`}
    ${dropped === 0 ? nothing : html`<span>${msg(str`${formatCount(dropped)} dropped`)}</span>`}
    ${failures === 0 ? nothing : html`<span class="wrong">${msg(str`${formatCount(failures)} failed`)}</span>`}</li>`;
}
