/** Aliases: other names of indices. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { errorDetail, plainErrorBody, validationError } from "#hub/api/http/error-body.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, empty, json, type Route } from "#hub/api/http/route.ts";
import { checkAliasName, parseAlias } from "#hub/api/parameters/alias-definition.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import { texts } from "#hub/api/parameters/values.ts";
import type { AliasAction, IndexInfo, Indices, ResolveOptions } from "#hub/api/ports/indices.ts";
import { objectOf } from "#hub/search/options/json.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { checkFilters, checkTargets, checkWriteIndices } from "./alias-checks.ts";

const TIMEOUT_PARAMS = ["timeout", "master_timeout"];
const OPTION_KEYS = ["filter", "routing", "index_routing", "search_routing", "is_write_index", "is_hidden"];

export function aliasRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["POST"],
      paths: ["/_aliases"],
      params: TIMEOUT_PARAMS,
      action: "index_manage",
      summary: "Changes several aliases atomically.",
      handle: (request) => updateAliases(parts, request),
    },
    {
      methods: ["PUT", "POST"],
      paths: [
        "/{index}/_alias/{name}",
        "/{index}/_aliases/{name}",
        "/_alias/{name}",
        "/_aliases/{name}",
        "/{index}/_alias",
        "/_alias",
      ],
      params: TIMEOUT_PARAMS,
      action: "index_manage",
      summary: "Gives indices an alias.",
      handle: (request) => putAlias(parts, request),
    },
    {
      methods: ["PUT"],
      paths: ["/{index}/_aliases"],
      params: TIMEOUT_PARAMS,
      action: "index_manage",
      summary: "Gives indices the alias that the body names.",
      handle: (request) => putAlias(parts, request),
    },
    {
      methods: ["GET", "HEAD"],
      paths: ["/_alias", "/_aliases", "/_alias/{name}", "/{index}/_alias", "/{index}/_alias/{name}"],
      params: [...RESOLVE_PARAMS, "local"],
      action: "monitor",
      summary: "Shows the aliases of indices.",
      handle: (request) => getAliases(parts, request),
    },
    {
      methods: ["DELETE"],
      paths: ["/{index}/_alias/{name}", "/{index}/_aliases/{name}"],
      params: TIMEOUT_PARAMS,
      action: "index_manage",
      summary: "Takes aliases from indices.",
      handle: (request) => deleteAlias(parts, request),
    },
  ];
}

async function updateAliases(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const { indices } = parts;
  const body = request.metadata();
  request.requireBody();
  const unknown = Object.keys(body).find((key) => key !== "actions");
  if (unknown !== undefined) throw unparsed(`[aliases] unknown field [${unknown}], parser not found`);
  const { actions = [] } = body;
  if (!Array.isArray(actions)) throw unparsed("[aliases] actions must be a list");
  if (actions.length === 0) throw new AppError("request_invalid", "No action specified");
  const steps = actions.flatMap((action: unknown) => readAction(indices, action));
  if (steps.length === 0) checkMayBeMissing(actions as JsonObject[]);
  checkTargets(indices, steps);
  checkWriteIndices(indices, steps);
  await checkFilters(parts, steps);
  // Indices are removed first, so that an alias of the same call can take their name.
  const isRemoval = ({ kind }: AliasAction): boolean => kind === "remove_index";
  await indices.updateAliases([...steps.filter(isRemoval), ...steps.filter((step) => !isRemoval(step))]);
  return json({ acknowledged: true });
}

function readAction(indices: Indices, given: unknown): AliasAction[] {
  const [entry] = Object.entries(objectOf(given, "action"));
  if (entry === undefined) throw new AppError("request_invalid", "an action of [actions] is empty");
  const [kind, value] = entry;
  const options = objectOf(value, kind);
  const names = textsOf(options, "index", "indices");
  if (kind !== "add" && kind !== "remove" && kind !== "remove_index")
    throw unparsed(`[alias_action] unknown field [${kind}], parser not found`);
  if (names.length === 0) throw validationError([`Property [index/indices] is missing`]);
  const found = indices.resolve(names.join(","), {
    allowNoIndices: false,
    expandWildcards: "open",
    concreteOnly: true,
  });
  if (kind === "remove_index") return found.map(({ name }) => ({ kind, index: name }));
  checkKeys(kind, options);
  const aliases = textsOf(options, "alias", "aliases");
  if (aliases.length === 0)
    throw validationError([
      Array.isArray(options["aliases"]) ? "[aliases] can't be empty" : "[alias] can't be empty string",
    ]);
  if (kind === "remove") return removals(found, aliases, readFlag(options["must_exist"], "must_exist"));
  return found.flatMap(({ name: index }) =>
    aliases.map((alias): AliasAction => {
      checkAliasName(alias);
      return { kind: "add", index, alias, info: parseAlias(options) };
    }),
  );
}

function checkKeys(kind: string, options: JsonObject): void {
  const known = ["index", "indices", "alias", "aliases", ...(kind === "add" ? OPTION_KEYS : ["must_exist"])];
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown !== undefined) throw unparsed(`[${kind}] unknown field [${unknown}], parser not found`);
}

/** Returns the error for a body of another shape. */
function unparsed(reason: string): AppError {
  return new AppError("parsing", reason, { data: { type: "x_content_parse_exception" } });
}

function textsOf(options: JsonObject, one: string, many: string): string[] {
  return texts(options[one] ?? options[many], one).filter((name) => name !== "");
}

/** Parses true or false, also as text. Throws parsing. */
function readFlag(value: unknown, name: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  throw new AppError("parsing", `[${name}] must be true or false`);
}

/** Throws aliases_not_found for removals that change nothing: one of several actions may find no alias. */
function checkMayBeMissing(actions: readonly JsonObject[]): void {
  const removed = actions.map(({ remove }) => objectOf(remove, "remove"));
  if (removed.some((options) => readFlag(options["must_exist"], "must_exist") === false)) return;
  throw missingAliases(removed.flatMap((options) => textsOf(options, "alias", "aliases")));
}

/** Returns the actions that remove aliases. Throws aliases_not_found if one must exist and doesn't. */
function removals(
  found: readonly IndexInfo[],
  patterns: readonly string[],
  mustExist: boolean | undefined,
): AliasAction[] {
  const tests = patterns.map((pattern) => compileWildcard(pattern === "_all" ? "*" : pattern));
  const names = found.flatMap(({ aliases }) => Object.keys(aliases));
  const missing = patterns.filter((_, at) => !names.some((name) => tests[at]!.matches(name)));
  if (mustExist === true && missing.length > 0) throw missingAliases(missing);
  return found.flatMap(({ name: index, aliases }) =>
    Object.keys(aliases)
      .filter((alias) => tests.some((test) => test.matches(alias)))
      .map((alias): AliasAction => ({ kind: "remove", index, alias })),
  );
}

function missingAliases(names: readonly string[]): AppError {
  const missing = names.join(",");
  return new AppError("not_found", `aliases [${missing}] missing`, {
    data: { type: "aliases_not_found_exception", "resource.type": "aliases", "resource.id": missing },
  });
}

async function putAlias(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const body = request.metadata();
  const alias = request.path["name"] ?? (typeof body["alias"] === "string" ? body["alias"] : undefined);
  const expression = request.path["index"] ?? (typeof body["index"] === "string" ? body["index"] : undefined);
  checkValid(
    alias === undefined && "[alias] can't be empty string",
    expression === undefined && alias === undefined && "Property [index/indices] is missing",
  );
  if (expression === undefined) throw new AppError("request_invalid", "[indices] can't be empty");
  checkAliasName(alias!);
  const info = parseAlias(body);
  const options = { ...resolveOptions(request), allowNoIndices: false, concreteOnly: true };
  const found = parts.indices.resolve(expression, options);
  const steps = found.map(({ name: index }): AliasAction => ({ kind: "add", index, alias: alias!, info }));
  checkTargets(parts.indices, steps);
  checkWriteIndices(parts.indices, steps);
  await checkFilters(parts, steps);
  await parts.indices.updateAliases(steps);
  return json({ acknowledged: true });
}

function getAliases(parts: ApiContext, request: ApiRequest): ApiResponse {
  const names = request.list("name");
  const defaults: ResolveOptions = { expandWildcards: "all" };
  let found: IndexInfo[];
  try {
    found = parts.indices.resolve(request.path["index"], resolveOptions(request, defaults));
  } catch (error) {
    if (request.method === "HEAD" && error instanceof AppError && error.code === "index_missing")
      return empty(404);
    if (error instanceof AppError && error.code === "index_missing")
      return json({ error: errorDetail(error, parts.errors), status: 404 }, 404);
    throw error;
  }
  const answer: JsonObject = {};
  const seen = new Set<string>();
  for (const index of found) {
    const kept = aliasesOf(index, names);
    for (const alias of Object.keys(kept)) seen.add(alias);
    if (names === undefined || Object.keys(kept).length > 0) answer[index.name] = { aliases: kept };
  }
  const missing = missingOf(names ?? [], seen);
  if (request.method === "HEAD")
    return empty(missing.length > 0 || (names !== undefined && seen.size === 0) ? 404 : 200);
  if (missing.length === 0) return json(answer);
  const plural = missing.length > 1 ? "es" : "";
  return json({ ...plainErrorBody(`alias${plural} [${missing.join(",")}] missing`, 404), ...answer }, 404);
}

/** Returns the aliases of an index that the names and patterns select; those with "-" exclude. */
function aliasesOf(index: IndexInfo, names: readonly string[] | undefined): JsonObject {
  const all: JsonObject = { ...index.aliases };
  if (names === undefined) return all;
  const kept = new Set<string>();
  for (const [at, name] of names.entries()) {
    const takesOut = name.startsWith("-") && (at > 0 || name.includes("*"));
    const pattern = takesOut ? name.slice(1) : name;
    const test = compileWildcard(pattern === "_all" ? "*" : pattern);
    for (const alias of Object.keys(all)) {
      if (!test.matches(alias)) continue;
      if (takesOut) kept.delete(alias);
      else kept.add(alias);
    }
  }
  return Object.fromEntries(Object.entries(all).filter(([alias]) => kept.has(alias)));
}

/** Returns the plain names that no index has and that no later "-name" excludes. Only after a pattern does "-" exclude. */
function missingOf(names: readonly string[], seen: ReadonlySet<string>): string[] {
  const patternAt = names.findIndex((name) => name.includes("*"));
  const takesOut = (at: number): boolean => patternAt >= 0 && at > patternAt && names[at]!.startsWith("-");
  return names
    .filter((name, at) => {
      if (name.includes("*") || name === "_all" || takesOut(at) || seen.has(name)) return false;
      return patternAt < 0 || !isTakenOut(name, names.slice(Math.max(at + 1, patternAt)));
    })
    .sort();
}

/** Returns true if a later pattern excludes the name. */
function isTakenOut(name: string, later: readonly string[]): boolean {
  return later.some((pattern) => pattern.startsWith("-") && compileWildcard(pattern.slice(1)).matches(name));
}

async function deleteAlias({ indices }: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const found = indices.resolve(request.segment("index"), {
    ...resolveOptions(request),
    allowNoIndices: false,
  });
  const names = request.list("name") ?? [];
  const steps = removals(found, names, undefined);
  if (steps.length === 0) throw missingAliases(names);
  checkTargets(indices, steps);
  await indices.updateAliases(steps);
  return json({ acknowledged: true });
}
