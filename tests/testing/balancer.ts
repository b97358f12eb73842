import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { startManagedProcess } from '@backoffice/testing/processes/managed-process.ts'
import { isListening } from '@backoffice/testing/processes/ports.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'

/** Where a replica takes connections and is asked whether it is ready. */
export interface Place {
  readonly port: number
  readonly opsPort: number
}

/** A service behind the balancer. */
interface BalancedService {
  readonly name: string
  /** Where the balancer takes connections for it. */
  readonly port: number
  /** Of its replicas; some may be free. */
  readonly places: readonly Place[]
}

/** A replica without an answer for so long is not ready: a busy machine must not take all of them out. */
const ANSWER_WITHIN = '10s'

/**
 * Starts HAProxy (Debian's package of that name) before the replicas of services, like a Kubernetes Service before its
 * pods. It gives each new connection to one of the ready replicas, keeps open connections, and repeats nothing.
 * It asks each replica every `askEvery` whether it is ready. `onLine` gets a line for each change of a replica's state.
 * HAProxy is stopped after the test file.
 */
export async function startBalancer(
  services: readonly BalancedService[],
  askEvery: string,
  onLine: (line: string) => void,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-balancer-'))
  whenDone(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'haproxy.cfg')
  writeFileSync(file, configuration(services, askEvery))
  const balancer = await startManagedProcess({
    command: {
      name: 'HAProxy (apt-get install haproxy)',
      file: 'haproxy',
      args: ['-db', '-f', file],
      env: { ...process.env, PATH: [process.env.PATH, '/usr/sbin'].join(delimiter) },
      output: onLine,
    },
    isReady: async () => (await Promise.all(services.map(({ port }) => isListening(port)))).every((is) => is),
  })
  whenDone(() => balancer.stop())
}

const configuration = (services: readonly BalancedService[], askEvery: string): string => `global
  maxconn 4000
defaults
  mode tcp
  balance roundrobin
  retries 0
  timeout connect 5s
  timeout check ${ANSWER_WITHIN}
  timeout client 1h
  timeout server 1h
  default-server check inter ${askEvery} fall 1 rise 1
${services.map(section).join('')}`

const section = ({ name, port, places }: BalancedService): string => `listen ${name}
  bind 127.0.0.1:${port}
  option httpchk GET /readyz
${places.map((place, index) => `  server ${name}-${index} 127.0.0.1:${place.port} port ${place.opsPort}\n`).join('')}`
