/** Operations that clients of 6.5 know and that aren't offered: each says why, and what to use. */

import type { Method } from "#hub/api/http/request.ts";
import type { Route } from "#hub/api/http/route.ts";
import { AppError } from "#proto/kit/errors.ts";

interface NotOffered {
  readonly paths: readonly string[];
  readonly what: string;
  readonly instead: string;
}

const METHODS: readonly Method[] = ["GET", "HEAD", "POST", "PUT", "DELETE"];

const OPERATIONS: readonly NotOffered[] = [
  {
    paths: ["/_scripts/{id}", "/_scripts/{id}/{context}", "/_scripts/painless/_execute"],
    what: "scripts",
    instead: "use filters of the hub's pipelines",
  },
  {
    paths: [
      "/_search/template",
      "/{index}/_search/template",
      "/{index}/{type}/_search/template",
      "/_msearch/template",
      "/_render/template",
      "/_render/template/{id}",
    ],
    what: "search templates",
    instead: "send the search itself",
  },
  {
    paths: [
      "/_snapshot",
      "/_snapshot/{repository}",
      "/_snapshot/{repository}/{snapshot}",
      "/_snapshot/{repository}/{snapshot}/_status",
      "/_snapshot/{repository}/{snapshot}/_restore",
      "/_snapshot/{repository}/_verify",
      "/_snapshot/_status",
      "/_cat/repositories",
      "/_cat/snapshots",
      "/_cat/snapshots/{repository}",
    ],
    what: "snapshot repositories",
    instead: "use tailrace-hub snapshot",
  },
  {
    paths: ["/{index}/_shrink/{target}", "/{index}/_split/{target}"],
    what: "changing the number of shards",
    instead: "make an index with the number wanted and write to it through an alias",
  },
  {
    paths: ["/{index}/_clone/{target}"],
    what: "clones of indices",
    instead: "make an index and copy into it with _reindex",
  },
  {
    paths: ["/_data_stream/_migrate/{alias}", "/_data_stream/_modify", "/_data_stream/_promote/{name}"],
    what: "changing which indices a data stream has",
    instead: 'make a stream and copy into it with _reindex and "op_type": "create"',
  },
  {
    paths: ["/_rank_eval", "/{index}/_rank_eval"],
    what: "rating of rankings",
    instead: "compare searches outside",
  },
];

export function notOfferedRoutes(): Route[] {
  return OPERATIONS.map(({ paths, what, instead }) => ({
    methods: METHODS,
    paths,
    params: [],
    // Whatever a client sends, it is told the same.
    takesAnyParams: true,
    action: "monitor",
    body: "any",
    summary: `Not offered: ${what}; ${instead}.`,
    handle() {
      throw new AppError("not_offered", `${what}: not offered; ${instead}`);
    },
  }));
}
