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

function parseParts(text: string): string[] {
  if (text !== "" && !/[[\]]/.test(text)) return [text];
  const parts: string[] = [];
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf("]", at);
    const part = text[at] === "[" && end > at + 1 ? text.slice(at + 1, end) : "";
    // `[[a][b]]` is `[a][b]` in an outer pair of brackets, as one may write it in a format.
    if (part.startsWith("[") && text.endsWith("]]") && at === 0) return parseParts(text.slice(1, -1));
    if (part === "" || part.includes("[")) throw invalid(text);
    parts.push(part);
    at = end + 1;
  }
  if (parts.length === 0) throw invalid(text);
  return parts;
}

function invalid(text: string): AppError {
  return new AppError("settings_invalid", `"${text}" is no field reference; write name or [outer][inner]`);
}
