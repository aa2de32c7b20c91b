/** Texts with the colours of terminals, in both themes. */

import { css, html } from "lit";
import { splitAnsi } from "#ui/services/text/ansi.ts";

export const ansiStyles = css`
  .ansi-1 {
    --hue: var(--level-error);
  }
  .ansi-2 {
    --hue: var(--code-string);
  }
  .ansi-3 {
    --hue: var(--level-warn);
  }
  .ansi-4 {
    --hue: var(--series-3);
  }
  .ansi-5 {
    --hue: var(--series-4);
  }
  .ansi-6 {
    --hue: var(--level-info);
  }
  [class^="ansi-"] {
    color: var(--hue, inherit);
  }
  .ansi-on {
    background: var(--hue, none);
    color: var(--surface);
  }
  .ansi-bold {
    font-weight: 700;
  }
  .ansi-dim {
    color: var(--ink-muted);
  }
  .ansi-underline {
    text-decoration: underline;
  }
`;

/** Returns a text with its colours; `view` draws what has one look. */
export function colouredView(text: string, view: (text: string) => unknown): unknown[] {
  return splitAnsi(text).map((part) =>
    part.look === "" ? view(part.text) : html`<span class=${part.look}>${view(part.text)}</span>`,
  );
}
