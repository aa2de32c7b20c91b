/** A placeholder while something loads: grey lines of about its size, so that the page doesn't jump. */

import { msg } from "@lit/localize";
import { css, html, type TemplateResult } from "lit";

/** Faster answers show no skeleton: it would only flicker. */
export const skeletonStyles = css`
  .skeleton {
    display: grid;
    gap: 12px;
    padding: 12px 14px;
    animation: appear 0.15s 0.25s backwards;
  }
  .skeleton i {
    height: 12px;
    border-radius: 3px;
    background: var(--line);
  }
  .skeleton i:nth-child(3n + 2) {
    width: 82%;
  }
  .skeleton i:nth-child(3n) {
    width: 64%;
  }
  @keyframes appear {
    from {
      opacity: 0;
    }
  }
`;

/** Returns placeholder lines for content that is loading. */
export function skeleton(lines: number): TemplateResult {
  return html`<div class="skeleton" role="status" aria-label=${msg("Loading")}>${Array.from({ length: lines }, () => html`<i></i>`)}</div>`;
}
