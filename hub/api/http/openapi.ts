/** The OpenAPI 3.1 description of the interfaces, generated from the routes. */

import type { JsonObject } from "#proto/kit/json.ts";
import { COMMON_PARAMS } from "./query-string.ts";
import type { Route } from "./route.ts";

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
  const hasBody = route.methods.some((method) => method === "POST" || method === "PUT");
  return {
    tags: [tag],
    summary: route.summary,
    parameters: [
      ...segments.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
      ...route.params.filter((name) => !segments.includes(name)).map(queryParameter),
      ...common.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...(hasBody && { requestBody: { content: { [mediaTypeOf(route)]: {} } } }),
    responses: { "200": { description: "Done." }, default: { description: "What went wrong, and why." } },
  };
}

function queryParameter(name: string): JsonObject {
  return { name, in: "query", required: false, schema: { type: "string" } };
}

function mediaTypeOf({ body }: Route): string {
  return body === "ndjson" ? "application/x-ndjson" : "application/json";
}
