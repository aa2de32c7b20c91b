/** Every route of the search interface. */

import type { ApiParts } from "../parts.ts";
import type { Route } from "../route.ts";
import { aliasRoutes } from "./aliases.ts";
import { allocationRoutes } from "./allocation.ts";
import { analyzeRoutes } from "./analyze.ts";
import { bulkRoutes } from "./bulk.ts";
import { byQueryRoutes } from "./by-query/by-query.ts";
import { reindexRoutes } from "./by-query/reindex.ts";
import { catRoutes } from "./cat/all.ts";
import { clusterHealthRoutes } from "./cluster-health.ts";
import { clusterSettingsRoutes } from "./cluster-settings.ts";
import { clusterStateRoutes } from "./cluster-state.ts";
import { componentTemplateRoutes } from "./component-templates.ts";
import { dataStreamRoutes } from "./data-streams.ts";
import { documentRoutes } from "./documents.ts";
import { indexTemplateRoutes } from "./index-templates.ts";
import { indexRoutes } from "./indices.ts";
import { infoRoutes } from "./info.ts";
import { ingestRoutes } from "./ingest.ts";
import { licenceRoutes } from "./licence.ts";
import { maintenanceRoutes } from "./maintenance.ts";
import { mappingRoutes } from "./mappings.ts";
import { mgetRoutes } from "./mget.ts";
import { nodeStatsRoutes } from "./node-stats.ts";
import { nodeRoutes } from "./nodes.ts";
import { notOfferedRoutes } from "./not-offered.ts";
import { resolveIndexRoutes } from "./resolve-index.ts";
import { rolloverRoutes } from "./rollover.ts";
import { allSearchRoutes } from "./search/all.ts";
import type { ScrollContexts } from "./search/scroll-contexts.ts";
import { segmentRoutes } from "./segments.ts";
import { settingsRoutes } from "./settings.ts";
import { statsRoutes } from "./stats.ts";
import { taskRoutes } from "./tasks.ts";
import { templateRoutes } from "./templates.ts";
import { termVectorRoutes } from "./term-vectors.ts";
import { updateRoutes } from "./update.ts";

/** `scrolls` is stopped by its owner. */
export function searchInterface(parts: ApiParts, scrolls: ScrollContexts): Route[] {
  return [
    ...infoRoutes(parts),
    ...licenceRoutes(parts),
    ...documentRoutes(parts),
    ...termVectorRoutes(parts),
    ...updateRoutes(parts),
    ...bulkRoutes(parts),
    ...mgetRoutes(parts),
    ...allSearchRoutes(parts, scrolls),
    ...indexRoutes(parts),
    ...mappingRoutes(parts),
    ...settingsRoutes(parts),
    ...aliasRoutes(parts),
    ...resolveIndexRoutes(parts),
    ...rolloverRoutes(parts),
    ...templateRoutes(parts),
    ...indexTemplateRoutes(parts),
    ...componentTemplateRoutes(parts),
    ...dataStreamRoutes(parts),
    ...(parts.ingest === undefined ? [] : ingestRoutes(parts.ingest)),
    ...maintenanceRoutes(parts),
    ...analyzeRoutes(parts),
    ...clusterHealthRoutes(parts),
    ...clusterStateRoutes(parts),
    ...allocationRoutes(parts),
    ...clusterSettingsRoutes(parts),
    ...nodeRoutes(parts),
    ...nodeStatsRoutes(parts),
    ...taskRoutes(parts),
    ...byQueryRoutes(parts),
    ...reindexRoutes(parts),
    ...segmentRoutes(parts),
    ...catRoutes(parts),
    ...statsRoutes(parts),
    ...notOfferedRoutes(),
  ];
}
