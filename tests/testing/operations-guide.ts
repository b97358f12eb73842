import { readFileSync } from 'node:fs'

/** The text of docs/operations.md. */
export const operationsGuide = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')

/** A fenced block of code. */
interface GuideBlock {
  readonly section: string
  /** What stands behind the fence, such as `sh`. */
  readonly language: string
  readonly text: string
}

/** The code blocks of docs/operations.md, in order; in the text they may be indented. */
export const allGuideBlocks: readonly GuideBlock[] = readBlocks()

function readBlocks(): GuideBlock[] {
  const blocks: GuideBlock[] = []
  let section = ''
  for (const found of operationsGuide.matchAll(/^#+ ([^\n]*)|^( *)```(\w*)\n(.*?)^ *```$/gms)) {
    const [, heading, indent = '', language = '', text = ''] = found
    if (heading === undefined)
      blocks.push({ section, language, text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), '') })
    else section = heading
  }
  return blocks
}

/** The code blocks of a section in a language. */
export const guideBlocks = (section: string, language: string): string[] =>
  allGuideBlocks.filter((block) => block.section === section && block.language === language).map(({ text }) => text)

/** The queries in the text, between backquotes or indented. */
export const guideQueries: readonly string[] =
  withoutBlocks().match(/(?<=`)select [^`]+(?=`)|(?<=^ {4})select .*(?:\n {4}.*)*/gm) ?? []

/** Commands as words without quotes: those of blocks for a shell, and those in the text between backquotes. */
export const guideCommands: readonly (readonly string[])[] = [
  ...allGuideBlocks.flatMap(({ language, text }) => (language === 'sh' ? text.split('\n') : [])),
  ...[...withoutBlocks().matchAll(/`((?:kubectl|backoffice|npx|npm|node|docker) [^`]+)`/g)].map(
    ([, line = '']) => line,
  ),
]
  .map((line) => line.replace(/(^|\s+)#.*/, ''))
  .flatMap((line) => line.split(' && '))
  .map(wordsOf)
  .filter(({ length }) => length > 0)

function withoutBlocks(): string {
  return operationsGuide.replaceAll(/^( *)```.*?^ *```$/gms, '')
}

function wordsOf(line: string): string[] {
  // A placeholder such as <workspace id> is one word.
  const words = line.match(/(?:<[^>]*>|'[^']*'|"[^"]*"|[^\s'"<])+/g) ?? []
  return words.map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'))
}
