import type { App, Installation } from '@backoffice/contracts/app.ts'
import { PLATFORM } from '@backoffice/contracts/app.ts'
import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { guardedAgent } from '@backoffice/outbound/guarded-agent.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { operations } from '../operations.ts'
import { appTokens } from '../tokens/app-tokens.ts'
import { testSecretKeys, testTokenKeys } from './test-keys.ts'

/** An operator, as the gateway names one. */
export const operator = aCaller({ workspaceId: PLATFORM, keyId: 'operator Ann', scopes: [] })

/** The API without the worker that calls apps: what it commits stays. `addresses` are those of every name. */
export async function appsApi({ allowLoopback = true, addresses = ['8.8.8.8'] } = {}) {
  const database = await testDatabase('apps')
  const worker = openDatabase({ url: database.workerUrl, applicationName: 'test worker' })
  const agent = guardedAgent({ allowLoopback })
  whenDone(() => Promise.all([worker.stop?.(), agent.destroy()]))
  const workspace = { name: 'Shop', domain: 'shop.example' }
  const declared = operations({
    db: database.db,
    worker,
    tokens: appTokens(testTokenKeys, 'https://platform.test'),
    app: { agent, answerMs: 10_000 },
    secretKeys: SecretKeys.parse(testSecretKeys),
    policy: { allowLoopback },
    resolve: async () => addresses,
    workspaceOf: async ({ workspaceId }) => ({ ...workspace, live_workspace: workspaceId }),
    wake: () => undefined,
  })
  const send = serviceClient(database.db, declared)

  const anApp = async (differences: Partial<AppManifest> = {}) => {
    const provider = `app-${crypto.randomUUID()}`
    const manifest = { provider, scopes: ['product::read'], embed: '/embed', ...differences }
    const { body } = await send<App>(operator, 'POST', '/internal/apps', { origin: 'https://app.example', manifest })
    return { ...body, manifest }
  }
  const install = async (caller: Caller, provider: string) =>
    send<Installation>(caller, 'POST', '/internal/installations', { provider, workspace })
  return {
    ...database,
    send,
    /** Registers an app with a provider of its own. */
    anApp,
    install,
    /** As if the app had acknowledged the call that waits. */
    async acknowledge(id: string) {
      await database.admin`
        update installation set
          state = 'ACTIVE', activated_at = now(), manifest = call.manifest, key_id = call.key_id, endpoint_id = call.endpoint_id
        from call where call.installation_id = id and id = ${id}`
      await database.admin`delete from call where installation_id = ${id}`
    },
    /** The acts on a target, oldest first, as `actor action`. */
    async acts(target: string) {
      const rows = await database.admin<{ data: { actor: string; action: string } }[]>`
        select payload as data from outbox where key = ${target} order by id`
      return rows.map(({ data }) => `${data.actor} ${data.action}`)
    },
  }
}
