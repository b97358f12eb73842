import { isUtf8 } from 'node:buffer'
import { badRequest } from '@backoffice/contracts/errors.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { parse } from 'secure-json-parse'

/**
 * Parses a JSON request body. Throws `bad_request` for what no schema may see: invalid UTF-8, malformed JSON, `__proto__`
 * keys, more than 32 levels (OP-07), and strings that PostgreSQL cannot keep (NUL, unpaired surrogates).
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw badRequest('body: is not valid UTF-8')
  const value = parseText(bytes.toString('utf8'))
  refuseUnstorable(value)
  return value
}

function parseText(text: string): unknown {
  try {
    return parse(text, undefined, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    const reason = error instanceof Error ? error.message : ''
    throw badRequest(
      reason === 'Object contains forbidden prototype property'
        ? 'body: must not contain __proto__ or constructor.prototype'
        : `body: malformed JSON: ${reason}`,
    )
  }
}

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
