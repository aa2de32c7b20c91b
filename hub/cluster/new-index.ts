/** An index before it is stored: its own definition over those of the templates that its name matches. */

import { type IndexMetadata, newIndexUuid, parseMapping, wholeNumber } from "./index-metadata.ts";
import { checkShardCounts } from "./index-settings.ts";
import { applyTemplates, EVENT_TEMPLATE, type IndexDefinition, type IndexTemplate } from "./templates.ts";

/** Returns the metadata of a new index. Throws mapping_parse, settings_invalid. */
export function newIndex(
  name: string,
  templates: readonly IndexTemplate[],
  definition: IndexDefinition,
  nowMs: number,
): IndexMetadata {
  const { settings, mappings, aliases } = applyTemplates(name, [EVENT_TEMPLATE, ...templates], definition);
  const { number_of_shards, number_of_replicas, creation_date: _, ...raw } = settings;
  checkShardCounts(number_of_shards, number_of_replicas);
  return {
    name,
    uuid: newIndexUuid(),
    state: "open",
    settings: {
      numberOfShards: wholeNumber(number_of_shards, 5),
      numberOfReplicas: wholeNumber(number_of_replicas, 1),
      creationDate: nowMs,
      raw,
    },
    mapping: parseMapping(name, raw, mappings),
    aliases,
  };
}
