/** Field references: `name`, `[name]`, `[a][b]`, `[a][0]`, `[@metadata][x]`. */

import { AppError } from "#proto/kit/errors.ts";

/** The part of an event that never leaves the pipeline. */
export const METADATA = "@metadata";

/** The members from the event's root to a value. */
export interface FieldReference {
  readonly text: string;
  /** The rest after a leading `[@metadata]`; empty means the whole metadata. */
  readonly path: readonly string[];
  readonly inMetadata: boolean;
}

/** References seen; texts come from configuration, and from data only through formats, so that few repeat. */
const CACHE_LIMIT = 4096;
/** Longer ones aren't kept: a sender's text may be a megabyte. */
const MAX_KEPT_LENGTH = 256;
const cache = new Map<string, FieldReference>();

/** Returns the reference that `text` writes. Throws settings_invalid. */
export function fieldReference(text: string): FieldReference {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const parts = parseParts(text);
  const inMetadata = parts[0] === METADATA;
  const reference = { text, path: inMetadata ? parts.slice(1) : parts, inMetadata };
  if (text.length > MAX_KEPT_LENGTH) return reference;
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(text, reference);
  return reference;
}

/** Returns true where `text` is a field reference. */
export function isFieldReference(text: string): boolean {
  try {
    fieldReference(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the reference of a field's name, `[name]`; a text that is a reference with brackets stays as it is. */
export function bracketed(field: string): string {
  return field.startsWith("[") ? field : `[${field}]`;
}

/** Brackets may be nested: `[[a][b]][c]` is `[a][b][c]`. */
function parseParts(text: string): string[] {
  if (text !== "" && !/[[\]]/.test(text)) return [text];
  const parts: string[] = [];
  let depth = 0;
  let before = "";
  for (const token of text.match(/[[\]]|[^[\]]+/g) ?? []) {
    const mayFollow = token === "[" ? before === "[" || before === "]" || before === "" : before !== "[";
    if (token === "[" && mayFollow) depth++;
    else if (token === "]" && mayFollow && depth > 0) depth--;
    else if (token !== "[" && token !== "]" && before === "[") parts.push(token);
    else throw invalid(text);
    before = token;
  }
  if (parts.length === 0 || depth > 0) throw invalid(text);
  return parts;
}

function invalid(text: string): AppError {
  return new AppError("settings_invalid", `"${text}" isn't a field reference; write name or [outer][inner]`);
}
