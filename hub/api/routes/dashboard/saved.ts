/** Saved objects: searches, visualisations and dashboards of the pages. */

import type { ApiRequest } from "#hub/api/http/request.ts";
import { empty, json, type Route } from "#hub/api/http/route.ts";
import type { SavedContent, SavedObjects } from "#hub/api/ports/administration.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";

const LIST = "/api/saved/{type}";
const ONE = "/api/saved/{type}/{id}";
const REVISIONS = `${ONE}/revisions`;

export function savedRoutes(saved: SavedObjects): Route[] {
  return [...objectRoutes(saved), ...revisionRoutes(saved)];
}

function revisionRoutes(saved: SavedObjects): Route[] {
  return [
    {
      methods: ["GET"],
      paths: [REVISIONS],
      params: [],
      action: "search",
      summary: "Lists the former versions of a saved object, at most 20, without their content.",
      handle: async (request) =>
        json({ revisions: await saved.revisions(request.segment("type"), request.segment("id")) }),
    },
    {
      methods: ["GET"],
      paths: [`${REVISIONS}/{revision}`],
      params: [],
      action: "search",
      summary: "Shows a former version of a saved object.",
      handle: async (request) => {
        const revision = Number(request.segment("revision"));
        if (!Number.isSafeInteger(revision) || revision < 1)
          throw new AppError("request_invalid", "a revision is a number from 1");
        return json(await saved.revision(request.segment("type"), request.segment("id"), revision));
      },
    },
  ];
}

function objectRoutes(saved: SavedObjects): Route[] {
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
  return { title, attributes, by: request.principal.name };
}
