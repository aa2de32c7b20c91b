/** `_scripts/painless/_execute`: runs a script once, alone or on a sample document of an index. */

import { type ApiContext, findStored } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { readScript } from "#hub/scripts/script.ts";
import { toJson } from "#hub/scripts/values/json.ts";
import { toDouble, truth } from "#hub/scripts/values/operators.ts";
import { print } from "#hub/scripts/values/values.ts";
import { SampleDoc } from "#hub/search/scripting/sample-doc.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

const CONTEXTS = ["painless_test", "filter", "score"];

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
  const { compiled, params } = readScript(script, ["params", "doc", "_score"], { find });
  return json({ result: toJson(toDouble(compiled.run([params, doc, 0]))) });
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
