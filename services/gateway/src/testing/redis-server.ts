import { existsSync } from 'node:fs'
import { startManagedProcess } from '@backoffice/testing/processes/managed-process.ts'
import { freePort, isListening } from '@backoffice/testing/processes/ports.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'

const PROGRAMS = ['valkey-server', 'redis-server']
const FOLDERS = (process.env.PATH ?? '').split(':')

interface RedisServerOptions {
  readonly password?: string
  /** Files with a certificate and its key; with them it takes TLS connections alone. */
  readonly tls?: { readonly cert: string; readonly key: string }
}

/** Starts a Valkey or Redis server of the calling test's own. It keeps nothing on disk: a kill empties it. */
export async function redisServer({ password, tls }: RedisServerOptions = {}) {
  const program = PROGRAMS.find((name) => FOLDERS.some((folder) => existsSync(`${folder}/${name}`)))
  if (program === undefined) throw new Error('no valkey-server or redis-server on PATH: apt-get install redis-server')
  const port = await freePort()
  const settings = [
    ...(tls === undefined
      ? ['--port', String(port)]
      : ['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no']),
    ...(tls === undefined ? [] : ['--tls-cert-file', tls.cert, '--tls-key-file', tls.key]),
    ...(password === undefined ? [] : ['--requirepass', password]),
  ]
  const server = await startManagedProcess({
    command: {
      name: program,
      file: program,
      args: ['--bind', '127.0.0.1', '--save', '', ...settings],
      output: () => undefined,
    },
    isReady: () => isListening(port),
  })
  whenDone(server.kill)
  return {
    url: `${tls === undefined ? 'redis' : 'rediss'}://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`,
    /** kill -9: its memory is lost. */
    kill: server.kill,
    /** Starts it again, with an empty memory. */
    start: server.start,
    /** SIGSTOP: connections stay open, and nothing is answered. */
    hang: () => server.signal('SIGSTOP'),
    goOn: () => server.signal('SIGCONT'),
  }
}
