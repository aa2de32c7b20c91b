/** Compiles reads and writes of variables, members and elements. */

import { positionIn } from "#hub/scripts/library/members.ts";
import { cast } from "#hub/scripts/values/casts.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { fromJson, isMap, ScriptObject, typeOf, weigh } from "#hub/scripts/values/values.ts";
import { read, write } from "../library/maps.ts";
import { className, fieldReader } from "../library/methods.ts";
import { type Evaluate, type Frame, guarded, type Scope } from "./scope.ts";
import type { Expression, Target } from "./syntax.ts";

/** How a variable is read and written. */
interface Access {
  readonly type: string;
  readonly read: Evaluate;
  readonly write: (frame: Frame, value: unknown) => void;
}

/** Returns how a variable is reached. Throws where it isn't defined. */
export function variableIn(scope: Scope, name: string, offset: number): Access {
  const found = scope.find(name);
  if (found === undefined)
    throw new ScriptException("IllegalArgumentException", `Variable [${name}] is not defined.`, offset);
  const { depth, slot, type } = found;
  if (depth === 0) {
    return {
      type,
      read: (frame) => frame.slots[slot],
      write: (frame, value) => {
        frame.slots[slot] = value;
      },
    };
  }
  return {
    type,
    read: (frame) => frameAt(frame, depth).slots[slot],
    write: () => {
      throw new ScriptException("IllegalArgumentException", `Variable [${name}] is read-only.`, offset);
    },
  };
}

function frameAt(frame: Frame, depth: number): Frame {
  let at = frame;
  for (let left = depth; left > 0; left--) at = at.parent!;
  return at;
}

/** Compiles `object.name`, `object?.name`, `object[index]` and `object?.0`. */
export function compileRead(
  scope: Scope,
  target: Extract<Expression, { kind: "member" | "brace" }>,
): Evaluate {
  const object = scope.compiler.expression(scope, target.object);
  const { offset, isSafe } = target;
  if (target.kind === "brace") {
    const index = scope.compiler.expression(scope, target.index);
    return guarded(offset, (frame) => {
      const value = object(frame);
      if (isSafe && (value ?? null) === null) return null;
      return element(value, index(frame), frame);
    });
  }
  const { name } = target;
  return guarded(offset, (frame) => {
    const value = object(frame);
    if (isSafe && (value ?? null) === null) return null;
    return member(value, name, frame);
  });
}

function member(value: unknown, name: string, frame: Frame): unknown {
  if (value instanceof ScriptObject && value.lookup !== undefined) return value.lookup(name);
  if (!(value instanceof ScriptObject) && isMap(value)) return read(value, name) ?? null;
  const reader = fieldReader(value, name);
  if (reader !== undefined) return reader(value, [], frame.budget);
  const message = `dynamic getter [${className(value)}, ${name}] not found`;
  throw new ScriptException("IllegalArgumentException", message);
}

function element(value: unknown, index: unknown, frame: Frame): unknown {
  // An index that isn't a number or text is printed.
  if (typeof index === "object") weigh(index, frame.budget);
  if (Array.isArray(value)) return fromJson(value[positionIn(value, index)]) ?? null;
  if (value instanceof ScriptObject) {
    if (value.lookup !== undefined) return value.lookup(index);
    const get = Symbol.iterator in value ? value.methods.get("get") : undefined;
    if (get !== undefined) return get(value, [index], frame.budget);
  } else if (isMap(value)) return read(value, index) ?? null;
  throw notIndexed(value);
}

function notIndexed(value: unknown): ScriptException {
  if ((value ?? null) === null) return new ScriptException("NullPointerException", null);
  const message = `Attempting to address a non-array-like type [${typeOf(value)}] as an array.`;
  return new ScriptException("IllegalArgumentException", message);
}

/** Compiles an assignment; it evaluates to what was assigned. `isExplicit`: of "+=" and the like, which cast. */
export function compileWrite(scope: Scope, target: Target, value: Evaluate, isExplicit: boolean): Evaluate {
  if (target.kind === "variable") {
    const { type, write: put, read: get } = variableIn(scope, target.name, target.offset);
    return guarded(target.offset, (frame) => {
      put(frame, type === "def" ? value(frame) : cast(value(frame), type, isExplicit));
      return get(frame);
    });
  }
  const object = scope.compiler.expression(scope, target.object);
  const { offset } = target;
  if (target.kind === "member") {
    const { name } = target;
    return guarded(offset, (frame) => store(object(frame), name, value(frame), frame));
  }
  const index = scope.compiler.expression(scope, target.index);
  return guarded(offset, (frame) => {
    const list = object(frame);
    if (!Array.isArray(list)) return store(list, index(frame), value(frame), frame);
    const position = positionIn(list, index(frame));
    list[position] = value(frame);
    return list[position];
  });
}

function store(object: unknown, key: unknown, value: unknown, frame: Frame): unknown {
  if (typeof key === "object") weigh(key, frame.budget);
  if (object instanceof ScriptObject && object.assign !== undefined) {
    weigh(value, frame.budget);
    object.assign(key, value);
  } else if (!(object instanceof ScriptObject) && isMap(object)) write(object, key, value, frame.budget);
  else if ((object ?? null) === null) throw new ScriptException("NullPointerException", null);
  else {
    const message = `dynamic setter [${className(object)}, ${String(key)}] not found`;
    throw new ScriptException("IllegalArgumentException", message);
  }
  return value;
}
