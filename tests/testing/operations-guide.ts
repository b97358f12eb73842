import { readFileSync } from 'node:fs'

/** The text of docs/operations.md. */
export const operationsGuide = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')

/** The code blocks of a section in a language, in order; in the text they may be indented. */
export function guideBlocks(section: string, language: string): string[] {
  const [, text = ''] = operationsGuide.split(new RegExp(`^#+ ${section}$`, 'm'))
  const [body = ''] = text.split(/^#+ /m)
  return [...body.matchAll(/^( *)```(\w*)\n(.*?)^ *```$/gms)]
    .filter(([, , fenced]) => fenced === language)
    .map(([, indent = '', , block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
}
