/** `_cluster/voting_config_exclusions` of 7.x. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { MAX_EXCLUSIONS } from "#hub/api/context/voting-exclusions.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, empty, type Route } from "#hub/api/http/route.ts";
import { AppError } from "#proto/kit/errors.ts";

const PATH = "/_cluster/voting_config_exclusions";

export function votingExclusionRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["POST"],
      paths: [PATH, `${PATH}/{node_name}`],
      params: ["node_ids", "node_names", "timeout", "master_timeout"],
      action: "administer",
      summary: "Keeps names of absent nodes; a node that is there can't be left out of votes.",
      handle: (request) => add(parts, request),
    },
    {
      methods: ["DELETE"],
      paths: [PATH],
      params: ["wait_for_removal", "master_timeout"],
      action: "administer",
      summary: "Forgets the names of absent nodes.",
      handle: () => {
        parts.votingExclusions.clear();
        return empty(200);
      },
    },
  ];
}

function add({ cluster, votingExclusions }: ApiContext, request: ApiRequest): ApiResponse {
  const ids = request.list("node_ids");
  const names = request.list("node_names");
  const nodes = [ids, names, request.list("node_name")].filter((each) => each !== undefined);
  const [asked, second] = nodes;
  if (asked === undefined || second !== undefined) {
    throw new AppError(
      "request_invalid",
      "Please set node identifiers correctly. One and only one of [node_name], [node_names] and [node_ids] has to be set",
    );
  }
  const present = cluster.nodes().find(({ id, name }) => asked.includes(ids === undefined ? name : id));
  if (present !== undefined) {
    throw new AppError(
      "request_invalid",
      `node [${present.name}] can't be left out of votes: the journal elects its leaders by itself; stop the hub instead`,
    );
  }
  if (votingExclusions.add(ids === undefined ? "name" : "id", asked)) return empty(200);
  throw new AppError(
    "request_invalid",
    `add voting config exclusions request for [${asked.join(",")}] would exceed the maximum of [${MAX_EXCLUSIONS}] set by [cluster.max_voting_config_exclusions]`,
  );
}
