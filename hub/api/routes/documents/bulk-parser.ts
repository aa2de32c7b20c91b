/**
 * Parses the lines of `_bulk`: an action, then its document unless it deletes. Documents are slices of the body. A line
 * that isn't an action fails the request before anything is written, as the lines after it can't be paired.
 */

import { DEFAULT_TYPE } from "#hub/api/compat/mapping-types.ts";
import { pipelineOf } from "#hub/api/context/ingest-documents.ts";
import type { ScriptedUpdate } from "#hub/api/context/scripted-change.ts";
import { validationError } from "#hub/api/http/error-body.ts";
import { isTrue, optionalInteger, optionalText } from "#hub/api/parameters/values.ts";
import { checkId, makeConditions, warnOfVersion } from "#hub/api/parameters/write-options.ts";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import type { FindStored } from "#hub/scripts/script.ts";
import { checkNesting } from "#hub/search/options/json.ts";
import { answersAs, warnDeprecated } from "#hub/search/options/request-version.ts";
import { parseSourceFilter, type SourceFilter } from "#hub/search/source/source-filter.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { readUpdateBody, scriptedUpdateOf } from "./update.ts";

export type BulkKind = "index" | "create" | "update" | "delete";

/** One action with its document; `write` is an error if it can't be done. */
export interface BulkItem {
  readonly kind: BulkKind;
  readonly index: string;
  readonly type: string | undefined;
  readonly id: string | undefined;
  readonly retries: number;
  /** It must go to an alias. */
  readonly requiresAlias: boolean;
  /** Updates: what of the new document the answer shows. */
  readonly source: SourceFilter | false | undefined;
  readonly write: WriteItem | ScriptedUpdate | AppError;
}

/** Defaults of items, from the request's path and parameters. */
export interface BulkDefaults {
  readonly index: string | undefined;
  readonly type: string | undefined;
  readonly routing: string | undefined;
  readonly pipeline: string | undefined;
  readonly source: SourceFilter | false | undefined;
  readonly requiresAlias?: boolean;
  /** Finds the stored scripts that updates name. */
  readonly findScript?: FindStored;
}

/** A parsed action line. */
interface Action {
  readonly kind: BulkKind;
  readonly fields: JsonObject;
}

/** Old names of fields of action lines, each the new one with an underscore before it. */
const OLD_FIELDS: ReadonlySet<string> = new Set([
  "_routing",
  "_parent",
  "_version",
  "_version_type",
  "_retry_on_conflict",
]);
const SEVERAL_KEYS =
  "A bulk action object contained multiple keys. Additional keys are currently ignored but will be rejected in a future version.";
const NEWLINE = 0x0a;
const KINDS: ReadonlySet<string> = new Set(["index", "create", "update", "delete"]);
const FIELDS: ReadonlySet<string> = new Set([
  "_index",
  "_type",
  "_id",
  "routing",
  "_routing",
  "parent",
  "_parent",
  "version",
  "_version",
  "version_type",
  "_version_type",
  "retry_on_conflict",
  "_retry_on_conflict",
  "pipeline",
  "_source",
  "op_type",
  "if_seq_no",
  "if_primary_term",
  "fields",
  "require_alias",
]);

/** Throws request_invalid if the last line isn't ended. */
export function checkEnd(body: Buffer): void {
  if (body.length > 0 && body[body.length - 1] !== NEWLINE)
    throw new AppError("request_invalid", "The bulk request must be terminated by a newline [\\n]");
}

/** Yields the items of a body. Throws request_invalid, parsing at a line that isn't an action. */
export function* parseBulk(body: Buffer, defaults: BulkDefaults): Iterable<BulkItem> {
  checkEnd(body);
  let line = 0;
  let at = 0;
  let lastText = "";
  let action: Action | undefined;
  while (at < body.length) {
    const end = body.indexOf(NEWLINE, at);
    const text = body.toString("utf8", at, end).trim();
    at = end + 1;
    line++;
    if (text === "") continue;
    // Clients send the same line before each document more often than not.
    if (action === undefined || text !== lastText) action = parseAction(text, line);
    lastText = text;
    if (action.kind === "delete") {
      yield itemOf(action, undefined, defaults);
      continue;
    }
    const documentEnd = at < body.length ? body.indexOf(NEWLINE, at) : -1;
    if (documentEnd < 0) throw validationError(["no requests added"]);
    const document = body.subarray(at, documentEnd);
    at = documentEnd + 1;
    line++;
    yield itemOf(action, document, defaults);
  }
}

/** The first item of a body whose first two lines are an action and a document, and where that begins. */
export function firstItem(
  body: Buffer,
  defaults: BulkDefaults,
): { readonly item: BulkItem; readonly documentStart: number } | undefined {
  const documentStart = body.indexOf(NEWLINE) + 1;
  const stop = body.indexOf(NEWLINE, documentStart);
  const text = body.toString("utf8", 0, documentStart).trim();
  if (documentStart === 0 || stop < 0 || text === "") return undefined;
  const action = parseAction(text, 1);
  if (action.kind === "delete") return undefined;
  return { item: itemOf(action, body.subarray(documentStart, stop), defaults), documentStart };
}

function parseAction(text: string, line: number): Action {
  const parsed = parseLine(text, line);
  if (!isObject(parsed)) {
    throw malformed(`[${line}], expected START_OBJECT but found [${tokenOf(parsed)}]`);
  }
  // Versions before 9 read the first key alone; winston-elasticsearch counts its attempts in another.
  const [entry, ...others] = Object.entries(parsed);
  if (entry === undefined) throw malformed(`[${line}], expected FIELD_NAME but found [END_OBJECT]`);
  const [name, fields] = entry;
  if (!KINDS.has(name)) {
    throw malformed(`[${line}], expected field [create], [delete], [index] or [update] but found [${name}]`);
  }
  if (!isObject(fields)) throw malformed(`[${line}], expected START_OBJECT but found [${tokenOf(fields)}]`);
  if (others.length > 0) warnDeprecated(SEVERAL_KEYS, { from: 800 });
  for (const [key, value] of Object.entries(fields)) {
    const isOld = OLD_FIELDS.has(key);
    if (isOld) warnDeprecated(`Deprecated field [${key}] used, expected [${key.slice(1)}] instead`);
    if (!FIELDS.has(key) || (isOld && answersAs(700))) {
      throw new AppError(
        "request_invalid",
        `Action/metadata line [${line}] contains an unknown parameter [${key}]`,
      );
    }
    if (typeof value === "object" && value !== null && key !== "_source" && key !== "fields") {
      throw malformed(`[${line}], expected a simple value for field [${key}] but found [${tokenOf(value)}]`);
    }
  }
  const isCreate = name === "index" && fields["op_type"] === "create";
  return { kind: isCreate ? "create" : (name as BulkKind), fields };
}

/** JSON, or JSON whose keys and texts have no quotes: {index: {_id: abc}}. */
function parseLine(text: string, line: number): unknown {
  checkNesting(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    try {
      return JSON.parse(quoteWords(text));
    } catch {
      throw malformed(`[${line}], it isn't JSON: ${(error as Error).message}`);
    }
  }
}

/** Quotes the bare words of a line, except for literals and numbers in place of a value. */
function quoteWords(text: string): string {
  return text.replace(BARE_WORD, (found, word: string | undefined, colon: string | undefined) => {
    if (word === undefined) return found;
    if (colon !== undefined) return `"${word}"${colon}`;
    return LITERAL.test(word) || !Number.isNaN(Number(word)) ? found : `"${word}"`;
  });
}

/** A quoted text, or a word, with the colon after it if it is a key. */
const BARE_WORD = /"(?:[^"\\]|\\.)*"|([\w.+-]+)(\s*:)?/g;
const LITERAL = /^(?:true|false|null)$/;

function itemOf({ kind, fields }: Action, document: Buffer | undefined, defaults: BulkDefaults): BulkItem {
  const index = optionalText(fields["_index"], "_index") ?? defaults.index;
  if (index === undefined) throw validationError(["index is missing"]);
  const id = optionalText(fields["_id"], "_id");
  const common = {
    kind,
    index,
    id,
    type: optionalText(fields["_type"], "_type") ?? defaults.type,
    retries: numberOf(fields, "retry_on_conflict") ?? 0,
    requiresAlias: isTrue(fields["require_alias"] ?? defaults.requiresAlias),
  };
  try {
    const { write, source } = writeOf(common, fields, document, defaults);
    return { ...common, write, source };
  } catch (error) {
    return { ...common, source: undefined, write: toAppError(error) };
  }
}

function writeOf(
  { kind, index, id, retries }: Pick<BulkItem, "kind" | "index" | "id" | "retries">,
  fields: JsonObject,
  document: Buffer | undefined,
  defaults: BulkDefaults,
): { write: WriteItem | ScriptedUpdate; source: SourceFilter | false | undefined } {
  if (id !== undefined) checkId(id);
  const routing =
    optionalText(
      fields["routing"] ?? fields["_routing"] ?? fields["parent"] ?? fields["_parent"],
      "routing",
    ) ?? defaults.routing;
  const pipeline = optionalText(fields["pipeline"], "pipeline") ?? defaults.pipeline;
  const conditions = conditionsOf(fields);
  if (conditions.version !== undefined && (conditions.versionType ?? "internal") === "internal")
    warnOfVersion(index, optionalText(fields["_type"], "_type") ?? defaults.type ?? DEFAULT_TYPE, id);
  const target = { ...conditions, index, ...(routing !== undefined && { routing }) };
  if (kind === "index" || kind === "create") {
    return {
      write: { ...target, kind, ...(id !== undefined && { id }), ...pipelineOf(pipeline), source: document! },
      source: undefined,
    };
  }
  if (id === undefined) throw validationError(["id is missing"]);
  if (kind === "delete") return { write: { ...target, kind, id }, source: undefined };
  const body = readUpdateBody(document!, defaults.findScript, { upserts: false, mayBeBare: false });
  const { doc, upsert, docAsUpsert, detectNoop, source } = body;
  const given = fields["_source"] === undefined ? defaults.source : parseSourceFilter(fields["_source"]);
  const place = { ...target, ...pipelineOf(pipeline), id, retries, isBulkItem: true };
  const scripted = scriptedUpdateOf(place, body);
  if (scripted !== undefined) return { write: scripted, source: source ?? given };
  return {
    write: {
      ...target,
      kind,
      id,
      ...pipelineOf(pipeline),
      source: doc!,
      ...(upsert !== undefined && { upsert }),
      docAsUpsert,
      detectNoop,
    },
    source: source ?? given,
  };
}

function conditionsOf(fields: JsonObject): ReturnType<typeof makeConditions> {
  return makeConditions({
    version: numberOf(fields, "version"),
    versionType: optionalText(fields["version_type"] ?? fields["_version_type"], "version_type"),
    ifSeqNo: numberOf(fields, "if_seq_no"),
    ifPrimaryTerm: numberOf(fields, "if_primary_term"),
  });
}

/** The field, also with an underscore before it. */
function numberOf(fields: JsonObject, name: string): number | undefined {
  return optionalInteger(fields[name] ?? fields[`_${name}`], name);
}

function malformed(rest: string): AppError {
  return new AppError("request_invalid", `Malformed action/metadata line ${rest}`);
}

function tokenOf(value: unknown): string {
  if (Array.isArray(value)) return "START_ARRAY";
  if (isObject(value)) return "START_OBJECT";
  return value === null ? "VALUE_NULL" : `VALUE_${(typeof value).toUpperCase()}`;
}
