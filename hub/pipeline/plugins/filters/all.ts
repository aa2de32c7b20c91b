/** All filters, by name. */

import type { FilterDefinition } from "#hub/pipeline/plugins/filter.ts";
import { PluginSet } from "#hub/pipeline/plugins/plugin-set.ts";

export const filters = new PluginSet<FilterDefinition>("filter", {
  aggregate: async () => (await import("./aggregate.ts")).aggregateFilter,
  cidr: async () => (await import("./cidr.ts")).cidrFilter,
  clone: async () => (await import("./clone.ts")).cloneFilter,
  csv: async () => (await import("./csv.ts")).csvFilter,
  date: async () => (await import("./date.ts")).dateFilter,
  de_dot: async () => (await import("./de-dot.ts")).deDotFilter,
  dissect: async () => (await import("./dissect.ts")).dissectFilter,
  dns: async () => (await import("./dns.ts")).dnsFilter,
  drop: async () => (await import("./drop.ts")).dropFilter,
  elapsed: async () => (await import("./elapsed.ts")).elapsedFilter,
  fingerprint: async () => (await import("./fingerprint.ts")).fingerprintFilter,
  geoip: async () => (await import("./geoip.ts")).geoipFilter,
  grok: async () => (await import("./grok.ts")).grokFilter,
  js: async () => (await import("./js.ts")).jsFilter,
  json: async () => (await import("./json.ts")).jsonFilter,
  kv: async () => (await import("./kv.ts")).kvFilter,
  metrics: async () => (await import("./metrics.ts")).metricsFilter,
  mutate: async () => (await import("./mutate.ts")).mutateFilter,
  prune: async () => (await import("./prune.ts")).pruneFilter,
  redact: async () => (await import("./redact.ts")).redactFilter,
  ruby: async () => (await import("./ruby.ts")).rubyFilter,
  split: async () => (await import("./split.ts")).splitFilter,
  syslog_pri: async () => (await import("./syslog-pri.ts")).syslogPriFilter,
  throttle: async () => (await import("./throttle.ts")).throttleFilter,
  translate: async () => (await import("./translate.ts")).translateFilter,
  truncate: async () => (await import("./truncate.ts")).truncateFilter,
  urldecode: async () => (await import("./urldecode.ts")).urldecodeFilter,
  useragent: async () => (await import("./useragent.ts")).useragentFilter,
  uuid: async () => (await import("./uuid.ts")).uuidFilter,
  xml: async () => (await import("./xml.ts")).xmlFilter,
});
