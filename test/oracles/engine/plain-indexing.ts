/** Documents indexed without the kernel: the judge of what it makes of whole documents. */

import { type Indexing, leaveToHost } from "#hub/engine/documents/document-indexer.ts";
import { PlainFields } from "./plain-fields.ts";

export const plainIndexing: Indexing = {
  newFields: () => new PlainFields(),
  indexer: () => ({
    write(_run, from, to, _doc, host) {
      for (let index = from; index < to; index++) leaveToHost(index, host);
    },
    release() {
      // Nothing is held.
    },
  }),
};
