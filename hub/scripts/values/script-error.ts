/** Errors of scripts: where in the source they were thrown, as the 6.5 server prints it. */

import { AppError } from "#proto/kit/errors.ts";

/** Characters of the source that are shown on each side of the position of an error. */
const CONTEXT_CHARS = 25;

/** An exception inside a script: a class name of the language's library, a message and the position it was thrown at. */
export class ScriptException extends Error {
  /** Simple name, e.g. "IllegalArgumentException". */
  readonly type: string;
  /** Offset in the source, UTF-16 units; undefined until an expression with a position was left by the exception. */
  offset: number | undefined;
  /** Members of the error besides those that each has. */
  readonly details: Readonly<Record<string, string>> = {};

  constructor(type: string, message: string | null, offset?: number) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message ?? undefined);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "ScriptException";
    this.type = type;
    this.offset = offset;
  }
}

/** A budget was spent. Scripts can't catch it. */
export class ScriptLimit extends ScriptException {}

/**
 * Returns the lines that point at `offset` of `source`: the text around it, and "^---- HERE" below.
 * Source of the form: `ScriptException.getScriptStack` of the 6.5 server.
 */
export function scriptStack(source: string, offset: number): [text: string, pointer: string] {
  const start = Math.max(0, offset - CONTEXT_CHARS);
  const end = Math.min(source.length, offset + CONTEXT_CHARS);
  const before = start > 0 ? "... " : "";
  const after = end < source.length ? " ..." : "";
  const text = `${before}${source.slice(start, end)}${after}`;
  return [text, `${" ".repeat(before.length + offset - start)}^---- HERE`];
}

/** Returns the error that clients get for a script that doesn't compile (status 400). */
export function compileError(source: string, error: ScriptException, lang: string): AppError {
  return scriptError("compile error", source, error, lang);
}

/** Returns the error that clients get for a script that failed while it ran (status 400). */
export function runtimeError(source: string, error: ScriptException, lang: string): AppError {
  return scriptError("runtime error", source, error, lang);
}

function scriptError(reason: string, source: string, error: ScriptException, lang: string): AppError {
  return new AppError("script_failed", reason, {
    data: {
      ...error.details,
      script_stack: scriptStack(source, error.offset ?? 0),
      script: source,
      lang,
      caused_by: { type: snakeCase(error.type), reason: error.message === "" ? null : error.message },
    },
  });
}

/** "NullPointerException" → "null_pointer_exception". */
export function snakeCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])/g, (letter) => `_${letter}`).toLowerCase();
}
