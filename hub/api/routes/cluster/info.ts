/** `/`: what answers here. */

import { BUILD, versionProfile } from "#hub/api/compat/version.ts";
import type { ApiParts } from "#hub/api/context/api-context.ts";
import { empty, json, type Route } from "#hub/api/http/route.ts";

export function infoRoutes({ cluster, compatVersion }: ApiParts): Route[] {
  const profile = versionProfile(compatVersion);
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
                lucene_version: profile.luceneVersion,
                minimum_wire_compatibility_version: profile.minWireVersion,
                minimum_index_compatibility_version: profile.minIndexVersion,
              },
              tagline: "You Know, for Search",
            }),
    },
  ];
}
