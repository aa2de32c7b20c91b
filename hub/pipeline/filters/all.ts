/** All filters. */

import { PluginSet } from "../plugin-set.ts";
import { aggregateFilter } from "./aggregate/aggregate.ts";
import { cidrFilter } from "./cidr.ts";
import { cloneFilter } from "./clone.ts";
import { csvFilter } from "./csv.ts";
import { dateFilter } from "./date.ts";
import { deDotFilter } from "./de-dot.ts";
import { dissectFilter } from "./dissect.ts";
import { dnsFilter } from "./dns/dns.ts";
import { dropFilter } from "./drop.ts";
import { elapsedFilter } from "./elapsed.ts";
import type { FilterDefinition } from "./filter.ts";
import { fingerprintFilter } from "./fingerprint.ts";
import { geoipFilter } from "./geoip.ts";
import { grokFilter } from "./grok/grok.ts";
import { jsonFilter } from "./json.ts";
import { kvFilter } from "./kv.ts";
import { metricsFilter } from "./metrics.ts";
import { mutateFilter } from "./mutate.ts";
import { pruneFilter } from "./prune.ts";
import { redactFilter } from "./redact.ts";
import { jsFilter } from "./script/js.ts";
import { rubyFilter } from "./script/ruby.ts";
import { splitFilter } from "./split.ts";
import { syslogPriFilter } from "./syslog-pri.ts";
import { throttleFilter } from "./throttle.ts";
import { translateFilter } from "./translate.ts";
import { truncateFilter } from "./truncate.ts";
import { urldecodeFilter } from "./urldecode.ts";
import { useragentFilter } from "./useragent.ts";
import { uuidFilter } from "./uuid.ts";
import { xmlFilter } from "./xml/xml.ts";

export const filters = new PluginSet<FilterDefinition>("filter", [
  aggregateFilter,
  dnsFilter,
  elapsedFilter,
  geoipFilter,
  jsFilter,
  metricsFilter,
  redactFilter,
  rubyFilter,
  xmlFilter,
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
