/** Styles of the table of lines. */

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
  .body {
    position: relative;
  }
  .row {
    position: absolute;
    top: 0;
    left: 0;
    right: 0;
    display: grid;
    grid-template-columns: var(--columns);
    gap: 0 12px;
    min-width: var(--table-width, 0);
    height: var(--row-height);
    padding: 0 12px;
    cursor: pointer;
    contain: layout style;
  }
  :host([iswrapped]) .row {
    --line: max(1.35em, calc(var(--row-height) - 4px));
    height: auto;
    min-height: var(--row-height);
    /* Ten lines: what is longer has a button for the rest. */
    max-height: calc(10 * var(--line));
    overflow: hidden;
  }
  :host([iswrapped]) .row.whole {
    max-height: none;
  }
  :host([iswrapped]) .row .cell {
    overflow: visible;
    overflow-wrap: anywhere;
    white-space: pre-wrap;
    line-height: var(--line);
  }
  .more {
    position: absolute;
    right: 12px;
    bottom: 1px;
    height: 22px;
    padding: 0 8px;
    border-color: var(--line-strong);
    font: 500 var(--text-small) var(--font);
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
  .cell.number {
    text-align: right;
  }
  mark.find {
    background: var(--find);
    color: var(--find-ink);
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
  .cell.chosen {
    outline: 2px solid var(--focus);
    outline-offset: -1px;
  }
  .cell-tools {
    position: absolute;
    z-index: 3;
    top: var(--cell-top);
    right: var(--cell-right);
    display: flex;
    border: 1px solid var(--line-strong);
    border-radius: var(--radius);
    background: var(--surface);
  }
  .cell-tools button {
    height: 20px;
    min-width: 22px;
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
    :host([iswrapped]) .row {
      height: auto;
      white-space: pre-wrap;
    }
    .cell {
      display: inline;
      margin-right: 8px;
    }
    .cell:empty {
      margin: 0;
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
