import { z } from 'zod'
import { badRequest, type MemberPath, memberMessage, memberPath } from './errors.ts'
import { issueMessage } from './issue-messages.ts'

const SHOWN = 5

/**
 * Validates a part of a request, or a row of an import. Throws `bad_request`, whose message names each invalid member
 * once (OP-02) and whose `path` is that of the first. Of an unknown parameter of a query it names those that are known.
 */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown, part: string): z.output<Schema> {
  const result = schema.safeParse(value, { error: part === 'query' ? queryMessage : issueMessage })
  if (result.success) return result.data
  const unknown = part === 'query' ? unknownParameter(schema) : 'unknown member'
  const issues = withoutFollowing(result.error.issues)
  const invalid = onceEach(
    value,
    issues.flatMap((issue) => invalidMembers(issue, part, unknown)),
  )
  const messages = invalid.map(({ path, reason }) => memberMessage(path, reason))
  const { path, reason } = invalid[0] ?? { path: [part], reason: 'is invalid' }
  const more = messages.length > SHOWN ? ` (and ${messages.length - SHOWN} more)` : ''
  const errorReason = reason === unknown && part === 'query' ? 'unknown_parameter' : undefined
  throw badRequest(path, [reason, ...messages.slice(1, SHOWN)].join('; ') + more, errorReason)
}

/** A parameter that comes twice is an array (OP-27). */
const queryMessage: typeof issueMessage = (issue) =>
  /^invalid_(type|value)$/.test(issue.code) && Array.isArray(issue.input)
    ? 'is sent more than once'
    : issueMessage(issue)

/** A value of a wrong type may break further rules, such as the length of an array where a text belongs. */
function withoutFollowing(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const wrongTypes = issues.filter(({ code }) => code === 'invalid_type')
  const mistaken = new Set(wrongTypes.map(({ path }) => memberPath(path)))
  return issues.filter(({ code, path }) => code === 'invalid_type' || !mistaken.has(memberPath(path)))
}

interface InvalidMember {
  readonly path: MemberPath
  readonly reason: string
}

/** One mistake may break several rules of a text or number. A map or list that breaks several has several. */
function onceEach(value: unknown, invalid: readonly InvalidMember[]): InvalidMember[] {
  const seen = new Set<string>()
  return invalid.filter(({ path, reason }) => {
    const mistake = valueAt(value, path) instanceof Object ? memberMessage(path, reason) : memberPath(path)
    return !seen.has(mistake) && seen.add(mistake)
  })
}

const valueAt = (value: unknown, path: MemberPath) =>
  path.reduce<unknown>((part, step) => (part as Record<PropertyKey, unknown> | null)?.[step], value)

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
