/** The browser's `localStorage` in memory, for tests of what is stored there. */

export interface FakeStorage {
  readonly stored: Map<string, string>;
  /** True: nothing more can be stored. */
  isFull: boolean;
  /** Removes it from the globals. */
  remove(): void;
}

/** Installs an empty one as the global `localStorage`. */
export function fakeStorage(): FakeStorage {
  const stored = new Map<string, string>();
  const fake: FakeStorage = {
    stored,
    isFull: false,
    remove: () => void Reflect.deleteProperty(globalThis, "localStorage"),
  };
  const value = {
    get length(): number {
      return stored.size;
    },
    key: (at: number) => [...stored.keys()][at] ?? null,
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, text: string) => {
      if (fake.isFull) throw new DOMException("full", "QuotaExceededError");
      stored.set(name, text);
    },
    removeItem: (name: string) => stored.delete(name),
  };
  Object.defineProperty(globalThis, "localStorage", { configurable: true, value });
  return fake;
}
