/** Looks of the status page. */

import { css } from "lit";

export const statusStyles = css`
  :host {
    display: block;
    height: 100%;
    overflow: auto;
  }
  .page {
    max-width: 76rem;
    margin: 0 auto;
    padding: 18px 16px 40px;
  }
  .title {
    display: flex;
    align-items: center;
    justify-content: space-between;
  }
  h1 {
    margin: 0;
    font-size: 1.25rem;
    font-weight: 600;
  }
  h2 {
    margin: 24px 0 8px;
    font-size: var(--text-large);
    font-weight: 600;
  }
  .cards {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr));
    gap: 12px;
    margin-top: 14px;
  }
  section.card {
    padding: 12px 16px 14px;
    border: 1px solid var(--line);
    border-radius: 8px;
    background: var(--surface);
  }
  .card h2 {
    margin: 0 0 8px;
    font-size: var(--text);
    color: var(--ink-muted);
  }
  dl {
    display: grid;
    grid-template-columns: minmax(6rem, max-content) minmax(0, 1fr);
    gap: 5px 16px;
    margin: 0;
  }
  dt {
    color: var(--ink-muted);
  }
  dd {
    margin: 0;
    overflow-wrap: anywhere;
    font-variant-numeric: tabular-nums;
  }
  .table {
    overflow-x: auto;
    border: 1px solid var(--line);
    border-radius: 8px;
    background: var(--surface);
  }
  table {
    width: 100%;
    border-collapse: collapse;
  }
  th,
  td {
    padding: 7px 14px;
    border-bottom: 1px solid var(--line);
    text-align: left;
    white-space: nowrap;
    font-variant-numeric: tabular-nums;
  }
  tr:last-child td {
    border-bottom: 0;
  }
  th {
    color: var(--ink-muted);
    font-size: var(--text-small);
    font-weight: 600;
  }
  .health::before {
    content: "";
    display: inline-block;
    width: 8px;
    height: 8px;
    margin-right: 7px;
    border-radius: 50%;
    background: var(--level-warn);
  }
  .health.ok::before {
    background: var(--accent);
  }
  .health.lost::before,
  .health.failed::before {
    background: var(--level-error);
  }
  .notice {
    margin-top: 12px;
  }
`;
