/** Documents as their mapping lets them be shown. */

import type { Mapping } from "#hub/engine/mapping/mapping.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import { RawJson } from "#hub/search/options/raw-json.ts";
import { filterSource } from "./source-filter.ts";

/** Returns the bytes of a document that are shown; undefined where its mapping has `_source` disabled. */
export function shownSource(mapping: Mapping, source: Uint8Array): Uint8Array | undefined {
  const { enabled, includes, excludes } = mapping.settings.source;
  if (!enabled) return undefined;
  if (includes.length === 0 && excludes.length === 0) return source;
  const shown = filterSource(source, { includes, excludes });
  return shown instanceof RawJson ? source : Buffer.from(writeJson(shown));
}
