/** What people saved: searches, visualisations, dashboards, kept by the hub. */

import { msg, str } from "@lit/localize";
import { SearchError } from "./search-client.ts";
import { leaveIfSignedOut } from "./sign-in.ts";

export type SavedType = "search" | "visualisation" | "dashboard";

export interface SavedObject<Attributes = Readonly<Record<string, unknown>>> {
  readonly type: SavedType;
  readonly id: string;
  readonly revision: number;
  /** ISO 8601, UTC. */
  readonly updated: string;
  readonly title: string;
  readonly attributes: Attributes;
}

/** Returns the address parameters a search or a visualisation was saved as; "" where there are none. */
export function parametersOf({ attributes }: SavedObject): string {
  const { parameters } = attributes;
  return typeof parameters === "string" ? parameters : "";
}

const HINTS: Readonly<Record<number, string>> = {
  403: msg("Ask an administrator for the role of an editor."),
  404: msg("It may have been deleted."),
  409: msg("Load the page anew to see what is there now."),
  413: msg("Make it smaller."),
};

/** All calls throw SearchError. */
export class SavedClient {
  readonly #fetch: typeof fetch;

  constructor(fetcher: typeof fetch = (...call) => fetch(...call)) {
    this.#fetch = fetcher;
  }

  async list(type: SavedType, signal?: AbortSignal): Promise<SavedObject[]> {
    const { objects } = (await this.#call("GET", `/${type}`, undefined, signal)) as {
      objects: SavedObject[];
    };
    return objects;
  }

  async get(type: SavedType, id: string, signal?: AbortSignal): Promise<SavedObject> {
    return (await this.#call("GET", `/${type}/${encodeURIComponent(id)}`, undefined, signal)) as SavedObject;
  }

  async create(type: SavedType, title: string, attributes: object): Promise<SavedObject> {
    return (await this.#call("POST", `/${type}`, { title, attributes })) as SavedObject;
  }

  /** Replaces an object; with its revision only where nobody else did meanwhile. */
  async put(
    type: SavedType,
    id: string,
    title: string,
    attributes: object,
    revision?: number,
  ): Promise<SavedObject> {
    const query = revision === undefined ? "" : `?revision=${revision}`;
    const path = `/${type}/${encodeURIComponent(id)}${query}`;
    return (await this.#call("PUT", path, { title, attributes })) as SavedObject;
  }

  async remove({ type, id }: SavedObject): Promise<void> {
    await this.#call("DELETE", `/${type}/${encodeURIComponent(id)}`);
  }

  async #call(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
    const init: RequestInit = { method, headers: { accept: "application/json" } };
    if (signal !== undefined) init.signal = signal;
    if (body !== undefined) {
      init.body = JSON.stringify(body);
      init.headers = { accept: "application/json", "content-type": "application/json" };
    }
    let response: Response;
    try {
      response = await this.#fetch(`/api/saved${path}`, init);
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new SearchError(0, "unreachable", msg("The hub can't be reached."), msg("Is it running?"), cause);
    }
    const text = await response.text();
    if (!response.ok) {
      leaveIfSignedOut(response.status);
      throw new SearchError(
        response.status,
        "saved",
        reasonOf(text, response.status),
        HINTS[response.status] ?? "",
      );
    }
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  }
}

function reasonOf(text: string, status: number): string {
  try {
    const { error, message } = JSON.parse(text) as {
      error?: { message?: string; reason?: string } | string;
      message?: string;
    };
    const said =
      typeof error === "string" ? (message ?? error) : (error?.message ?? error?.reason ?? message);
    if (said !== undefined) return said;
  } catch {
    // A proxy's page, say: the status has to do.
  }
  return msg(str`The hub answered with status ${status}.`);
}
