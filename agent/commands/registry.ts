/** `tailrace-agent registry`: prints, exports or imports the registry, or resets a file in it. */

import { matchesPath } from "#agent/discovery/pattern.ts";
import { excluderOf, type FileSettings, patternsOf } from "#agent/inputs/files/file-settings.ts";
import type { AgentSettings } from "#agent/settings/config.ts";
import type { InputSettings } from "#agent/settings/input-settings.ts";
import { AppError } from "#proto/kit/errors.ts";
import { createLogger } from "#proto/kit/log.ts";
import { printable, printableJson } from "#proto/kit/printable.ts";
import { exportRows, importRows, type Rows, readRows, resetFile } from "./registry-transfer.ts";
import type { Terminal } from "./terminal.ts";

/** The words after `registry` on the command line, and its option `--json`. */
export interface RegistryArguments {
  readonly argument: string;
  readonly operand: string;
  readonly json: boolean;
}

/**
 * Runs the command; resolves with true if it changed or printed something. Throws usage_invalid and what the registry
 * throws.
 */
export async function registryCommand(
  settings: AgentSettings,
  { argument, operand, json }: RegistryArguments,
  terminal: Terminal,
): Promise<boolean> {
  const { pathData, inputs } = settings;
  const log = createLogger({ name: "agent", level: "error", pretty: true });
  if (["import", "reset"].includes(argument) === (operand === "")) {
    throw new AppError(
      "usage_invalid",
      "write registry [export], registry import PATH or registry reset FILE",
    );
  }
  switch (argument) {
    case "":
    case "export": {
      const rows = await readRows(pathData, log, (path) =>
        terminal.warn(`the agent is running; this is ${path}, up to 10 minutes old\n`),
      );
      terminal.print(argument === "export" ? exportRows(rows) : describeRows(rows, json));
      return true;
    }
    case "import": {
      const { files, skipped } = await importRows(pathData, operand, readerOf(inputs), log);
      for (const [path, reason] of skipped) terminal.warn(`${printable(path)}: left out, ${reason}\n`);
      terminal.print(`${files} files imported, ${skipped.length} skipped\n`);
      return true;
    }
    case "reset": {
      const files = await resetFile(pathData, operand, log);
      terminal.print(`${files} files forgotten\n`);
      return files > 0;
    }
    default:
      throw new AppError("usage_invalid", `registry ${argument}: there are export, import and reset`);
  }
}

/** Returns what finds the input that reads a path. */
function readerOf(inputs: readonly InputSettings[]): (path: string) => string | undefined {
  const readers = inputs
    .filter(({ plugin }) => ["log", "container"].includes(plugin.type))
    .map(({ id, options }) => {
      const settings = options as FileSettings;
      return { id, patterns: patternsOf(settings), isExcluded: excluderOf(settings) };
    });
  return (path) =>
    readers.find(({ patterns, isExcluded }) => matchesPath(patterns, path) && !isExcluded(path))?.id;
}

function describeRows(rows: Rows, json: boolean): string {
  if (json) return `${printableJson(Object.fromEntries(rows), 2)}\n`;
  const lines = [...rows].map(
    ([key, row]) =>
      `${printable(row.path)}\n  file ${key} generation ${row.generation}, sent ${row.sent}, committed ${row.committed}\n`,
  );
  return `${lines.join("")}${rows.size} files\n`;
}
