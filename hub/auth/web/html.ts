/** HTML as tagged templates: everything put in is escaped unless it is HTML itself. */

/** HTML that is safe to send. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Returns the template as HTML; texts and numbers are escaped, HTML and lists of it are taken as they are. */
export function html(
  parts: TemplateStringsArray,
  ...values: (Html | readonly Html[] | string | number)[]
): Html {
  let text = parts[0] ?? "";
  values.forEach((value, index) => {
    text += render(value) + (parts[index + 1] ?? "");
  });
  return new Html(text);
}

/** Nothing, for branches of a template. */
export const NOTHING = new Html("");

function render(value: Html | readonly Html[] | string | number): string {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map((each: Html) => each.text).join("");
  const text = typeof value === "number" ? String(value) : (value as string);
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}
