/** Styles that the administration pages share: page, title, tables, cards, tabs, meters. */

import { css } from "lit";
import { skeletonStyles } from "./skeleton.ts";

export const pageStyles = css`
  ${skeletonStyles}
  :host {
    display: block;
    height: 100%;
    overflow: auto;
  }
  .page {
    max-width: 78rem;
    margin: 0 auto;
    padding: 18px 16px 40px;
  }
  .title {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 8px;
    margin-bottom: 14px;
  }
  .title .space {
    flex: 1;
  }
  h1 {
    margin: 0;
    min-width: 0;
    font-size: 1.25rem;
    font-weight: 600;
    overflow-wrap: anywhere;
  }
  h2 {
    margin: 26px 0 8px;
    font-size: var(--text-large);
    font-weight: 600;
  }
  .tools {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 8px 12px;
    margin-bottom: 10px;
  }
  .tools input[type="search"] {
    flex: 0 1 20rem;
    min-width: 9rem;
  }
  .tools label {
    display: inline-flex;
    align-items: center;
    gap: 6px;
  }
  input[type="checkbox"] {
    width: 16px;
    height: 16px;
    margin: 0;
    accent-color: var(--accent);
  }
  .table {
    /* Hidden texts in it scroll with it instead of widening the page. */
    position: relative;
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
  @media (width < 1100px) {
    th,
    td {
      padding: 7px 9px;
    }
    td:first-child .muted {
      display: block;
      white-space: normal;
    }
  }
  @media (width < 700px) {
    th,
    td {
      padding: 7px 6px;
    }
    :is(th, td):first-child {
      padding-left: 12px;
    }
  }
  tbody tr:last-child > * {
    border-bottom: 0;
  }
  tbody tr:hover {
    background: var(--surface-hover);
  }
  th {
    color: var(--ink-muted);
    font-size: var(--text-small);
    font-weight: 600;
  }
  th.number,
  td.number {
    text-align: right;
  }
  th button {
    height: 24px;
    min-width: 24px;
    margin: -3px -6px;
    padding: 0 6px;
    border: 0;
    background: none;
    color: inherit;
    font-weight: 600;
  }
  th[aria-sort="ascending"] button::after {
    content: "↑";
  }
  th[aria-sort="descending"] button::after {
    content: "↓";
  }
  .name {
    font-family: var(--font-mono);
    font-weight: 600;
  }
  /* One long name mustn't push the other columns out of the table. */
  a.name {
    display: inline-block;
    width: max-content;
    max-width: min(60ch, 40vw);
    white-space: normal;
    overflow-wrap: break-word;
  }
  .badge {
    display: inline-flex;
    align-items: center;
    gap: 7px;
    white-space: nowrap;
  }
  .badge::before {
    content: "";
    width: 8px;
    height: 8px;
    border-radius: 50%;
    background: var(--ink-faint);
  }
  .badge.green::before,
  .badge.ok::before {
    background: var(--accent);
  }
  .badge.yellow::before,
  .badge.warning::before {
    background: var(--level-warn);
  }
  .badge.red::before,
  .badge.failed::before {
    background: var(--level-error);
  }
  .facts {
    display: flex;
    flex-wrap: wrap;
    gap: 1px;
    margin: 0 0 18px;
    border: 1px solid var(--line);
    border-radius: 8px;
    background: var(--line);
    overflow: hidden;
  }
  .facts div {
    flex: 1 1 7rem;
    padding: 10px 14px;
    background: var(--surface);
  }
  .facts dt {
    color: var(--ink-muted);
    font-size: var(--text-small);
  }
  .facts dd {
    margin: 2px 0 0;
    font-size: var(--text-large);
    font-weight: 600;
    font-variant-numeric: tabular-nums;
  }
  .tabs {
    display: flex;
    gap: 2px;
    margin-bottom: 12px;
    border-bottom: 1px solid var(--line);
    overflow-x: auto;
  }
  .tabs button {
    height: 34px;
    border: 0;
    border-bottom: 2px solid transparent;
    border-radius: 0;
    background: none;
    color: var(--ink-muted);
  }
  .tabs button[aria-selected="true"] {
    border-bottom-color: var(--accent);
    color: var(--accent);
  }
  .card {
    padding: 14px 16px;
    border: 1px solid var(--line);
    border-radius: 8px;
    background: var(--surface);
  }
  .empty {
    padding: 40px 20px;
    color: var(--ink-muted);
    text-align: center;
  }
  .empty h2 {
    margin: 0 0 4px;
    color: var(--ink);
  }
  .fill {
    display: inline-block;
    width: 5rem;
    height: 8px;
    margin-right: 8px;
    border-radius: 4px;
    background: var(--surface-selected);
    vertical-align: middle;
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
  .form {
    display: flex;
    flex-wrap: wrap;
    align-items: end;
    gap: 10px;
  }
  .form label {
    display: grid;
    gap: 4px;
    color: var(--ink-muted);
    font-size: var(--text-small);
  }
  .form input,
  .form select {
    font-size: var(--text);
  }
  textarea {
    width: 100%;
    min-height: 5rem;
    padding: 7px 9px;
    border: 1px solid var(--control-line);
    border-radius: var(--radius);
    background: var(--surface);
    color: var(--ink);
    font: var(--text) / 1.5 var(--font-mono);
    resize: vertical;
  }
`;
