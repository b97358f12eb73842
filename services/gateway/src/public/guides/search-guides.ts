import type { Guide, Section } from './render-guide.ts'

interface Found {
  readonly guide: Guide
  readonly section: Section
  /** Words around the first match. */
  readonly excerpt: string
}

const MOST_FOUND = 20
const HEADING_WEIGHT = 20
const EXCERPT = 160
const MOST_WORDS = 8

/**
 * The sections that have all words of a query, the best first: a word in a heading counts more than one below it. The
 * first eight different words count, since each is looked for in all texts.
 */
export function searchGuides(guides: readonly Guide[], query: string): Found[] {
  const words = [...new Set(query.toLowerCase().split(/\s+/).filter(Boolean))].slice(0, MOST_WORDS)
  if (words.length === 0) return []
  return guides
    .flatMap((guide) => guide.sections.map((section) => ({ guide, section, score: scoreOf(section, words) })))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, MOST_FOUND)
    .map(({ guide, section }) => ({ guide, section, excerpt: excerptOf(section, words) }))
}

function scoreOf({ lower: { heading, text } }: Section, words: readonly string[]): number {
  const scores = words.map(
    (word) => (heading.includes(word) ? HEADING_WEIGHT : 0) + Math.min(text.split(word).length - 1, HEADING_WEIGHT),
  )
  return scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, 0)
}

function excerptOf({ text, lower }: Section, words: readonly string[]): string {
  const found = words.map((word) => lower.text.indexOf(word)).filter((place) => place >= 0)
  const start = Math.max(0, Math.min(...found, text.length) - EXCERPT / 4)
  const from = start === 0 ? 0 : text.indexOf(' ', start) + 1
  return `${from > 0 ? '… ' : ''}${text.slice(from, from + EXCERPT)}${from + EXCERPT < text.length ? ' …' : ''}`
}
