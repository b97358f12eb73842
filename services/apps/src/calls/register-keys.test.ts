import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { appsApi } from '../testing/apps-api.ts'
import type { PlatformClient } from './platform-client.ts'
import { registerKeys } from './register-keys.ts'

const { acknowledge, admin, anApp, db, install, send, workerUrl } = await appsApi()
const worker = openDatabase({ url: workerUrl, applicationName: 'test registration' })
whenDone(() => worker.stop?.())

it('a key that cannot be registered holds up no other, in its workspace or elsewhere, and is tried again', async () => {
  const { provider } = await anApp()
  const further = await anApp()
  const [first = '', ...others] = [aCaller(), aCaller(), aCaller()].map(({ workspaceId }) => workspaceId).toSorted()
  const installed = [first, ...others].map((workspaceId) => [workspaceId, provider] as const)
  for (const [workspaceId, app] of [...installed, [first, further.provider] as const]) {
    const caller = aCaller({ workspaceId })
    const { body } = await install(caller, app)
    await send(caller, 'POST', `/internal/installations/${body.id}/consent`)
    await acknowledge(body.id)
  }
  let fails = true
  const platform = {
    async registerKey({ workspaceId }, _keyId, of) {
      if (workspaceId === first && of.provider === provider && fails) throw new Error('away')
    },
  } as Partial<PlatformClient> as PlatformClient
  const logged: object[] = []
  const logger = Object.assign(createLogger('test', 'silent'), { warn: (line: object) => logged.push(line) })
  const registering = registerKeys({ db, worker, platform, logger })
  await registering.start?.()
  whenDone(() => registering.stop?.())
  const left = async () => {
    registering.wake()
    const rows = await admin<{ workspace_id: string }[]>`
      select workspace_id from installation where registered_key_id is distinct from key_id`
    return rows.map((row) => row.workspace_id)
  }
  await expect.poll(left).toEqual([first])
  expect(logged[0]).toMatchObject({ workspace_id: first, installation_id: expect.any(String) })
  fails = false
  await expect.poll(left).toEqual([])
})
