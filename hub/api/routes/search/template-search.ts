/** `_search/template`, `_msearch/template` and `_render/template`: searches made from Mustache templates. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { compileMustache, TemplateBudget } from "#hub/scripts/mustache.ts";
import { parseJson } from "#hub/search/options/json.ts";
import { valueText } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { MSEARCH_PARAMS, multiSearch } from "./msearch.ts";
import type { ScrollContexts } from "./scroll-contexts.ts";
import { answerSearch } from "./search.ts";
import { SEARCH_PARAMS } from "./search-params.ts";

/** Keys of a request. */
const KEYS: readonly string[] = ["id", "source", "inline", "params", "explain", "profile", "lang"];

/** A template makes at most a million characters, so it could use only a little of larger params. */
const TEMPLATE_BODY_BYTES = 1024 * 1024;

export function templateSearchRoutes(parts: ApiContext, scrolls: ScrollContexts): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: ["/_search/template", "/{index}/_search/template", "/{index}/{type}/_search/template"],
      params: [...SEARCH_PARAMS, "profile"],
      action: "search",
      maxBodyBytes: TEMPLATE_BODY_BYTES,
      summary: "Searches by a template and its params.",
      handle: async (request) =>
        answerSearch(parts, scrolls, request, await searchOf(parts, request.requiredObject())),
    },
    {
      methods: ["GET", "POST"],
      paths: ["/_msearch/template", "/{index}/_msearch/template", "/{index}/{type}/_msearch/template"],
      params: MSEARCH_PARAMS,
      action: "search",
      maxBodyBytes: TEMPLATE_BODY_BYTES,
      body: "ndjson",
      summary: "Answers several searches by templates in one request.",
      handle: (request) => {
        const budget = new TemplateBudget();
        const make = (body: JsonObject): Promise<JsonObject> => searchOf(parts, body, budget);
        return multiSearch(parts, request, { check: checkTemplate, make });
      },
    },
    {
      methods: ["GET", "POST"],
      paths: ["/_render/template", "/_render/template/{id}"],
      params: [],
      action: "search",
      maxBodyBytes: TEMPLATE_BODY_BYTES,
      summary: "Shows the search that a template makes.",
      handle: (request) => render(parts, request),
    },
  ];
}

async function render(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const { id } = request.path;
  const body = request.object();
  const template = id === undefined ? body : { ...body, id };
  return json({ template_output: await renderedJson(parts, template, new TemplateBudget()) });
}

/** Throws request_invalid for a line of _msearch/template that names no template. */
function checkTemplate({ id, source, inline }: JsonObject): void {
  const isMissing = [undefined, ""].includes((id ?? source ?? inline) as string | undefined);
  checkValid(isMissing && "template is missing");
}

/** Returns the search that a template makes. Throws not_found, request_invalid, parsing. */
async function searchOf(
  parts: ApiContext,
  body: JsonObject,
  budget = new TemplateBudget(),
): Promise<JsonObject> {
  const search = await renderedJson(parts, body, budget);
  const { explain, profile } = body;
  return {
    ...search,
    ...(explain !== undefined && { explain }),
    ...(profile !== undefined && { profile }),
  };
}

/** Returns the JSON object that a template makes from its params. Throws not_found, request_invalid, parsing. */
export async function renderedJson(
  parts: ApiContext,
  body: JsonObject,
  budget: TemplateBudget,
): Promise<JsonObject> {
  const unknown = Object.keys(body).find((key) => !KEYS.includes(key));
  if (unknown !== undefined)
    throw new AppError("request_invalid", `[search_template] unknown field [${unknown}], parser not found`);
  const { params = {} } = body;
  if (!isObject(params)) throw new AppError("parsing", "[search_template] params must be an object");
  const source = templateOf(parts, body);
  budget.work(source.length);
  const text = await compileMustache(source).renderInSlices(params, budget);
  const search = await parseRendered(text);
  if (isObject(search)) return search;
  throw new AppError("parsing", "a search template must make a JSON object");
}

/** Parses a rendered text. Throws parsing; for a text that ends too early with the error type of 6.5. */
async function parseRendered(text: string): Promise<unknown> {
  try {
    return parseJson(text);
  } catch (error) {
    const missing = missingEnd(text);
    if (missing === "") throw error;
    // The 6.5 server parses as it reads, so it reports an unknown query before the early end.
    if (missing === "}") await checkQuery(text + missing);
    throw new AppError("parsing", "Unexpected end-of-input: a bracket or text of the search isn't closed", {
      data: { type: "json_e_o_f_exception" },
    });
  }
}

/**
 * Throws parsing if a text is a search whose query can't be parsed. Only this case loads the search's own code in this
 * thread.
 */
async function checkQuery(text: string): Promise<void> {
  let search: unknown;
  try {
    search = parseJson(text);
  } catch {
    return;
  }
  if (!isObject(search) || search["query"] === undefined) return;
  const { parseQueryRequest } = await import("#hub/search/request/search-request.ts");
  parseQueryRequest({ query: search["query"] });
}

/**
 * Returns the characters that close the objects, lists and string left open at the end of a JSON text; "" if none is
 * open.
 */
function missingEnd(text: string): string {
  const open: string[] = [];
  let isInString = false;
  // A loop because a regular expression would search for the end of each quoted part repeatedly.
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (isInString && char === "\\") at++;
    else if (char === '"') isInString = !isInString;
    else if (!isInString && "[{".includes(char)) open.push(char === "[" ? "]" : "}");
    else if (!isInString && "]}".includes(char)) open.pop();
  }
  return (isInString ? '"' : "") + open.reverse().join("");
}

function templateOf({ scripts }: ApiContext, { id, source, inline }: JsonObject): string {
  if (id !== undefined) {
    const stored = scripts?.get(valueText(id));
    if (stored !== undefined) return stored.source;
    throw new AppError("not_found", `unable to find script [${valueText(id)}]`);
  }
  const given = source ?? inline;
  checkValid(given === undefined && "template is missing");
  return typeof given === "string" ? given : JSON.stringify(given);
}
