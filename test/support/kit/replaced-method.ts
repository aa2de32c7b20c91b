/** Methods that others stand in for during a test. */

import type { TestContext } from "node:test";

/**
 * Replaces the method `name` of `object` until the test's end. Unlike `t.mock.method` it keeps no record of the calls, which
 * takes longer than many methods do: it has a stack for each.
 */
export function replaceMethod<T extends object, K extends keyof T>(
  t: TestContext,
  object: T,
  name: K,
  method: T[K],
): void {
  const own = Object.getOwnPropertyDescriptor(object, name);
  Object.defineProperty(object, name, { value: method, configurable: true, writable: true });
  t.after(() => {
    if (own === undefined) delete object[name];
    else Object.defineProperty(object, name, own);
  });
}
