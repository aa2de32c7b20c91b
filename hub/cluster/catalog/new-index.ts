/** An index before it is stored: its own definition over those of the templates that its name matches. */

import {
  compose,
  type NamedTemplate,
  overlay,
  type TemplateSet,
  templateFor,
} from "./composable-templates.ts";
import { checkTimestamp, STREAM_GROUND } from "./data-streams.ts";
import { type IndexMetadata, newIndexUuid, parseMapping, wholeNumber } from "./index-metadata.ts";
import { matchesWildcard } from "./index-names.ts";
import { checkShardCounts } from "./index-settings.ts";
import { applyTemplates, EVENT_TEMPLATE, type IndexDefinition, type IndexTemplate } from "./templates.ts";

/** Shards of an index that nobody gave a number, as in 6.x; from 7.0 on clients expect one. */
const DEFAULT_SHARDS = 5;

/** Every template there is. */
export interface Templates extends TemplateSet {
  readonly older: Readonly<Record<string, IndexTemplate>>;
}

/** What an index is made of. */
export interface NewIndex {
  readonly name: string;
  readonly definition: IndexDefinition;
  readonly templates: Templates;
  /** ms since 1970-01-01 UTC. */
  readonly nowMs: number;
  readonly defaultShards?: number | undefined;
  /** Data stream that it will be an index of; its templates are those of that name. */
  readonly dataStream?: string | undefined;
}

/** Returns the metadata of a new index. Throws mapping_parse, settings_invalid, and request_invalid for a stream without times. */
export function newIndex({
  name,
  definition,
  templates,
  nowMs,
  defaultShards = DEFAULT_SHARDS,
  dataStream,
}: NewIndex): IndexMetadata {
  const { settings, mappings, aliases } = definitionOf(dataStream ?? name, templates, definition, dataStream);
  const { number_of_shards, number_of_replicas, creation_date: _, ...given } = settings;
  checkShardCounts(number_of_shards, number_of_replicas);
  const raw = dataStream === undefined ? given : { ...given, hidden: true };
  const index: IndexMetadata = {
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
    ...(dataStream !== undefined && { dataStream }),
  };
  checkTimestamp(index);
  return index;
}

/** Returns what an index called `name` starts with; the composable template that fits leaves older ones out. */
export function definitionOf(
  name: string,
  templates: Templates,
  own: IndexDefinition,
  dataStream?: string,
): IndexDefinition {
  const found = templateFor(name, templates.templates);
  if (found === undefined)
    return applyTemplates(name, [EVENT_TEMPLATE, ...Object.values(templates.older)], own);
  const ground = dataStream === undefined ? groundOf(name) : overlay(STREAM_GROUND, groundOf(name));
  return overlay(overlay(ground, compose(found.template, templates.components)), own);
}

/** Returns the template that makes `name` a data stream; undefined where it is an index. */
export function streamTemplateFor(name: string, { templates }: TemplateSet): NamedTemplate | undefined {
  const found = templateFor(name, templates);
  return found?.template.data_stream === undefined ? undefined : found;
}

/** The fields of events that a composable template needn't name: pages and alerts know them. Its rules are its own. */
function groundOf(name: string): IndexDefinition {
  const { index_patterns: patterns, settings, mappings } = EVENT_TEMPLATE;
  const fits = patterns.some((pattern) => matchesWildcard(pattern, name));
  if (!fits) return { settings: {}, mappings: {}, aliases: {} };
  return { settings, mappings: { properties: mappings["properties"] }, aliases: {} };
}
