/** What the reader may do, so that pages offer nothing that the hub would refuse. */

import type { ReactiveController, ReactiveControllerHost } from "lit";
import { HUB_BACK_EVENT, knownViewer } from "#ui/services/hub/session-client.ts";
import { ROLE_RIGHTS } from "./role-rights.ts";

/** Actions whose buttons pages show by the reader's rights. */
type OfferedAction = "save" | "pipeline" | "alert" | "index_manage" | "index_delete" | "administer";

/** The reader's rights, for a page that shows buttons by them. */
export class OwnRights implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  #role: string | undefined;
  readonly #onHubBack = (): void => {
    if (this.#role === undefined) void this.#learn();
  };

  constructor(host: ReactiveControllerHost) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    addEventListener(HUB_BACK_EVENT, this.#onHubBack);
    void this.#learn();
  }

  hostDisconnected(): void {
    removeEventListener(HUB_BACK_EVENT, this.#onHubBack);
  }

  /** Returns whether the reader's role has an action; false until the role is known, true for a role of a newer hub. */
  may(action: OfferedAction): boolean {
    return this.#role !== undefined && (ROLE_RIGHTS[this.#role]?.includes(action) ?? true);
  }

  async #learn(): Promise<void> {
    this.#role = (await knownViewer())?.role;
    this.#host.requestUpdate();
  }
}
