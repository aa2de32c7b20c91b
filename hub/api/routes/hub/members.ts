/** `/api/cluster/members`: hubs that are taken away for good. */

import { json, type Route } from "#hub/api/http/route.ts";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import { AppError } from "#proto/kit/errors.ts";

export function memberRoutes(cluster: Pick<Cluster, "remove">): Route[] {
  return [
    {
      methods: ["DELETE"],
      paths: ["/api/cluster/members/{name}"],
      params: [],
      action: "administer",
      summary:
        "Removes a hub that was stopped or lost and won't come back, with its part of the log's store.",
      handle: async (request) => {
        if (cluster.remove === undefined) throw new AppError("not_found", "this hub has no cluster");
        return json(await cluster.remove(request.segment("name")));
      },
    },
  ];
}
