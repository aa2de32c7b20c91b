/** All routes of the search interface. */

import { NOT_OFFERED } from "#hub/api/compat/interface-compatibility.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { Method } from "#hub/api/http/request.ts";
import type { Route } from "#hub/api/http/route.ts";
import { byQueryRoutes } from "#hub/api/routes/by-query/by-query.ts";
import { reindexRoutes } from "#hub/api/routes/by-query/reindex.ts";
import { resizeRoutes } from "#hub/api/routes/by-query/resize.ts";
import { catRoutes } from "#hub/api/routes/cat/cat.ts";
import { allocationRoutes } from "#hub/api/routes/cluster/allocation.ts";
import { clusterHealthRoutes } from "#hub/api/routes/cluster/cluster-health.ts";
import { clusterSettingsRoutes, votingExclusionRoutes } from "#hub/api/routes/cluster/cluster-settings.ts";
import { clusterStateRoutes } from "#hub/api/routes/cluster/cluster-state.ts";
import { clusterStatsRoutes } from "#hub/api/routes/cluster/cluster-stats.ts";
import { healthReportRoutes } from "#hub/api/routes/cluster/health-report.ts";
import { infoRoutes, licenceRoutes } from "#hub/api/routes/cluster/info.ts";
import { ingestRoutes } from "#hub/api/routes/cluster/ingest-pipelines.ts";
import { nodeStatsRoutes } from "#hub/api/routes/cluster/node-stats.ts";
import { nodeRoutes } from "#hub/api/routes/cluster/nodes.ts";
import { taskRoutes } from "#hub/api/routes/cluster/tasks.ts";
import { bulkRoutes } from "#hub/api/routes/documents/bulk.ts";
import { documentRoutes } from "#hub/api/routes/documents/documents.ts";
import { mgetRoutes } from "#hub/api/routes/documents/mget.ts";
import { termVectorRoutes } from "#hub/api/routes/documents/term-vectors.ts";
import { updateRoutes } from "#hub/api/routes/documents/update.ts";
import { aliasRoutes } from "#hub/api/routes/indices/aliases.ts";
import { analyzeRoutes } from "#hub/api/routes/indices/analyze.ts";
import { dataStreamRoutes } from "#hub/api/routes/indices/data-streams.ts";
import { indexRoutes } from "#hub/api/routes/indices/indices.ts";
import { lifecycleRoutes } from "#hub/api/routes/indices/lifecycle.ts";
import { maintenanceRoutes } from "#hub/api/routes/indices/maintenance.ts";
import { mappingRoutes } from "#hub/api/routes/indices/mappings.ts";
import { resolveIndexRoutes } from "#hub/api/routes/indices/resolve-index.ts";
import { rolloverRoutes } from "#hub/api/routes/indices/rollover.ts";
import { segmentRoutes } from "#hub/api/routes/indices/segments.ts";
import { settingsRoutes } from "#hub/api/routes/indices/settings.ts";
import { statsRoutes } from "#hub/api/routes/indices/stats.ts";
import { lokiRoutes } from "#hub/api/routes/loki/loki.ts";
import { allSearchRoutes } from "#hub/api/routes/search/all.ts";
import type { ScrollContexts } from "#hub/api/routes/search/scroll-contexts.ts";
import { repositoryRoutes } from "#hub/api/routes/snapshots/repository-routes.ts";
import { snapshotRoutes } from "#hub/api/routes/snapshots/snapshot-routes.ts";
import {
  componentTemplateRoutes,
  indexTemplateRoutes,
} from "#hub/api/routes/templates/composable-templates.ts";
import { templateRoutes } from "#hub/api/routes/templates/legacy-templates.ts";
import { AppError } from "#proto/kit/errors.ts";

/** `scrolls` is stopped by its owner. */
export function searchInterface(parts: ApiContext, scrolls: ScrollContexts): Route[] {
  return [
    ...infoRoutes(parts),
    ...licenceRoutes(parts),
    ...documentRoutes(parts),
    ...termVectorRoutes(parts),
    ...updateRoutes(parts),
    ...bulkRoutes(parts),
    ...mgetRoutes(parts),
    ...allSearchRoutes(parts, scrolls),
    ...lokiRoutes(parts),
    ...indexRoutes(parts),
    ...mappingRoutes(parts),
    ...settingsRoutes(parts),
    ...aliasRoutes(parts),
    ...resolveIndexRoutes(parts),
    ...rolloverRoutes(parts),
    ...lifecycleRoutes(parts),
    ...templateRoutes(parts),
    ...indexTemplateRoutes(parts),
    ...componentTemplateRoutes(parts),
    ...dataStreamRoutes(parts),
    ...(parts.ingest === undefined ? [] : ingestRoutes(parts.ingest)),
    ...maintenanceRoutes(parts),
    ...analyzeRoutes(parts),
    ...clusterHealthRoutes(parts),
    ...healthReportRoutes(parts),
    ...clusterStateRoutes(parts),
    ...allocationRoutes(parts),
    ...clusterSettingsRoutes(parts),
    ...nodeRoutes(parts),
    ...nodeStatsRoutes(parts),
    ...clusterStatsRoutes(parts),
    ...taskRoutes(parts),
    ...votingExclusionRoutes(parts),
    ...byQueryRoutes(parts),
    ...reindexRoutes(parts),
    ...resizeRoutes(parts),
    ...repositoryRoutes(parts),
    ...snapshotRoutes(parts),
    ...segmentRoutes(parts),
    ...catRoutes(parts),
    ...statsRoutes(parts),
    ...notOfferedRoutes(),
  ];
}

const METHODS: readonly Method[] = ["GET", "HEAD", "POST", "PUT", "DELETE"];

function notOfferedRoutes(): Route[] {
  return NOT_OFFERED.map(({ paths, what, instead }) => ({
    methods: METHODS,
    paths,
    params: [],
    // The answer is the same whatever a client sends.
    takesAnyParams: true,
    action: "monitor",
    body: "any",
    summary: `Not offered: ${what}; ${instead}.`,
    handle() {
      throw new AppError("not_offered", `${what}: not offered; ${instead}`);
    },
  }));
}
