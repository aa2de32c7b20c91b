/**
 * A rule in a form. Fires `tr-save` with the rule, `tr-edit` with it after each change, which the page passes back in
 * `rule`, `tr-test` with a channel.
 */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, svg, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { formText } from "#ui/components/controls/form-text.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import type { AlertRule, Channel, PreviewPoint } from "#ui/services/administration/alert-client.ts";
import { intervalName } from "#ui/services/search/interval.ts";
import { formatCount, formatMoment } from "#ui/services/text/format.ts";

const WIDTH = 600;
const HEIGHT = 110;

class PreviewBars extends LitElement {
  @property({ attribute: false }) accessor points: readonly PreviewPoint[] = [];
  @property({ type: Number }) accessor threshold = 0;

  static override styles = css`
    svg {
      display: block;
      width: 100%;
      height: 110px;
    }
    .bar {
      fill: var(--bar);
    }
    .bar.firing {
      fill: var(--level-error);
    }
    line {
      stroke: var(--ink);
      stroke-width: 1.5;
      stroke-dasharray: 5 4;
      vector-effect: non-scaling-stroke;
    }
    p {
      display: flex;
      justify-content: space-between;
      gap: 12px;
      margin: 6px 0 0;
      color: var(--ink-muted);
      font-size: var(--text-small);
    }
  `;

  override render(): TemplateResult | typeof nothing {
    const { points, threshold } = this;
    const first = points[0];
    const last = points.at(-1);
    if (first === undefined || last === undefined) return nothing;
    const most = Math.max(1, threshold, ...points.map(({ count }) => count));
    const firings = points.filter(({ firing }, at) => firing && points[at - 1]?.firing !== true).length;
    const step = WIDTH / points.length;
    const y = (count: number): number => HEIGHT - (count / most) * (HEIGHT - 6);
    const largest = formatCount(Math.max(...points.map(({ count }) => count)));
    const text =
      firings === 1
        ? msg(str`Would have fired once; most lines in a window: ${largest}.`)
        : msg(str`Would have fired ${formatCount(firings)} times; most lines in a window: ${largest}.`);
    return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label=${text}>
        ${points.map(({ count, firing }, at) => svg`<rect class="bar ${firing ? "firing" : ""}" x=${at * step} y=${y(count)} width=${Math.max(0.5, step - 0.6)} height=${HEIGHT - y(count)}></rect>`)}
        <line x1="0" x2=${WIDTH} y1=${y(threshold)} y2=${y(threshold)}></line>
      </svg>
      <p><span>${formatMoment(Date.parse(first.at))}</span><strong>${text}</strong><span>${formatMoment(Date.parse(last.at))}</span></p>`;
  }
}

customElements.define("tr-preview-bars", PreviewBars);

declare global {
  interface HTMLElementTagNameMap {
    "tr-preview-bars": PreviewBars;
  }
}

const WINDOWS = ["1m", "5m", "15m", "30m", "1h", "6h", "24h"];
const INTERVALS = ["10s", "30s", "1m", "5m", "15m", "1h"];

export class AlertForm extends LitElement {
  @property({ attribute: false }) accessor rule!: AlertRule;
  @property({ type: Boolean }) accessor isNew!: boolean;

  static override styles = [
    controls,
    css`
      fieldset {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(14rem, 100%), 1fr));
        gap: 12px;
        margin: 0 0 14px;
        padding: 0;
        border: 0;
      }
      label {
        display: grid;
        gap: 4px;
        color: var(--ink-muted);
        font-size: var(--text-small);
      }
      label.wide {
        grid-column: 1 / -1;
      }
      input,
      select {
        width: 100%;
        font-size: var(--text);
      }
      .mono {
        font-family: var(--font-mono);
      }
      h2 {
        margin: 0 0 8px;
        font-size: var(--text);
        font-weight: 600;
      }
      .channel {
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
        margin-bottom: 8px;
      }
      .channel input {
        flex: 1 1 16rem;
      }
      .channel span {
        flex: 0 0 5rem;
        line-height: var(--control);
      }
      .buttons {
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
        margin-top: 14px;
      }
    `,
  ];

  override render(): TemplateResult {
    const { title, index, query, condition, threshold, window, every, channels } = this.rule;
    return html`<form @submit=${this.#submit} @change=${this.#edited}>
      <fieldset>
        <label class="wide">${msg("Title")}<input name="title" required maxlength="200" autocomplete="off" .value=${title} /></label>
        <label class="wide">${msg("Lines that match")}<input class="mono" name="query" autocomplete="off" spellcheck="false" placeholder="log.level:error AND service:payment" .value=${query} /></label>
        <label>${msg("In the index")}<input class="mono" name="index" required autocomplete="off" spellcheck="false" .value=${index} /></label>
        <label>${msg("Fire when there are")}<select name="condition">
          <option value="above" .selected=${condition === "above"}>${msg("more lines than")}</option>
          <option value="below" .selected=${condition === "below"}>${msg("fewer lines than")}</option></select></label>
        <label>${msg("Threshold")}<input name="threshold" type="number" min="0" step="1" required .value=${String(threshold)} /></label>
        <label>${msg("Within the last")}<select name="window">${options(WINDOWS, window)}</select></label>
        <label>${msg("Check every")}<select name="every">${options(INTERVALS, every)}</select></label>
      </fieldset>
      <h2>${msg("Notifications")}</h2>
      ${channels.length === 0 ? html`<p class="muted">${msg("None: the rule is shown on this page only.")}</p>` : nothing}
      ${channels.map((channel, number) => this.#channel(channel, number))}
      <div class="buttons">
        <button type="button" class="small" @click=${() => this.#add({ type: "webhook", url: "" })}>${icon("plus")}${msg("Webhook")}</button>
        <button type="button" class="small" @click=${() => this.#add({ type: "email", to: [] })}>${icon("plus")}${msg("E-mail")}</button>
      </div>
      <div class="buttons">
        <button class="primary">${this.isNew ? msg("Create rule") : msg("Save changes")}</button>
        <a class="button" href="#/alerts">${msg("Cancel")}</a>
      </div>
    </form>`;
  }

  #channel(channel: Channel, number: number): TemplateResult {
    const isWebhook = channel.type === "webhook";
    const text = isWebhook ? channel.url : channel.to.join(", ");
    return html`<div class="channel">
      <span>${isWebhook ? msg("Webhook") : msg("E-mail")}</span>
      <input name="channel${number}" required autocomplete="off" aria-label=${isWebhook ? msg("Webhook address") : msg("E-mail addresses")}
        placeholder=${isWebhook ? "https://" : "oncall@example.net"} .value=${text} />
      <button type="button" class="small" @click=${() => this.#test(number)}>${msg("Send a test")}</button>
      <button type="button" class="plain small icon" aria-label=${msg("Remove channel")} title=${msg("Remove")} @click=${() => this.#remove(number)}>${icon("close")}</button>
    </div>`;
  }

  /** Returns the rule as it is written now. */
  get #written(): AlertRule {
    const data = new FormData(this.renderRoot.querySelector("form")!);
    const channels = this.rule.channels.map((channel, number): Channel => {
      const text = formText(data, `channel${number}`);
      return channel.type === "webhook"
        ? { type: "webhook", url: text }
        : { type: "email", to: text.split(/[\s,;]+/).filter(Boolean) };
    });
    return {
      ...this.rule,
      title: formText(data, "title"),
      query: formText(data, "query"),
      index: formText(data, "index"),
      condition: formText(data, "condition") === "below" ? "below" : "above",
      threshold: Number(formText(data, "threshold")),
      window: formText(data, "window"),
      every: formText(data, "every"),
      channels,
    };
  }

  #add(channel: Channel): void {
    const rule = this.#written;
    this.#edit({ ...rule, channels: [...rule.channels, channel] });
    void this.updateComplete.then(() =>
      this.renderRoot.querySelector<HTMLElement>(`[name=channel${rule.channels.length}]`)?.focus(),
    );
  }

  #remove(number: number): void {
    const rule = this.#written;
    this.#edit({ ...rule, channels: rule.channels.filter((_, at) => at !== number) });
  }

  #test(number: number): void {
    const channel = this.#written.channels[number];
    if (channel !== undefined) this.dispatchEvent(new CustomEvent<Channel>("tr-test", { detail: channel }));
  }

  #edited(): void {
    this.#edit(this.#written);
  }

  /** The page keeps the rule too: it passes its own with each refresh, without the channels that it doesn't know. */
  #edit(rule: AlertRule): void {
    this.rule = rule;
    this.dispatchEvent(new CustomEvent<AlertRule>("tr-edit", { detail: rule }));
  }

  #submit(event: Event): void {
    event.preventDefault();
    this.dispatchEvent(new CustomEvent<AlertRule>("tr-save", { detail: this.#written }));
  }
}

function options(values: readonly string[], chosen: string): TemplateResult[] {
  const all = values.includes(chosen) ? values : [chosen, ...values];
  return all.map(
    (value) =>
      html`<option value=${value} .selected=${value === chosen}>${intervalName({ text: value })}</option>`,
  );
}

customElements.define("tr-alert-form", AlertForm);

declare global {
  interface HTMLElementTagNameMap {
    "tr-alert-form": AlertForm;
  }
}
