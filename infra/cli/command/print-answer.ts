import { stripVTControlCharacters } from 'node:util'

type Members = Readonly<Record<string, unknown>>

interface PageAnswer {
  readonly page: number
  readonly total: number
  /** A list that is not counted has none. */
  readonly total_pages?: number
  readonly has_next_page?: boolean
  readonly items: readonly Members[]
}

/** Columns of the lists in an answer, by the member; all unless given. */
export type Lists = Readonly<Record<string, readonly string[]>>

/** An answer for a terminal: a page or `{items}` is a table, an object has a line for each member. */
export function readableAnswer(answer: unknown, columns: readonly string[] = [], lists: Lists = {}): string {
  if (isPage(answer)) return `${table(answer.items, columns)}${pageLine(answer)}`
  return members(answer as Members, lists)
}

const isPage = (answer: unknown): answer is PageAnswer =>
  typeof answer === 'object' && answer !== null && Array.isArray((answer as Partial<PageAnswer>).items)

function table(rows: readonly Members[], columns: readonly string[]): string {
  if (rows.length === 0) return 'none\n'
  const shown = columns.length > 0 ? columns : Object.keys(rows[0] ?? {})
  return aligned([shown.map((name) => name.toUpperCase()), ...rows.map((row) => shown.map((name) => cell(row[name])))])
}

function members(answer: Members, shown: Lists): string {
  const lists = Object.entries(answer).filter(([, value]) => isList(value))
  const lines = Object.entries(answer).filter(([, value]) => !isList(value))
  const tables = lists.map(([name, value]) => `\n${name}\n${table(value as Members[], shown[name] ?? [])}`)
  return aligned(lines.map(([name, value]) => [name, cell(value)])) + tables.join('')
}

const isList = (value: unknown) => Array.isArray(value) && typeof value[0] === 'object'

function pageLine({ page, total, total_pages, has_next_page, items }: PageAnswer): string {
  if (total_pages === undefined) return has_next_page ? `--after ${items.at(-1)?.id} shows the next\n` : ''
  if (!(total_pages > 1)) return ''
  const next = page < total_pages ? `; --page ${page + 1} shows the next` : ''
  return `page ${page} of ${total_pages}, ${total} in all${next}\n`
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => [...(row[index] ?? '')].length)))
  const line = (row: readonly string[]) =>
    row.map((text, index) => text + ' '.repeat((widths[index] ?? 0) - [...text].length)).join('  ')
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('')
}

/** Names come from outside: their control characters must not reach the terminal. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return cell(value.join(', ') || null)
  const text = typeof value === 'object' ? named(value as Members) : String(value)
  return stripVTControlCharacters(text).replaceAll(/\p{Cc}/gu, ' ')
}

/** A resource inside another one by its id and name, any other object as JSON. */
function named(value: Members): string {
  const { id, name } = value
  if (typeof id !== 'string') return JSON.stringify(value)
  return typeof name === 'string' ? `${id} (${name})` : id
}
