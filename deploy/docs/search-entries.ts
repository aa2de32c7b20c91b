/** What the search of the site looks through: the sections of all pages. */

interface Searched {
  readonly address: string;
  readonly title: string;
  readonly text: string;
}

/** Returns the id of a heading, as GitHub makes it for links to sections. */
export function headingId(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]+/gu, "")
    .replaceAll(" ", "-");
}

/** Returns an entry for each section, its words in lower case. */
export function searchEntries(pages: readonly Searched[]): Searched[] {
  return pages.flatMap(({ address, title, text }) =>
    text.split(/^(?=#{2,3} )/m).map((section) => {
      const heading = /^#{2,3} (.+)$/m.exec(section.startsWith("##") ? section : "")?.[1];
      const name = heading === undefined || heading === title ? title : `${title}: ${heading}`;
      return {
        address: heading === undefined ? address : `${address}#${headingId(heading)}`,
        title: name,
        text: section
          .toLowerCase()
          .replace(/[^\p{L}\p{N}_.-]+/gu, " ")
          .trim(),
      };
    }),
  );
}
