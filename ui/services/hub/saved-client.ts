/** Saved objects: searches, visualisations, dashboards, stored by the hub. */

import { callHub } from "./hub-client.ts";

export type SavedType = "search" | "visualisation" | "dashboard" | "data-view";

export interface SavedObject<Attributes = Readonly<Record<string, unknown>>> {
  readonly type: SavedType;
  readonly id: string;
  readonly revision: number;
  /** ISO 8601, UTC. */
  readonly updated: string;
  readonly title: string;
  readonly attributes: Attributes;
  /** Who saved it, where that is known. */
  readonly by?: string;
}

/** A former version without its content. */
export type SavedRevision = Omit<SavedObject, "attributes">;

/** Returns the address parameters a search or a visualisation was saved as; "" if there are none. */
export function parametersOf({ attributes }: SavedObject): string {
  const { parameters } = attributes;
  return typeof parameters === "string" ? parameters : "";
}

const BASE = "/api/saved";

/** All calls throw HubError. */
export class SavedClient {
  async list(type: SavedType, signal?: AbortSignal): Promise<SavedObject[]> {
    const { objects } = (await callHub("GET", `${BASE}/${type}`, undefined, signal)) as {
      objects: SavedObject[];
    };
    return objects;
  }

  async get(type: SavedType, id: string, signal?: AbortSignal): Promise<SavedObject> {
    return (await callHub(
      "GET",
      `${BASE}/${type}/${encodeURIComponent(id)}`,
      undefined,
      signal,
    )) as SavedObject;
  }

  async create(type: SavedType, title: string, attributes: object): Promise<SavedObject> {
    return (await callHub("POST", `${BASE}/${type}`, { title, attributes })) as SavedObject;
  }

  /** Replaces an object; with its revision only if it wasn't changed meanwhile. */
  async put(
    type: SavedType,
    id: string,
    title: string,
    attributes: object,
    revision?: number,
  ): Promise<SavedObject> {
    const query = revision === undefined ? "" : `?revision=${revision}`;
    const path = `${BASE}/${type}/${encodeURIComponent(id)}${query}`;
    return (await callHub("PUT", path, { title, attributes })) as SavedObject;
  }

  /** Returns the former versions, the newest first. */
  async revisions({ type, id }: SavedObject): Promise<readonly SavedRevision[]> {
    const path = `${BASE}/${type}/${encodeURIComponent(id)}/revisions`;
    return ((await callHub("GET", path)) as { revisions: SavedRevision[] }).revisions;
  }

  async revision({ type, id }: SavedObject, revision: number): Promise<SavedObject> {
    const path = `${BASE}/${type}/${encodeURIComponent(id)}/revisions/${revision}`;
    return (await callHub("GET", path)) as SavedObject;
  }

  async remove({ type, id }: SavedObject): Promise<void> {
    await callHub("DELETE", `${BASE}/${type}/${encodeURIComponent(id)}`);
  }

  /** Saves the samples that aren't there. */
  async loadSamples(): Promise<void> {
    await callHub("POST", "/api/samples", {});
  }
}
