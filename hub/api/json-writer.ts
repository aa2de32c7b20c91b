/** Writes answers as JSON. Raw documents and whole numbers of any size keep their text. */

import { RawJson } from "#hub/search/raw-json.ts";

/** Returns `value` as JSON; undefined members are left out. `pretty`: indented, with a newline at the end. */
export function writeJson(value: unknown, pretty = false): string {
  const parts: string[] = [];
  if (!pretty) {
    writeCompact(value, parts);
    return parts.join("");
  }
  writePretty(value, "\n", parts);
  parts.push("\n");
  return parts.join("");
}

/** Returns `value` with raw documents parsed, for those who look into it. */
export function plainValue(value: unknown): unknown {
  if (value instanceof RawJson) return value.parse();
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plainValue(each)]));
}

function writeCompact(value: unknown, parts: string[]): void {
  if (typeof value !== "object" || value === null) {
    parts.push(scalar(value));
  } else if (value instanceof RawJson) {
    parts.push(value.text);
  } else if (Array.isArray(value)) {
    parts.push("[");
    for (const [at, each] of value.entries()) {
      if (at > 0) parts.push(",");
      writeCompact(each, parts);
    }
    parts.push("]");
  } else {
    parts.push("{");
    let first = true;
    for (const [key, each] of Object.entries(value)) {
      if (each === undefined) continue;
      parts.push(first ? "" : ",", JSON.stringify(key), ":");
      first = false;
      writeCompact(each, parts);
    }
    parts.push("}");
  }
}

function writePretty(given: unknown, newline: string, parts: string[]): void {
  const value = given instanceof RawJson ? given.parse() : given;
  if (typeof value !== "object" || value === null) {
    parts.push(scalar(value));
    return;
  }
  const isList = Array.isArray(value);
  const members = Object.entries(value).filter(([, each]) => isList || each !== undefined);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (members.length === 0) {
    parts.push(open, " ", close);
    return;
  }
  const inner = `${newline}  `;
  parts.push(open);
  for (const [at, [key, each]] of members.entries()) {
    parts.push(at > 0 ? "," : "", inner);
    if (!isList) parts.push(JSON.stringify(key), " : ");
    writePretty(each, inner, parts);
  }
  parts.push(newline, close);
}

/** JSON has no NaN and infinities; clients of this interface expect them as text. */
function scalar(value: unknown): string {
  if (typeof value === "number" && !Number.isFinite(value)) return JSON.stringify(String(value));
  if (typeof value === "bigint") return value.toString();
  return JSON.stringify(value) ?? "null";
}
