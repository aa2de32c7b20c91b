/** Lists of fields in requests: patterns with `*` and boosts as in "title^3". */

import type { FieldType } from "#hub/engine/mapping/field.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";

export interface FieldName {
  /** Name or pattern. */
  readonly name: string;
  readonly boost: number;
}

/** Fields a text is looked for in at most. */
const MAX_FIELDS = 1024;

/** Types that a text is never looked for in. */
const UNSEARCHED: ReadonlySet<FieldType> = new Set<FieldType>(["geo_point", "binary", "completion"]);

/** Splits boosts off. Throws parsing. */
export function readFieldNames(names: readonly string[]): FieldName[] {
  return names.map((name) => {
    const at = name.lastIndexOf("^");
    if (at < 1) return { name, boost: 1 };
    const boost = Number(name.slice(at + 1));
    if (Number.isFinite(boost) && name.length > at + 1) return { name: name.slice(0, at), boost };
    throw new AppError("parsing", `[${name}] has no number after ^; write for example title^3`);
  });
}

/** Replaces patterns by the searchable fields they match. Throws request_invalid if there are too many. */
export function expandFields(shard: ShardContext, names: readonly FieldName[]): FieldName[] {
  const found = new Map<string, FieldName>();
  for (const { name, boost } of names) {
    if (!name.includes("*")) {
      found.set(name, { name, boost });
      continue;
    }
    for (const field of shard.mapping.match(name)) {
      const searchable = field.index && !UNSEARCHED.has(field.type);
      if (searchable && field.aliasOf === undefined) found.set(field.path, { name: field.path, boost });
    }
  }
  if (found.size > MAX_FIELDS) {
    throw new AppError(
      "request_invalid",
      `field expansion matches too many fields, limit: ${MAX_FIELDS}, got: ${found.size}`,
    );
  }
  return [...found.values()];
}
