/** Names that fields of documents and mappings can't have. */

import { AppError } from "#proto/kit/errors.ts";
import { asRecord } from "./parameters.ts";

/** Names that a document can't use at its root. */
export const METADATA_NAMES: ReadonlySet<string> = new Set([
  "_id",
  "_index",
  "_type",
  "_source",
  "_routing",
  "_ignored",
  "_field_names",
  "_seq_no",
  "_version",
]);

/** Returns the error for a document with a metadata field at its root. */
export function metadataFieldError(name: string): AppError {
  return new AppError(
    "mapping_parse",
    `Field [${name}] is a metadata field and cannot be added inside a document. Use the index API request parameters.`,
  );
}

/**
 * Throws mapping_conflict if a mapping ({properties, …}) makes fields or objects with the names of metadata. Earlier versions
 * took some: those in `known`, names at the root, stay.
 */
export function checkMappingNames(
  mapping: unknown,
  known: Pick<ReadonlySet<string>, "has"> = new Set(),
): void {
  for (const path of Object.keys(asRecord(asRecord(mapping)?.["properties"]) ?? {})) {
    const name = path.split(".", 1)[0]!;
    if (!METADATA_NAMES.has(name) || known.has(name)) continue;
    throw new AppError("mapping_conflict", `Field [${name}] is defined twice in [_doc]`);
  }
}

/** Throws mapping_parse for a name of a document that can't be divided at its dots into names of fields. */
export function checkFieldName(name: string): void {
  if (name === "") throw unparsed("field name cannot be an empty string");
  // A dot at the end is ignored.
  const parts = name.replace(/(?<=[^.])\.+$/, "").split(".");
  if (parts.length === 1 && parts[0] !== "") return;
  if (parts.includes(""))
    throw unparsed(`object field starting or ending with a [.] makes object resolution ambiguous: [${name}]`);
  if (parts.some((part) => part.trim() === ""))
    throw unparsed(`object field cannot contain only whitespace: ['${name}']`);
}

function unparsed(reason: string): AppError {
  return new AppError("mapping_parse", "failed to parse", {
    data: { caused_by: { type: "illegal_argument_exception", reason } },
  });
}
