import { ApiError } from './errors.ts'

/** Resources and actions a key can be granted (OP-04). */
export const RESOURCES = ['product', 'sale', 'customer', 'import', 'webhook', 'app', 'workspace'] as const
export const ACTIONS = ['read', 'create', 'update', 'delete'] as const

type Resource = (typeof RESOURCES)[number]
export type Scope = `${Resource}::${(typeof ACTIONS)[number]}`

/** All grants that a key can have: full access, a whole resource, or one action on a resource. */
export const GRANTS: readonly string[] = [
  '*',
  ...RESOURCES,
  ...RESOURCES.flatMap((resource) => ACTIONS.map((action) => `${resource}::${action}`)),
]

/** Whether a key's grants cover the scope of an operation (OP-04). */
export function isGranted(grants: readonly string[], needed: Scope): boolean {
  const resource = needed.slice(0, needed.indexOf('::'))
  return grants.some((grant) => grant === '*' || grant === resource || grant === needed)
}

/** Throws `insufficient_scope` when a key's grants do not cover the scope. */
export function refuseWithout(needed: Scope, grants: readonly string[]): void {
  if (!isGranted(grants, needed)) throw new ApiError('insufficient_scope', `API key lacks required scope: ${needed}`)
}
