/** The report of an import: what was created, what was left out, and whether the counts agree. */

import type { ImportReport, IndexResult } from "./import-cluster.ts";

/** Returns whether everything is in the hub. */
export function isComplete({ definitions, indices, closed }: ImportReport): boolean {
  const areDefined = definitions.every(({ error }) => error === undefined);
  return areDefined && indices.every(isWhole) && closed.length === 0;
}

/** Returns the report as rows of a table (indices) and the lines of text that follow it. */
export function reportOf(report: ImportReport): { rows: string[][]; remarks: string[] } {
  const { definitions, indices, closed, retention, lifecyclesStopped } = report;
  const rows = indices
    .filter(({ counts }) => counts !== undefined)
    .map(({ name, target, copied, counts }) => [
      name,
      target,
      ...[counts!.source, counts!.hub, copied!.written, copied!.refused].map(String),
    ]);
  const made = definitions.filter(({ error }) => error === undefined);
  const remarks = [
    ...made.map(({ kind, name, leftOut }) => `${kind} ${name}: imported${without(leftOut)}`),
    ...definitions.flatMap(({ kind, name, error }) =>
      error === undefined ? [] : [`${kind} ${name}: REFUSED: ${error}`],
    ),
    ...indices.flatMap(remarksOf),
    ...closed.map((name) => `index ${name}: closed, not imported; open it and import again`),
    ...retention.map(
      (rule) => `lifecycle: add "${rule}" to retention.rules of hub.yml, or on the page Indices`,
    ),
    ...(lifecyclesStopped
      ? ["lifecycle: policies were stopped before; POST /_ilm/start carries them out again"]
      : []),
  ];
  return { rows, remarks };
}

function remarksOf({ name, error, leftOut, copied, counts }: IndexResult): string[] {
  if (error !== undefined) return [`index ${name}: REFUSED: ${error}`];
  const lines = leftOut.length > 0 ? [`index ${name}: imported${without(leftOut)}`] : [];
  for (const reason of copied?.reasons ?? []) lines.push(`index ${name}: REFUSED ${reason}`);
  if (counts !== undefined && counts.hub < counts.source)
    lines.push(`index ${name}: ${counts.source - counts.hub} documents are missing; import again`);
  return lines;
}

function isWhole({ error, copied, counts }: IndexResult): boolean {
  if (error !== undefined || (copied?.refused ?? 0) > 0) return false;
  return counts === undefined || counts.hub >= counts.source;
}

function without(leftOut: readonly string[]): string {
  return leftOut.length === 0 ? "" : ` without ${leftOut.join(", ")}`;
}
