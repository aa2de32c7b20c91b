/** `_scripts`: scripts and search templates that are kept under an id. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import type { StoredScripts } from "#hub/api/ports/scripts.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

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

/** {script: {…}}, or {template: …}, which is the older form of a search template. */
function scriptOf(body: JsonObject): unknown {
  if (isObject(body["script"])) return body["script"];
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
