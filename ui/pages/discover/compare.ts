/**
 * Two searches side by side: `#/compare?left=…&right=…`, each the parameters of an address of Discover. They share the
 * time range unless `apart=1`. Keys act on the side that was used last.
 */

import { msg } from "@lit/localize";
import { css, html, LitElement, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { icon } from "#ui/components/style/icons.ts";
import { controls, splitPage } from "#ui/components/style/styles.ts";
import { navigate } from "#ui/services/browser/router.ts";
import "./discover.ts";

const SIDES = ["left", "right"] as const;
type Side = (typeof SIDES)[number];
/** Parameters of time. */
const TIMES = ["from", "to", "tz"] as const;

export class ComparePage extends LitElement {
  /** Of the address. */
  @property({ attribute: false }) accessor parameters = new URLSearchParams();
  @state() accessor _used: Side = "left";

  static override styles = [
    controls,
    splitPage,
    css`
      label {
        display: inline-flex;
        align-items: center;
        gap: 6px;
        min-height: 24px;
      }
      .sides {
        flex: 1;
        display: grid;
        grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
        min-height: 0;
      }
      section + section {
        border-left: 2px solid var(--line-strong);
      }
      tr-page-discover {
        flex: 1;
        min-height: 0;
      }
      @media (width < 900px) {
        .sides {
          grid-template-columns: minmax(0, 1fr);
          grid-auto-rows: 85vh;
          overflow: auto;
        }
        section + section {
          border-top: 2px solid var(--line-strong);
          border-left: 0;
        }
      }
    `,
  ];

  /** Kept while its side of the address is unchanged: another object would be another search. */
  readonly #sides = new Map<Side, URLSearchParams>();

  override render(): TemplateResult {
    const isApart = this.parameters.get("apart") === "1";
    return html`<div class="head"><h1>${msg("Compare")}</h1>
        <label><input type="checkbox" .checked=${!isApart} @change=${() => this.#go({ apart: isApart ? "" : "1" })} />${msg("Same time range")}</label></div>
      <div class="sides">${SIDES.map((side) => this.#side(side))}</div>`;
  }

  #side(side: Side): TemplateResult {
    const name = side === "left" ? msg("Left search") : msg("Right search");
    const use = (): void => {
      this._used = side;
    };
    const parameters = this.#of(side);
    return html`<section aria-label=${name} ?data-idle=${this._used !== side} @pointerdown=${use} @focusin=${use}>
      <tr-page-discover .parameters=${parameters} .isSide=${true} .go=${(next: URLSearchParams) => this.#change(side, next)}></tr-page-discover>
      <button class="plain small close" @click=${() => this.#keep(side)}>${icon("check")}${msg("Keep this search alone")}</button>
    </section>`;
  }

  #of(side: Side): URLSearchParams {
    const text = this.parameters.get(side) ?? "";
    const known = this.#sides.get(side);
    if (known?.toString() === text) return known;
    const parameters = new URLSearchParams(text);
    this.#sides.set(side, parameters);
    return parameters;
  }

  #change(side: Side, next: URLSearchParams): void {
    const other = side === "left" ? "right" : "left";
    const change: Record<string, string> = { [side]: next.toString() };
    if (this.parameters.get("apart") !== "1") change[other] = withTimesOf(next, this.#of(other)).toString();
    this.#go(change);
  }

  #go(change: Readonly<Record<string, string>>): void {
    const parameters = new URLSearchParams(this.parameters);
    for (const [name, value] of Object.entries(change)) {
      if (value === "" && name === "apart") parameters.delete(name);
      else parameters.set(name, value);
    }
    navigate({ page: "compare", parameters });
  }

  #keep(side: Side): void {
    navigate({ page: "discover", parameters: this.#of(side) });
  }
}

/** Returns a search's parameters with the times of another. */
function withTimesOf(from: URLSearchParams, to: URLSearchParams): URLSearchParams {
  const parameters = new URLSearchParams(to);
  for (const name of TIMES) {
    const value = from.get(name);
    if (value === null) parameters.delete(name);
    else parameters.set(name, value);
  }
  return parameters;
}

customElements.define("tr-page-compare", ComparePage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-compare": ComparePage;
  }
}
