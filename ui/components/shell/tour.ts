/**
 * Four hints on Discover, one after another, each beside its subject. They block nothing: the page keeps working, the
 * focus stays where it is, and they are never shown again once they are closed or the user opens another page.
 */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { dropPanel, placePanel } from "#ui/components/controls/drop-panel.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";

interface Hint {
  /** Selectors of its subject: each is looked up in the shadow tree of the one before. */
  readonly at: readonly string[];
  readonly title: string;
  readonly text: string;
}

const RESULTS = ["tr-app", "tr-page-discover", "tr-discover-results"] as const;

const HINTS: readonly Hint[] = [
  {
    at: ["tr-app", "tr-page-discover", "tr-query-bar"],
    title: msg("Search"),
    text: msg(
      "Write words, or a field with a value such as log.level:error. Names and values are suggested.",
    ),
  },
  {
    at: [...RESULTS, "tr-histogram"],
    title: msg("Zoom into a time"),
    text: msg("Drag over the bars. The magnifying glass beside the time range leads out again."),
  },
  {
    at: [...RESULTS, "tr-event-table", ".row"],
    title: msg("Open a line"),
    text: msg("A click shows all its fields. The plus and minus beside a value filter by it."),
  },
  {
    at: ["tr-app", "header button.help"],
    title: msg("Find the rest"),
    text: msg("Help lists the keys and the query language. Ctrl+K goes to any page."),
  },
];

/** Space between the subject and the ring around it. */
const RING_PX = 3;

export class Tour extends LitElement {
  /** Number of the hint that is shown. */
  @state() accessor _at: number | undefined;

  static override styles = [
    controls,
    dropPanel,
    css`
      .panel {
        width: min(21rem, calc(100vw - 16px));
        border-color: var(--accent);
      }
      p {
        margin: 0 0 12px;
      }
      .foot {
        display: flex;
        align-items: center;
        gap: 6px;
      }
      .foot span {
        flex: 1;
        color: var(--ink-muted);
        font-size: var(--text-small);
      }
      .ring {
        position: fixed;
        inset: auto;
        margin: 0;
        padding: 0;
        border: 2px solid var(--accent);
        border-radius: 8px;
        background: none;
        pointer-events: none;
      }
    `,
  ];

  readonly #place = (): void => {
    if (!this.#placeHint()) this.#end();
  };

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#end();
  }

  /** Shows the first hint; returns false if the page has no element that a hint belongs to. */
  start(): boolean {
    if (findAnchor(HINTS[0]!) === undefined) return false;
    this._at = 0;
    addEventListener("resize", this.#place);
    addEventListener("hashchange", this.#place);
    return true;
  }

  override render(): TemplateResult | typeof nothing {
    const hint = HINTS[this._at ?? -1];
    if (hint === undefined) return nothing;
    const isLast = this._at === HINTS.length - 1;
    return html`<div class="ring" popover="manual"></div>
      <section class="panel" popover="manual" aria-label=${msg("First hints")} @keydown=${this.#onKey}>
        <div role="status"><h2>${hint.title}</h2><p>${hint.text}</p></div>
        <div class="foot"><span>${msg(str`${(this._at ?? 0) + 1} of ${HINTS.length}`)}</span>
          <button class="primary small next" @click=${this.#next}>${isLast ? msg("Done") : msg("Next")}</button>
          <button class="plain small icon" aria-label=${msg("Close the hints")} title=${msg("Close")} @click=${this.#end}>${icon("close")}</button></div>
      </section>`;
  }

  protected override updated(changed: PropertyValues): void {
    if (!changed.has("_at") || this._at === undefined) return;
    for (const popover of this.renderRoot.querySelectorAll<HTMLElement>("[popover]"))
      if (!popover.matches(":popover-open")) popover.showPopover();
    this.#place();
  }

  /** Puts the hint beside its anchor; returns false if that is gone. */
  #placeHint(): boolean {
    const anchor = findAnchor(HINTS[this._at ?? -1]);
    const panel = this.renderRoot.querySelector<HTMLElement>(".panel");
    const ring = this.renderRoot.querySelector<HTMLElement>(".ring");
    if (anchor === undefined || panel === null || ring === null) return false;
    placePanel(panel, anchor);
    const { left, top, width, height } = anchor.getBoundingClientRect();
    const box = {
      left: left - RING_PX,
      top: top - RING_PX,
      width: width + 2 * RING_PX,
      height: height + 2 * RING_PX,
    };
    for (const [name, px] of Object.entries(box)) ring.style.setProperty(name, `${px}px`);
    return true;
  }

  /** An element that isn't on the page has no hint. */
  readonly #next = (): void => {
    const rest = HINTS.findIndex((hint, at) => at > (this._at ?? 0) && findAnchor(hint) !== undefined);
    if (rest < 0) this.#end();
    else this._at = rest;
  };

  readonly #end = (): void => {
    this._at = undefined;
    removeEventListener("resize", this.#place);
    removeEventListener("hashchange", this.#place);
  };

  #onKey(event: KeyboardEvent): void {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this.#end();
  }
}

function findAnchor(hint: Hint | undefined): HTMLElement | undefined {
  let within: ParentNode = document;
  let found: HTMLElement | null = null;
  for (const selector of hint?.at ?? []) {
    found = within.querySelector<HTMLElement>(selector);
    if (found === null) return undefined;
    within = found.shadowRoot ?? found;
  }
  return found !== null && found.getClientRects().length > 0 ? found : undefined;
}

customElements.define("tr-tour", Tour);

declare global {
  interface HTMLElementTagNameMap {
    "tr-tour": Tour;
  }
}
