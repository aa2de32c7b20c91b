/** The directory of a segment: what its sections are. Written as JSON, so fields can be added in later versions. */

import type { ColumnEntry } from "#hub/engine/columns/column-writer.ts";
import type { DictionaryEntry } from "#hub/engine/dictionary/dictionary-writer.ts";
import type { Extent } from "#hub/engine/files/segment-file.ts";
import type { StoredEntry } from "#hub/engine/stored/stored.ts";
import type { ColumnKind } from "../mapping/field.ts";
import type { IdIndexEntry } from "./id-index.ts";
import type { PresenceEntry } from "./presence.ts";

export interface FieldEntry {
  readonly presence: PresenceEntry;
  readonly terms?: DictionaryEntry;
  readonly norms?: Extent;
  readonly column?: {
    readonly kind: ColumnKind;
    readonly values: ColumnEntry;
    readonly longitudes?: ColumnEntry;
  };
}

export interface SegmentDirectory {
  readonly docs: number;
  readonly source: StoredEntry;
  readonly ids: StoredEntry;
  readonly idIndex: IdIndexEntry;
  readonly version: ColumnEntry;
  readonly seqNo: ColumnEntry;
  readonly fields: Readonly<Record<string, FieldEntry>>;
}
