/** The request that creates an index or template of another cluster in a hub. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { type ClusterClient, refusalOf } from "./cluster-client.ts";
import { type ClusterVersion, flatSettings } from "./source-index.ts";

/** The body of a request, and the settings and fields that it leaves out, with the reasons. */
export interface Definition {
  readonly body: JsonObject;
  readonly leftOut: readonly string[];
}

/** Settings that a cluster sets on each index itself, or that allocate its shards. */
const INTERNAL =
  /^(creation_date.*|provided_name|uuid|version\..*|history\.uuid|resize\..*|routing\..*|blocks\..*|plugins\..*|verified_before_close|soft_deletes.*|store\..*|codec|hidden|priority|allocation\..*|unassigned\..*|frozen|replication\..*|merge\..*|translog\..*)$/;
/** Settings that mean the same in a hub. */
const CARRIED =
  /^(number_of_shards|number_of_replicas|refresh_interval|analysis\..*|mapping\..*|default_pipeline|final_pipeline|max_.*|query\..*)$/;
/** Settings of an index's lifecycle that mean the same in a hub that has the policy. */
const LIFECYCLE = /^lifecycle\.(name|rollover_alias|origination_date|indexing_complete)$/;
/** Keys of a mapping; an object with none of them has a level of types. */
const MAPPING_KEYS: ReadonlySet<string> = new Set([
  "properties",
  "dynamic",
  "enabled",
  "dynamic_templates",
  "date_detection",
  "numeric_detection",
  "dynamic_date_formats",
  "runtime",
  "subobjects",
  "_source",
  "_routing",
  "_meta",
  "_field_names",
  "_data_stream_timestamp",
]);
/** Maximum number of refusals that are answered with a smaller mapping: each removes a type or a parameter. */
const MAX_ADAPTIONS = 50;
/** Error types for a name that is taken: those of 6 and later, and of some templates. */
const EXISTS = /^(resource|index)_already_exists_exception$/;
const REFUSED_TYPE = /type \[(\w+)\]/;
const REFUSED_PARAMETER = /unsupported parameters: {1,2}\[(\w+) :/;

/**
 * Returns the definition with which `given` (settings, mappings, aliases) is created in a hub that answers as version
 * `target` and has the lifecycle `policies`. Throws not_offered for an index with several types.
 */
export function definitionOf(
  given: JsonObject,
  target: ClusterVersion,
  policies: ReadonlySet<string>,
): Definition {
  const leftOut: string[] = [];
  const settings: JsonObject = {};
  const all = flatSettings(given["settings"]);
  const policy = all["lifecycle.name"];
  // A component may have the alias, and another one the policy.
  const isManaged = policy === undefined ? policies.size > 0 : policies.has(policy as string);
  for (const [name, value] of Object.entries(all)) {
    if (CARRIED.test(name) || (isManaged && LIFECYCLE.test(name))) settings[name] = value;
    else if (name === "lifecycle.name")
      leftOut.push(`setting ${name}: there is no policy ${value as string} in the hub`);
    else if (!INTERNAL.test(name) && !name.startsWith("lifecycle.")) leftOut.push(`setting ${name}`);
  }
  const mappings = mappingOf(given["mappings"], target, leftOut);
  const aliases = given["aliases"];
  return {
    body: {
      ...(Object.keys(settings).length > 0 && { settings }),
      ...(Object.keys(mappings).length > 0 && { mappings }),
      ...(isObject(aliases) && Object.keys(aliases).length > 0 && { aliases }),
    },
    leftOut,
  };
}

function mappingOf(given: unknown, target: ClusterVersion, leftOut: string[]): JsonObject {
  if (!isObject(given)) return {};
  const { _default_: _forTypes, ...mappings } = given;
  const keys = Object.keys(mappings);
  if (keys.length === 0 || keys.some((key) => MAPPING_KEYS.has(key))) return ownMapping(mappings, leftOut);
  const [type = "", ...others] = keys;
  if (others.length > 0) {
    const types = keys.join(", ");
    throw new AppError("not_offered", `it has the types ${types}; copy each into an index of its own first`);
  }
  const own = ownMapping(isObject(mappings[type]) ? mappings[type] : {}, leftOut);
  return target >= 700 ? own : { [type]: own };
}

/** Returns a mapping without the parts that no hub supports. */
function ownMapping(mapping: JsonObject, leftOut: string[]): JsonObject {
  const { runtime, subobjects: _flat, _data_stream_timestamp: _stream, ...rest } = mapping;
  if (isObject(runtime)) for (const name of Object.keys(runtime)) leftOut.push(`runtime field ${name}`);
  return rest;
}

/**
 * Sends a definition to `path` of the hub, without the field types and parameters that the hub refuses: values of such a
 * field are stored but not indexed. Returns everything that was left out. Throws request_invalid for other refusals,
 * name_taken if the name exists already.
 */
export async function putDefinition(
  hub: ClusterClient,
  path: string,
  definition: Definition,
): Promise<readonly string[]> {
  let { body } = definition;
  const leftOut = [...definition.leftOut];
  for (let attempt = 0; ; attempt++) {
    const answer = await hub.send("PUT", path, body);
    if (answer.status < 300) return leftOut;
    const reason = refusalOf(answer.body);
    // Decided by the error's type: its reason contains names, which the source may have chosen.
    const { error } = answer.body;
    if (isObject(error) && EXISTS.test(String(error["type"] as string)))
      throw new AppError("name_taken", reason);
    const smaller = attempt < MAX_ADAPTIONS ? adapted(body, reason, leftOut) : undefined;
    if (smaller === undefined) throw new AppError("request_invalid", reason);
    body = smaller;
  }
}

/** Returns `body` without the type or parameter that `reason` names; undefined if `body` has no such part. */
function adapted(body: JsonObject, reason: string, leftOut: string[]): JsonObject | undefined {
  const type = REFUSED_TYPE.exec(reason)?.[1];
  const parameter = REFUSED_PARAMETER.exec(reason)?.[1];
  const before = leftOut.length;
  const change = (field: JsonObject, path: string): JsonObject => {
    if (parameter !== undefined && parameter in field) {
      leftOut.push(`parameter ${parameter} of field ${path}`);
      const { [parameter]: _gone, ...rest } = field;
      return rest;
    }
    if (parameter !== undefined || type === undefined || field["type"] !== type) return field;
    leftOut.push(`index of field ${path}, of type ${type}`);
    return { type: "object", enabled: false };
  };
  const smaller = withFields(body, "", change);
  return leftOut.length > before ? smaller : undefined;
}

type FieldChange = (field: JsonObject, path: string) => JsonObject;

/** Returns `value` with each field of its `properties`, at any depth, changed. */
function withFields(value: JsonObject, prefix: string, change: FieldChange): JsonObject {
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
    if (!isObject(inner)) return [key, inner];
    if (key !== "properties") return [key, withFields(inner, prefix, change)];
    const fields = Object.entries(inner).map(([name, field]): [string, unknown] => {
      const path = `${prefix}${name}`;
      return [name, isObject(field) ? withFields(change(field, path), `${path}.`, change) : field];
    });
    return [key, Object.fromEntries(fields)];
  });
  return Object.fromEntries(entries);
}
