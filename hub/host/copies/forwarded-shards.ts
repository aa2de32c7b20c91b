/** Delegates all operations to other shards; subclasses override some of them. */

import type { HostedShards } from "#hub/host/contract/hosted-shards.ts";

export class ForwardedShards implements HostedShards {
  readonly #own: HostedShards;

  constructor(own: HostedShards) {
    this.#own = own;
  }

  check(...call: Parameters<HostedShards["check"]>): ReturnType<HostedShards["check"]> {
    return this.#own.check(...call);
  }

  search(...call: Parameters<HostedShards["search"]>): ReturnType<HostedShards["search"]> {
    return this.#own.search(...call);
  }

  openContext(...call: Parameters<HostedShards["openContext"]>): ReturnType<HostedShards["openContext"]> {
    return this.#own.openContext(...call);
  }

  nextPage(...call: Parameters<HostedShards["nextPage"]>): ReturnType<HostedShards["nextPage"]> {
    return this.#own.nextPage(...call);
  }

  openDocuments(
    ...call: Parameters<HostedShards["openDocuments"]>
  ): ReturnType<HostedShards["openDocuments"]> {
    return this.#own.openDocuments(...call);
  }

  nextDocuments(
    ...call: Parameters<HostedShards["nextDocuments"]>
  ): ReturnType<HostedShards["nextDocuments"]> {
    return this.#own.nextDocuments(...call);
  }

  openPoint(...call: Parameters<HostedShards["openPoint"]>): ReturnType<HostedShards["openPoint"]> {
    return this.#own.openPoint(...call);
  }

  progress(...call: Parameters<HostedShards["progress"]>): ReturnType<HostedShards["progress"]> {
    return this.#own.progress(...call);
  }

  closeContexts(
    ...call: Parameters<HostedShards["closeContexts"]>
  ): ReturnType<HostedShards["closeContexts"]> {
    return this.#own.closeContexts(...call);
  }

  count(...call: Parameters<HostedShards["count"]>): ReturnType<HostedShards["count"]> {
    return this.#own.count(...call);
  }

  validate(...call: Parameters<HostedShards["validate"]>): ReturnType<HostedShards["validate"]> {
    return this.#own.validate(...call);
  }

  explain(...call: Parameters<HostedShards["explain"]>): ReturnType<HostedShards["explain"]> {
    return this.#own.explain(...call);
  }

  termVectors(...call: Parameters<HostedShards["termVectors"]>): ReturnType<HostedShards["termVectors"]> {
    return this.#own.termVectors(...call);
  }

  get(...call: Parameters<HostedShards["get"]>): ReturnType<HostedShards["get"]> {
    return this.#own.get(...call);
  }

  getRefreshed(...call: Parameters<HostedShards["getRefreshed"]>): ReturnType<HostedShards["getRefreshed"]> {
    return this.#own.getRefreshed(...call);
  }

  stats(...call: Parameters<HostedShards["stats"]>): ReturnType<HostedShards["stats"]> {
    return this.#own.stats(...call);
  }

  segments(...call: Parameters<HostedShards["segments"]>): ReturnType<HostedShards["segments"]> {
    return this.#own.segments(...call);
  }

  largest(...call: Parameters<HostedShards["largest"]>): ReturnType<HostedShards["largest"]> {
    return this.#own.largest(...call);
  }

  refresh(...call: Parameters<HostedShards["refresh"]>): ReturnType<HostedShards["refresh"]> {
    return this.#own.refresh(...call);
  }

  nextRefresh(...call: Parameters<HostedShards["nextRefresh"]>): ReturnType<HostedShards["nextRefresh"]> {
    return this.#own.nextRefresh(...call);
  }

  flush(...call: Parameters<HostedShards["flush"]>): ReturnType<HostedShards["flush"]> {
    return this.#own.flush(...call);
  }

  forceMerge(...call: Parameters<HostedShards["forceMerge"]>): ReturnType<HostedShards["forceMerge"]> {
    return this.#own.forceMerge(...call);
  }

  cacheStats(...call: Parameters<HostedShards["cacheStats"]>): ReturnType<HostedShards["cacheStats"]> {
    return this.#own.cacheStats(...call);
  }

  clearCaches(...call: Parameters<HostedShards["clearCaches"]>): ReturnType<HostedShards["clearCaches"]> {
    return this.#own.clearCaches(...call);
  }
}
