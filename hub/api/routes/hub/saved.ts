/** Saved objects: searches, visualisations and dashboards of the pages. */

import type { ApiRequest } from "#hub/api/http/request.ts";
import { empty, json, type Route } from "#hub/api/http/route.ts";
import type { SavedContent, SavedObjects } from "#hub/api/ports/administration.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";

const LIST = "/api/saved/{type}";
const ONE = "/api/saved/{type}/{id}";

export function savedRoutes(saved: SavedObjects): Route[] {
  return [
    {
      methods: ["POST"],
      paths: ["/api/samples"],
      params: [],
      action: "save",
      summary: "Saves the sample searches, visualisations and dashboards that aren't there yet.",
      handle: async () => json(await saved.loadSamples()),
    },
    {
      methods: ["GET"],
      paths: [LIST],
      params: [],
      action: "search",
      summary: "Lists the saved objects of a type.",
      handle: async (request) => json({ objects: await saved.list(request.segment("type")) }),
    },
    {
      methods: ["POST"],
      paths: [LIST],
      params: [],
      action: "save",
      summary: "Saves an object under a new id.",
      handle: async (request) => json(await saved.create(request.segment("type"), contentOf(request)), 201),
    },
    {
      methods: ["GET"],
      paths: [ONE],
      params: [],
      action: "search",
      summary: "Shows a saved object.",
      handle: async (request) => json(await saved.get(request.segment("type"), request.segment("id"))),
    },
    {
      methods: ["PUT"],
      paths: [ONE],
      params: ["revision"],
      action: "save",
      summary: "Saves an object under an id; with a revision only where it is still the newest.",
      handle: async (request) => {
        const revision = request.integer("revision");
        const content = contentOf(request);
        return json(await saved.put(request.segment("type"), request.segment("id"), content, revision));
      },
    },
    {
      methods: ["DELETE"],
      paths: [ONE],
      params: ["revision"],
      action: "save",
      summary: "Deletes a saved object.",
      handle: async (request) => {
        await saved.delete(request.segment("type"), request.segment("id"), request.integer("revision"));
        return empty(204);
      },
    },
  ];
}

function contentOf(request: ApiRequest): SavedContent {
  const { title, attributes } = request.requiredObject();
  if (typeof title !== "string") throw new AppError("request_invalid", "title must be a text");
  if (!isObject(attributes)) throw new AppError("request_invalid", "attributes must be an object");
  return { title, attributes };
}
