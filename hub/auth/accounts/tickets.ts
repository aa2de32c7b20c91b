/** One-time tickets: let a WebSocket open where neither cookie nor header can be sent. */

import { Records, type Store } from "#hub/auth/state/records.ts";
import { hashOf, newSecret } from "#hub/auth/state/secrets.ts";
import type { Action, Principal } from "./principal.ts";

/** A ticket is used right after it was made. */
const TICKET_MS = 30_000;

type TicketRecord = Omit<Principal, "actions"> & { readonly actions: readonly Action[] };

export class Tickets {
  readonly #tickets: Records<TicketRecord>;
  readonly #store: Store;

  constructor(store: Store) {
    this.#tickets = new Records(store, "ticket");
    this.#store = store;
  }

  /** Returns a ticket for the principal: good once, for 30 s, sent in the socket's first message. */
  async issue(principal: Principal): Promise<string> {
    const ticket = newSecret();
    const record: TicketRecord = { ...principal, actions: [...principal.actions] };
    await this.#tickets.create(hashOf(ticket), record, this.#store.clock.now() + TICKET_MS);
    return ticket;
  }

  /** Returns whose ticket it is and makes it useless, or null. */
  async redeem(ticket: string): Promise<Principal | null> {
    const record = await this.#tickets.take(hashOf(ticket));
    if (record === null) return null;
    return { ...record, actions: new Set(record.actions) };
  }
}
