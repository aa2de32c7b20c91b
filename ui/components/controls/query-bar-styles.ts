/** Styles of the query bar. */

import { css } from "lit";

export const queryBarStyles = css`
  :host {
    display: block;
    flex: 1 1 24rem;
    min-width: 0;
  }
  @media (width < 900px) {
    :host {
      flex-basis: 28rem; /* beside the time range the field would be too narrow to read */
    }
  }
  form {
    display: flex;
    gap: 6px;
  }
  .query {
    position: relative;
    flex: 1;
    min-width: 0;
  }
  .history {
    position: absolute;
    top: calc((var(--control) - 24px) / 2);
    right: 4px;
    color: var(--ink-muted);
  }
  .query input {
    width: 100%;
    padding: 0 32px 0 30px;
    font-family: var(--font-mono);
  }
  .query > svg {
    position: absolute;
    left: 8px;
    top: 7px;
    color: var(--ink-faint);
    pointer-events: none;
  }
  ul {
    position: absolute;
    z-index: 20;
    top: calc(100% + 3px);
    left: 0;
    min-width: min(24rem, 100%);
    max-width: 100%;
    max-height: 20rem;
    margin: 0;
    padding: 5px;
    overflow: auto;
    border: 1px solid var(--line-strong);
    border-radius: 8px;
    background: var(--surface);
    box-shadow: 0 14px 34px var(--shadow);
    font-family: var(--font-mono);
    list-style: none;
  }
  li {
    display: flex;
    justify-content: space-between;
    gap: 20px;
    padding: 4px 9px;
    border-radius: var(--radius);
    cursor: pointer;
    overflow-wrap: anywhere;
  }
  li span {
    color: var(--ink-muted);
    font-size: var(--text-small);
    white-space: nowrap;
  }
  li:hover,
  li[aria-selected="true"] {
    background: var(--surface-selected);
  }
  .index {
    width: 9.5rem;
    font-family: var(--font-mono);
  }
  @media (width < 700px) {
    .index {
      width: 6.5rem;
    }
    button span {
      display: none;
    }
  }
  .fault {
    position: absolute;
    z-index: 19;
    top: calc(100% + 3px);
    left: 0;
    max-width: min(44rem, 100%);
    padding: 8px 12px;
    border: 1px solid var(--line-strong);
    border-left: 3px solid var(--level-error);
    border-radius: var(--radius);
    background: var(--surface);
    box-shadow: 0 14px 34px var(--shadow);
  }
  .fault.advice {
    border-left-color: var(--level-warn);
  }
  /* Of the query that was searched: what the page shows about it stays in sight. */
  .fault.searched {
    position: static;
    margin-top: 3px;
    box-shadow: none;
  }
  .fault pre {
    margin: 0 0 4px;
    overflow-x: auto;
    font: var(--text-small) / 1.2 var(--font-mono);
  }
  .fault pre b {
    color: var(--level-error);
  }
  .fault.advice pre b {
    color: var(--level-warn);
  }
  .fault p {
    margin: 0;
    color: var(--ink-muted);
  }
  .fault strong {
    color: var(--ink);
    font-weight: 600;
  }
`;
