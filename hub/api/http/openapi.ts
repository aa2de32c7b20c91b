/** The OpenAPI 3.1 description of the interfaces, generated from the routes. */

import type { JsonObject } from "#proto/kit/json.ts";
import { COMMON_PARAMS } from "./request.ts";
import type { BodyKind, Route } from "./route.ts";

const BODY_METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);
const JSON_TYPES = ["application/json"];
const MEDIA_TYPES: Readonly<Record<BodyKind, readonly string[]>> = {
  json: JSON_TYPES,
  any: JSON_TYPES,
  ndjson: ["application/x-ndjson"],
  form: ["application/x-www-form-urlencoded", "multipart/form-data"],
};

export interface DescribedRoutes {
  /** Prefix of the paths on the listener: "" or "/es". */
  readonly prefix: string;
  readonly tag: string;
  readonly routes: readonly Route[];
}

/** Returns the document for `/api/openapi.json`. */
export function describeRoutes(version: string, groups: readonly DescribedRoutes[]): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const { prefix, tag, routes } of groups) {
    for (const route of routes) {
      for (const path of route.paths) {
        const operations = (paths[prefix + path] ??= {});
        for (const method of route.methods) operations[method.toLowerCase()] = operation(route, path, tag);
      }
    }
  }
  return {
    openapi: "3.1.0",
    info: { title: "Tailrace", version },
    paths,
    components: { parameters: Object.fromEntries(COMMON_PARAMS.map((name) => [name, queryParameter(name)])) },
  };
}

function operation(route: Route, path: string, tag: string): JsonObject {
  const segments = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const common = COMMON_PARAMS.filter((name) => !route.params.includes(name));
  const hasBody = route.methods.some((method) => BODY_METHODS.has(method));
  return {
    tags: [tag],
    summary: route.summary,
    parameters: [
      ...segments.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
      ...route.params.filter((name) => !segments.includes(name)).map(queryParameter),
      ...common.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...(hasBody && { requestBody: { content: contentOf(route) } }),
    ...(route.caller === "anybody" && { security: [] }),
    responses: { "200": { description: "Done." }, default: { description: "What went wrong, and why." } },
  };
}

function queryParameter(name: string): JsonObject {
  return { name, in: "query", required: false, schema: { type: "string" } };
}

function contentOf({ body, schema }: Route): JsonObject {
  const content = schema === undefined ? {} : { schema };
  return Object.fromEntries(
    (body === undefined ? JSON_TYPES : MEDIA_TYPES[body]).map((type) => [type, content]),
  );
}
