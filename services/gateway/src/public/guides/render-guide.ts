import { Marked, type Token, type Tokens } from 'marked'
import { GUIDES, type GuideName, guideFile } from './guide-files.ts'

/** What stands below a heading, for the search and the list of contents. */
export interface Section {
  readonly anchor: string
  readonly depth: number
  readonly heading: string
  readonly text: string
  /** Heading and text in lower case, for the search. */
  readonly lower: { readonly heading: string; readonly text: string }
}

export interface Guide {
  readonly name: GuideName
  readonly title: string
  readonly summary: string
  readonly html: string
  readonly sections: readonly Section[]
}

/** Makes a page of a guide's Markdown. Headings get the anchors that GitHub gives them. */
export function renderGuide(name: GuideName, markdown: string): Guide {
  const anchors = new Map<Token, string>()
  const marked = new Marked({
    renderer: {
      heading(token) {
        const { depth, tokens } = token
        return `<h${depth} id="${anchors.get(token)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens)
        const target = targetOf(href)
        return target === undefined ? text : `<a href="${target}">${text}</a>`
      },
      // Wide tables and code scroll by themselves, so they take the focus of a keyboard.
      table(token) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          `<tr>${row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`
        const rows = token.rows.map((row) => cells(row, 'td')).join('\n')
        return `<div class="wide" tabindex="0"><table><thead>${cells(token.header, 'th')}</thead><tbody>${rows}</tbody></table></div>\n`
      },
      code: ({ text }) => `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`,
    },
  })
  const tokens = marked.lexer(markdown)
  const sections = sectionsOf(tokens, anchors)
  const summary = tokens.find(({ type }) => type === 'paragraph')
  return {
    name,
    title: sections[0]?.heading ?? name,
    summary: summary === undefined ? '' : plain(summary),
    html: marked.parser(tokens),
    sections,
  }
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** The pages of other guides; undefined for files that are in the repository only. */
function targetOf(href: string): string | undefined {
  if (/^(#|https:)/.test(href)) return escaped(href)
  const [file, anchor] = href.split('#')
  const name = GUIDES.find((one) => guideFile(one) === `docs/${file}`)
  return name && `/docs/guides/${name}${anchor === undefined ? '' : `#${anchor}`}`
}

function sectionsOf(tokens: readonly Token[], anchors: Map<Token, string>): Section[] {
  const sections: { anchor: string; depth: number; heading: string; text: string }[] = []
  const used = new Map<string, number>()
  for (const token of tokens) {
    if (token.type !== 'heading') {
      const last = sections.at(-1)
      if (last !== undefined) last.text += ` ${plain(token)}`
      continue
    }
    const heading = plain(token)
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    const times = used.get(slug) ?? 0
    used.set(slug, times + 1)
    const anchor = times === 0 ? slug : `${slug}-${times}`
    anchors.set(token, anchor)
    sections.push({ anchor, depth: token.depth, heading, text: '' })
  }
  const inLowerCase = ({ heading, text }: (typeof sections)[number]) => ({
    heading: heading.toLowerCase(),
    text: text.toLowerCase(),
  })
  return sections.map((section) => ({ ...section, lower: inLowerCase(section) }))
}

/** The words of a token without its marks. */
function plain(token: Token): string {
  const parts: string[] = []
  const walk = (one: Token): void => {
    if (one.type === 'table') {
      const { header, rows } = one as Tokens.Table
      for (const cell of [header, ...rows].flat()) cell.tokens.forEach(walk)
      return
    }
    const children = one.type === 'list' ? (one as Tokens.List).items : 'tokens' in one ? one.tokens : undefined
    if (children !== undefined) {
      children.forEach(walk)
      if (one.type !== 'heading' && one.type !== 'link') parts.push(' ')
    } else parts.push('text' in one ? one.text : one.raw)
    if (one.type === 'tablecell') parts.push(' ')
  }
  walk(token)
  return parts.join('').replaceAll(/\s+/g, ' ').trim()
}
