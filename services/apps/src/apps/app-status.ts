import type { AppStatus } from '@backoffice/contracts/app.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type AppRow, noSuchApp } from './app-row.ts'
import { type Action, type Actor, recordAct } from './record-act.ts'

type Change = Partial<Pick<AppRow, 'suspended_at' | 'suspension_reason' | 'deleted_at'>>

/**
 * Changes the status of an app, as `decide` says of the locked row, and lets the sweep bring it to its installations.
 * Without a change nothing happens. Throws `not_found`.
 */
export async function changeApp(
  tx: Transaction,
  id: string,
  action: Action,
  actor: Actor,
  now: Date,
  decide: (app: AppRow) => Change | undefined,
): Promise<AppStatus> {
  const [app] = await tx<AppRow[]>`select * from app where id = ${id} for no key update`
  if (app === undefined) throw noSuchApp(id)
  const change = decide(app)
  if (change === undefined) return statusBody(app)
  // Later than the change before, whatever the clocks of two replicas say: other services compare these times.
  const [changed] = await tx<AppRow[]>`
    update app set
      ${tx(change)},
      suspension_changed_at = greatest(${now}, suspension_changed_at + interval '1 millisecond'),
      version = version + 1, swept_to = '00000000-0000-0000-0000-000000000000'
    where id = ${id}
    returning *`
  await recordAct(tx, actor, action, `apps/${id}`, now)
  return statusBody(changed as AppRow)
}

export const statusBody = (app: AppRow): AppStatus => ({
  id: app.id,
  provider: app.provider,
  status: app.deleted_at !== null ? 'DELETED' : app.suspended_at !== null ? 'SUSPENDED' : 'ACTIVE',
  reason: app.suspension_reason,
  changed_at: app.suspension_changed_at?.toISOString() ?? null,
  in_force: app.swept_to === null,
})
