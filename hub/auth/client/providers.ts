/** Stored providers at which accounts may be connected; their client secrets are sealed. */

import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { Records, type Store } from "#hub/auth/state/records.ts";
import { newId } from "#hub/auth/state/secrets.ts";
import type { Vault } from "#hub/auth/state/vault.ts";
import { AppError } from "#proto/kit/errors.ts";
import { checkProvider, type ProviderDefinition } from "./provider-definition.ts";

type ProviderRecord = Omit<ProviderDefinition, "client_secret"> & { readonly sealedSecret?: string };

/** A provider without its secret. */
export interface ProviderView {
  readonly id: string;
  readonly definition: Omit<ProviderDefinition, "client_secret">;
}

export class Providers {
  readonly #providers: Records<ProviderRecord>;
  readonly #vault: Vault;
  readonly #audit: AuditSink;

  constructor(store: Store, vault: Vault, audit: AuditSink) {
    this.#providers = new Records(store, "provider");
    this.#vault = vault;
    this.#audit = audit;
  }

  /** Adds a provider and returns its id. Throws request_invalid. */
  async add(definition: unknown, actor: string): Promise<string> {
    const id = newId();
    const checked = checkProvider(definition);
    await this.#providers.create(id, this.#sealed(id, checked));
    this.#audit({ action: "provider_defined", outcome: "ok", actor, subject: `${checked.name} ${id}` });
    return id;
  }

  /** Changes a provider. Without a `client_secret` the stored one is kept. Throws not_found, request_invalid. */
  async change(id: string, definition: unknown, actor: string): Promise<void> {
    const checked = checkProvider(definition);
    const sealed = this.#sealed(id, checked);
    const changed = await this.#providers.change(id, (before) =>
      checked.client_secret === undefined && before.sealedSecret !== undefined
        ? { ...sealed, sealedSecret: before.sealedSecret }
        : sealed,
    );
    if (changed === null) throw unknownProvider(id);
    this.#audit({ action: "provider_defined", outcome: "ok", actor, subject: `${checked.name} ${id}` });
  }

  /** Returns a provider with its secret, for requests only. Throws not_found. */
  async get(id: string): Promise<ProviderDefinition> {
    const read = await this.#providers.get(id);
    if (read === null) throw unknownProvider(id);
    const { sealedSecret, ...definition } = read.data;
    if (sealedSecret === undefined) return definition;
    return { ...definition, client_secret: this.#vault.open(sealedSecret, placeOf(id)) };
  }

  async list(): Promise<ProviderView[]> {
    const all = await this.#providers.list();
    return all.map(({ id, data }) => {
      const { sealedSecret: _, ...definition } = data;
      return { id, definition };
    });
  }

  /** Removes a provider. Its accounts must have been removed before (see Connections). Throws not_found. */
  async remove(id: string, actor: string): Promise<void> {
    const provider = await this.#providers.take(id);
    if (provider === null) throw unknownProvider(id);
    this.#audit({ action: "provider_removed", outcome: "ok", actor, subject: `${provider.name} ${id}` });
  }

  /** Reseals secrets that are sealed with an older key. Returns how many. */
  async reseal(): Promise<number> {
    let count = 0;
    for (const { id, data } of await this.#providers.list()) {
      if (data.sealedSecret === undefined || !this.#vault.isOld(data.sealedSecret)) continue;
      await this.#providers.change(id, (record) => {
        if (record.sealedSecret === undefined || !this.#vault.isOld(record.sealedSecret)) return null;
        const secret = this.#vault.open(record.sealedSecret, placeOf(id));
        return { ...record, sealedSecret: this.#vault.seal(secret, placeOf(id)) };
      });
      count++;
    }
    return count;
  }

  #sealed(id: string, { client_secret, ...definition }: ProviderDefinition): ProviderRecord {
    if (client_secret === undefined) return definition;
    return { ...definition, sealedSecret: this.#vault.seal(client_secret, placeOf(id)) };
  }
}

function placeOf(id: string): string {
  return `provider:${id}`;
}

function unknownProvider(id: string): AppError {
  return new AppError("not_found", `there is no provider ${id}`);
}
