/** Which files hold content that the hub knows by the name of another one: its copies. */

import type { FileRow } from "./row.ts";

export class ContentHolders {
  /** Keys of copies by the key of the file they were made of. */
  readonly #copies = new Map<string, readonly string[]>();

  /** Notes what a file holds. */
  add(key: string, { source }: Pick<FileRow, "source">): void {
    if (source === null || source.fileKey === key) return;
    this.#copies.set(source.fileKey, [...this.#others(source.fileKey, key), key]);
  }

  /** Forgets a file; `row`: what it held. */
  remove(key: string, row: Pick<FileRow, "source"> | undefined): void {
    const source = row?.source ?? null;
    if (source === null || source.fileKey === key) return;
    const others = this.#others(source.fileKey, key);
    if (others.length > 0) this.#copies.set(source.fileKey, others);
    else this.#copies.delete(source.fileKey);
  }

  /** Returns the keys of a file and of its copies. */
  of(fileKey: string): readonly string[] {
    return [fileKey, ...(this.#copies.get(fileKey) ?? [])];
  }

  #others(fileKey: string, key: string): readonly string[] {
    return (this.#copies.get(fileKey) ?? []).filter((copy) => copy !== key);
  }
}
