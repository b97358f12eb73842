import { once } from 'node:events'
import { createServer } from 'node:http'
import { metricsText } from './metrics.ts'

/** Whether a process is ready. */
export interface Readiness {
  /** Names of the components that are not. */
  readonly notReady: readonly string[]
  /** What does not work all the same. */
  readonly remarks: readonly string[]
}

type ReadinessOf = () => Promise<Readiness>

/** Serves `/healthz`, `/readyz` and `/metrics`, away from the API's port. Throws when it cannot listen. */
export async function startOperationsServer(host: string, port: number, readiness: ReadinessOf): Promise<void> {
  const server = createServer(async (request, response) => {
    const [status, text] = await answerTo(request.url, readiness).catch((error: Error) => [500, error.message] as const)
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
  })
  await once(server.listen(port, host), 'listening')
}

async function answerTo(
  url: string | undefined,
  readiness: ReadinessOf,
): Promise<readonly [status: number, text: string]> {
  if (url === '/healthz') return [200, 'alive']
  if (url === '/metrics') return [200, await metricsText()]
  if (url !== '/readyz') return [404, 'try /healthz, /readyz or /metrics']
  const { notReady, remarks } = await readiness()
  if (notReady.length > 0) return [503, `not ready: ${notReady.join(', ')}`]
  return [200, ['ready', ...remarks].join('; ')]
}
