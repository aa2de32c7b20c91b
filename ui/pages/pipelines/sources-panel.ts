/**
 * The sources of the last hour's lines: their rates, the recognised formats, the unrecognised lines, and a pattern for
 * those. Fires `tr-rate` with the lines a second of all.
 */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { errorView } from "#ui/components/controls/error-view.ts";
import { Refreshing } from "#ui/components/controls/polling-controller.ts";
import { roveLists } from "#ui/components/controls/roving-focus.ts";
import { icon } from "#ui/components/style/icons.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { skeleton } from "#ui/components/style/skeleton.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import { cardTableStyles } from "#ui/components/table/card-table.ts";
import { proposeGrok } from "#ui/services/administration/grok-proposal.ts";
import {
  FORMATS,
  findSources,
  JUDGED_LINES,
  type LineFormat,
  type LogSource,
} from "#ui/services/administration/source-formats.ts";
import { formatRoute } from "#ui/services/browser/router.ts";
import { SearchClient } from "#ui/services/search/search-client.ts";
import { formatCount, formatShort } from "#ui/services/text/format.ts";

const REFRESH_MS = 15_000;
/** Initial sample lines of an editor. */
const SAMPLES = 5;
const SAMPLE_CHARACTERS = 300;
const NAMES: Readonly<Record<LineFormat, string>> = {
  access: msg("Access log"),
  syslog: msg("Syslog"),
  json: "JSON",
  plain: msg("No format"),
};

export class SourcesPanel extends LitElement {
  static override styles = [
    controls,
    notices,
    pageStyles,
    cardTableStyles,
    css`
      :host {
        height: auto;
        overflow: visible;
      }
      td.path {
        min-width: 15rem;
        overflow-wrap: anywhere;
        white-space: normal;
      }
      code {
        display: block;
        max-width: min(34rem, 26vw);
        overflow: hidden;
        font: var(--text-small) / 1.5 var(--font-mono);
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .badge + .badge {
        margin-left: 4px;
      }
      @media (width < 1000px) {
        td.path {
          min-width: 10rem;
        }
        code {
          max-width: 16vw;
        }
      }
      @media (width < 800px) {
        code {
          max-width: none;
        }
        td:nth-child(n + 5) {
          grid-column: 1 / -1;
        }
      }
    `,
  ];

  constructor() {
    super();
    roveLists(this);
  }

  readonly #client = new SearchClient();
  readonly #sources = new Refreshing(
    this,
    async (signal) => {
      const sources = await findSources(this.#client, Date.now(), signal);
      const detail = sources.reduce((sum, { perSecond }) => sum + perSecond, 0);
      this.dispatchEvent(new CustomEvent<number>("tr-rate", { detail }));
      return sources;
    },
    REFRESH_MS,
  );

  override render(): TemplateResult {
    const { value, fault } = this.#sources;
    return html`<h2>${msg("Sources of the last hour")}</h2>
      ${fault === undefined ? nothing : errorView(fault)}
      ${value === undefined ? (fault === undefined ? skeleton(8) : nothing) : tableOf(value)}`;
  }
}

function tableOf(sources: readonly LogSource[]): TemplateResult {
  if (sources.length === 0) return html`<p class="muted">${msg("No line came in the last hour.")}</p>`;
  return html`<div class="table cards" tabindex="0" role="region" aria-label=${msg("Sources of the last hour")}><table role="table">
      <thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">${msg("Source")}</th><th scope="col" role="columnheader" class="number">${msg("Lines/s")}</th>
        <th scope="col" role="columnheader" class="number">${msg("Lines")}</th><th scope="col" role="columnheader">${msg("Formats")}</th>
        <th scope="col" role="columnheader">${msg("Newest unrecognised line")}</th><th scope="col" role="columnheader"><span class="hidden-text">${msg("Actions")}</span></th></tr></thead>
      <tbody role="rowgroup">${sources.map(rowOf)}</tbody></table></div>
    <p class="muted">${msg(str`Formats are those of the newest ${JUDGED_LINES} lines of a source; lines per second those of the last five minutes.`)}</p>`;
}

function rowOf(source: LogSource): TemplateResult {
  const { path, lines, perSecond, formats, plain } = source;
  const name = path === "" ? msg("Not from a file") : path;
  return html`<tr role="row"><td role="cell" class="path">${name}</td><td role="cell" class="number" data-label=${msg("Lines/s")}>${formatShort(perSecond)}</td>
    <td role="cell" class="number" data-label=${msg("Lines")}>${formatCount(lines)}</td>
    <td role="cell" data-label=${msg("Formats")}>${FORMATS.filter((format) => formats[format] > 0).map((format) => html`<span class="badge ${format === "plain" ? "warning" : "ok"}">${NAMES[format]} ${formats[format]}</span>`)}</td>
    <td role="cell" data-label=${msg("Newest unrecognised line")}>${plain.length === 0 ? "–" : html`<code title=${plain[0]!.slice(0, SAMPLE_CHARACTERS)}>${plain[0]!.slice(0, SAMPLE_CHARACTERS)}</code>`}</td>
    <td role="cell">${plain.length === 0 ? nothing : html`<a class="button small" href=${addressOf(plain)} aria-label=${msg(str`Propose a pattern for ${name}`)}>${icon("edit")}${msg("Propose a pattern")}</a>`}</td></tr>`;
}

/** Returns the address of an editor with a pipeline that reads these lines. */
function addressOf(plain: readonly string[]): string {
  const sample = plain
    .slice(0, SAMPLES)
    .map((line) => line.slice(0, SAMPLE_CHARACTERS).replaceAll(/\s+/g, " "))
    .join("\n");
  const parameters = new URLSearchParams({ new: "1", sample, grok: proposeGrok(plain) });
  return formatRoute({ page: "pipelines", parameters });
}

customElements.define("tr-sources-panel", SourcesPanel);

declare global {
  interface HTMLElementTagNameMap {
    "tr-sources-panel": SourcesPanel;
  }
}
