/** Imports saved objects of Kibana into a hub: searches, visualisations and dashboards; index patterns become part of them. */

import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { ClusterClient } from "./cluster-client.ts";
import { convertDashboard, type PanelTargets } from "./kibana/convert-dashboard.ts";
import { convertVisualisation } from "./kibana/convert-visualisation.ts";
import { hubId, type KibanaObject, MAX_OBJECTS, objectOf, textOf } from "./kibana/exported-objects.ts";
import { joined, type SearchSource, searchSourceOf } from "./kibana/search-source.ts";

/** Index pattern that the hub's pages show by default. */
const USUAL_INDEX = "logs-*";
const MAX_TITLE = 200;
/** Objects in one answer of Kibana. */
const PAGE = 1_000;
const MAX_PAGES = 10;

/** An object of the hub, with the parts of Kibana's object that it lacks. */
export interface ImportedObject {
  readonly type: "search" | "visualisation" | "dashboard";
  readonly id: string;
  readonly title: string;
  readonly attributes: JsonObject;
  readonly leftOut: readonly string[];
}

export interface KibanaImport {
  readonly objects: readonly ImportedObject[];
  /** Parts that can't be converted, each with its reason. */
  readonly skipped: readonly string[];
}

/** Reads the saved objects of a running Kibana. Throws as `ClusterClient.ask`. */
export async function fetchKibanaObjects(kibana: ClusterClient): Promise<KibanaObject[]> {
  const found: KibanaObject[] = [];
  for (const type of ["index-pattern", "search", "visualization", "dashboard"])
    for (let page = 1; page <= MAX_PAGES; page++) {
      const path = `/api/saved_objects/_find?type=${type}&per_page=${PAGE}&page=${page}`;
      const answer = await kibana.ask("GET", path);
      const list = Array.isArray(answer["saved_objects"]) ? (answer["saved_objects"] as unknown[]) : [];
      if (list.length > PAGE || found.length > MAX_OBJECTS)
        throw new AppError("request_invalid", `an import has at most ${MAX_OBJECTS} objects, ${PAGE} a page`);
      for (const each of list) {
        const object = objectOf(each);
        if (object !== undefined) found.push(object);
      }
      if (list.length < PAGE) break;
    }
  return found;
}

/** Converts objects; a dashboard comes after the objects that it shows. */
export function convertKibana(all: readonly KibanaObject[]): KibanaImport {
  const ofType = (type: string): KibanaObject[] => all.filter((each) => each.type === type);
  const patterns = new Map(
    ofType("index-pattern").map(({ id, attributes }) => [id, String(attributes["title"])]),
  );
  const skipped: string[] = [];
  for (const { attributes } of ofType("index-pattern")) {
    const time = attributes["timeFieldName"];
    if (time !== undefined && time !== "@timestamp")
      skipped.push(
        `index pattern ${String(attributes["title"])}: its time is ${textOf(time) ?? "another field"}, pages of the hub use @timestamp`,
      );
  }
  const sources = new Map(all.map((each) => [`${each.type}/${each.id}`, searchSourceOf(each, patterns)]));
  const searches = ofType("search").map((each) => convertSearch(each, sources.get(`search/${each.id}`)!));
  const targets = new Map<string, { id: string } | { text: string }>();
  for (const { id } of ofType("search")) targets.set(`search/${id}`, { id });
  const charts = ofType("visualization").flatMap((each) => chartOf(each, sources, targets, skipped));
  const dashboards = ofType("dashboard").map((each) => dashboardOf(each, sources, targets));
  const known = ["index-pattern", "search", "visualization", "dashboard"];
  for (const { type, id, attributes } of all)
    if (!known.includes(type))
      skipped.push(`${type} ${textOf(attributes["title"], id)}: there is nothing like it in the hub`);
  return { objects: [...searches, ...charts, ...dashboards], skipped };
}

function titleOf({ id, attributes }: KibanaObject): string {
  const title = (textOf(attributes["title"]) ?? "").trim().slice(0, MAX_TITLE);
  return title === "" ? id : title;
}

function parametersOf(
  index: string | undefined,
  query: string,
  others: Readonly<Record<string, string>>,
): JsonObject {
  const parameters = new URLSearchParams({
    ...(query !== "" && { q: query }),
    ...(index !== undefined && index !== USUAL_INDEX && { index }),
    ...others,
  });
  return { parameters: parameters.toString() };
}

function convertSearch(object: KibanaObject, { index, query, leftOut }: SearchSource): ImportedObject {
  const { columns, sort } = object.attributes;
  const names = Array.isArray(columns) ? columns.map(String).filter((name) => name !== "_source") : [];
  const [field, direction] = (Array.isArray(sort) ? sort.flat() : []) as unknown[];
  const isUsual = field === undefined || (field === "@timestamp" && direction === "desc");
  const others = {
    ...(names.length > 0 && { cols: names.join(",") }),
    ...(!isUsual && { sort: `${direction === "desc" ? "-" : ""}${textOf(field) ?? ""}` }),
  };
  return {
    type: "search",
    id: hubId(object.id),
    title: titleOf(object),
    attributes: parametersOf(index, query, others),
    leftOut,
  };
}

function chartOf(
  object: KibanaObject,
  sources: ReadonlyMap<string, SearchSource>,
  targets: Map<string, { id: string } | { text: string }>,
  skipped: string[],
): ImportedObject[] {
  const key = `visualization/${object.id}`;
  const converted = convertVisualisation(object);
  if ("reason" in converted) {
    skipped.push(`visualisation ${titleOf(object)}: ${converted.reason}`);
    return [];
  }
  if ("text" in converted) {
    targets.set(key, converted);
    return [];
  }
  targets.set(key, { id: object.id });
  const own = sources.get(key)!;
  const search = own.savedSearch === undefined ? undefined : sources.get(`search/${own.savedSearch}`);
  const query = joined([search?.query ?? "", own.query]);
  return [
    {
      type: "visualisation",
      id: hubId(object.id),
      title: titleOf(object),
      attributes: parametersOf(own.index ?? search?.index, query, converted.parameters),
      leftOut: [...own.leftOut, ...(search?.leftOut ?? []), ...converted.leftOut],
    },
  ];
}

function dashboardOf(
  object: KibanaObject,
  sources: ReadonlyMap<string, SearchSource>,
  targets: PanelTargets,
): ImportedObject {
  const { query, leftOut } = sources.get(`dashboard/${object.id}`)!;
  const converted = convertDashboard(object, targets, query);
  return {
    type: "dashboard",
    id: hubId(object.id),
    title: titleOf(object),
    attributes: converted.attributes,
    leftOut: [...leftOut, ...converted.leftOut],
  };
}

/** Saves objects in a hub, replacing those with the same id. Returns a line for each. Throws as `ClusterClient.ask`. */
export async function saveImported(
  { objects, skipped }: KibanaImport,
  hub: ClusterClient,
): Promise<{ lines: string[]; isWhole: boolean }> {
  const lines: string[] = [];
  let isWhole = skipped.length === 0;
  for (const { type, id, title, attributes, leftOut } of objects) {
    if (leftOut.length > 0) isWhole = false;
    const without = leftOut.length === 0 ? "" : ` without ${leftOut.join(", ")}`;
    try {
      await hub.ask("PUT", `/api/saved/${type}/${id}`, { title, attributes });
      lines.push(`${type} ${title}: imported${without}`);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "request_invalid") throw error;
      isWhole = false;
      lines.push(`${type} ${title}: REFUSED: ${error.message}`);
    }
  }
  return { lines: [...lines, ...skipped.map((each) => `${each}: NOT imported`)], isWhole };
}
