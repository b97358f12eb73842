import { badRequest } from './errors.ts'
import { LIMITS } from './limits.ts'

/** Refuses strings that PostgreSQL cannot keep, keys included, and values that nest too deep; `value` is JSON. */
export function refuseUnstorable(value: unknown, path = '', depth = 1): void {
  if (typeof value === 'string') refuseText(value, path)
  if (typeof value !== 'object' || value === null) return
  if (depth > LIMITS.jsonDepth) throw badRequest(`body: nests deeper than ${LIMITS.jsonDepth} levels`)
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) refuseUnstorable(value[index], `${path}[${index}]`, depth + 1)
    return
  }
  for (const [key, member] of Object.entries(value)) {
    const memberPath = path === '' ? key : `${path}.${key}`
    refuseText(key, memberPath)
    refuseUnstorable(member, memberPath, depth + 1)
  }
}

function refuseText(text: string, path: string): void {
  const where = path === '' ? 'body' : path.replaceAll('\0', '\\u0000').toWellFormed()
  if (text.includes('\0')) throw badRequest(`${where}: must not contain NUL characters`)
  if (!text.isWellFormed()) throw badRequest(`${where}: contains an unpaired surrogate`)
}
