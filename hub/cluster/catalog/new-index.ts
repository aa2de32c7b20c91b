/** Builds the metadata of a new index: its own definition over those of the matching templates. */

import { checkMappingNames } from "#hub/engine/mapping/field-names.ts";
import { matchesWildcard } from "#proto/kit/wildcard.ts";
import {
  compose,
  type NamedTemplate,
  overlay,
  type TemplateSet,
  templateFor,
} from "./composable-templates.ts";
import { checkTimestamp, STREAM_DEFAULTS } from "./data-streams.ts";
import { type IndexMetadata, newIndexUuid, parseMapping, wholeNumber } from "./index-metadata.ts";
import { INTERNAL_PREFIX } from "./index-names.ts";
import { checkShardCounts, readExpansion } from "./index-settings.ts";
import { applyTemplates, EVENT_TEMPLATE, type IndexDefinition, type IndexTemplate } from "./templates.ts";

/** Default number of shards, as in 6.x; from 7.0 on clients expect one. */
const DEFAULT_SHARDS = 5;

/** All templates. */
export interface Templates extends TemplateSet {
  readonly older: Readonly<Record<string, IndexTemplate>>;
}

/** The input for a new index. */
export interface NewIndex {
  readonly name: string;
  readonly definition: IndexDefinition;
  /** Undefined: the definition is used as it is, that of another index. */
  readonly templates?: Templates;
  /** ms since 1970-01-01 UTC. */
  readonly nowMs: number;
  readonly defaultShards?: number | undefined;
  /** The data stream that it will belong to, whose name then selects the templates. */
  readonly dataStream?: string | undefined;
}

/**
 * Returns the metadata of a new index. Throws mapping_parse, mapping_conflict, settings_invalid, and request_invalid for a
 * stream without timestamps.
 */
export function newIndex({
  name,
  definition,
  templates,
  nowMs,
  defaultShards = DEFAULT_SHARDS,
  dataStream,
}: NewIndex): IndexMetadata {
  const { settings, mappings, aliases } =
    templates === undefined
      ? definition
      : definitionOf(dataStream ?? name, templates, definition, dataStream);
  const { number_of_shards, number_of_replicas, creation_date: _, ...given } = settings;
  // Without templates the mapping is that of an index, of earlier versions maybe.
  if (templates !== undefined) checkMappingNames(definition.mappings);
  checkShardCounts(number_of_shards, number_of_replicas);
  // Templates of earlier versions may have any value and name, and still make indices.
  readExpansion(definition.settings["auto_expand_replicas"]);
  const isInternal = name.startsWith(INTERNAL_PREFIX);
  const raw = dataStream === undefined ? given : { ...given, hidden: true };
  const index: IndexMetadata = {
    name,
    uuid: newIndexUuid(),
    state: "open",
    settings: {
      numberOfShards: wholeNumber(number_of_shards, isInternal ? 1 : defaultShards),
      numberOfReplicas: wholeNumber(number_of_replicas, isInternal ? 0 : 1),
      creationDate: nowMs,
      raw,
    },
    mapping: parseMapping(name, raw, mappings, { takesMetadataNames: true }),
    aliases,
    ...(dataStream !== undefined && { dataStream }),
  };
  checkTimestamp(index);
  return index;
}

/** Returns the template part of the definition of `name`; a matching composable template overrides the legacy ones. */
export function definitionOf(
  name: string,
  templates: Templates,
  own: IndexDefinition,
  dataStream?: string,
): IndexDefinition {
  const found = templateFor(name, templates.templates);
  if (found === undefined)
    return applyTemplates(name, [EVENT_TEMPLATE, ...Object.values(templates.older)], own);
  const defaults = dataStream === undefined ? defaultsOf(name) : overlay(STREAM_DEFAULTS, defaultsOf(name));
  return overlay(overlay(defaults, compose(found.template, templates.components)), own);
}

/** Returns the template that makes `name` a data stream; undefined for an index. */
export function streamTemplateFor(name: string, { templates }: TemplateSet): NamedTemplate | undefined {
  const found = templateFor(name, templates);
  return found?.template.data_stream === undefined ? undefined : found;
}

/**
 * The fields of pipeline events, on which pages and alerts rely. A composable template needn't define them. The template's
 * own rules win.
 */
function defaultsOf(name: string): IndexDefinition {
  const { index_patterns: patterns, settings, mappings } = EVENT_TEMPLATE;
  const fits = patterns.some((pattern) => matchesWildcard(pattern, name));
  if (!fits) return { settings: {}, mappings: {}, aliases: {} };
  return { settings, mappings: { properties: mappings["properties"] }, aliases: {} };
}
