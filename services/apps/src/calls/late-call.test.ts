import { guardedAgent } from '@backoffice/outbound/guarded-agent.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test, vi } from 'vitest'
import { appsApi } from '../testing/apps-api.ts'
import { testSecretKeys, testTokenKeys } from '../testing/test-keys.ts'
import { appTokens } from '../tokens/app-tokens.ts'
import { acknowledged, installationOf } from './calling.ts'
import { claimCalls, LostClaim } from './claim-calls.ts'
import { freeSlots } from './make-calls.ts'

const { admin, db, workerUrl, anApp, install, send } = await appsApi()
const worker = openDatabase({ url: workerUrl, applicationName: 'test worker' })
const agent = guardedAgent({ allowLoopback: true })
whenDone(() => Promise.all([worker.stop?.(), agent.destroy()]))

test('a call is not sent when the process stood still until its claim was over: another replica may have made it', async () => {
  const receiver = await startReceiver()
  const { id, provider } = await anApp()
  await admin`update app set origin = ${receiver.url} where id = ${id}`
  const caller = aCaller()
  const { body } = await install(caller, provider)
  await send(caller, 'POST', `/internal/installations/${body.id}/consent`)
  const calling = {
    ...{ db, worker, schedule: [1000], logger: createLogger('test', 'silent') },
    platform: {} as never,
    tokens: appTokens(testTokenKeys, 'https://platform.test'),
    app: { agent, answerMs: 10_000 },
    secretKeys: SecretKeys.parse(testSecretKeys),
  }
  const [call] = await claimCalls(calling, freeSlots())
  if (call === undefined) throw new Error('nothing was claimed')
  const installation = await installationOf(calling, call)
  const request = { path: '/install/provision', body: {}, signal: new AbortController().signal } as const
  await acknowledged(calling, call, installation, request)
  expect(receiver.requests).toHaveLength(1)

  const dispatch = agent.dispatch.bind(agent)
  vi.spyOn(agent, 'dispatch').mockImplementationOnce((...given) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
    whenDone(() => vi.useRealTimers())
    return dispatch(...given)
  })
  await expect(acknowledged(calling, call, installation, request)).rejects.toThrow(LostClaim)
  expect(receiver.requests).toHaveLength(1)
})
