import { createServer, type Server } from 'node:http'

/** What the operations port tells: is the process ready, and its metrics. */
export interface OperationsView {
  /** Names of the parts that are not ready; empty means ready. */
  notReady(): Promise<string[]>
  metrics(): Promise<string>
}

/** Serves `/healthz`, `/readyz` and `/metrics`, away from the API's port. */
export function startOperationsServer(host: string, port: number, view: OperationsView): Promise<Server> {
  const server = createServer(async (request, response) => {
    const answer = await answerTo(request.url ?? '', view).catch((error: Error) => ({
      status: 500,
      text: error.message,
    }))
    response.writeHead(answer.status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${answer.text}\n`)
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(server))
  })
}

async function answerTo(url: string, view: OperationsView): Promise<{ status: number; text: string }> {
  if (url === '/healthz') return { status: 200, text: 'alive' }
  if (url === '/metrics') return { status: 200, text: await view.metrics() }
  if (url !== '/readyz') return { status: 404, text: 'try /healthz, /readyz or /metrics' }
  const notReady = await view.notReady()
  return notReady.length === 0
    ? { status: 200, text: 'ready' }
    : { status: 503, text: `not ready: ${notReady.join(', ')}` }
}
