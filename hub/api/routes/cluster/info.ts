/**
 * `/`, `_license` and `_xpack`, which clients request before anything else. Tailrace is free software: features of the
 * other product's "basic" licence need no licence here, and features that only that product has don't exist.
 */

import { BUILD, versionProfile } from "#hub/api/compat/version.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { empty, json, type Route } from "#hub/api/http/route.ts";
import type { Principal } from "#hub/auth/accounts/principal.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import type { JsonObject } from "#proto/kit/json.ts";

export function infoRoutes({ cluster, compatVersion }: ApiContext): Route[] {
  const profile = versionProfile(compatVersion);
  return [
    {
      methods: ["GET", "HEAD"],
      paths: ["/"],
      params: [],
      action: "monitor",
      summary: "Shows the name and version of the server.",
      handle: ({ method }) =>
        method === "HEAD"
          ? empty(200)
          : json({
              name: cluster.nodes()[0]?.name ?? "",
              cluster_name: cluster.name,
              cluster_uuid: cluster.uuid,
              version: {
                number: compatVersion,
                ...BUILD,
                lucene_version: profile.luceneVersion,
                minimum_wire_compatibility_version: profile.minWireVersion,
                minimum_index_compatibility_version: profile.minIndexVersion,
              },
              tagline: "You Know, for Search",
            }),
    },
  ];
}

/** Features that 8.x lists in addition. */
const LATER_FEATURES: readonly string[] = [
  "aggregate_metric",
  "analytics",
  "archive",
  "ccr",
  "data_streams",
  "data_tiers",
  "enrich",
  "enterprise_search",
  "eql",
  "esql",
  "frozen_indices",
  "logsdb",
  "searchable_snapshots",
  "slm",
  "spatial",
  "sql",
  "transform",
  "universal_profiling",
  "voting_only",
];

/** Features that clients of 6.5 and 7.x check, with their descriptions. */
const FEATURES: Readonly<Record<string, string>> = {
  graph: "Graph Data Exploration for the Elastic Stack",
  ilm: "Index lifecycle management for the Elastic Stack",
  logstash: "Logstash management component for X-Pack",
  ml: "Machine Learning for the Elastic Stack",
  monitoring: "Monitoring for the Elastic Stack",
  rollup: "Time series pre-aggregation and rollup",
  security: "Security for the Elastic Stack",
  upgrade: "Upgrade API for X-Pack",
  watcher: "Alerting, Notification and Automation for the Elastic Stack",
};

const ABSENT = { available: false, enabled: false };
/** Lifecycle policies are carried out: rollover, readonly, forcemerge and delete. 6.6 is the first version with them. */
const LIFECYCLES = { name: "ilm", from: 606 };

/** Returns whether a feature can be used. */
function availability(name: string): typeof ABSENT {
  const isOffered = name === LIFECYCLES.name && answersAs(LIFECYCLES.from);
  return isOffered ? { available: true, enabled: true } : ABSENT;
}

export function licenceRoutes({ cluster }: ApiContext): Route[] {
  const licence = { uid: cluster.uuid, type: "basic", mode: "basic", status: "active" };
  return [
    {
      methods: ["GET"],
      paths: ["/_license", "/_xpack/license"],
      params: ["local", "accept_enterprise"],
      action: "monitor",
      summary: "Shows a licence that doesn't expire.",
      handle() {
        const { status, uid, type } = licence;
        const issued = { issued_to: cluster.name, issuer: "tailrace" };
        const dates = {
          issue_date: BUILD.build_date,
          issue_date_in_millis: Date.parse(BUILD.build_date),
          start_date_in_millis: -1,
        };
        return json({ license: { status, uid, type, ...dates, ...issued } });
      },
    },
    {
      methods: ["GET"],
      paths: ["/_xpack"],
      params: ["categories", "accept_enterprise"],
      action: "monitor",
      summary: "Lists the features of the other product, of which lifecycle policies are available.",
      handle(request) {
        const isHuman = request.flag("human") ?? true;
        const answer: Record<string, unknown> = {
          build: { hash: BUILD.build_hash, date: BUILD.build_date },
          license: licence,
          features: features((description, name) => ({
            ...(isHuman && !answersAs(800) && { description }),
            ...availability(name),
          })),
          ...(isHuman && { tagline: "You know, for X" }),
        };
        const wanted = request.list("categories") ?? Object.keys(answer);
        return json(Object.fromEntries(Object.entries(answer).filter(([name]) => wanted.includes(name))));
      },
    },
    {
      methods: ["GET"],
      paths: ["/_security/_authenticate"],
      params: [],
      action: "monitor",
      summary: "Shows who sends the request.",
      handle: ({ principal: { kind, name, role } }) => json(authentication(kind, name, role)),
    },
    {
      methods: ["GET"],
      paths: ["/_xpack/usage"],
      params: ["master_timeout"],
      action: "monitor",
      summary: "Shows the use of the other product's features, of which lifecycle policies are available.",
      handle: () => json(features((_, name) => availability(name))),
    },
  ];
}

function authentication(kind: Principal["kind"], username: string, role: string): JsonObject {
  const realm = { name: "tailrace", type: "native" };
  const types = { user: "realm", api_key: "api_key", access_token: "token", anonymous: "anonymous" };
  return {
    username,
    roles: [role],
    full_name: null,
    email: null,
    metadata: {},
    enabled: true,
    authentication_realm: realm,
    lookup_realm: realm,
    authentication_type: types[kind],
  };
}

function features(describe: (description: string, name: string) => object): Record<string, object> {
  const later = answersAs(800) ? LATER_FEATURES.map((name): [string, string] => [name, ""]) : [];
  const all = [...Object.entries(FEATURES), ...later].map(
    ([name, text]) => [name, describe(text, name)] as const,
  );
  return Object.fromEntries(all);
}
