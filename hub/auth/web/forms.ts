/** Bodies of forms, urlencoded or multipart, and the token that proves a form's origin. */

import { sameText, signed } from "#hub/auth/state/secrets.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Largest body of a form or a token request, bytes: a hundred times the usual size. */
export const FORM_LIMIT_BYTES = 64 * 1024;
const URLENCODED = "application/x-www-form-urlencoded";
const MULTIPART = "multipart/form-data";

/**
 * Returns the fields of a body in their order, names possibly more than once. No content type and no body: none.
 * Throws request_invalid for other content types, malformed bodies and files.
 */
export async function readForm(contentType: string | undefined, body: unknown): Promise<[string, string][]> {
  const bytes = body instanceof Uint8Array ? body : new Uint8Array();
  const type = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "" && bytes.length === 0) return [];
  if (type === URLENCODED) return [...new URLSearchParams(Buffer.from(bytes).toString())];
  if (type !== MULTIPART) {
    throw new AppError("request_invalid", `the body must be ${URLENCODED} or ${MULTIPART}`);
  }
  if (bytes.length === 0) throw new AppError("request_invalid", "the multipart body is empty");
  return readMultipart(contentType!, bytes);
}

async function readMultipart(contentType: string, bytes: Uint8Array): Promise<[string, string][]> {
  let form: FormData;
  try {
    form = await new Response(bytes.slice(), { headers: { "content-type": contentType } }).formData();
  } catch (cause) {
    throw new AppError("request_invalid", "the multipart body is malformed", { cause });
  }
  return [...form].map(([name, value]) => {
    if (typeof value !== "string") {
      throw new AppError("request_invalid", `parameter "${name}" must not be a file`);
    }
    return [name, value];
  });
}

/** Returns the value of a field, or an empty text. */
export function field(fields: readonly [string, string][], name: string): string {
  return fields.find(([each]) => each === name)?.[1] ?? "";
}

/** Returns the token that a form for `purpose` must return: only the recipient of the page has it. */
export function formToken(key: Uint8Array, purpose: string): string {
  return signed(key, `form:${purpose}`);
}

/** Throws forbidden if the form's token isn't the one of `purpose`. */
export function checkFormToken(key: Uint8Array, purpose: string, token: string): void {
  if (sameText(formToken(key, purpose), token)) return;
  throw new AppError("forbidden", "this form is not from this page; open the page again");
}
