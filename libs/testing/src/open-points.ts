import { readFileSync } from 'node:fs'

const text = readFileSync(new URL('../../../docs/open-points.md', import.meta.url), 'utf8')

/** The text of each section of docs/open-points.md by its id, such as `OP-02`. */
export const openPoints: ReadonlyMap<string, string> = new Map(
  text.split(/^#+ (?=.)/m).flatMap((section) => {
    const id = section.match(/^OP-\d+/)?.[0]
    return id === undefined ? [] : [[id, section]]
  }),
)
