/**
 * Terminal input and output of commands: a password prompt (hidden and twice on a terminal, the first line of
 * standard input in scripts), tables, and sizes.
 */

import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { printable } from "#proto/kit/printable.ts";
import { MIB } from "#proto/kit/units.ts";
import { usageError } from "./arguments.ts";

/** Returns the password for the account `name`. Throws usage_invalid if there is none or the two differ. */
export async function readPassword(name: string): Promise<string> {
  if (process.stdin.isTTY !== true) return firstLine();
  const password = await ask(`Password for ${name}: `);
  if ((await ask("Once more: ")) !== password) throw usageError("the two passwords differ");
  return password;
}

async function firstLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  for await (const line of lines) return line;
  throw usageError("a password is expected as the first line of standard input");
}

async function ask(prompt: string): Promise<string> {
  process.stderr.write(prompt);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    lines.once("line", resolve);
    lines.once("close", () => reject(usageError("no password was given")));
    return await promise;
  } finally {
    lines.close();
    process.stderr.write("\n");
  }
}

/** Returns the table of a list, or `none` if it is empty, which explains how to add an entry. */
export function listTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): string {
  return rows.length === 0 ? `${none}\n` : table(head, rows);
}

/** Returns rows of cells below a header, in columns as wide as their longest cell. Cells may hold any text. */
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

/** Returns a size in MiB with a decimal. */
export function mib(bytes: number): string {
  return (bytes / MIB).toFixed(1);
}
