/**
 * Styles of a table whose rows become cards if the screen is too narrow for its columns: `<div class="table cards">`,
 * with `wide` for ten columns and more, and a `data-label` on each cell but the first, which is the card's title. Heads
 * with buttons stay, for sorting. The parts need explicit roles: browsers drop them from a table that isn't laid out as one.
 */

import { type CSSResult, css } from "lit";

/** The layout of cards, for the tables of a selector. */
const asCards = (table: CSSResult): CSSResult => css`
  ${table} :is(table, tbody, td) {
    display: block;
  }
  ${table} thead:not(:has(button)) {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
  }
  ${table} thead:has(button),
  ${table} thead:has(button) tr {
    display: flex;
    flex-wrap: wrap;
  }
  ${table} thead:has(button) th {
    padding: 8px 12px;
    border: 0;
  }
  ${table} tbody tr {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr));
    gap: 8px 12px;
    padding: 12px;
    border-top: 1px solid var(--line);
  }
  ${table} tbody td {
    min-width: 0;
    padding: 0;
    border: 0;
    text-align: left;
    white-space: normal;
    overflow-wrap: anywhere;
  }
  ${table} tbody td:first-child,
  ${table} tbody td[colspan] {
    grid-column: 1 / -1;
  }
  ${table} td[data-label]::before {
    content: attr(data-label);
    display: block;
    color: var(--ink-muted);
    font-size: var(--text-small);
  }
  ${table} a.name {
    max-width: 100%;
  }
  ${table} td .size {
    margin-left: 0;
  }
`;

export const cardTableStyles = css`
  /* Before rows become cards, words wrap; numbers don't. */
  @media (width < 1200px) {
    .cards :is(th, td:not(.number, .name, :has(.fill))) {
      white-space: normal;
    }
  }
  @media (width < 800px) {
    ${asCards(css`.cards`)}
  }
  @media (width < 900px) {
    ${asCards(css`.cards.wide`)}
  }
`;
