import type { z } from 'zod'
import { badRequest, type MemberPath, memberMessage } from './errors.ts'

const SHOWN = 5

/**
 * Validates a part of a request, or a row of an import. Throws `bad_request`, whose message names each invalid member
 * (OP-02) and whose `path` is that of the first.
 */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown, part: string): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const invalid = result.error.issues.flatMap((issue) => invalidMembers(issue, part))
  const messages = [...new Set(invalid.map(({ path, reason }) => memberMessage(path, reason)))]
  const { path, reason } = invalid[0] ?? { path: [part], reason: 'is invalid' }
  const more = messages.length > SHOWN ? ` (and ${messages.length - SHOWN} more)` : ''
  throw badRequest(path, [reason, ...messages.slice(1, SHOWN)].join('; ') + more)
}

function invalidMembers(issue: z.core.$ZodIssue, part: string): { path: MemberPath; reason: string }[] {
  const path = issue.path.length === 0 ? [part] : issue.path
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...issue.path, key], reason: 'unknown member' }))
  }
  if (issue.code === 'invalid_key') return [{ path, reason: issue.issues[0]?.message ?? issue.message }]
  const reason = issue.message
    .replace(/^(Invalid input|Invalid option|Too small|Too big): /, '')
    .replace(/, received undefined$/, ' (it is missing)')
  return [{ path, reason }]
}
