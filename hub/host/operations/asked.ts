/** Searches that another host of the hub asks for: the calls of its RemoteSearchHost. */

import type { SearchOperation } from "#hub/search/phases/remote-host.ts";
import { operation } from "./operation.ts";

/** Answers a call of SearchService: its operation is the value, call and reply are a part each. */
export const asked = operation<SearchOperation>(async ({ service }, wanted, { parts, signal }) => ({
  value: null,
  parts: [await service.handle(wanted, parts[0]!, signal)],
}));
