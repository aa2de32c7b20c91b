/**
 * All processors of ingest pipelines, by name. A new one is a `ProcessorKind` (contract: processor.ts) in a file of its own
 * or in the table of its group, with its name here unless the group's table is spread below, and in `PROCESSOR_TYPES` of
 * ingest-pipelines.ts.
 */

import { FIELD_PROCESSORS } from "./field-processors.ts";
import { FILTER_PROCESSORS } from "./filter-processors.ts";
import { fingerprint } from "./fingerprint-processor.ts";
import { NETWORK_PROCESSORS } from "./network-processors.ts";
import { json } from "./parsing-processors.ts";
import type { ProcessorKind } from "./processor.ts";
import { reroute } from "./reroute-processor.ts";
import { script } from "./script-processor.ts";
import { TEXT_PROCESSORS } from "./text-processors.ts";
import { uriParts } from "./uri-parts-processor.ts";

export const PROCESSORS: ReadonlyMap<string, ProcessorKind> = new Map(
  Object.entries({
    ...FIELD_PROCESSORS,
    ...TEXT_PROCESSORS,
    ...FILTER_PROCESSORS,
    ...NETWORK_PROCESSORS,
    fingerprint,
    json,
    reroute,
    script,
    uri_parts: uriParts,
  }),
);

/** Processors of the servers that this one leaves out, and what replaces them. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  inference: "there are no trained models here",
  enrich: "use a pipeline of events with the filter translate or a lookup in the shipper",
  circle: "shapes of circles aren't indexed here",
  attachment: "documents are sent as text",
  set_security_user: "name the sender in a field of the shipper",
};
