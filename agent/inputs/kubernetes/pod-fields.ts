/** What events tell of their pod beyond the path of its log. */

/** A pod as the API returns it, or its metadata alone. */
export interface Pod {
  readonly metadata?: {
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly kind?: string; readonly name?: string }[];
  };
  readonly spec?: { readonly nodeName?: string };
}

/** Returns uid, labels, node and owner as fields below `kubernetes`. */
export function podFields({ metadata, spec }: Pod, node = spec?.nodeName): Record<string, unknown> {
  const owner = metadata?.ownerReferences?.[0];
  return {
    ...(metadata?.uid === undefined ? {} : { pod: { uid: metadata.uid } }),
    ...(metadata?.labels === undefined ? {} : { labels: metadata.labels }),
    ...(node === undefined ? {} : { node: { name: node } }),
    ...(owner === undefined ? {} : { owner: { kind: owner.kind ?? "", name: owner.name ?? "" } }),
  };
}
