/** `/`: what answers here. */

import { majorOf } from "#hub/api/compat/version.ts";
import type { ApiParts } from "#hub/api/context/api-context.ts";
import { empty, json, type Route } from "#hub/api/http/route.ts";

/** What clients compare with the versions they know; the build is ours. */
export const BUILD = {
  build_flavor: "default",
  build_type: "tar",
  build_hash: "d2ef93d",
  build_date: "2018-12-17T21:17:40.758843Z",
  build_snapshot: false,
};

/** What a version says of itself, by its major number. */
const BY_MAJOR: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  6: {
    lucene_version: "7.5.0",
    minimum_wire_compatibility_version: "5.6.0",
    minimum_index_compatibility_version: "5.0.0",
  },
  7: {
    lucene_version: "8.7.0",
    minimum_wire_compatibility_version: "6.8.0",
    minimum_index_compatibility_version: "6.0.0-beta1",
  },
};

export function infoRoutes({ cluster, compatVersion }: ApiParts): Route[] {
  return [
    {
      methods: ["GET", "HEAD"],
      paths: ["/"],
      params: [],
      action: "monitor",
      summary: "Says what answers here, and in which version.",
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
                ...(BY_MAJOR[majorOf(compatVersion)] ?? BY_MAJOR[7]),
              },
              tagline: "You Know, for Search",
            }),
    },
  ];
}
