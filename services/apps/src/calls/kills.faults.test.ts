import { setTimeout as pause } from 'node:timers/promises'
import type { Installation } from '@backoffice/contracts/app.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import { appsService } from '../testing/apps-service.ts'
import type { PartnerApp } from '../testing/partner-app.ts'

const platform = await appsService({ APP_RETRY_DELAYS: '100ms', APP_ANSWER_TIMEOUT: '5s' })
const { admin, anApp, aWorkspace, keys, endpoints, installation } = platform
const appsSql = platform.sqlOf('apps')
const WEBHOOKS = { path: '/hook', events: ['order.paid'] }
const ROUNDS = 5
const RECOVERY_MS = 60_000

/** Kills the process of apps and starts it anew. */
async function restartApps(): Promise<void> {
  await platform.end('apps')
  await platform.startAgain('apps')
}

/** Repeats a request until a process answers it. */
const answered = <Body>(method: string, path: string, body?: unknown) =>
  eventually(
    `${method} ${path} is answered`,
    async () => {
      const answer = await admin<Body>(method, path, body).catch(() => undefined)
      return answer !== undefined && answer.status < 500 && answer.status !== 429 && answer
    },
    RECOVERY_MS,
  )

/** Installs an app, whatever processes end meanwhile; returns the installation's id. */
async function installed(provider: string, workspace: string): Promise<string> {
  const path = `/workspaces/${workspace}/installations`
  const { status, body } = await answered<Installation>('POST', path, { provider })
  if (status !== 201) throw new Error(`installing answered ${status} ${JSON.stringify(body)}`)
  expect((await answered('POST', `/installations/${body.id}/consent`)).status).toBe(200)
  return body.id
}

const uninstalled = async (id: string) => expect((await answered('DELETE', `/installations/${id}`)).status).toBe(202)

const settled = (count: number, state: string, ids: readonly string[]) =>
  eventually(
    `${count} are ${state}, and no call waits`,
    async () => {
      const [found] = await appsSql<{ count: number }[]>`
        select count(*)::integer as count from installation
        where id = any(${ids}::uuid[]) and state = ${state}
          and not exists (select from call where call.installation_id = installation.id)`
      return found?.count === count
    },
    RECOVERY_MS,
  )

const requestsOf = (app: PartnerApp, path: string, workspace: string) =>
  app.requests(path).filter(({ claims }) => claims.wid === workspace)

/** Expects one key and one endpoint in the workspace, and that every attempt delivered them. */
async function expectInstalled(app: PartnerApp, workspace: string) {
  const attempts = requestsOf(app, '/install/provision', workspace)
  expect(new Set(attempts.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  expect(new Set(attempts.map(({ claims }) => claims.jti)).size).toBe(attempts.length)
  expect(await keys(workspace)).toMatchObject([{ is_activated: true, is_revoked: false }])
  expect(await endpoints(workspace)).toHaveLength(1)
}

/** Expects no access, and that the app was told. */
async function expectUninstalled(app: PartnerApp, workspace: string) {
  expect((await keys(workspace)).filter((key) => !key.is_revoked)).toEqual([])
  expect(await endpoints(workspace)).toEqual([])
  expect(requestsOf(app, '/install/uninstall', workspace).length).toBeGreaterThan(0)
}

test(`killed ${ROUNDS} times while apps are installed and uninstalled, each has one key, one endpoint and one state`, async () => {
  const app = await anApp({ webhooks: WEBHOOKS })
  app.answerWith(async (response) => {
    await pause(Math.random() * 40)
    response.writeHead(200).end()
  })
  const workspaces = await Promise.all(Array.from({ length: 2 * ROUNDS }, aWorkspace))
  const ids = new Map<string, string>()
  const ended = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const [staying, leaving] = workspaces.slice(2 * round)
    const previous = workspaces[2 * round - 1]
    const working = Promise.all([
      ...[staying, leaving].map(async (at = '') => ids.set(at, await installed(app.provider, at))),
      previous && uninstalled(ids.get(previous) ?? '').then(() => ended.add(previous)),
    ])
    await pause(Math.random() * 150)
    await restartApps()
    await working
  }
  const last = workspaces.at(-1) ?? ''
  await uninstalled(ids.get(last) ?? '')
  ended.add(last)
  const idsOf = (hasEnded: boolean) => [...ids].filter(([at]) => ended.has(at) === hasEnded).map(([, id]) => id)
  await settled(ROUNDS, 'ACTIVE', idsOf(false))
  await settled(ROUNDS, 'UNINSTALLED', idsOf(true))
  for (const at of workspaces) await (ended.has(at) ? expectUninstalled(app, at) : expectInstalled(app, at))
  const acts = await eventually('every act is in the audit log', async () => {
    const rows = await platform.sqlOf('gateway')<{ count: number; distinct: number }[]>`
      select count(*)::integer as count, count(distinct (target, action))::integer as distinct
      from audit where target = any(${[...ids.values()].map((id) => `installations/${id}`)})`
    return rows[0] !== undefined && rows[0].distinct >= 6 * ROUNDS && rows[0]
  })
  expect(acts.count).toBe(acts.distinct)
})

test('an app is installed although the gateway and webhook-delivery were away', async () => {
  const app = await anApp({ webhooks: WEBHOOKS })
  const workspace = await aWorkspace()
  await platform.end('webhook-delivery')
  const id = await installed(app.provider, workspace)
  const error = (service: string) =>
    eventually(`${service} is away`, async () => {
      const [row] = await appsSql<{ last_error: string | null }[]>`select last_error from installation where id = ${id}`
      return row?.last_error?.startsWith(`${service} does not answer`)
    })
  await error('webhook-delivery')
  await platform.end('gateway')
  await error('gateway')
  expect(app.requests('/install/provision')).toEqual([])
  await Promise.all([platform.startAgain('gateway'), platform.startAgain('webhook-delivery')])
  await settled(1, 'ACTIVE', [id])
  await expectInstalled(app, workspace)
  await platform.end('webhook-delivery')
  await uninstalled(id)
  await error('webhook-delivery')
  expect(app.requests('/install/uninstall')).toEqual([])
  await platform.startAgain('webhook-delivery')
  await settled(1, 'UNINSTALLED', [id])
  await expectUninstalled(app, workspace)
})

test('apps are installed although the connections to PostgreSQL are lost again and again', async () => {
  const app = await anApp({ webhooks: WEBHOOKS })
  const workspaces = await Promise.all(Array.from({ length: 10 }, aWorkspace))
  const working = Promise.all(workspaces.map((workspace) => installed(app.provider, workspace)))
  for (let round = 0; round < 5; round++) {
    await pause(Math.random() * 60)
    await appsSql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and usename in ('apps', 'apps_worker')`
  }
  const ids = await working
  await settled(workspaces.length, 'ACTIVE', ids)
  for (const workspace of workspaces) await expectInstalled(app, workspace)
})

test('of two replicas one makes each call', async () => {
  const second = await platform.startReplica('apps')
  const app = await anApp({ webhooks: WEBHOOKS })
  app.answerWith(async (response) => {
    await pause(20)
    response.writeHead(200).end()
  })
  const workspaces = await Promise.all(Array.from({ length: 16 }, aWorkspace))
  const ids = await Promise.all(workspaces.map((workspace) => installed(app.provider, workspace)))
  await settled(workspaces.length, 'ACTIVE', ids)
  expect(app.requests('/install/provision')).toHaveLength(workspaces.length)
  for (const workspace of workspaces) await expectInstalled(app, workspace)
  const madeBy = (output: string) => ids.filter((id) => output.includes(`"installation_id":"${id}"`))
  // A call is logged after its transaction.
  await expect.poll(() => madeBy(platform.output('apps')).length + madeBy(second.output()).length).toBe(ids.length)
})

test('an attempt of a process that was stopped for long changes nothing after another one has uninstalled the app', async () => {
  const app = await anApp({ webhooks: WEBHOOKS })
  app.answerWith(() => undefined)
  const workspace = await aWorkspace()
  const id = await installed(app.provider, workspace)
  await eventually('the app is called', () => app.requests('/install/provision').length > 0)
  const stopped = platform.pid('apps')
  process.kill(stopped, 'SIGSTOP')
  app.answer(200)
  await platform.startReplica('apps')
  await settled(1, 'ACTIVE', [id])
  await appsSql`update installation set state = 'UNINSTALLED', uninstalled_at = now() where id = ${id}`
  await appsSql`
    insert into call (workspace_id, installation_id, app_id, kind, former_key_id, former_endpoint_id, reason)
    select workspace_id, id, app_id, 'uninstall', key_id, endpoint_id, 'operator' from installation where id = ${id}`
  await settled(1, 'UNINSTALLED', [id])
  process.kill(stopped, 'SIGCONT')
  await eventually('the stopped attempt has ended', () => platform.output('apps').includes('call failed'))
  expect((await installation(id)).state).toBe('UNINSTALLED')
  await expectUninstalled(app, workspace)
  expect(app.requests('/install/provision')).toHaveLength(2)
})
