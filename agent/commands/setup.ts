/** `setup`: loads the index template of shipped lines, and the sample searches and dashboards, through the dashboard. */

import type { Static } from "typebox";
import type { SETTINGS_SCHEMA } from "#agent/settings/schema.ts";
import { AppError } from "#proto/kit/errors.ts";
import { HubClient } from "./hub-client.ts";

const TEMPLATE = "tailrace-agent";

const keyword = { type: "keyword", ignore_above: 1024 };

/** Fields that every shipped line has; the template overrides the hub's own and is overridden by users' templates. */
const INDEX_TEMPLATE = {
  index_patterns: ["logs-*"],
  order: 0,
  mappings: {
    _doc: {
      properties: {
        "@timestamp": { type: "date" },
        message: { type: "text" },
        tags: keyword,
        host: { properties: { name: keyword } },
        shipper: { properties: { id: keyword, name: keyword, version: keyword } },
        input: { properties: { type: keyword } },
        log: {
          properties: { file: { properties: { path: keyword } }, offset: { type: "long" }, level: keyword },
        },
        stream: keyword,
        container: { properties: { id: keyword, name: keyword } },
        kubernetes: {
          properties: {
            namespace: keyword,
            pod: { properties: { name: keyword, uid: keyword } },
            container: { properties: { name: keyword } },
          },
        },
      },
    },
  },
};

interface SampleName {
  readonly type: string;
  readonly title: string;
}

/** The hub's answer: samples that it saved, and those that existed. */
interface SampleOutcome {
  readonly saved?: readonly SampleName[];
  readonly existing?: readonly SampleName[];
}

/** Loads what is missing and returns the text for the terminal. Throws the dashboard's refusals. */
export async function setup(settings: Static<typeof SETTINGS_SCHEMA>): Promise<string> {
  const host = settings["setup.dashboard.host"];
  const { "setup.dashboard.username": user, "setup.dashboard.password": password } = settings;
  const key = settings["setup.dashboard.api_key"];
  const basic = Buffer.from(`${user ?? ""}:${password ?? ""}`).toString("base64");
  const authorization = key === undefined ? (user === undefined ? "" : `Basic ${basic}`) : `ApiKey ${key}`;
  const hub = new HubClient({ url: host, caFile: settings["setup.dashboard.tls.ca"], authorization });
  await mustSend(hub, host, "PUT", `/es/_template/${TEMPLATE}`, INDEX_TEMPLATE);
  const lines = [`index template ${TEMPLATE} loaded`];
  const { saved = [], existing = [] } = (await mustSend(
    hub,
    host,
    "POST",
    "/api/samples",
    {},
  )) as SampleOutcome;
  for (const { type, title } of saved) lines.push(`${type} "${title}" saved`);
  for (const { type, title } of existing) lines.push(`${type} "${title}" is there already`);
  return `${lines.join("\n")}\nset up through ${host}\n`;
}

async function mustSend(
  hub: HubClient,
  host: string,
  method: string,
  path: string,
  body: object,
): Promise<unknown> {
  const { status, message, body: answer } = await hub.send(method, path, body);
  if (status < 300) return answer;
  const remedy = status === 401 || status === 403 ? "; set setup.dashboard.api_key" : "";
  throw new AppError(
    "unavailable",
    `the dashboard at ${host} refuses ${path}: ${message || status}${remedy}`,
  );
}
