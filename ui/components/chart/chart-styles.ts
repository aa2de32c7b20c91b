/** Styles of charts. */

import { css, unsafeCSS } from "lit";
import { MISSING_COLOUR, OTHERS_COLOUR, SERIES_COLOURS } from "#ui/services/visualise/series-colours.ts";

const colours = Array.from(
  { length: SERIES_COLOURS },
  (_, at) => `.s${at + 1}{--colour:var(--series-${at + 1})}`,
);

const greys = [
  `.s${MISSING_COLOUR + 1}{--colour:var(--ink-faint)}`,
  `.s${OTHERS_COLOUR + 1}{--colour:color-mix(in srgb,var(--ink-faint) 60%,var(--surface))}`,
];

export const chartStyles = css`
  ${unsafeCSS([...colours, ...greys].join(""))}
  :host {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
    position: relative;
  }
  .plot {
    flex: 1;
    min-width: 0;
    min-height: 60px;
    overflow: hidden;
    border-radius: var(--radius);
  }
  .plot.long {
    overflow-y: auto;
  }
  .plot svg {
    display: block;
    width: auto;
    height: auto;
    stroke: none;
  }
  .fill {
    fill: var(--colour);
  }
  .stroke {
    fill: none;
    stroke: var(--colour);
    stroke-width: 1.8;
  }
  .area {
    fill: var(--colour);
    fill-opacity: 0.28;
  }
  .slice {
    stroke: var(--surface);
    stroke-width: 1.5;
  }
  .heat {
    fill: var(--series-1);
  }
  .track {
    fill: var(--line);
  }
  .zone0 {
    fill: var(--series-1);
  }
  .zone1 {
    fill: var(--level-warn);
  }
  .zone2 {
    fill: var(--level-error);
  }
  .limit {
    stroke-width: 1.5;
    stroke-dasharray: 5 4;
  }
  .limit.severity1 {
    stroke: var(--level-warn);
  }
  .limit.severity2 {
    stroke: var(--level-error);
  }
  b.severity1 {
    color: var(--level-warn);
  }
  b.severity2 {
    color: var(--level-error);
  }
  .gauge {
    position: relative;
    cursor: default;
  }
  .gauge p {
    position: absolute;
    inset: auto 0 0;
    margin: 0;
    color: var(--ink-muted);
    font-size: var(--text-small);
    text-align: center;
    overflow-wrap: anywhere;
  }
  .value {
    fill: var(--ink);
    font-weight: 650;
  }
  .value.severity1 {
    fill: var(--level-warn);
  }
  .value.severity2 {
    fill: var(--level-error);
  }
  .grid {
    stroke: var(--line);
    stroke-width: 1;
  }
  .cursor {
    fill: var(--ink);
    fill-opacity: 0.07;
  }
  .cursor.range {
    fill: var(--accent);
    fill-opacity: 0.2;
  }
  .plot {
    cursor: pointer;
    user-select: none;
  }
  .plot.times {
    cursor: crosshair;
    touch-action: pan-y;
  }
  .pick {
    display: inline-flex;
    align-items: center;
    gap: 6px;
    min-width: 24px;
    max-width: 100%;
    height: auto;
    min-height: 24px;
    padding: 0 4px;
    color: inherit;
    font: inherit;
    text-align: left;
  }
  text {
    font: 11px var(--font);
    font-variant-numeric: tabular-nums;
  }
  .tick {
    fill: var(--ink-faint);
  }
  .label {
    fill: var(--ink-muted);
  }
  .mark {
    stroke: var(--ink);
    stroke-dasharray: 3 3;
  }
  .mark-head {
    fill: var(--ink);
  }
  .marks {
    margin: 4px 0 0;
    color: var(--ink-muted);
    font-size: var(--text-small);
  }
  .marks ol {
    max-height: 7rem;
    margin: 4px 0 0;
    padding: 0;
    overflow: auto;
    list-style: none;
  }
  .marks li {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .legend {
    display: flex;
    flex-wrap: wrap;
    gap: 2px 14px;
    max-height: 4.6rem;
    margin: 6px 0 0;
    padding: 0;
    overflow: auto;
    list-style: none;
    color: var(--ink-muted);
    font-size: var(--text-small);
  }
  .legend li {
    display: inline-flex;
    align-items: center;
    gap: 6px;
    min-width: 0;
    max-width: 100%;
  }
  .legend span {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .legend b {
    color: var(--ink);
    font-weight: 600;
    font-variant-numeric: tabular-nums;
  }
  .key {
    flex: none;
    width: 10px;
    height: 10px;
    border-radius: 3px;
    background: var(--colour);
  }
  .readout {
    position: absolute;
    z-index: 2;
    top: 4px;
    right: 6px;
    max-width: min(22rem, 80%);
    max-height: 90%;
    padding: 7px 10px;
    overflow: hidden;
    border: 1px solid var(--line-strong);
    border-radius: 6px;
    background: var(--surface);
    box-shadow: 0 6px 20px var(--shadow);
    font-size: var(--text-small);
    pointer-events: none;
  }
  .readout.left {
    right: auto;
    left: 56px;
  }
  .readout strong {
    display: block;
    overflow-wrap: anywhere;
    font-weight: 600;
  }
  .readout div {
    display: grid;
    grid-template-columns: auto minmax(0, 1fr) auto;
    align-items: center;
    gap: 6px;
  }
  .readout div span {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .number {
    flex: 1;
    display: grid;
    place-content: center;
    text-align: center;
    min-height: 80px;
  }
  .number b {
    font-size: clamp(1.6rem, 11cqi, 3.6rem);
    font-weight: 650;
    line-height: 1.1;
    letter-spacing: -0.02em;
    font-variant-numeric: tabular-nums;
  }
  .number span {
    color: var(--ink-muted);
  }
  :host {
    container-type: inline-size;
  }
  .table {
    flex: 1;
    min-height: 0;
    overflow: auto;
  }
  table {
    width: 100%;
    border-collapse: collapse;
    font-variant-numeric: tabular-nums;
  }
  th,
  td {
    padding: 4px 10px;
    border-bottom: 1px solid var(--line);
    text-align: right;
    white-space: nowrap;
  }
  thead th {
    position: sticky;
    top: 0;
    background: var(--surface);
    color: var(--ink-muted);
    font-size: var(--text-small);
    font-weight: 600;
  }
  th:first-child {
    max-width: 26rem;
    overflow: hidden;
    text-align: left;
    text-overflow: ellipsis;
    font-weight: 500;
  }
`;
