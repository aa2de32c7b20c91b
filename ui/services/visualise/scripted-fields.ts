/** Fields that a visualisation computes by scripts: `kb = doc['bytes'].value / 1024.0`, one a line. */

import { msg, str } from "@lit/localize";

/** A field of one visualisation. */
export interface ScriptedField {
  readonly name: string;
  readonly type: ScriptedType;
  /** Painless: an expression, or statements that call emit(value). */
  readonly script: string;
}

const TYPES = ["double", "long", "keyword", "boolean", "date", "ip"] as const;
type ScriptedType = (typeof TYPES)[number];

/** More can't be distinguished on a page. */
const MAX_FIELDS = 10;

const LINE = /^\s*([A-Za-z_][\w.-]*)\s*(?::\s*([a-z]+)\s*)?=(?!=)\s*(.*\S)\s*$/;

/** Returns the fields of a text; lines that define none are left out. Without a type they are numbers. */
export function scriptedFields(text: string): readonly ScriptedField[] {
  return linesOf(text).flatMap((line) => readLine(line) ?? []);
}

/** Returns what is wrong with a text, or undefined. */
export function scriptedFault(text: string): string | undefined {
  const lines = linesOf(text);
  if (lines.length > MAX_FIELDS) return msg(str`At most ${String(MAX_FIELDS)} fields can be computed.`);
  const wrong = lines.find((line) => readLine(line) === undefined);
  return wrong === undefined
    ? undefined
    : msg(str`Write a name, an equals sign and a script for each computed field, not "${wrong.trim()}".`);
}

/** Returns the `runtime_mappings` of a search; undefined if nothing is computed. */
export function runtimeMappings(text: string): Readonly<Record<string, unknown>> | undefined {
  const fields = scriptedFields(text);
  if (fields.length === 0) return undefined;
  return Object.fromEntries(
    fields.map(({ name, type, script }) => [name, { type, script: { source: emitting(script) } }]),
  );
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

function readLine(line: string): ScriptedField | undefined {
  const [, name, type = "double", script] = LINE.exec(line) ?? [];
  const known = TYPES.find((each) => each === type);
  return name === undefined || known === undefined ? undefined : { name, type: known, script: script! };
}

function emitting(script: string): string {
  return /\bemit\s*\(/.test(script) ? script : `emit(${script.replace(/;$/, "")})`;
}
