/**
 * Styles of a table whose rows become cards if the screen is too narrow for its columns: `<div class="table cards">`
 * with a `data-label` on each cell but the first, which is the card's title. Heads with buttons stay, for sorting. The
 * parts need explicit roles: browsers drop them from a table that isn't laid out as one.
 */

import { css } from "lit";

export const cardTableStyles = css`
  @media (width < 700px) {
    .cards :is(table, tbody, td) {
      display: block;
    }
    .cards thead:not(:has(button)) {
      position: absolute;
      width: 1px;
      height: 1px;
      overflow: hidden;
      clip-path: inset(50%);
    }
    .cards thead:has(button),
    .cards thead:has(button) tr {
      display: flex;
      flex-wrap: wrap;
    }
    .cards thead:has(button) th {
      padding: 8px 12px;
      border: 0;
    }
    .cards tbody tr {
      display: grid;
      grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr));
      gap: 8px 12px;
      padding: 12px;
      border-top: 1px solid var(--line);
    }
    .cards tbody td {
      padding: 0;
      border: 0;
      text-align: left;
      white-space: normal;
      overflow-wrap: anywhere;
    }
    .cards tbody td:first-child,
    .cards tbody td[colspan] {
      grid-column: 1 / -1;
    }
    .cards td[data-label]::before {
      content: attr(data-label);
      display: block;
      color: var(--ink-muted);
      font-size: var(--text-small);
    }
    .cards a.name {
      max-width: 100%;
    }
    .cards td .size {
      margin-left: 0;
    }
  }
`;
