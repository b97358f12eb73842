import { z } from 'zod'
import { badRequest, type MemberPath, memberMessage, memberPath } from './errors.ts'
import { issueMessage } from './issue-messages.ts'

const SHOWN = 5

/**
 * Validates a part of a request, or a row of an import. Throws `bad_request`, whose message names each invalid member
 * once (OP-02) and whose `path` is that of the first. Of an unknown parameter of a query it names those that are known.
 */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown, part: string): z.output<Schema> {
  const result = schema.safeParse(value, { error: issueMessage })
  if (result.success) return result.data
  const unknown = part === 'query' ? unknownParameter(schema) : 'unknown member'
  const invalid = onceEach(
    value,
    result.error.issues.flatMap((issue) => invalidMembers(issue, part, unknown)),
  )
  const messages = invalid.map(({ path, reason }) => memberMessage(path, reason))
  const { path, reason } = invalid[0] ?? { path: [part], reason: 'is invalid' }
  const more = messages.length > SHOWN ? ` (and ${messages.length - SHOWN} more)` : ''
  const errorReason = reason === unknown && part === 'query' ? 'unknown_parameter' : undefined
  throw badRequest(path, [reason, ...messages.slice(1, SHOWN)].join('; ') + more, errorReason)
}

interface InvalidMember {
  readonly path: MemberPath
  readonly reason: string
}

/** One mistake may break several rules of a text or number. A map or list that breaks several has several. */
function onceEach(value: unknown, invalid: readonly InvalidMember[]): InvalidMember[] {
  const seen = new Set<string>()
  return invalid.filter(({ path, reason }) => {
    const found = path.reduce<unknown>((part, step) => (part as Record<PropertyKey, unknown> | null)?.[step], value)
    const mistake = found instanceof Object ? memberMessage(path, reason) : memberPath(path)
    return !seen.has(mistake) && seen.add(mistake)
  })
}

function unknownParameter(schema: z.ZodType): string {
  if (schema instanceof z.ZodPipe) return unknownParameter(schema.in as z.ZodType)
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  return known.length === 0
    ? 'unknown parameter; this operation takes none'
    : `unknown parameter; this operation takes ${known.join(', ')}`
}

function invalidMembers(issue: z.core.$ZodIssue, part: string, unknown: string): InvalidMember[] {
  const path = issue.path.length === 0 ? [part] : issue.path
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...issue.path, key], reason: unknown }))
  }
  if (issue.code === 'invalid_key') return [{ path, reason: issue.issues[0]?.message ?? issue.message }]
  return [{ path, reason: issue.message }]
}
