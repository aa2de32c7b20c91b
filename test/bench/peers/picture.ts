/** Draws the CPU of each question by store as an SVG: one row a question, one mark a store, on a logarithmic axis. */

import type { Comparison } from "./tables.ts";

const LABEL = 190;
const PLOT = 520;
const ROW = 24;
const TOP = 64;
const EDGE = 20;
/** Hues that people who see red and green alike tell apart (https://jfly.uni-koeln.de/color/). */
const COLOURS = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00"];
/** What is below is drawn here: the system counts CPU in steps. */
const LEAST_MS = 0.1;

export function pictureOf({ documents, stores }: Comparison): string {
  const questions = stores[0]?.questions ?? [];
  const all = stores.flatMap((store) => store.questions.map(({ cpuMs }) => cpuMs ?? LEAST_MS));
  const decades = Math.max(1, Math.ceil(Math.log10(Math.max(...all) / LEAST_MS)));
  const x = (ms: number): number => LABEL + (PLOT * Math.log10(Math.max(ms, LEAST_MS) / LEAST_MS)) / decades;
  const width = LABEL + PLOT + EDGE * 2;
  const bottom = TOP + questions.length * ROW;
  const title = `CPU-ms for each question, ${documents.toLocaleString("en")} access logs, warm; less is better`;
  const rows = questions.map(({ name }, number) => {
    const y = TOP + number * ROW + ROW / 2;
    const marks = stores.map((store, at) => {
      const ms = store.questions[number]!.cpuMs;
      if (ms === undefined) return "";
      const label = `${escaped(store.name)}: ${ms.toFixed(1)} ms`;
      return `<circle cx="${x(ms).toFixed(1)}" cy="${y}" r="5" fill="${colour(at)}"><title>${label}</title></circle>`;
    });
    return `<text x="${LABEL - 12}" y="${y + 4}" text-anchor="end">${escaped(name)}</text>
<line x1="${LABEL}" y1="${y}" x2="${LABEL + PLOT}" y2="${y}" stroke="#e3e5e8"/>${marks.join("")}`;
  });
  const ticks = Array.from({ length: decades + 1 }, (_, power) => {
    const ms = LEAST_MS * 10 ** power;
    return `<line x1="${x(ms)}" y1="${TOP - 6}" x2="${x(ms)}" y2="${bottom}" stroke="#c8ccd1"/><text x="${x(ms)}" y="${bottom + 16}" text-anchor="middle">${Number(ms.toPrecision(1))}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 30}" font-family="sans-serif" font-size="12" role="img">
<title>${title}</title>
<rect width="${width}" height="${bottom + 30}" fill="#fff"/>
<text x="${EDGE}" y="22" font-size="14">${title}</text>
${legend(stores.map(({ name }) => name))}
${ticks.join("\n")}
${rows.join("\n")}
</svg>
`;
}

function legend(names: readonly string[]): string {
  const step = PLOT / Math.max(1, names.length);
  return names
    .map(
      (name, at) =>
        `<circle cx="${LABEL + at * step + 6}" cy="44" r="5" fill="${colour(at)}"/><text x="${LABEL + at * step + 16}" y="48">${escaped(name)}</text>`,
    )
    .join("");
}

const colour = (at: number): string => COLOURS[at % COLOURS.length]!;
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
