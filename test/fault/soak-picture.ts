/** Draws the series of a long run as an SVG: one small chart each, with the line whose slope counts. */

import type { Series, Trend } from "./soak-samples.ts";

const COLUMNS = 3;
const CHART = { width: 300, height: 90 };
/** Around each chart; its title is above it. */
const GAP = { x: 20, y: 46 };
const MINUTE_MS = 60_000;

/** `title` is one line over the charts. */
export function soakPicture(title: string, series: readonly Series[], fromMs: number): string {
  const rows = Math.ceil(series.length / COLUMNS);
  const width = COLUMNS * (CHART.width + GAP.x) + GAP.x;
  const height = rows * (CHART.height + GAP.y) + GAP.y;
  const charts = series.map((each, number) => {
    const x = GAP.x + (number % COLUMNS) * (CHART.width + GAP.x);
    const y = GAP.y + 20 + Math.floor(number / COLUMNS) * (CHART.height + GAP.y);
    return `<g transform="translate(${x} ${y})">${chart(each, each.trend(fromMs))}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11" role="img">
<title>${title}</title>
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="${GAP.x}" y="24" font-size="14">${title}</text>
${charts.join("\n")}
</svg>
`;
}

function chart({ name, unit, points }: Series, trend: Trend): string {
  const endMs = Math.max(1, points.at(-1)?.atMs ?? 1);
  const top = Math.max(1, ...points.map(({ value }) => value)) * 1.1;
  const x = (atMs: number): string => ((atMs / endMs) * CHART.width).toFixed(1);
  const y = (value: number): string => (CHART.height * (1 - value / top)).toFixed(1);
  const line = points.map(({ atMs, value }) => `${x(atMs)},${y(value)}`).join(" ");
  const sign = trend.growth < 0 ? "−" : "+";
  const measured = `${trend.first.toFixed(0)} ${sign} ${Math.abs(trend.growth).toFixed(1)} ${unit}`.trim();
  const minutes = ((trend.lastMs - trend.fromMs) / MINUTE_MS).toFixed(0);
  return `<text y="-8">${name}: ${measured} in ${minutes} min</text>
<rect width="${CHART.width}" height="${CHART.height}" fill="#f4f5f7"/>
<polyline points="${line}" fill="none" stroke="#3366cc"/>
<line x1="${x(trend.fromMs)}" y1="${y(trend.first)}" x2="${x(trend.lastMs)}" y2="${y(trend.last)}" stroke="#c33" stroke-width="2"/>`;
}
