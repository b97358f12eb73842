import type { AppsRequest } from './apps-client.ts'

interface OperatorInput {
  readonly operator: string
  readonly requestId: string
  readonly traceparent: string
}

/** The request of an operator, in the whole platform or in one workspace. */
export const askedBy = (
  { operator, requestId, traceparent }: OperatorInput,
  workspace?: AppsRequest['workspace'],
): AppsRequest => ({ actor: operator, requestId, traceparent, ...(workspace && { workspace }) })

/** `?page=2&limit=50` of a validated query; empty when nothing is given. */
export function queryText(query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  const text = new URLSearchParams(Object.fromEntries(given)).toString()
  return text && `?${text}`
}
