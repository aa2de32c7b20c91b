/** Diagnostics of a pipeline's text: the error, its position, and the remedy. */

import { AppError } from "#proto/kit/errors.ts";
import type { Range } from "./syntax-tree.ts";

export interface Diagnostic {
  readonly severity: "error" | "warning";
  readonly range: Range;
  /** What is wrong. */
  readonly message: string;
  /** What to do, or empty. */
  readonly hint: string;
}

/** The position of a diagnostic as the interfaces show it. */
export interface DiagnosticPlace {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

/** Returns the position of a diagnostic. */
export function diagnosticPlace({ range }: Diagnostic): DiagnosticPlace {
  return { file: range.source.file, ...range.source.place(range.start) };
}

/** Returns a diagnostic for a terminal: file:line:column, message, the line with a caret, the hint. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { range, severity, message, hint } = diagnostic;
  const { file, line, column } = diagnosticPlace(diagnostic);
  const text = range.source.line(line);
  const width = Math.max(1, Math.min(range.end - range.start, text.length - column + 1));
  const indent = text.slice(0, column - 1).replace(/[^\t]/g, " ");
  const gutter = " ".repeat(String(line).length);
  return [
    `${file}:${line}:${column}: ${severity}: ${message}`,
    ` ${line} | ${text}`,
    ` ${gutter} | ${indent}${"^".repeat(width)}`,
    ...(hint === "" ? [] : [` ${gutter} = ${hint}`]),
  ].join("\n");
}

/** Returns the error of a pipeline that can't be used, naming everything that is wrong with it. */
export function pipelineError(diagnostics: readonly Diagnostic[]): AppError {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  return new AppError("settings_invalid", errors.map(formatDiagnostic).join("\n\n"), {
    data: {
      diagnostics: errors.map((each) => ({
        ...diagnosticPlace(each),
        message: each.message,
        hint: each.hint,
      })),
    },
  });
}
