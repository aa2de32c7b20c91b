/** Aliases: further names of indices, stored in each index's metadata. */

import { AppError } from "#proto/kit/errors.ts";
import { backingIndices, isDataStream } from "./data-streams.ts";
import type { AliasOptions, IndexMetadata } from "./index-metadata.ts";

/** One step of `_aliases`, with concrete names; all steps of a call are applied together. */
export type AliasAction =
  | { readonly kind: "add"; readonly index: string; readonly alias: string; readonly info: AliasOptions }
  | { readonly kind: "remove"; readonly index: string; readonly alias: string }
  | { readonly kind: "remove_index"; readonly index: string };

/** Returns `index` with the alias. */
export function withAlias(index: IndexMetadata, alias: string, info: AliasOptions): IndexMetadata {
  return { ...index, aliases: { ...index.aliases, [alias]: info } };
}

/** Returns `index` without the alias. */
export function withoutAlias(index: IndexMetadata, alias: string): IndexMetadata {
  const { [alias]: _, ...aliases } = index.aliases;
  return { ...index, aliases };
}

/** Returns true if one of the indices has the alias. */
export function isAlias(indices: Iterable<IndexMetadata>, name: string): boolean {
  for (const index of indices) if (Object.hasOwn(index.aliases, name)) return true;
  return false;
}

/**
 * Returns the aliases of an index that are still possible beside `others`, which were made without it: none that is the name
 * of an index or data stream now, or that would make writes to it ambiguous; write index is the other one where there is one.
 */
export function fittingAliases(
  index: IndexMetadata,
  others: readonly IndexMetadata[],
): IndexMetadata["aliases"] {
  const kept: Record<string, AliasOptions> = {};
  for (const [alias, options] of Object.entries(index.aliases)) {
    if (isDataStream(others, alias) || others.some(({ name }) => name === alias)) continue;
    const behind = others.filter((other) => Object.hasOwn(other.aliases, alias));
    const isWritten = behind.some((other) => other.aliases[alias]?.is_write_index === true);
    const { is_write_index: isWriteIndex, ...rest } = options;
    const { dataStream } = index;
    const isOfStream = dataStream !== undefined && behind.every((other) => other.dataStream === dataStream);
    if (behind.length === 1 && !isWritten && isWriteIndex !== true && !isOfStream) continue;
    kept[alias] = isWritten && isWriteIndex === true ? rest : options;
  }
  return kept;
}

/**
 * Returns the index that receives writes to an alias; undefined if no index has it. Throws request_invalid if several
 * have it and not exactly one is its write index.
 */
export function writeIndexOf(indices: Iterable<IndexMetadata>, alias: string): IndexMetadata | undefined {
  const behind = [...indices].filter((index) => Object.hasOwn(index.aliases, alias));
  if (behind.length <= 1) return behind[0];
  const chosen = behind.filter((index) => index.aliases[alias]?.is_write_index === true);
  if (chosen.length === 1) return chosen[0];
  const [stream] = new Set(behind.map(({ dataStream }) => dataStream));
  if (stream !== undefined && behind.every(({ dataStream }) => dataStream === stream))
    return backingIndices(behind, stream).at(-1);
  throw new AppError(
    "request_invalid",
    `no write index is defined for alias [${alias}]. The write index may be explicitly disabled using is_write_index=false or the alias points to multiple indices without one being designated as a write index`,
  );
}
