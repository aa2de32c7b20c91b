/** The result of reading one document, for `_doc`, `_mget` and `_update`. */

import { documentType, fitsType, indexType } from "#hub/api/compat/mapping-types.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { isTrue } from "#hub/api/parameters/values.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { checkRouting } from "#hub/cluster/writes/doc-operation.ts";
import type { StoredDocument } from "#hub/cluster/writes/writes.ts";
import { parseJson } from "#hub/search/options/json.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { filterSource, type SourceFilter, shownSource } from "#hub/search/source/source-filter.ts";
import { valuesAt } from "#hub/search/source/source-values.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** One requested document. */
export interface GetSpec {
  readonly index: string;
  /** Type in the path. */
  readonly type: string | undefined;
  readonly id: string;
  readonly routing: string | undefined;
  /** Undefined: the whole document, unless stored fields are requested. */
  readonly source: SourceFilter | false | undefined;
  readonly storedFields: readonly string[] | undefined;
  /** Expected version; a different one is a conflict. */
  readonly version?: number | undefined;
  /** True: print the index's type in every version. */
  readonly ownType?: boolean;
  /** False: read the document as of the last refresh. */
  readonly realtime?: boolean | undefined;
}

/** Reads a document; the body has `found: false` if there is none. Throws index_missing, version_conflict, request_invalid. */
export async function getDocument(
  parts: ApiContext,
  spec: GetSpec,
): Promise<{
  found: boolean;
  body: JsonObject;
  document: StoredDocument | null;
  shown?: Uint8Array | undefined;
}> {
  const routing = spec.routing === undefined ? {} : { routing: spec.routing };
  const { indices, documents } = parts;
  checkSingle(indices, spec.index);
  const document =
    spec.realtime === false
      ? await refreshedDocument(parts, spec)
      : await documents.get(spec.index, spec.id, routing);
  const index = indices.get(document?.index ?? spec.index) ?? indices.resolve(spec.index, {})[0];
  const type =
    index === undefined
      ? (spec.type ?? "_doc")
      : spec.ownType === true
        ? indexType(index, spec.type)
        : documentType(index, spec.type);
  if (document === null || (index !== undefined && !fitsType(index, spec.type)))
    return { found: false, body: missingBody(spec, index, type), document: null };
  checkVersion(document, spec.version, type);
  const shown = index === undefined ? document.source : shownSource(index.mapping, document.source);
  const body = {
    _index: document.index,
    _type: type,
    _id: document.id,
    _version: document.version,
    ...(answersAs(606) && { _seq_no: document.seqNo, _primary_term: document.primaryTerm }),
    ...(document.routing !== undefined && { _routing: document.routing }),
    found: true,
    ...(shown !== undefined && wantedSource(shown, spec)),
    ...shownFields(document, spec.storedFields, index),
  };
  return { found: true, body, document, shown };
}

/** Returns the body if there is no document. `type`: that of the index. */
function missingBody(spec: GetSpec, index: IndexInfo | undefined, type: string): JsonObject {
  const shownType =
    spec.type === undefined || spec.type === "_all" || spec.type === "_doc" ? type : spec.type;
  const hasNoType = spec.ownType === true && spec.type === undefined && isUntyped(index);
  return {
    _index: index?.name ?? spec.index,
    _type: hasNoType ? null : shownType,
    _id: spec.id,
    found: false,
  };
}

/**
 * From 7.9 on: throws request_invalid for an alias of several indices, with a message that has one word in another
 * number.
 */
function checkSingle(indices: ApiContext["indices"], name: string): void {
  if (!answersAs(709) || indices.get(name) !== undefined) return;
  const found = indices.resolve(name, {});
  if (found.length < 2) return;
  throw new AppError(
    "request_invalid",
    `alias [${name}] has more than one index associated with it [${found.map((each) => each.name).join(", ")}], can't execute a single index op`,
  );
}

/** Returns true for an index without a mapping; from 7 on lists show this for missing documents. */
function isUntyped(index: IndexInfo | undefined): boolean {
  return answersAs(700) && index !== undefined && Object.keys(index.mapping.toJSON()).length === 0;
}

/** Reads a document as of the last refresh. */
async function refreshedDocument(
  { indices, shards }: ApiContext,
  { index: name, id, routing: given }: GetSpec,
): Promise<StoredDocument | null> {
  const found = indices.resolve(name, {});
  for (const index of found) checkRouting(index, { id, routing: given });
  const document = await shards.getRefreshed(found, id);
  const index = found.find(({ uuid }) => uuid === document?.uuid);
  if (document === null || index === undefined) return null;
  const { version, seqNo, primaryTerm, source, routing } = document;
  return {
    index: index.name,
    id,
    version,
    seqNo,
    primaryTerm,
    source,
    ...(routing !== undefined && { routing }),
  };
}

function checkVersion(document: StoredDocument, version: number | undefined, type: string): void {
  if (version === undefined || version === document.version) return;
  throw new AppError(
    "version_conflict",
    `[${type}][${document.id}]: version conflict, current version [${document.version}] is different than the one provided [${version}]`,
    { data: { index: document.index } },
  );
}

function wantedSource(source: Uint8Array, spec: GetSpec): JsonObject {
  const asked =
    spec.source ??
    (spec.storedFields === undefined || spec.storedFields.includes("_source") ? undefined : false);
  if (asked === false) return {};
  return { _source: filterSource(source, asked ?? { includes: [], excludes: [] }) };
}

/** Fields that the mapping marks as stored, each as a list; they are read from the document. */
function shownFields(
  { source }: StoredDocument,
  names: readonly string[] | undefined,
  index: IndexInfo | undefined,
): JsonObject {
  const stored = (names ?? []).filter((name) => isStored(index, name));
  if (stored.length === 0) return {};
  const document = parseJson(Buffer.from(source).toString("utf8"));
  if (!isObject(document)) return {};
  const fields: JsonObject = {};
  for (const name of stored) {
    const values = valuesAt(document, name);
    if (values.length > 0) fields[name] = values;
  }
  return Object.keys(fields).length === 0 ? {} : { fields };
}

function isStored(index: IndexInfo | undefined, name: string): boolean {
  const field = index?.mapping.field(name);
  return isTrue(field?.given["store"]);
}
