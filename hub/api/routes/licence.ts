/** `/_license`: shippers of 7.x ask whether there is a licence before they send anything. This one is free software. */

import type { ApiParts } from "../parts.ts";
import { json, type Route } from "../route.ts";

export function licenceRoutes({ cluster }: ApiParts): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_license", "/_xpack/license"],
      params: ["local", "human", "accept_enterprise"],
      action: "monitor",
      summary: "Says that nothing here needs a licence that could run out.",
      handle: () =>
        json({ license: { status: "active", uid: cluster.uuid, type: "oss", issued_to: cluster.name } }),
    },
  ];
}
