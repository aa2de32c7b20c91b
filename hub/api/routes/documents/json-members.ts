/** Finds the members of a JSON object as byte ranges, so that documents within bodies stay as they were sent. */

import { JsonScanner, OBJECT } from "#hub/engine/json/scanner.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Returns the raw values of an object's members by key; the last of a key counts. Throws parsing, mapping_parse (no JSON). */
export function jsonMembers(bytes: Uint8Array): Map<string, Uint8Array> {
  const scanner = new JsonScanner();
  scanner.reset(bytes);
  if (scanner.value() !== OBJECT) {
    throw new AppError("parsing", "the body must be a JSON object", { data: { type: "parse_exception" } });
  }
  const members = new Map<string, Uint8Array>();
  for (let first = true; scanner.key(first); first = false) {
    const key = scanner.text();
    const from = scanner.at;
    scanner.skip(scanner.value());
    members.set(key, bytes.subarray(from, scanner.at));
  }
  scanner.finish();
  return members;
}

/** Returns an object of members with raw values. */
export function joinMembers(members: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [key, value] of members) {
    parts.push(Buffer.from(`${parts.length === 0 ? "{" : ","}${JSON.stringify(key)}:`), value);
  }
  if (parts.length === 0) parts.push(Buffer.from("{"));
  parts.push(Buffer.from("}"));
  return Buffer.concat(parts);
}
