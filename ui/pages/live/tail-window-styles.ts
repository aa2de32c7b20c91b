/** Styles of the lines of a live tail. */

import { css } from "lit";

export const tailWindowStyles = css`
  :host {
    display: block;
    position: relative;
    min-height: 0;
  }
  .scroll {
    position: absolute;
    inset: 0;
    overflow: auto;
    overflow-anchor: none;
    scrollbar-gutter: stable;
    contain: strict;
    outline-offset: -2px;
  }
  .body {
    position: relative;
    contain: layout paint;
  }
  .row {
    position: absolute;
    top: 0;
    left: 0;
    right: 0;
    display: grid;
    grid-template-columns: 13ch 5ch minmax(0, 12rem) minmax(0, 1fr);
    gap: 0 12px;
    height: var(--row-height);
    padding: 0 12px;
  }
  .row[data-colour="1"] {
    --tint: var(--series-1);
  }
  .row[data-colour="2"] {
    --tint: var(--series-2);
  }
  .row[data-colour="3"] {
    --tint: var(--series-3);
  }
  .row[data-colour="4"] {
    --tint: var(--series-4);
  }
  .row[data-colour="5"] {
    --tint: var(--series-5);
  }
  .row[data-colour="6"] {
    --tint: var(--series-6);
  }
  .row:not([data-colour="0"]) {
    background: color-mix(in srgb, var(--tint) 16%, transparent);
    box-shadow: inset 0 0 0 1px color-mix(in srgb, var(--tint) 45%, transparent);
  }
  .row:hover {
    background: var(--surface-hover);
  }
  .row.chosen {
    background: var(--surface-selected);
  }
  .row > * {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: pre;
  }
  .time:hover {
    color: var(--accent);
    text-decoration: underline;
    cursor: pointer;
  }
  .source {
    color: var(--ink-muted);
  }
  .row.gap {
    background: repeating-linear-gradient(-45deg, transparent 0 8px, var(--surface-hover) 8px 16px);
    color: var(--level-warn);
  }
  .row.gap .message {
    grid-column: 1 / -1;
    grid-row: 1;
    font-weight: 600;
  }
  .row.gap .message:hover {
    text-decoration: underline;
    cursor: pointer;
  }
  @media (width < 700px) {
    .row {
      grid-template-columns: 13ch 5ch minmax(0, 1fr);
      grid-template-rows: 20px 20px;
      height: 44px;
      padding: 1px 10px 1px 12px;
      border-bottom: 1px solid var(--line);
      line-height: 20px;
    }
    .row .message {
      grid-column: 1 / -1;
    }
  }
`;
