import { PLATFORM } from '@backoffice/contracts/app.ts'
import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import { conflict } from '@backoffice/contracts/errors.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { audienceOf } from './app-row.ts'

/**
 * Throws `conflict` when the provider or the audience is or was a name of another app (OP-225). The trigger
 * `claim_names` claims both. Of two apps that claim one at once, the second transaction runs again and is refused here.
 */
export async function refuseTakenNames(tx: Transaction, appId: string, manifest: AppManifest): Promise<void> {
  const { provider } = manifest
  const [taken] = await tx<{ name: string; visibleApp: string | null }[]>`
    select name, (select id from app where id = app_id) as "visibleApp" from app_name
    where name in (${provider}, ${audienceOf(manifest)}) and app_id <> ${appId}
    order by name <> ${provider}`
  if (taken === undefined) return
  const { name, visibleApp } = taken
  const member = name === provider ? 'provider' : 'audience'
  const other = visibleApp === null ? 'another app' : `app ${visibleApp}`
  // The prefix is the sandbox's own, and names end with their draft: one that it does not see was there before a reset.
  const reason =
    tx.context.workspaceId === PLATFORM || visibleApp !== null
      ? `is or was the provider or audience of ${other}; take another`
      : 'is of a draft from before the reset, which is being deleted; it is free once that app has heard of its uninstallation'
  throw conflict(['manifest', member], `${name} ${reason}`, 'name_taken')
}
