/** Parameters of writes and the body of a write's result. */

import { DEFAULT_TYPE, typeOf } from "#hub/api/compat/mapping-types.ts";
import { validationError } from "#hub/api/http/error-body.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import type { Indices } from "#hub/api/ports/indices.ts";
import type {
  RefreshPolicy,
  VersionType,
  WriteConditions,
  WriteOptions,
  WriteResult,
  WriteSuccess,
} from "#hub/cluster/writes/writes.ts";
import { answersAs, warnDeprecated } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Time that a write waits for its shard without `timeout`, as in 6.5. */
const DEFAULT_TIMEOUT_MS = 60_000;
/** In 6.5 the wait for a shard may be shorter, but an available shard still has time for the write itself. */
const MIN_TIMEOUT_MS = 5_000;
/** Longest id, bytes of UTF-8. */
export const MAX_ID_BYTES = 512;

export const WRITE_PARAMS: readonly string[] = [
  "refresh",
  "timeout",
  "wait_for_active_shards",
  "routing",
  "parent",
];
export const CONDITION_PARAMS: readonly string[] = [
  "version",
  "version_type",
  "if_seq_no",
  "if_primary_term",
];

const VERSION_TYPES: Readonly<Record<string, VersionType>> = {
  internal: "internal",
  external: "external",
  external_gt: "external",
  external_gte: "external_gte",
};

/** Throws request_invalid. */
export function writeOptions(request: ApiRequest): WriteOptions {
  return {
    refresh: refreshPolicy(request.query["refresh"]),
    timeoutMs: writeTimeoutMs(request),
    signal: request.signal,
  };
}

/** Time that a request's `timeout` gives each of its writes, ms. Throws request_invalid. */
export function writeTimeoutMs(request: ApiRequest): number {
  return Math.max(MIN_TIMEOUT_MS, request.duration("timeout") ?? DEFAULT_TIMEOUT_MS);
}

/** Returns the routing of a request; `parent` is its older name. */
export function routingOf(request: ApiRequest): { routing?: string } {
  const routing = request.query["routing"] ?? request.query["parent"];
  return routing === undefined ? {} : { routing };
}

/** Reads the conditions of a write from its parameters. Throws request_invalid. */
export function conditionsOf(request: ApiRequest): WriteConditions {
  const { version, version_type: versionType = "internal" } = request.query;
  if (version !== undefined && versionType === "internal")
    warnOfVersion(request.path["index"] ?? "", request.path["type"] ?? DEFAULT_TYPE, request.path["id"]);
  return makeConditions({
    version: request.integer("version"),
    versionType: request.query["version_type"],
    ifSeqNo: request.integer("if_seq_no"),
    ifPrimaryTerm: request.integer("if_primary_term"),
  });
}

/** Warns that internal versions are being replaced by sequence numbers; from 6.8 on of which document. */
export function warnOfVersion(index: string, type: string, id: string | undefined): void {
  const which = id !== undefined && answersAs(608) ? `, id [${id}]` : "";
  warnDeprecated(
    "Usage of internal versioning for optimistic concurrency control is deprecated and will be removed. Please use the " +
      `\`if_seq_no\` and \`if_primary_term\` parameters instead. (request for index [${index}], type [${type}]${which})`,
    { from: 607, until: 700 },
  );
}

/** Conditions as given in a request. */
export interface GivenConditions {
  readonly version: number | undefined;
  readonly versionType: string | undefined;
  readonly ifSeqNo: number | undefined;
  readonly ifPrimaryTerm: number | undefined;
}

/** Throws request_invalid for conditions that contradict each other. */
export function makeConditions(given: GivenConditions): WriteConditions {
  const { version, ifSeqNo, ifPrimaryTerm } = given;
  const versionType = readVersionType(given.versionType);
  if (versionType !== undefined && versionType !== "internal" && version === undefined) {
    throw validationError([`illegal version value [0] for version type [${versionType.toUpperCase()}]`]);
  }
  return {
    ...(version !== undefined && { version }),
    ...(versionType !== undefined && { versionType }),
    ...(ifSeqNo !== undefined && { ifSeqNo }),
    ...(ifPrimaryTerm !== undefined && { ifPrimaryTerm }),
  };
}

/** Throws request_invalid if an id is empty or too long. */
export function checkId(id: string): void {
  const bytes = id.length * 3 <= MAX_ID_BYTES ? 0 : Buffer.byteLength(id);
  if (id === "") throw new AppError("request_invalid", "if _id is specified it must not be empty");
  if (bytes <= MAX_ID_BYTES) return;
  throw validationError([`id is too long, must be no longer than ${MAX_ID_BYTES} bytes but was: ${bytes}`]);
}

export function isFailure(result: WriteResult): result is Extract<WriteResult, { error: AppError }> {
  return "error" in result;
}

/** Returns the body of the answer to a successful write; `type`: printed as `_type`. */
export function writeBody(
  result: WriteSuccess,
  indices: Pick<Indices, "get">,
  refresh: RefreshPolicy,
  type = typeName(indices, result.index),
): JsonObject {
  return {
    _index: result.index,
    _type: type,
    _id: result.id,
    _version: result.version,
    result: result.result,
    ...(refresh === "true" && { forced_refresh: true }),
    _shards: { total: result.copies, successful: result.copiesDone, failed: 0 },
    // Before 7.0 only what was written has a number.
    ...((result.result !== "noop" || answersAs(700)) && {
      _seq_no: result.seqNo,
      _primary_term: result.primaryTerm,
    }),
  };
}

/** Returns the `_type` of documents of an index; the default if the index was deleted. */
export function typeName(indices: Pick<Indices, "get">, name: string): string {
  const index = indices.get(name);
  return index === undefined ? DEFAULT_TYPE : typeOf(index);
}

/** Returns the error of a write with the type of the index in its message, as clients of 6.5 expect; from 7.10 on a conflict has none. */
export function inType(error: AppError, type: string): AppError {
  const { code, message, data, cause } = error;
  if (code === "version_conflict" && answersAs(710))
    return new AppError(code, message.replace(/^\[_doc\]/, ""), { data, cause });
  if (type === DEFAULT_TYPE || (code !== "version_conflict" && code !== "document_missing")) return error;
  return new AppError(code, message.replace(/^\[_doc\]/, `[${type}]`), { data, cause });
}

/** HTTP status of a successful write. */
export function writeStatus({ result }: WriteSuccess): number {
  if (result === "created") return 201;
  return result === "not_found" ? 404 : 200;
}

function refreshPolicy(value: string | undefined): RefreshPolicy {
  if (value === undefined || value === "false") return "false";
  if (value === "true" || value === "") return "true";
  if (value === "wait_for") return "wait_for";
  throw new AppError("request_invalid", `Unknown value for refresh: [${value}].`);
}

function readVersionType(value: string | undefined): VersionType | undefined {
  if (value === undefined) return undefined;
  const type = Object.hasOwn(VERSION_TYPES, value) ? VERSION_TYPES[value] : undefined;
  if (type === undefined) throw new AppError("request_invalid", `No version type match [${value}]`);
  return type;
}
