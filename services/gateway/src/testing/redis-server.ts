import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { eventually } from '@backoffice/testing/eventually.ts'
import { guardChild } from '@backoffice/testing/processes/guard.ts'
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
  const port = String(await freePort())
  const settings = [
    ...(tls === undefined ? ['--port', port] : ['--port', '0', '--tls-port', port, '--tls-auth-clients', 'no']),
    ...(tls === undefined ? [] : ['--tls-cert-file', tls.cert, '--tls-key-file', tls.key]),
    ...(password === undefined ? [] : ['--requirepass', password]),
  ]
  let child: ChildProcess | undefined

  async function start() {
    child = spawn(program as string, ['--bind', '127.0.0.1', '--save', '', ...settings], { stdio: 'ignore' })
    guardChild(child, 'SIGKILL')
    await eventually(`${program} listens`, () => isListening(Number(port)))
  }
  async function kill() {
    if (child === undefined) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    child = undefined
  }

  await start()
  whenDone(kill)
  return {
    url: `${tls === undefined ? 'redis' : 'rediss'}://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`,
    /** kill -9: its memory is lost. */
    kill,
    /** Starts it again, with an empty memory. */
    start,
    /** SIGSTOP: connections stay open, and nothing is answered. */
    hang: () => child?.kill('SIGSTOP'),
    goOn: () => child?.kill('SIGCONT'),
  }
}
