/** Looks of the status page beyond those all such pages share. */

import { css } from "lit";

export const statusStyles = css`
  .facets {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr));
    gap: 12px;
  }
  .card h3 {
    margin: 0 0 8px;
    color: var(--ink-muted);
    font-size: var(--text);
    font-weight: 600;
  }
  .card p {
    margin: 0 0 4px;
  }
  .card dl {
    display: grid;
    grid-template-columns: minmax(5rem, max-content) minmax(0, 1fr);
    gap: 5px 16px;
    margin: 0;
  }
  .card dt {
    color: var(--ink-muted);
  }
  .card dd {
    margin: 0;
    overflow-wrap: anywhere;
    font-variant-numeric: tabular-nums;
  }
  .facts dd a {
    color: inherit;
  }
  .fill {
    display: inline-block;
    vertical-align: middle;
    width: 9rem;
    height: 8px;
    margin-right: 10px;
    border-radius: 4px;
    background: var(--surface-selected);
    overflow: hidden;
  }
  .fill i {
    display: block;
    height: 100%;
    background: var(--accent);
  }
  .fill.warning i {
    background: var(--level-warn);
  }
  .fill.failed i {
    background: var(--level-error);
  }
  td.why {
    min-width: 16rem;
    white-space: normal;
  }
  .why p {
    margin: 0;
  }
  td.search {
    min-width: 12rem;
  }
  .search pre {
    max-width: 60ch;
    max-height: 20rem;
    margin: 4px 0;
    overflow: auto;
    overflow-wrap: anywhere;
    white-space: pre-wrap;
  }
  .search summary {
    min-height: 24px;
    cursor: pointer;
  }
`;
