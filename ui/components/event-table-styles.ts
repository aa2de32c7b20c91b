/** Looks of the table of lines. */

import { css } from "lit";

export const eventTableStyles = css`
  :host {
    display: block;
    min-height: 0;
    position: relative;
  }
  .scroll {
    position: absolute;
    inset: 0;
    overflow: auto;
    scrollbar-gutter: stable;
    contain: strict;
    outline-offset: -2px;
  }
  .head {
    position: sticky;
    z-index: 2;
    top: 0;
    height: 26px;
    line-height: 26px;
    border-bottom: 1px solid var(--line);
    background: var(--surface-sunken);
    color: var(--ink-muted);
    font: 600 var(--text-small) / 26px var(--font);
  }
  .head button {
    height: 24px;
    min-width: 24px;
    width: 24px;
  }
  .head svg {
    width: 12px;
    height: 12px;
  }
  .body {
    position: relative;
  }
  .head,
  .row {
    display: grid;
    grid-template-columns: var(--columns);
    gap: 0 12px;
    padding: 0 12px;
    min-width: var(--table-width, 0);
  }
  .row {
    position: absolute;
    left: 0;
    right: 0;
    height: var(--row-height);
    cursor: default;
  }
  .row:hover {
    background: var(--surface-hover);
  }
  .row[aria-selected="true"] {
    background: var(--surface-selected);
  }
  .cell {
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .head .cell {
    display: flex;
    align-items: center;
    justify-content: space-between;
  }
  .time button {
    display: inline;
    height: auto;
    min-width: 0;
    padding: 0;
    font: inherit;
    color: inherit;
  }
  .time button:hover {
    color: var(--accent);
    background: none;
    text-decoration: underline;
  }
  .label {
    display: none;
    color: var(--ink-faint);
  }
  .foot {
    padding: 8px 12px 14px;
    color: var(--ink-muted);
    font-size: var(--text-small);
  }
  @media (width < 700px) {
    .head {
      display: none;
    }
    .row {
      display: block;
      height: 44px;
      min-width: 0;
      padding: 1px 10px 1px 12px;
      border-bottom: 1px solid var(--line);
      white-space: nowrap;
      overflow: hidden;
      text-overflow: ellipsis;
      line-height: 20px;
    }
    .cell {
      display: inline;
      margin-right: 8px;
    }
    .level::after {
      content: "\\a";
      white-space: pre;
    }
    mark {
      /* A ground would be painted behind the ellipsis too. */
      background: none;
      color: inherit;
      text-decoration: underline 2px var(--level-warn);
    }
    .label {
      display: inline;
    }
  }
`;
