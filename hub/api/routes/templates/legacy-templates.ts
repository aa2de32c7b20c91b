/** Legacy templates (`_template`, before 7.8): a new index gets the definitions of all that match its name, merged. */

import { warnOfFields, warnOfSettings } from "#hub/api/compat/interface-compatibility.ts";
import { checkTypeless, givenType, splitType, TYPE_SETTING } from "#hub/api/compat/mapping-types.ts";
import { showsTypes } from "#hub/api/compat/version.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { validationError } from "#hub/api/http/error-body.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, empty, json, type Route } from "#hub/api/http/route.ts";
import { parseAliases } from "#hub/api/parameters/alias-definition.ts";
import { flattenSettings, nestSettings, printSettings } from "#hub/api/parameters/index-settings.ts";
import { optionalInteger, texts } from "#hub/api/parameters/values.ts";
import type { IndexTemplate } from "#hub/api/ports/indices.ts";
import { describePatterns, patternsOverlap } from "#hub/cluster/catalog/composable-templates.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { namesMatching, requireNew } from "./template-body.ts";

export function templateRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["PUT", "POST"],
      paths: ["/_template/{name}"],
      params: ["order", "create", "timeout", "master_timeout", "flat_settings", "include_type_name"],
      action: "index_manage",
      summary: "Stores a template.",
      handle: (request) => putTemplate(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_template", "/_template/{name}"],
      params: ["flat_settings", "master_timeout", "local", "include_type_name"],
      action: "monitor",
      summary: "Shows templates.",
      handle: (request) => getTemplates(parts, request),
    },
    {
      methods: ["HEAD"],
      paths: ["/_template/{name}"],
      params: ["flat_settings", "master_timeout", "local", "include_type_name"],
      action: "monitor",
      summary: "Checks whether a template exists.",
      handle: (request) => empty(namesOf(parts, request).length > 0 ? 200 : 404),
    },
    {
      methods: ["DELETE"],
      paths: ["/_template/{name}"],
      params: ["timeout", "master_timeout"],
      action: "index_manage",
      summary: "Deletes templates.",
      handle: (request) => deleteTemplates(parts, request),
    },
  ];
}

async function putTemplate({ indices }: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const name = request.segment("name");
  const body = request.metadata();
  request.requireBody();
  const patterns = patternsOf(body);
  checkValid(patterns.length === 0 && "index patterns are missing");
  checkNames(name, patterns);
  checkKeys(body);
  if (request.flag("create") === true) requireNew(indices.templates(), name, "index_template");
  checkTypeless(body["mappings"], name, request.flag("include_type_name"));
  const { type, mapping } = splitType(body["mappings"], name);
  const version = optionalInteger(body["version"], "version");
  const template: IndexTemplate = {
    index_patterns: patterns,
    order: optionalInteger(body["order"], "order") ?? request.integer("order") ?? 0,
    ...(version !== undefined && { version }),
    settings: { ...flattenSettings(body["settings"]), ...(type !== undefined && { [TYPE_SETTING]: type }) },
    mappings: mapping,
    aliases: parseAliases(body["aliases"]),
  };
  await indices.putTemplate(name, template);
  warnOfSettings(template.settings);
  warnOfFields(template.mappings);
  warnOfNewer(indices, name, template);
  return json({ acknowledged: true });
}

/** Warns of composable templates that take precedence over this one. */
function warnOfNewer(
  { templateCatalog }: ApiContext["indices"],
  name: string,
  template: IndexTemplate,
): void {
  const { index_patterns: patterns } = template;
  const newer = Object.entries(templateCatalog.set().templates).filter(([, each]) =>
    patternsOverlap(patterns, each.index_patterns),
  );
  if (newer.length === 0) return;
  warnDeprecated(
    `legacy template [${name}] has index patterns [${patterns.join(", ")}] matching patterns from existing composable ` +
      `templates [${newer.map(([each]) => each).join(",")}] with patterns (${newer.map(describePatterns).join(",")}); this ` +
      `template [${name}] may be ignored in favor of a composable template at index creation time`,
  );
}

/** Throws request_invalid for a name or patterns that no template of 6.5.4 has. */
function checkNames(name: string, patterns: readonly string[]): void {
  const problems = [
    name.includes(" ") && "name must not contain a space",
    name.includes(",") && "name must not contain a ','",
    name.includes("#") && "name must not contain a '#'",
    name.startsWith("_") && "name must not start with '_'",
    name.toLowerCase() !== name && "name must be lower cased",
    ...patterns.flatMap((pattern) => [
      pattern.includes(" ") && "template must not contain a space",
      pattern.includes(",") && "template must not contain a ','",
      pattern.includes("#") && "template must not contain a '#'",
      pattern.startsWith("_") && "template must not start with '_'",
      /[\\/?"<>| ,]/.test(pattern) &&
        'template must not contain the following characters [ , ", *, \\, <, |, ,, >, /, ?]',
    ]),
  ].filter((problem) => problem !== false);
  if (problems.length === 0) return;
  const { message } = validationError(problems);
  throw new AppError("request_invalid", `index_template [${name}] invalid, cause [${message}]`, {
    data: { type: "invalid_index_template_exception" },
  });
}

/** `template` is the name that `index_patterns` had before 6.0. */
function patternsOf(body: JsonObject): string[] {
  return texts(body["index_patterns"] ?? body["template"], "index_patterns");
}

function checkKeys(body: JsonObject): void {
  const known = ["index_patterns", "template", "order", "version", "settings", "mappings", "aliases"];
  const unknown = Object.keys(body).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw new AppError("parsing", `unknown key [${unknown}] in the template `, {
    data: { type: "parse_exception" },
  });
}

function getTemplates(parts: ApiContext, request: ApiRequest): ApiResponse {
  const templates = parts.indices.templates();
  const isFlat = request.flag("flat_settings") ?? false;
  const includeType = request.flag("include_type_name") ?? showsTypes();
  const names = namesOf(parts, request);
  const answer = Object.fromEntries(
    names.map((name) => [name, printTemplate(templates[name]!, isFlat, includeType)]),
  );
  const wanted = request.list("name") ?? [];
  const isMissing = names.length === 0 && wanted.some((name) => !name.includes("*"));
  return json(answer, isMissing ? 404 : 200);
}

function printTemplate(template: IndexTemplate, isFlat: boolean, includeType: boolean): JsonObject {
  const { order, version, index_patterns, settings, mappings, aliases } = template;
  const flat = printSettings(settings);
  const type = givenType(settings);
  const hasMappings = Object.keys(mappings).length > 0 || type !== undefined;
  return {
    order,
    ...(version !== undefined && { version }),
    index_patterns,
    settings: isFlat ? flat : nestSettings(flat),
    mappings: includeType && hasMappings ? { [type ?? "_doc"]: mappings } : mappings,
    aliases,
  };
}

async function deleteTemplates(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const names = namesOf(parts, request);
  const wanted = request.segment("name");
  if (names.length === 0 && wanted !== "*") {
    throw new AppError("not_found", `index_template [${wanted}] missing`, {
      data: { type: "index_template_missing_exception" },
    });
  }
  await parts.indices.deleteTemplates(names);
  return json({ acknowledged: true });
}

function namesOf({ indices }: ApiContext, request: ApiRequest): string[] {
  return namesMatching(indices.templates(), request.list("name"));
}
