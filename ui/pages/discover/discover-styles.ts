/** Layout of Discover: fields, results and details side by side; one above another on a narrow screen. */

import { css } from "lit";
import { barPage } from "#ui/components/style/styles.ts";

export const discoverStyles = css`
  ${barPage}
  tr-discover-results {
    flex: 1;
    min-height: 0;
  }
  @media (width < 900px) {
    .compare {
      display: none;
    }
  }
  @media (width < 700px) {
    .bar {
      padding: 8px;
      gap: 6px;
    }
  }
`;

/** Of the results alone. */
export const resultsStyles = css`
  .stale {
    margin: 0;
    padding: 4px 12px;
    color: var(--ink-muted);
  }
  :host {
    container: discover / inline-size;
    display: grid;
    grid-template-rows: minmax(0, 1fr);
    min-height: 0;
  }
  .work {
    position: relative;
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    min-height: 0;
  }
  .work.with-fields {
    grid-template-columns: var(--pane-fields, 15rem) minmax(0, 1fr);
  }
  .work.with-details {
    grid-template-columns: minmax(0, 1fr) min(var(--pane-details, max(22rem, 36%)), 70%);
  }
  .work.with-fields.with-details {
    grid-template-columns: var(--pane-fields, 15rem) minmax(0, 1fr) min(var(--pane-details, max(22rem, 34%)), 60%);
  }
  aside {
    position: relative;
    display: flex;
    flex-direction: column;
    min-height: 0;
    border-right: 1px solid var(--line);
    background: var(--surface);
  }
  tr-data-view-dialog {
    /* Beside the columns, of which it would be one. */
    position: absolute;
  }
  .formats {
    position: absolute;
    z-index: 1;
    top: 13px;
    right: 14px;
    background: var(--surface);
    color: var(--ink-muted);
  }
  aside tr-field-list {
    flex: 1;
  }
  .main {
    position: relative;
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
    background: var(--surface);
    container: results / inline-size;
  }
  .main > .notice {
    margin: 10px 12px 0;
  }
  .chart {
    position: relative;
    padding: 10px 12px 0;
  }
  .status {
    display: flex;
    align-items: center;
    gap: 6px;
    padding: 4px 8px;
    border-bottom: 1px solid var(--line);
    color: var(--ink-muted);
    font-size: var(--text-small);
    font-variant-numeric: tabular-nums;
  }
  .status .space {
    flex: 1;
  }
  .status .group {
    display: inline-flex;
    gap: 2px;
    padding-right: 5px;
    border-right: 1px solid var(--line);
  }
  .status span[role="status"] {
    /* What is beside it may be long: the explanation of a slow search. It goes to a row of its own where this is narrow. */
    min-width: 7rem;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  @container results (width < 46rem) {
    .status {
      flex-wrap: wrap;
      gap: 2px;
      padding: 4px 6px;
    }
    .status .word,
    .status .space {
      display: none;
    }
    .status span[role="status"] {
      flex: 1 1 7rem;
      padding-left: 4px;
    }
  }
  @container results (width < 36rem) {
    .status span[role="status"] {
      flex-basis: 50%;
    }
  }
  .status .views {
    display: inline-flex;
    padding: 1px;
    border: 1px solid var(--line);
    border-radius: var(--radius);
  }
  .status .views button {
    height: 22px;
  }
  tr-event-table,
  tr-patterns-panel {
    flex: 1;
  }
  tr-event-details:not([iswide]) {
    border-left: 1px solid var(--line);
  }
  .empty {
    margin: auto;
    padding: 32px 20px;
    max-width: 30rem;
    text-align: center;
    color: var(--ink-muted);
  }
  .empty h2 {
    margin: 0 0 4px;
    color: var(--ink);
    font-size: var(--text-large);
    font-weight: 600;
  }
  .empty p {
    margin: 0 0 14px;
  }
  .empty .choices {
    display: flex;
    flex-wrap: wrap;
    justify-content: center;
    gap: 6px;
  }
  .empty .choices button {
    height: auto;
    min-height: 24px;
    max-width: 100%;
    white-space: normal;
    overflow-wrap: anywhere;
  }
  .progress {
    position: absolute;
    z-index: 3;
    inset: 0 0 auto;
    height: 2px;
    background: linear-gradient(90deg, transparent, var(--accent), transparent) 0 0 / 40% 100% no-repeat;
    animation: pass 1.1s linear infinite;
  }
  @keyframes pass {
    from {
      background-position: -60% 0;
    }
    to {
      background-position: 160% 0;
    }
  }
  @container discover (width < 900px) {
    .work,
    .work.with-fields,
    .work.with-details,
    .work.with-fields.with-details {
      position: relative;
      grid-template-columns: minmax(0, 1fr);
    }
    .main > tr-pane-edge {
      display: none;
    }
    aside,
    tr-event-details {
      position: absolute;
      z-index: 10;
      border: 0;
      box-shadow: 0 0 32px var(--shadow);
    }
    aside {
      inset: 40px 20% 0 0;
    }
    tr-event-details {
      inset: 0;
    }
  }
  @media (width < 700px) {
    .chart {
      padding: 6px 8px 0;
    }
  }
`;
