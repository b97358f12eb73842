import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import { appsService } from '../testing/apps-service.ts'

const { admin, anApp, consented, inState, installation, sqlOf } = await appsService({ APP_RETRY_DELAYS: '1h' })

test('ending the access of an uninstalled app is tried again within a minute, however long calls to apps wait', async () => {
  const { id } = await consented(await anApp())
  await inState(id, 'ACTIVE')
  await sqlOf('webhook-delivery').unsafe('alter table app_installation rename to away')
  await admin('DELETE', `/installations/${id}`)
  await eventually('its call fails', async () => (await installation(id)).last_error !== null)
  expect(await sqlOf('apps')`select access_due_at - clock_timestamp() <= '1 minute' as is_soon from call`).toEqual([
    { is_soon: true },
  ])
})
