/** What of a field may change once it exists. */

import { AppError } from "#proto/kit/errors.ts";
import type { Field } from "./field.ts";

/** Parameters that can't change once a field exists, as messages name them. */
const FIXED = [
  "index",
  "docValues",
  "analyzer",
  "norms",
  "normalizer",
  "format",
  "scalingFactor",
  "aliasOf",
] as const;
const FIXED_NAMES: Readonly<Record<(typeof FIXED)[number], string>> = {
  index: "index",
  docValues: "doc_values",
  analyzer: "analyzer",
  norms: "norms",
  normalizer: "normalizer",
  format: "format",
  scalingFactor: "scaling_factor",
  aliasOf: "path",
};

/** Returns the field as `update` has it. Throws mapping_conflict where that would need another index. */
export function mergeField(existing: Field, update: Field): Field {
  if (existing.type !== update.type) {
    throw conflict(
      `mapper [${existing.path}] of different type, current_type [${existing.type}], merged_type [${update.type}]`,
    );
  }
  const differing = FIXED.filter((key) => existing[key] !== update[key]);
  if (differing.length > 0) {
    const list = differing.map(
      (key) => `mapper [${existing.path}] has different [${FIXED_NAMES[key]}] values`,
    );
    throw conflict(`Mapper for [${existing.path}] conflicts with existing mapping:\n[${list.join(", ")}]`);
  }
  const byPath = new Map(existing.multiFields.map((field) => [field.path, field]));
  for (const field of update.multiFields) {
    const old = byPath.get(field.path);
    byPath.set(field.path, old === undefined ? field : mergeField(old, field));
  }
  return { ...update, multiFields: [...byPath.values()] };
}

function conflict(message: string): AppError {
  return new AppError("mapping_conflict", message);
}
