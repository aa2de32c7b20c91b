/** Looks of the head of the table of lines. */

import { css } from "lit";

export const tableHeadStyles = css`
  :host {
    position: sticky;
    z-index: 2;
    top: 0;
    display: grid;
    grid-template-columns: var(--columns);
    gap: 0 12px;
    height: 28px;
    min-width: var(--table-width, 0);
    padding: 0 12px;
    border-bottom: 1px solid var(--line);
    background: var(--surface-sunken);
    color: var(--ink-muted);
    font: 600 var(--text-small) / 27px var(--font);
  }
  .cell {
    position: relative;
    display: flex;
    align-items: center;
    min-width: 0;
  }
  button.name {
    justify-content: flex-start;
    gap: 3px;
    height: 24px;
    min-width: 0;
    max-width: 100%;
    margin-left: -5px;
    padding: 0 5px;
    border-color: transparent;
    background: none;
    color: inherit;
    font: inherit;
  }
  button.name:hover,
  button.name[aria-expanded="true"] {
    background: var(--surface-hover);
    color: var(--ink);
  }
  button.name span {
    overflow: hidden;
    text-overflow: ellipsis;
  }
  svg {
    width: 13px;
    height: 13px;
  }
  .grip {
    position: absolute;
    inset: 4px -9px 4px auto;
    width: 7px;
    border-right: 1px solid var(--line-strong);
    cursor: col-resize;
    touch-action: none;
  }
  .grip:hover {
    border-right: 2px solid var(--accent);
  }
  .menu {
    position: fixed;
    inset: auto;
    display: none;
    min-width: 11rem;
    margin: 0;
    padding: 5px;
    border: 1px solid var(--line-strong);
    border-radius: 8px;
    background: var(--surface);
    color: var(--ink);
    box-shadow: 0 14px 34px var(--shadow);
  }
  .menu:popover-open {
    display: grid;
  }
  .menu button {
    justify-content: flex-start;
    height: 28px;
    border: 0;
    background: none;
    font-weight: 400;
  }
  .menu button:hover {
    background: var(--surface-hover);
  }
  @media (width < 700px) {
    :host {
      display: none;
    }
  }
`;
