/** Processor `uri_parts`: cuts an address into scheme, domain, path and so on. */

import { valueText } from "#proto/event.ts";
import { ProcessorFault } from "./ingest-document.ts";
import { decodePercents } from "./percent-encoding.ts";
import { type ProcessorKind, readField } from "./processor.ts";

/** RFC 3986, appendix B, with the authority cut further; spaces and controls aren't part of an address. */
const URI =
  /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:([^/?#@\s]*)@)?(\[[^\]\s]*\]|[^/?#:\s]*)(?::(\d*))?(?=[/?#]|$))?((?!(?:[A-Za-z][A-Za-z0-9+.-]*:)?\/\/)[^?#\s]*)(?:\?([^#\s]*))?(?:#(\S*))?$/;

/** RFC 2396, 3.2.1: an authority that names no host, such as `host:80-`. The domain is null then. */
const REGISTRY = /^((?:[A-Za-z][A-Za-z0-9+.-]*:)?)\/\/(?:[\w.~$,;:@&=+!*'()-]|%[0-9A-Fa-f]{2})+(?=[/?#]|$)/;

/** Characters that an address holds only percent-encoded. */
const ILLEGAL = /["<>\\^`{|}]|%(?![0-9A-Fa-f]{2})/;

/** Schemes that addresses outside of the rules may name, and what follows them. */
const LOOSE = /^(https?|ftp|file):(.*)$/is;

/** The versions that have the processor, but read an extension from the whole path: `2/items` of `/v1.2/items`. */
const PATH_EXTENSIONS = { since: 711, before: 814 };

export const uriParts: ProcessorKind = (settings, { version }) => {
  const field = settings.text("field");
  const target = settings.text("target_field", "url");
  const removes = settings.flag("remove_if_successful");
  const isWholePath = version >= PATH_EXTENSIONS.since && version < PATH_EXTENSIONS.before;
  const keepsOriginal = settings.flag("keep_original", true);
  const ignoreMissing = settings.flag("ignore_missing");
  return (document) => {
    const value = readField(document, { field, target, ignoreMissing });
    if (value === undefined) return;
    const text = valueText(value);
    const parts = addressParts(text, isWholePath ? lastOf : extensionOf);
    if (parts === undefined) throw new ProcessorFault(`unable to parse URI [${text}]`);
    if (removes && field !== target) document.remove(field);
    document.set(target, { ...(keepsOriginal && { original: text }), ...parts });
  };
};

function addressParts(
  text: string,
  extension: (path: string) => string | undefined,
): Record<string, unknown> | undefined {
  const server = URI.exec(text);
  const found = server ?? URI.exec(text.replace(REGISTRY, "$1"));
  if (found === null || ILLEGAL.test(text)) return looseParts(text, extension);
  const [, scheme, user, host, port, path = "", query, fragment] = found;
  const parts = {
    domain: server === null ? null : host === "" ? undefined : host,
    fragment: fragment && decodePercents(fragment),
    path: decodePercents(path),
    extension: extension(path),
    port: port === undefined || port === "" ? undefined : Number(port),
    query: query && decodePercents(query),
    scheme,
    ...userParts(user),
  };
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
}

/**
 * Cuts what breaks the rules of RFC 3986 but names a known scheme, as `java.net.URL` does: nothing is decoded.
 * Undefined: it can't be cut.
 */
function looseParts(
  text: string,
  extension: (path: string) => string | undefined,
): Record<string, unknown> | undefined {
  const [, scheme = "", given = ""] = LOOSE.exec(text.trim()) ?? [];
  if (scheme === "") return undefined;
  const [address, fragment] = cutAt(given, "#");
  const [place, query] = cutAt(address, "?");
  const [, authority, path = ""] = /^(?:\/\/([^/]*))?(.*)$/s.exec(place) ?? [];
  const at = authority?.lastIndexOf("@") ?? -1;
  const server = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(authority?.slice(at + 1) ?? "");
  if (server === null) return undefined;
  const [, domain, port = ""] = server;
  const parts = {
    domain,
    fragment,
    path,
    extension: extension(path),
    port: port === "" ? undefined : Number(port),
    query,
    scheme: scheme.toLowerCase(),
    ...userParts(at < 0 ? undefined : authority!.slice(0, at)),
  };
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
}

/** A user without a colon has no name of its own. */
function userParts(user: string | undefined): Record<string, string> {
  if (user === undefined) return {};
  const [username, password] = cutAt(user, ":");
  return { user_info: user, ...(password !== undefined && { username, password }) };
}

function cutAt(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** What is after the last point of the last part of a path; a path without a slash has none. */
function extensionOf(path: string): string | undefined {
  const slash = path.lastIndexOf("/");
  const at = path.lastIndexOf(".");
  return slash < 0 || at < slash ? undefined : path.slice(at + 1);
}

/** What is after the last point of a whole path. */
function lastOf(path: string): string | undefined {
  const at = path.lastIndexOf(".");
  return at < 0 ? undefined : path.slice(at + 1);
}
