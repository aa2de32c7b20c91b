/** What events tell of their pod beyond the path of its log. Whoever may make a pod chooses its labels and names. */

import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** A pod as the API returns it, or its metadata alone; its members aren't checked. */
export interface Pod {
  readonly metadata?: unknown;
  readonly spec?: unknown;
}

/** Characters of a pod's fields as JSON: they are in each message of its logs, and in the agent's memory. */
const FIELDS_MAX = 16_384;

/**
 * Returns uid, labels, node and owner as fields below `kubernetes`; labels are left out where they are too large. Dots in the
 * names of labels become "_": `app` and `app.kubernetes.io/name` can't both be fields of one index.
 */
export function podFields(pod: Pod, node?: string): Record<string, unknown> {
  const { uid, labels, ownerReferences } = objectOf(pod.metadata);
  const nodeName = node ?? objectOf(pod.spec)["nodeName"];
  const owner: unknown = Array.isArray(ownerReferences) ? ownerReferences[0] : undefined;
  const fields = {
    ...(isShort(uid) && { pod: { uid } }),
    ...(isShort(nodeName) && { node: { name: nodeName } }),
    ...(isObject(owner) && { owner: { kind: shortText(owner["kind"]), name: shortText(owner["name"]) } }),
  };
  const named = labelsOf(labels);
  const isLarge = named === undefined || JSON.stringify(named).length > FIELDS_MAX;
  return isLarge ? fields : { labels: named, ...fields };
}

function labelsOf(labels: unknown): JsonObject | undefined {
  if (!isObject(labels)) return undefined;
  const texts = Object.entries(labels).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(texts.map(([name, value]) => [name.replaceAll(".", "_"), value]));
}

/** Longer than any name that the API takes. */
const NAME_MAX = 512;

function isShort(value: unknown): value is string {
  return typeof value === "string" && value.length <= NAME_MAX;
}

function shortText(value: unknown): string {
  return isShort(value) ? value : "";
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
