import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { type Api, apiClient } from './api.ts'
import { closedLoop, percentile } from './load.ts'
import type { Row } from './table.ts'

const COUNT = 100
const HANGING = 1000

/** The time from the request to consent to the app's call with its key, beside an app that hangs. */
export async function measureApps({ gateway, admin_token }: StackDescription): Promise<Row[]> {
  const admin = apiClient(gateway, { authorization: `Bearer ${admin_token}` })
  const [app, hanging] = [await startApp(), await startApp(() => undefined)]
  const providers = [await register(admin, app.origin), await register(admin, hanging.origin)] as const
  const measured = async (name: string) => {
    const latencies: number[] = []
    for (let each = 0; each < COUNT; each++) {
      const called = app.nextCall()
      const startedAt = await consent(admin, providers[0])
      latencies.push((await called) - startedAt)
    }
    return {
      name,
      measured: `p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`,
      bound: 'p99 ≤ 1,000 ms',
    }
  }
  const alone = await measured('consent → app called with its key')
  await closedLoop(HANGING, 16, () => consent(admin, providers[1]))
  const beside = await measured(`… while another app hangs in ${HANGING} workspaces`)
  for (const { stop } of [app, hanging]) stop()
  await admin.close()
  return [alone, beside]
}

/** Registers an app with webhooks, and returns its provider. */
async function register(admin: Api, origin: string): Promise<string> {
  const provider = `bench-${crypto.randomUUID()}`
  const webhooks = { path: '/hook', events: ['order.paid'] }
  await admin.post('/admin/v1/apps', { origin, manifest: { provider, scopes: ['sale'], embed: '/', webhooks } })
  return provider
}

/** Consents to an app in a new workspace, and returns when the consent was sent. */
async function consent(admin: Api, provider: string): Promise<number> {
  const workspace = await admin.post<{ id: string }>('/admin/v1/workspaces', { name: 'Bench' })
  const path = `/admin/v1/workspaces/${workspace.id}/installations`
  const { id } = await admin.post<{ id: string }>(path, { provider })
  const startedAt = performance.now()
  await admin.post(`/admin/v1/installations/${id}/consent`, {})
  return startedAt
}

/** An app on loopback that acknowledges every call, unless it does something else. */
async function startApp(
  listener: RequestListener = (request, response) => void request.resume().on('end', () => response.end()),
) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** When its next call arrives. */
    nextCall: () => once(server, 'request').then(() => performance.now()),
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
