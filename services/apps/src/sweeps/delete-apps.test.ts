import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { appsApi } from '../testing/apps-api.ts'
import { deleteApps } from './delete-apps.ts'

const { acknowledge, admin, anApp, db, install, send, workerUrl } = await appsApi()
const worker = openDatabase({ url: workerUrl, applicationName: 'test deletions' })
whenDone(() => worker.stop?.())

it('a workspace whose installation cannot be ended keeps no other one, nor another app, from being deleted', async () => {
  const [app, later] = [await anApp(), await anApp()]
  const installed = []
  for (let n = 0; n < 3; n++) {
    const caller = aCaller()
    const { body } = await install(caller, app.provider)
    await send(caller, 'POST', `/internal/installations/${body.id}/consent`)
    await acknowledge(body.id)
    installed.push(body.id)
  }
  const [refused] = installed.toSorted()
  await admin.unsafe(`
    create function refuse_end() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse_end before update on installation for each row
      when (new.id = '${refused}' and new.state = 'UNINSTALLED') execute function refuse_end()`)
  await admin`update app set deleted_at = now() where id in (${app.id}, ${later.id})`
  const deletion = deleteApps({ db, worker, logger: createLogger('test', 'silent'), wake: () => undefined })
  await deletion.start?.()
  whenDone(() => deletion.stop?.())
  const active = async () => {
    const rows = await admin<{ id: string }[]>`
      select id from installation where app_id = ${app.id} and state in ('PENDING', 'ACTIVE')`
    return rows.map(({ id }) => id)
  }
  await expect.poll(active).toEqual([refused])
  await expect.poll(() => admin`select from app where id = ${later.id}`).toHaveLength(0)
})
