/** Error bodies of both interfaces, made from the error catalogue. */

import { snakeCase } from "#hub/scripts/values/script-error.ts";
import type { VersionNumber } from "#hub/search/options/request-version.ts";
import { AppError, type ErrorCode } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Types that clients get for the catalogue's codes; `data.type` of an error overrides it. */
const TYPES: Readonly<Record<ErrorCode, string>> = {
  internal: "exception",
  unavailable: "unavailable_shards_exception",
  timeout: "timeout_exception",
  overloaded: "es_rejected_execution_exception",
  memory_limit: "circuit_breaking_exception",
  cancelled: "task_cancelled_exception",
  closed: "node_closed_exception",
  settings_invalid: "illegal_argument_exception",
  usage_invalid: "illegal_argument_exception",
  port_taken: "exception",
  data_locked: "exception",
  disk_full: "cluster_block_exception",
  file_unreadable: "i_o_exception",
  data_corrupt: "corrupt_index_exception",
  nats_missing: "exception",
  nats_refused: "exception",
  journal_full: "es_rejected_execution_exception",
  journal_gap: "exception",
  journal_conflict: "concurrent_modification_exception",
  request_invalid: "illegal_argument_exception",
  request_too_large: "content_too_long_exception",
  request_timeout: "timeout_exception",
  head_too_large: "too_long_frame_exception",
  parsing: "parsing_exception",
  not_found: "resource_not_found_exception",
  name_taken: "resource_already_exists_exception",
  method_not_allowed: "method_not_allowed_exception",
  media_type: "media_type_exception",
  not_offered: "unsupported_operation_exception",
  unauthenticated: "security_exception",
  forbidden: "security_exception",
  index_missing: "index_not_found_exception",
  index_exists: "resource_already_exists_exception",
  index_name_invalid: "invalid_index_name_exception",
  index_closed: "index_closed_exception",
  routing_missing: "routing_missing_exception",
  document_missing: "document_missing_exception",
  version_conflict: "version_conflict_engine_exception",
  mapping_parse: "mapper_parsing_exception",
  mapping_conflict: "illegal_argument_exception",
  mapping_strict: "strict_dynamic_mapping_exception",
  script_failed: "script_exception",
  query_shard: "query_shard_exception",
  window_too_large: "query_phase_execution_exception",
  aggregation_failed: "aggregation_execution_exception",
  too_many_buckets: "too_many_buckets_exception",
};

/**
 * The first version that answers failures of scripts with 400, those of processors as what they threw, and names the processor
 * of a faulty definition beside the reason instead of in `header`.
 */
const LENIENT_SCRIPTS = 700;
/** Classes of Java that a document's failure may have without being a fault of the server. */
const FAULTS_OF_DOCUMENTS = ["java.lang.IllegalArgumentException", "ElasticsearchParseException"];

/** Keys of an error's data that clients get besides type and reason, in this order. */
const FACTS = [
  "resource.type",
  "resource.id",
  "index_uuid",
  "shard",
  "index",
  "line",
  "col",
  "script",
  "lang",
  "processor_type",
  "processor_tag",
  "property_name",
];
/** Errors about the content of a document or request; their bodies don't name the document's index. */
const PLACELESS: ReadonlySet<ErrorCode> = new Set(["mapping_parse", "mapping_conflict", "mapping_strict"]);

/** A shard that could not be searched, as `data.failures` of an error lists them. */
interface ShardFailure {
  readonly index: string;
  readonly indexUuid: string;
  readonly shard: number;
  readonly error: AppError;
}

/** The node that the shards of an answer are on. */
export interface ErrorContext {
  readonly nodeId: string;
}

/**
 * Returns an error as a version answers it: 6.x doesn't name a missing index in the reason, and treats failures of scripts and
 * processors as server errors. Applied to its own result it changes nothing.
 */
export function errorIn(error: AppError, version: VersionNumber): AppError {
  const { code, message, detail, data, cause } = error;
  if (code === "index_missing" && version >= 700 && message === "no such index")
    return new AppError(code, `no such index [${String(data["index"])}]`, { data, cause });
  if (typeof data["java_class"] === "string")
    return version < LENIENT_SCRIPTS
      ? processorError(error, data["java_class"])
      : thrownError(error, data["java_class"]);
  if (isObject(data["header"]) && version >= LENIENT_SCRIPTS)
    return new AppError(code, message, { cause, data: { ...without(data, ["header"]), ...data["header"] } });
  if (code !== "script_failed" || version >= LENIENT_SCRIPTS || data["status"] !== undefined) return error;
  return new AppError(code, message, {
    cause,
    data: { ...data, status: 500 },
    ...(detail !== undefined && { detail }),
  });
}

/**
 * Returns the error for a document that a processor can't handle, in the form in which 6.x wraps the processor's
 * exception.
 */
function processorError({ code, message, data, cause }: AppError, javaClass: string): AppError {
  const wrapper = "java.lang.IllegalArgumentException";
  const isScript = data["script_stack"] !== undefined;
  const thrown = isScript
    ? itemError(new AppError(code, message, { data: without(data, ["header", "java_class"]) }))
    : { type: thrownType(javaClass), reason: message };
  const said = isScript
    ? `ScriptException[${message}]; nested: ${nestedText(data)};`
    : `${javaClass}: ${message}`;
  const wrapped = { type: "illegal_argument_exception", reason: said, caused_by: thrown };
  return new AppError(code, `${wrapper}: ${said}`, {
    cause,
    data: { type: "exception", status: 500, header: data["header"], caused_by: wrapped },
  });
}

/** Returns the error for a document that a processor can't handle as 7.x answers it: as what the processor threw. */
function thrownError({ code, message, data, cause }: AppError, javaClass: string): AppError {
  const isOfDocument = data["script_stack"] !== undefined || FAULTS_OF_DOCUMENTS.includes(javaClass);
  return new AppError(code, message, {
    cause,
    data: {
      type: thrownType(javaClass),
      ...without(data, ["header", "java_class"]),
      ...(!isOfDocument && { status: 500 }),
    },
  });
}

/** Returns the type that clients get of an exception of that class. */
function thrownType(javaClass: string): string {
  return snakeCase(javaClass.replace(/^.*\.|^Elasticsearch/, ""));
}

function without(data: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).filter(([name]) => !names.includes(name)));
}

/** Returns what a script threw in the form of error texts: "NullPointerException" or "ArithmeticException[/ by zero]". */
function nestedText({ caused_by: cause }: Readonly<Record<string, unknown>>): string {
  const { type = "exception", reason } = isObject(cause) ? cause : {};
  const name = className(type);
  return typeof reason === "string" ? `${name}[${reason}]` : name;
}

/** Returns "parsing_exception" as "ParsingException". */
function className(type: unknown): string {
  return String(type).replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the whole body of an error's answer: {error: {root_cause, type, reason, …}, status}. */
export function errorBody(error: AppError, context: ErrorContext): JsonObject {
  return { error: errorDetail(error, context), status: error.status };
}

/** Returns the value of `error`: {root_cause, type, reason, …}. */
export function errorDetail(error: AppError, context: ErrorContext): JsonObject {
  const failures = shardFailuresOf(error);
  if (failures !== undefined) return searchFailure(error, failures, context);
  const { root_cause: given } = error.data;
  return { root_cause: [isObject(given) ? given : facts(error)], ...itemError(error) };
}

/**
 * Returns the body of an error with a `stack_trace` in each error, which `error_trace=true` asks for: the error and its
 * causes in one line. Positions in this program's code are in the hub's log alone.
 */
export function withTraces(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(withTraces);
  if (!isObject(body)) return body;
  const traced = Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, TRACED_PARTS.has(key) ? withTraces(value) : value]),
  );
  return typeof body["type"] === "string" ? { ...traced, stack_trace: traceOf(body) } : traced;
}

/** Members of bodies that are errors or hold some. */
const TRACED_PARTS: ReadonlySet<string> = new Set([
  "error",
  "root_cause",
  "failed_shards",
  "caused_by",
  "reason",
]);

function traceOf({ index, type, reason, caused_by: cause }: JsonObject): string {
  const where = typeof index === "string" ? `[${index}] ` : "";
  const nested = isObject(cause) ? `; nested: ${traceOf(cause)};` : "";
  return `${where}${className(type)}[${String(reason)}]${nested}`;
}

/** Returns the error of one item of a list (bulk): {type, reason, …, caused_by}. */
export function itemError(error: AppError): JsonObject {
  const cause = causedBy(error);
  return { ...facts(error), ...(cause !== undefined && { caused_by: cause }) };
}

/** Returns the failures of a partial answer as `_shards.failures` lists them. */
export function shardFailureBodies(
  failures: readonly ShardFailure[],
  { nodeId }: ErrorContext,
): JsonObject[] {
  return failures.map(({ shard, index, indexUuid, error }) => ({
    shard,
    index,
    node: nodeId,
    reason: itemError(inIndex(error, index, indexUuid)),
  }));
}

/** Returns the error for a request that violates rules, with numbered sentences; `data.problems` are `problems`. */
export function validationError(problems: readonly string[]): AppError {
  const reason = problems.map((problem, at) => `${at + 1}: ${problem};`).join("");
  return new AppError("request_invalid", `Validation Failed: ${reason}`, {
    data: { type: "action_request_validation_exception", problems },
  });
}

/** Returns a body whose error is a sentence: {error: "…", status}. Without `status` the key is omitted. */
export function plainErrorBody(message: string, status?: number): JsonObject {
  return { error: message, ...(status !== undefined && { status }) };
}

function facts(error: AppError): JsonObject {
  const type = error.data["type"];
  const result: JsonObject = {
    type: typeof type === "string" ? type : TYPES[error.code],
    reason: error.message,
  };
  if (isObject(error.data["header"])) result["header"] = error.data["header"];
  if (Array.isArray(error.data["script_stack"])) result["script_stack"] = error.data["script_stack"];
  const known = error.code === "index_missing" ? missingIndexFacts(error.data) : error.data;
  for (const name of PLACELESS.has(error.code) ? [] : FACTS) {
    const value = known[name];
    // Clients expect numbers as text here, except positions in a body.
    if (typeof value === "number") result[name] = name === "line" || name === "col" ? value : `${value}`;
    else if (typeof value === "string") result[name] = value;
  }
  return result;
}

function missingIndexFacts(data: AppError["data"]): AppError["data"] {
  return {
    "resource.type": "index_or_alias",
    "resource.id": data["index"],
    index_uuid: "_na_",
    ...data,
  };
}

function causedBy(error: AppError): JsonObject | undefined {
  const given = error.data["caused_by"];
  if (typeof given === "object" && given !== null) return given as JsonObject;
  return error.cause instanceof AppError ? itemError(error.cause) : undefined;
}

/** Returns the shards on which a search failed; undefined for other errors. */
export function shardFailuresOf(error: AppError): readonly ShardFailure[] | undefined {
  const failures = error.data["failures"];
  return Array.isArray(failures) && failures.length > 0 ? (failures as ShardFailure[]) : undefined;
}

function searchFailure(
  error: AppError,
  failures: readonly ShardFailure[],
  context: ErrorContext,
): JsonObject {
  const groups = new Map<string, ShardFailure>();
  for (const failure of failures) {
    const key = JSON.stringify([failure.error.code, failure.error.message, failure.index]);
    if (!groups.has(key)) groups.set(key, failure);
  }
  const distinct = [...groups.values()];
  return {
    root_cause: distinct.map(({ error: cause, index, indexUuid }) => facts(inIndex(cause, index, indexUuid))),
    type: "search_phase_execution_exception",
    reason: error.message,
    phase: "query",
    grouped: true,
    failed_shards: shardFailureBodies(distinct, context),
  };
}

/** Adds the index to errors in a query's meaning because clients show it. */
function inIndex(error: AppError, index: string, indexUuid: string): AppError {
  if (error.code !== "query_shard") return error;
  return new AppError(error.code, error.message, {
    cause: error.cause,
    data: { index_uuid: indexUuid, index, ...error.data },
  });
}

/** Returns the body of an error of the hub interface (`/api`): {error: {code, message}}, with the diagnostics of a text. */
export function hubErrorBody({ code, message, data }: AppError): JsonObject {
  const { diagnostics } = data;
  return { error: { code, message, ...(diagnostics !== undefined && { diagnostics }) } };
}

/**
 * Returns true if a request is refused by rights; false if it is refused because an index accepts no writes: shippers repeat
 * those, and the audit log is an index too.
 */
export function isByRights({ code, data }: AppError): boolean {
  return code === "forbidden" && data["type"] !== "cluster_block_exception";
}
