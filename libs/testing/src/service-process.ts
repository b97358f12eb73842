import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '@backoffice/local/ports.ts'
import { tokenKey } from './caller.ts'
import { eventually } from './eventually.ts'
import { whenDone } from './when-done.ts'

export type ServiceProcess = Awaited<ReturnType<typeof startServiceProcess>>

/** Starts a service's process as it is deployed, with these settings. It is killed when the test or the file is done. */
export async function startServiceProcess(service: string, settings: Readonly<Record<string, string>>) {
  const [port, opsPort] = [await freePort(), await freePort()]
  const main = fileURLToPath(new URL(`../../../services/${service}/src/main.ts`, import.meta.url))
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: String(port),
      OPS_PORT: String(opsPort),
      INTERNAL_TOKEN_PUBLIC_KEY: tokenKey,
      ...settings,
    },
  })
  const exited = once(child, 'exit')
  whenDone(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const isReady = () =>
    fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  return {
    url: `http://127.0.0.1:${port}`,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    pid: child.pid ?? 0,
    ready: () => eventually(`${service} is ready`, isReady),
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

export { freePort }
