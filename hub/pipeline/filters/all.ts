/** All filters. */

import { PluginSet } from "../plugin-set.ts";
import { dropFilter } from "./drop.ts";
import type { FilterDefinition } from "./filter.ts";
import { grokFilter } from "./grok/grok.ts";
import { jsonFilter } from "./json.ts";
import { mutateFilter } from "./mutate.ts";

export const filters = new PluginSet<FilterDefinition>("filter", [dropFilter, grokFilter, jsonFilter, mutateFilter]);
