/** An index before it is stored: its own definition over those of the templates that its name matches. */

import { type IndexMetadata, newIndexUuid, parseMapping, wholeNumber } from "./index-metadata.ts";
import { checkShardCounts } from "./index-settings.ts";
import { applyTemplates, EVENT_TEMPLATE, type IndexDefinition, type IndexTemplate } from "./templates.ts";

/** Shards of an index that nobody gave a number, as in 6.x; from 7.0 on clients expect one. */
const DEFAULT_SHARDS = 5;

/** Returns the metadata of a new index. Throws mapping_parse, settings_invalid. */
export function newIndex(
  name: string,
  templates: readonly IndexTemplate[],
  definition: IndexDefinition,
  nowMs: number,
  defaultShards = DEFAULT_SHARDS,
): IndexMetadata {
  const { settings, mappings, aliases } = applyTemplates(name, [EVENT_TEMPLATE, ...templates], definition);
  const { number_of_shards, number_of_replicas, creation_date: _, ...raw } = settings;
  checkShardCounts(number_of_shards, number_of_replicas);
  return {
    name,
    uuid: newIndexUuid(),
    state: "open",
    settings: {
      numberOfShards: wholeNumber(number_of_shards, defaultShards),
      numberOfReplicas: wholeNumber(number_of_replicas, 1),
      creationDate: nowMs,
      raw,
    },
    mapping: parseMapping(name, raw, mappings),
    aliases,
  };
}
