/** Styles of the map. */

import { css } from "lit";

export const worldMapStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    position: relative;
    min-width: 0;
    min-height: 0;
  }
  .plot {
    flex: 1;
    min-width: 0;
    min-height: 120px;
    overflow: hidden;
    border-radius: var(--radius);
    background: var(--surface-sunken);
    cursor: grab;
  }
  .plot:active {
    cursor: grabbing;
  }
  .plot:focus {
    touch-action: none;
  }
  .plot svg {
    display: block;
    width: auto;
    height: auto;
    stroke: none;
    pointer-events: none;
  }
  .graticule {
    fill: none;
    stroke: var(--line);
    stroke-width: 0.5;
  }
  .land {
    fill: var(--bar-soft);
    fill-opacity: 0.55;
    stroke: var(--line-strong);
    stroke-width: 0.6;
  }
  .border {
    fill: none;
    stroke: var(--surface);
    stroke-width: 0.7;
  }
  .ring {
    fill: var(--series-2);
    fill-opacity: 0.1;
    stroke: var(--series-2);
    stroke-width: 1.6;
    stroke-dasharray: 5 4;
  }
  .place {
    fill: var(--series-1);
    fill-opacity: 0.88;
    stroke: var(--surface);
    stroke-width: 1.2;
  }
  .place.chosen {
    stroke: var(--ink);
    stroke-width: 2.4;
  }
  text {
    fill: var(--accent-ink);
    font: 600 10.5px var(--font);
    font-variant-numeric: tabular-nums;
  }
  .tools {
    position: absolute;
    top: 6px;
    right: 6px;
    display: grid;
    gap: 4px;
  }
  .readout {
    position: absolute;
    z-index: 2;
    top: 6px;
    left: 6px;
    max-width: min(20rem, calc(100% - 3.5rem));
    padding: 7px 10px;
    border: 1px solid var(--line-strong);
    border-radius: 6px;
    background: var(--surface);
    box-shadow: 0 6px 20px var(--shadow);
    font-size: var(--text-small);
    pointer-events: none;
  }
  .readout strong {
    display: block;
    font-weight: 600;
  }
  .caption {
    margin: 6px 0 0;
    color: var(--ink-muted);
    font-size: var(--text-small);
  }
  .empty {
    position: absolute;
    inset: auto 0 10px;
    margin: 0;
    color: var(--ink-muted);
    text-align: center;
    pointer-events: none;
  }
`;
