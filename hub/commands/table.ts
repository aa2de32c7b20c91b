/** Formats tables for the terminal. */

import { printable } from "#proto/kit/printable.ts";

/** Returns the table of a list, or `none` if it is empty, which explains how to add an entry. */
export function listTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): string {
  return rows.length === 0 ? `${none}\n` : table(head, rows);
}

/** Returns rows of cells below a head, in columns as wide as their longest cell. Cells may hold any text. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows.map((row) => row.map(printable))];
  const widths = head.map((_cell, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return `${all.map(line).join("\n")}\n`;
}
