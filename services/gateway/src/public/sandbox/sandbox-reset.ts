import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { exampleOf, namedObject } from '@backoffice/contracts/named.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { z } from 'zod'

/** A reset of a sandbox (OP-287). */
export const SandboxReset = namedObject(
  'SandboxReset',
  { workspace: Id, former_workspace: Id, requested_at: Timestamp },
  {
    workspace: '0198c7a0-0000-7000-8000-000000000075',
    former_workspace: '0198c7a0-0000-7000-8000-000000000071',
    requested_at: '2026-03-01T12:00:00.000Z',
  },
)
/** With whether every service has deleted what the former workspace had. */
export const SandboxResetStatus = namedObject(
  'SandboxResetStatus',
  { ...SandboxReset.shape, completed: z.boolean() },
  { ...(exampleOf(SandboxReset) as SandboxReset), completed: false },
)
export type SandboxReset = z.output<typeof SandboxReset>

/** The last reset of a sandbox, or the one that replaced `former`. `worker` reads across workspaces. */
export async function findReset(worker: Sql, sandbox: string, former?: string): Promise<SandboxReset | undefined> {
  const [found] = await worker<{ id: string; at: Date }[]>`
    select deletion.id, requested_at as at
    from workspace_deletion as deletion
    join workspace on workspace.parent = deletion.parent and workspace.id = ${sandbox} and not livemode
    where deletion.id not in (workspace.id, deletion.parent)
      ${former === undefined ? worker`` : worker`and deletion.id = ${former}`}
    order by requested_at desc limit 1`
  return found && { workspace: sandbox, former_workspace: found.id, requested_at: found.at.toISOString() }
}
