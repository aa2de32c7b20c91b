/** All routes that search. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { Route } from "#hub/api/http/route.ts";
import { asyncSearchRoutes } from "./async-search.ts";
import { countRoutes } from "./count.ts";
import { fieldCapsRoutes } from "./field-caps.ts";
import { msearchRoutes } from "./msearch.ts";
import { pointRoutes } from "./points.ts";
import { rankEvalRoutes } from "./rank-eval.ts";
import { scrollRoutes } from "./scroll.ts";
import type { ScrollContexts } from "./scroll-contexts.ts";
import { searchRoutes } from "./search.ts";
import { searchShardsRoutes } from "./search-shards.ts";
import { scriptContextRoutes, scriptExecutionRoutes, storedScriptRoutes } from "./stored-scripts.ts";
import { templateSearchRoutes } from "./template-search.ts";
import { termsEnumRoutes } from "./terms-enum.ts";
import { validateRoutes } from "./validate.ts";

/** `scrolls` is stopped by its owner. */
export function allSearchRoutes(parts: ApiContext, scrolls: ScrollContexts): Route[] {
  return [
    ...searchRoutes(parts, scrolls),
    ...scrollRoutes(parts, scrolls),
    ...pointRoutes(parts),
    ...asyncSearchRoutes(parts),
    ...msearchRoutes(parts),
    ...templateSearchRoutes(parts, scrolls),
    ...rankEvalRoutes(parts),
    ...scriptExecutionRoutes(parts),
    ...storedScriptRoutes(parts),
    ...scriptContextRoutes(),
    ...countRoutes(parts),
    ...validateRoutes(parts),
    ...fieldCapsRoutes(parts),
    ...searchShardsRoutes(parts),
    ...termsEnumRoutes(parts),
  ];
}
