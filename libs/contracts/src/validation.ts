import type { z } from 'zod'
import { badRequest } from './errors.ts'

const SHOWN = 5

/** Validates one part of a request, or a row of an import. Throws `bad_request` whose message names each offending field by its path (OP-02). */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown, part: string): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const problems = [...new Set(result.error.issues.flatMap((issue) => describe(issue, part)))]
  const more = problems.length > SHOWN ? ` (and ${problems.length - SHOWN} more)` : ''
  throw badRequest(problems.slice(0, SHOWN).join('; ') + more)
}

function describe(issue: z.core.$ZodIssue, part: string): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${pathOf([...issue.path, key], part)}: unknown member`)
  }
  if (issue.code === 'invalid_key') {
    return [`${pathOf(issue.path, part)}: ${issue.issues[0]?.message ?? issue.message}`]
  }
  const message = issue.message
    .replace(/^(Invalid input|Invalid option|Too small|Too big): /, '')
    .replace(/, received undefined$/, ' (it is missing)')
  return [`${pathOf(issue.path, part)}: ${message}`]
}

/** `['variants', 1, 'sku']` as `variants[1].sku`; the part's own name where the path is empty. */
function pathOf(path: readonly PropertyKey[], part: string): string {
  if (path.length === 0) return part
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '')
}
