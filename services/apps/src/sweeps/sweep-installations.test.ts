import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import type { PlatformClient } from '../calls/platform-client.ts'
import { appsApi, operator } from '../testing/apps-api.ts'
import { sweepInstallations } from './sweep-installations.ts'

const { acknowledge, anApp, db, install, send, workerUrl } = await appsApi()
const worker = openDatabase({ url: workerUrl, applicationName: 'test sweeps' })
whenDone(() => worker.stop?.())
const logger = createLogger('test', 'silent')

async function installed() {
  const app = await anApp()
  const caller = aCaller()
  const { body } = await install(caller, app.provider)
  await send(caller, 'POST', `/internal/installations/${body.id}/consent`)
  await acknowledge(body.id)
  return app
}
const change = (id: string, verb: 'suspend' | 'resume') => send(operator, 'POST', `/internal/apps/${id}/${verb}`, {})
const isInForce = async (id: string) =>
  (await send<{ in_force: boolean }>(operator, 'GET', `/internal/apps/${id}/status`)).body.in_force

it('the suspension of an app waits for no sweep of another one, nor for one of its own that hangs', async () => {
  const [hanging, other] = [await installed(), await installed()]
  const hangs = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const platform = {
    changeKey: async () => undefined,
    async changeDeliveries(_, { provider }, verb) {
      if (provider !== hanging.provider || verb === 'resume') return
      begun.resolve()
      await hangs.promise
    },
  } as Partial<PlatformClient> as PlatformClient
  const sweeps = sweepInstallations({ db, worker, platform, logger })
  await change(hanging.id, 'suspend')
  await sweeps.start?.()
  whenDone(async () => {
    hangs.resolve()
    await sweeps.stop?.()
  })
  await begun.promise
  await change(other.id, 'suspend')
  await expect.poll(() => isInForce(other.id), { timeout: 5000 }).toBe(true)
  await change(hanging.id, 'resume')
  await expect.poll(() => isInForce(hanging.id), { timeout: 5000 }).toBe(true)
})
