import { randomUUID } from 'node:crypto'
import { unprocessable } from '@backoffice/contracts/errors.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import type { PlatformClient } from '../calls/platform-client.ts'
import { appsApi, operator } from '../testing/apps-api.ts'
import { BATCH_SIZE, sweepInstallations } from './sweep-installations.ts'

const { acknowledge, admin, anApp, db, install, send, workerUrl } = await appsApi()
const worker = openDatabase({ url: workerUrl, applicationName: 'test sweeps' })
whenDone(() => worker.stop?.())
const logger = createLogger('test', 'silent')
const schedule = [10]

async function installed() {
  const app = await anApp()
  const caller = aCaller()
  const { body } = await install(caller, app.provider)
  await send(caller, 'POST', `/internal/installations/${body.id}/consent`)
  await acknowledge(body.id)
  return app
}

/** An app with so many installations, each with an endpoint. */
async function withEndpoints(count: number) {
  const app = await anApp({ webhooks: { path: '/hook', events: ['order.paid'] } })
  const installations: { id: string; endpoint: string }[] = []
  for (let n = 0; n < count; n++) {
    const { body } = await install(aCaller(), app.provider)
    const endpoint = randomUUID()
    await admin`
      update installation set state = 'ACTIVE', manifest = requested_manifest, requested_manifest = null,
        key_id = ${randomUUID()}, endpoint_id = ${endpoint}, activated_at = now()
      where id = ${body.id}`
    installations.push({ id: body.id, endpoint })
  }
  return { ...app, installations }
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
  const sweeps = sweepInstallations({ db, worker, platform, schedule, logger })
  await change(hanging.id, 'suspend')
  await sweeps.start?.()
  whenDone(async () => {
    hangs.resolve()
    await sweeps.stop?.()
  })
  await begun.promise
  await change(other.id, 'suspend')
  await expect.poll(() => isInForce(other.id)).toBe(true)
  await change(hanging.id, 'resume')
  await expect.poll(() => isInForce(hanging.id)).toBe(true)
})

it('a sweep ends once its app has changed again: it takes no endpoint back to an origin that the app has left', async () => {
  const { id: appId, manifest, installations } = await withEndpoints(BATCH_SIZE + 1)
  const [former, mistaken] = ['https://app.example', 'https://mistaken.example']
  const urls = new Map(installations.map(({ endpoint }) => [endpoint, former]))
  const hangs = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const platform = {
    async moveEndpoint(_, endpoint, to) {
      if (to.url.startsWith(mistaken) && endpoint === [...urls.keys()][0]) {
        begun.resolve()
        await hangs.promise
      }
      if (to.former.some((url) => new URL(url).origin === urls.get(endpoint)))
        urls.set(endpoint, new URL(to.url).origin)
    },
  } as Partial<PlatformClient> as PlatformClient
  const ended = Promise.withResolvers<void>()
  const noting = Object.assign(createLogger('test', 'silent'), { warn: () => ended.resolve() })
  const sweeps = sweepInstallations({ db, worker, platform, schedule, logger: noting })
  const moveTo = (origin: string) => send(operator, 'PUT', `/internal/apps/${appId}`, { origin, manifest })
  await moveTo(mistaken)
  await sweeps.start?.()
  whenDone(() => sweeps.stop?.())
  await begun.promise
  await moveTo(former)
  await expect.poll(() => isInForce(appId)).toBe(true)
  hangs.reject(new Error('away'))
  await ended.promise
  expect(new Set(urls.values())).toEqual(new Set([former]))
})

it('an installation that fails is tried again alone, until it is done', async () => {
  const app = await withEndpoints(BATCH_SIZE + 2)
  const [failing, ...others] = app.installations.map(({ id }) => id)
  const visits: string[] = []
  const platform = {
    changeKey: async () => undefined,
    async changeDeliveries(_, { installation }) {
      visits.push(installation)
      if (installation === failing && visits.filter((id) => id === failing).length < 4) throw new Error('away')
    },
  } as Partial<PlatformClient> as PlatformClient
  const sweeps = sweepInstallations({ db, worker, platform, schedule, logger })
  await change(app.id, 'suspend')
  await sweeps.start?.()
  whenDone(() => sweeps.stop?.())
  await expect.poll(() => isInForce(app.id)).toBe(true)
  expect(visits.filter((id) => id === failing)).toHaveLength(4)
  expect(visits.filter((id) => id !== failing).toSorted()).toEqual(others.toSorted())
})

it('an endpoint whose new address is refused for good is named in the log, and asked for once', async () => {
  const { id: app_id, manifest, installations } = await withEndpoints(2)
  const asked: string[] = []
  const platform = {
    async moveEndpoint(_, endpoint) {
      asked.push(endpoint)
      throw unprocessable(['url'], 'is not a public address', 'forbidden_target')
    },
  } as Partial<PlatformClient> as PlatformClient
  const lines: unknown[] = []
  const noting = Object.assign(createLogger('test', 'silent'), {
    warn: (ids: object, text: string) => lines.push({ ...ids, text }),
  })
  const sweeps = sweepInstallations({ db, worker, platform, schedule, logger: noting })
  await send(operator, 'PUT', `/internal/apps/${app_id}`, { origin: 'https://private.example', manifest })
  await sweeps.start?.()
  whenDone(() => sweeps.stop?.())
  await expect.poll(() => isInForce(app_id)).toBe(true)
  const text = 'work failed; it was refused for good'
  expect(lines).toEqual(
    expect.arrayContaining(
      installations.map(({ id, endpoint }) =>
        expect.objectContaining({ app_id, installation_id: id, endpoint_id: endpoint, text }),
      ),
    ),
  )
  expect(asked.toSorted()).toEqual(installations.map(({ endpoint }) => endpoint).toSorted())
})
