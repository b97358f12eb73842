import { once } from 'node:events'
import { createServer } from 'node:http'
import { metricsText } from './metrics.ts'

/** Names of the components that are not ready. */
type NotReady = () => Promise<string[]>

/** Serves `/healthz`, `/readyz` and `/metrics`, away from the API's port. Throws when it cannot listen. */
export async function startOperationsServer(host: string, port: number, notReady: NotReady): Promise<void> {
  const server = createServer(async (request, response) => {
    const [status, text] = await answerTo(request.url, notReady).catch((error: Error) => [500, error.message] as const)
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
  })
  await once(server.listen(port, host), 'listening')
}

async function answerTo(url: string | undefined, notReady: NotReady): Promise<readonly [status: number, text: string]> {
  if (url === '/healthz') return [200, 'alive']
  if (url === '/metrics') return [200, await metricsText()]
  if (url !== '/readyz') return [404, 'try /healthz, /readyz or /metrics']
  const names = await notReady()
  return names.length === 0 ? [200, 'ready'] : [503, `not ready: ${names.join(', ')}`]
}
