import { badRequest } from './errors.ts'
import { LIMITS } from './limits.ts'

/**
 * Throws `bad_request` for JSON that PostgreSQL cannot store, for numbers that reading has changed, since they are
 * beyond ±(2^53−1), and for what nests too deep (OP-07). Its path begins with `within`.
 */
export function refuseUnstorable(value: unknown, ...within: readonly string[]): void {
  refuseWithin(value, [...within], 1)
}

/** Whether PostgreSQL can store a text. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** `path` is the path of `value`: one array that is changed during the walk. */
function refuseWithin(value: unknown, path: (string | number)[], depth: number): void {
  if (typeof value === 'string') refuseText(value, path)
  if (typeof value === 'number') refuseNumber(value, path)
  if (typeof value !== 'object' || value === null) return
  if (depth > LIMITS.jsonDepth) throw badRequest(['body'], `nests deeper than ${LIMITS.jsonDepth} levels`)
  const steps = Array.isArray(value) ? value.entries() : Object.entries(value)
  for (const [step, member] of steps) {
    path.push(step)
    if (typeof step === 'string') refuseText(step, path)
    refuseWithin(member, path, depth + 1)
    path.pop()
  }
}

function refuseNumber(number: number, path: readonly (string | number)[]): void {
  const most = Number.MAX_SAFE_INTEGER
  if (Math.abs(number) <= most) return
  throw badRequest(
    path.length === 0 ? ['body'] : path,
    `must be ${number > 0 ? `at most ${most}` : `at least ${-most}`}`,
  )
}

function refuseText(text: string, path: readonly (string | number)[]): void {
  if (isStorable(text)) return
  const shown = path.map((step) => (typeof step === 'string' ? step.replaceAll('\0', '\\u0000').toWellFormed() : step))
  const where = shown.length === 0 ? ['body'] : shown
  throw badRequest(where, text.includes('\0') ? 'must not contain NUL characters' : 'contains an unpaired surrogate')
}
