/** `/api/alerts`: alert rules and their states. */

import type { ApiRequest } from "#hub/api/http/request.ts";
import { empty, json, type Route } from "#hub/api/http/route.ts";
import type { Alerts } from "#hub/api/ports/administration.ts";
import type { Indices } from "#hub/api/ports/indices.ts";
import { AppError } from "#proto/kit/errors.ts";
import { MIB, parseDuration } from "#proto/kit/units.ts";

const LIST = "/api/alerts";
const ONE = "/api/alerts/{id}";
const DEFAULT_SPAN = "24h";
/** A rule searches with the rights of who saves it, and its answer counts lines: a token must have the scope to read. */
const SAVING: Pick<Route, "action" | "maxBodyBytes"> = { action: ["alert", "search"], maxBodyBytes: MIB };

/** `indices`: those that the sender of a request may see. */
export function alertRoutes(alerts: Alerts, indices: Pick<Indices, "resolve">): Route[] {
  return [...listRoutes(alerts, indices), ...trialRoutes(alerts, indices), ...ruleRoutes(alerts, indices)];
}

function listRoutes(alerts: Alerts, indices: Pick<Indices, "resolve">): Route[] {
  return [
    {
      methods: ["GET"],
      paths: [LIST],
      params: [],
      action: "search",
      summary: "Lists the alert rules with their states.",
      handle: async (request) =>
        json({ alerts: (await alerts.list()).map((alert) => visible(alert, request)) }),
    },
    {
      methods: ["POST"],
      paths: [LIST],
      params: [],
      ...SAVING,
      summary: "Creates an alert rule.",
      handle: async (request) => json(await alerts.create(readable(request, indices)), 201),
    },
  ];
}

/** Routes that test a rule without storing it, and a channel. */
function trialRoutes(alerts: Alerts, indices: Pick<Indices, "resolve">): Route[] {
  return [
    {
      methods: ["POST"],
      paths: ["/api/alerts/_preview"],
      params: ["span"],
      ...SAVING,
      summary: "Shows what a rule would have counted.",
      handle: async (request) => {
        const spanMs = parseDuration(request.text("span") ?? DEFAULT_SPAN);
        return json({ points: await alerts.preview(readable(request, indices), spanMs) });
      },
    },
    {
      methods: ["POST"],
      paths: ["/api/alerts/_test"],
      params: [],
      action: "alert",
      summary: "Sends a test over a channel.",
      handle: async (request) => {
        await alerts.test(request.requiredObject());
        return json({ sent: true });
      },
    },
  ];
}

function ruleRoutes(alerts: Alerts, indices: Pick<Indices, "resolve">): Route[] {
  return [
    {
      methods: ["GET"],
      paths: [ONE],
      params: [],
      action: "search",
      summary: "Shows an alert rule with its state.",
      handle: async (request) => json(visible(await alerts.get(request.segment("id")), request)),
    },
    {
      methods: ["PUT"],
      paths: [ONE],
      params: ["revision"],
      ...SAVING,
      summary:
        "Changes an alert rule, which has the sender's rights then; with a revision only where it is still the newest.",
      handle: async (request) => {
        const body = readable(request, indices);
        return json(await alerts.put(request.segment("id"), body, request.integer("revision")));
      },
    },
    {
      methods: ["PATCH"],
      paths: [ONE],
      params: ["revision"],
      ...SAVING,
      summary: "Turns an alert rule on or off, or mutes it; it keeps the rights of who saved it.",
      handle: async (request) => {
        const body = request.requiredObject();
        return json(await alerts.switch(request.segment("id"), body, request.integer("revision")));
      },
    },
    {
      methods: ["DELETE"],
      paths: [ONE],
      params: ["revision"],
      action: "alert",
      summary: "Deletes an alert rule.",
      handle: async (request) => {
        await alerts.delete(request.segment("id"), request.integer("revision"));
        return empty(204);
      },
    },
  ];
}

/** Returns the body of a rule whose indices its writer may read. Throws forbidden, request_invalid. */
function readable(request: ApiRequest, indices: Pick<Indices, "resolve">): unknown {
  const body = request.requiredObject();
  const index = body["index"];
  if (index !== undefined && typeof index !== "string")
    throw new AppError("request_invalid", "index must be a text");
  indices.resolve(index, { ignoreUnavailable: true, allowNoIndices: true });
  return body;
}

/**
 * Returns the alert. Without the right to change alerts, the addresses of webhooks are shortened because they often
 * contain a token.
 */
function visible(alert: object, request: ApiRequest): unknown {
  return request.may("alert") ? alert : withoutAddresses(alert);
}

/** Returns a copy in which every `url`, of the rule's channels and of waiting messages, is reduced to its origin. */
function withoutAddresses(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAddresses);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === "url" && typeof each === "string"
        ? `${URL.parse(each)?.origin ?? ""}/…`
        : withoutAddresses(each),
    ]),
  );
}
