import type { z } from 'zod'

/**
 * Reads the body of an internal answer, which it changes: members that the schema does not name are left out, since the
 * service may be of a later version. Throws a ZodError for another shape.
 */
export function readAnswer<Answer>(schema: z.ZodType<Answer>, body: unknown): Answer {
  const { success, data, error } = schema.safeParse(body)
  if (success) return data
  for (const issue of error.issues) {
    if (issue.code !== 'unrecognized_keys') continue
    const object = issue.path.reduce((found: unknown, name) => (found as Record<PropertyKey, unknown>)[name], body)
    for (const key of issue.keys) delete (object as Record<string, unknown>)[key]
  }
  return schema.parse(body)
}
