import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { inject } from 'vitest'
import { TOKEN_SETTINGS } from './caller.ts'
import { eventually } from './eventually.ts'
import { guardChild } from './processes/guard.ts'
import { freePort } from './processes/ports.ts'
import { whenDone } from './when-done.ts'

export type ServiceProcess = Awaited<ReturnType<typeof startServiceProcess>>

/**
 * Starts a service's process as it is deployed, bundled, with these settings. It is killed when the test or the file is
 * done. It runs in a session of its own: Linux gives each session an equal share of the processors, and all workers of
 * the tests together are one session.
 */
export async function startServiceProcess(service: string, settings: Readonly<Record<string, string>>) {
  const [port, opsPort] = [await freePort(), await freePort()]
  const { argsOf, cache } = inject('programs')
  const child = spawn(process.execPath, argsOf[service] ?? [], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: cache,
      HOST: '127.0.0.1',
      PORT: String(port),
      OPS_PORT: String(opsPort),
      ...TOKEN_SETTINGS,
      ...settings,
    },
    detached: true,
  })
  guardChild(child, 'SIGKILL')
  const exited = once(child, 'exit')
  whenDone(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  /** What the readiness probe says. */
  const readiness = () =>
    fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
      async (answer) => (answer.ok ? 'ready' : answer.text()),
      (error: Error) => error.message,
    )
  const ready = async () => {
    let last = ''
    const isReady = async () => {
      if (child.exitCode !== null) throw new Error(`${service} has ended: ${output}`)
      last = await readiness()
      return last === 'ready'
    }
    await eventually(`${service} is ready`, isReady).catch((error: Error) => {
      throw new Error(`${error.message}: ${last}; it printed ${output}`)
    })
  }
  return {
    url: `http://127.0.0.1:${port}`,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    pid: child.pid ?? 0,
    readiness,
    ready,
    exited,
    /** Everything that it has printed. */
    output: () => output,
    /** Sends the signal and resolves with the exit code, once it has ended. */
    end: async (signal: NodeJS.Signals) => {
      child.kill(signal)
      const [code] = await exited
      return code
    },
  }
}
