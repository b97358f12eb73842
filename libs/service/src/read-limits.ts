import { ServiceLimits } from '@backoffice/contracts/usage.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { commaSeparated, type SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

/** Something that a workspace may have so much of. */
interface ServiceLimit {
  readonly name: string
  readonly most: number
  /** A query for what the transaction's workspace has of it: one number, or no row for none. */
  used(tx: Transaction): SqlPart
}

/** GET /internal/limits: the limits of a service, with what the workspace has of each (OP-297). One statement. */
export const readLimits = (...limits: readonly ServiceLimit[]) =>
  operation({
    method: 'GET',
    path: '/internal/limits',
    scope: 'internal',
    responses: { 200: ServiceLimits },

    handle: ({ inWorkspace }) =>
      inWorkspace(async (tx) => {
        const counts = limits.map(({ used }) => tx`coalesce((${used(tx)}), 0)`)
        const [{ used }] = await tx<
          [{ used: number[] }]
        >`select json_build_array(${commaSeparated(tx, counts)}) as used`
        return ok({ limits: limits.map(({ name, most }, index) => ({ name, used: used[index], most })) })
      }),
  })

/** The limit of the bytes of a workspace's files (OP-164). */
export const storedBytesLimit = (name: string, most: number): ServiceLimit => ({
  name,
  most,
  used: (tx) => tx`select bytes from stored_bytes where workspace_id = ${tx.context.workspaceId}`,
})
