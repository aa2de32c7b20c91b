/**
 * Routes of scripts: `_scripts` stores scripts and search templates under an id. `_scripts/painless/_execute` runs a
 * script once, alone or on a sample document of an index. `_script_context` and `_script_language` list the contexts
 * and languages of scripts.
 */

import { type ApiContext, findStored } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import type { StoredScripts } from "#hub/api/ports/scripts.ts";
import { readScript } from "#hub/scripts/script.ts";
import { EXPRESSION_CONTEXTS, SCRIPT_CONTEXTS } from "#hub/scripts/stored-scripts.ts";
import { toJson } from "#hub/scripts/values/json.ts";
import { toDouble, truth } from "#hub/scripts/values/operators.ts";
import { print } from "#hub/scripts/values/values.ts";
import { answersAs, warnDeprecated } from "#hub/search/options/request-version.ts";
import { SampleDoc } from "#hub/search/scripting/sample-doc.ts";
import { SCORE_FUNCTION_NAMES, scoreFunctionsOn } from "#hub/search/scripting/score-script-functions.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

const CONTEXTS = ["painless_test", "filter", "score"];

/** Result types of scripts by context; in other contexts any. */
const RESULTS: Readonly<Record<string, string>> = {
  filter: "boolean",
  score: "double",
  number_sort: "double",
  string_sort: "java.lang.String",
  update: "void",
  ingest: "void",
  processor_conditional: "boolean",
};

const TYPES: Readonly<Record<string, string>> = {
  doc: "java.util.Map",
  params: "java.util.Map",
  ctx: "java.util.Map",
  _score: "double",
};

const PARAMS = ["master_timeout", "timeout"];

export function storedScriptRoutes({ scripts }: ApiContext): Route[] {
  if (scripts === undefined) return [];
  return [
    {
      methods: ["PUT", "POST"],
      paths: ["/_scripts/{id}", "/_scripts/{id}/{context}"],
      params: [...PARAMS, "context"],
      action: "administer",
      summary: "Checks a script or search template and stores it.",
      handle: (request) => put(scripts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_scripts/{id}"],
      params: PARAMS,
      action: "monitor",
      summary: "Shows a stored script.",
      handle: (request) => show(scripts, request),
    },
    {
      methods: ["DELETE"],
      paths: ["/_scripts/{id}"],
      params: PARAMS,
      action: "administer",
      summary: "Deletes a stored script.",
      handle: (request) => remove(scripts, request),
    },
  ];
}

async function put(scripts: StoredScripts, request: ApiRequest): Promise<ApiResponse> {
  const body = request.requiredObject();
  await scripts.put(request.segment("id"), scriptOf(body), request.text("context"));
  return json({ acknowledged: true });
}

/**
 * Returns the script of {script: {…}}, or of {template: …}, the older form of a search template. From 7.0 on params may
 * be given beside its source as an example.
 */
function scriptOf(body: JsonObject): unknown {
  if (isObject(body["script"])) {
    const { params, ...script } = body["script"];
    if (params === undefined || !answersAs(700)) return body["script"];
    warnDeprecated("[params] of a stored script is accepted and does nothing: give them where it is used");
    return script;
  }
  const template = body["template"];
  if (template !== undefined) return { lang: "mustache", source: template };
  throw new AppError("request_invalid", "unexpected field, expected [script]", {
    data: { type: "parse_exception" },
  });
}

function show(scripts: StoredScripts, request: ApiRequest): ApiResponse {
  const id = request.segment("id");
  const script = scripts.get(id);
  const answer = { _id: id, found: script !== undefined, ...(script !== undefined && { script }) };
  return json(answer, script === undefined ? 404 : 200);
}

async function remove(scripts: StoredScripts, request: ApiRequest): Promise<ApiResponse> {
  const id = request.segment("id");
  if (await scripts.delete(id)) return json({ acknowledged: true });
  throw new AppError("not_found", `stored script [${id}] does not exist and cannot be deleted`);
}

export function scriptContextRoutes(): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_script_context"],
      params: [],
      action: "monitor",
      summary: "Lists what scripts may be for, with the variables that they have.",
      handle: () => json({ contexts: contexts() }),
    },
    {
      methods: ["GET"],
      paths: ["/_script_language"],
      params: [],
      action: "monitor",
      summary: "Lists the languages of scripts.",
      handle: () =>
        json({
          types_allowed: ["inline", "stored"],
          language_contexts: [
            { language: "expression", contexts: EXPRESSION_CONTEXTS },
            { language: "mustache", contexts: ["template"] },
            { language: "painless", contexts: Object.keys(SCRIPT_CONTEXTS).sort() },
          ],
        }),
    },
  ];
}

function contexts(): JsonObject[] {
  const scripts = Object.entries(SCRIPT_CONTEXTS).map(([name, variables]) => ({
    name,
    methods: [
      { name: "execute", return_type: RESULTS[name] ?? "java.lang.Object", params: [] },
      ...variables.map((variable) => ({
        name: variable.startsWith("_")
          ? `get${variable}`
          : `get${variable[0]!.toUpperCase()}${variable.slice(1)}`,
        return_type: TYPES[variable] ?? "java.lang.Object",
        params: [],
      })),
    ],
  }));
  const template = {
    name: "template",
    methods: [{ name: "execute", return_type: "java.lang.String", params: [] }],
  };
  return [...scripts, template].sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function scriptExecutionRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: ["/_scripts/painless/_execute"],
      params: [],
      action: "search",
      summary: "Runs a script once: alone, or as a filter or score on a sample document.",
      handle: (request) => execute(parts, request),
    },
  ];
}

function execute(parts: ApiContext, request: ApiRequest): ApiResponse {
  const { script, context: given = "painless_test", context_setup: setup } = request.requiredObject();
  // Versions before 6.4 wrote the context as an object.
  const context = isObject(given) ? Object.keys(given)[0] : given;
  if (typeof context !== "string" || !CONTEXTS.includes(context))
    throw new AppError("request_invalid", `[context] must be one of ${CONTEXTS.join(", ")}`);
  const find = findStored(parts);
  if (context === "painless_test") {
    const { compiled, params } = readScript(script, ["params"], { find });
    return json({ result: print(compiled.run([params])) });
  }
  const doc = sampleOf(parts, setup);
  if (context === "filter") {
    const { compiled, params } = readScript(script, ["params", "doc"], { find });
    return json({ result: truth(compiled.run([params, doc])) });
  }
  const names = ["params", "doc", "_score", ...SCORE_FUNCTION_NAMES];
  const { compiled, params } = readScript(script, names, { find });
  const functions = scoreFunctionsOn({
    nowMs: parts.clock.now(),
    id: () => "",
    value: (field) => doc.lookup(field).values()[0],
  });
  return json({ result: toJson(toDouble(compiled.run([params, doc, 0, ...functions]))) });
}

/** Returns the sample document. Throws request_invalid, index_missing. */
function sampleOf({ indices }: ApiContext, setup: unknown): SampleDoc {
  const { index, document, query }: JsonObject = isObject(setup) ? setup : {};
  if (typeof index !== "string" || !isObject(document))
    throw new AppError("request_invalid", "[context_setup] needs an [index] and a [document]");
  if (query !== undefined)
    throw new AppError(
      "request_invalid",
      "[context_setup] [query] isn't offered: [_score] is 0; search an index for a real score",
    );
  const [found, second] = indices.resolve(index, { concreteOnly: true, allowNoIndices: false });
  if (found === undefined || second !== undefined)
    throw new AppError("request_invalid", `[index] must name one index, but is [${index}]`);
  return new SampleDoc(document, found.mapping);
}
