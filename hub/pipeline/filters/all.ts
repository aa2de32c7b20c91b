/** All filters. */

import { PluginSet } from "../plugin-set.ts";
import { cidrFilter } from "./cidr.ts";
import { cloneFilter } from "./clone.ts";
import { csvFilter } from "./csv.ts";
import { dateFilter } from "./date.ts";
import { deDotFilter } from "./de-dot.ts";
import { dissectFilter } from "./dissect.ts";
import { dropFilter } from "./drop.ts";
import type { FilterDefinition } from "./filter.ts";
import { fingerprintFilter } from "./fingerprint.ts";
import { grokFilter } from "./grok/grok.ts";
import { jsonFilter } from "./json.ts";
import { kvFilter } from "./kv.ts";
import { mutateFilter } from "./mutate.ts";
import { pruneFilter } from "./prune.ts";
import { splitFilter } from "./split.ts";
import { syslogPriFilter } from "./syslog-pri.ts";
import { throttleFilter } from "./throttle.ts";
import { translateFilter } from "./translate.ts";
import { truncateFilter } from "./truncate.ts";
import { urldecodeFilter } from "./urldecode.ts";
import { useragentFilter } from "./useragent.ts";
import { uuidFilter } from "./uuid.ts";

export const filters = new PluginSet<FilterDefinition>("filter", [
  cidrFilter,
  cloneFilter,
  csvFilter,
  dateFilter,
  deDotFilter,
  dissectFilter,
  dropFilter,
  fingerprintFilter,
  grokFilter,
  jsonFilter,
  kvFilter,
  mutateFilter,
  pruneFilter,
  splitFilter,
  syslogPriFilter,
  throttleFilter,
  translateFilter,
  truncateFilter,
  urldecodeFilter,
  useragentFilter,
  uuidFilter,
]);
