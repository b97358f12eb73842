import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { schemaOf } from '@backoffice/contracts/services.ts'
import { expect, test } from 'vitest'
import { LARGEST_ANSWERS } from './testing/largest-rows.ts'
import { startStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

/** More than the services answer at once for one workspace. */
const ANSWERS = 4

const stack = await startStack({ LOG_LEVEL: 'error' })
const description = stack.description()

type Workspace = Awaited<ReturnType<typeof newWorkspace>>

/** The memory that the manifest gives a service, in bytes. */
function memoryLimit(service: string): number {
  const limitIn = (folder: string) =>
    /limits:\n +memory: (\d+)Mi/.exec(
      readFileSync(join(import.meta.dirname, '../k8s/base', folder, 'deployment.yaml'), 'utf8'),
    )?.[1]
  return Number(limitIn(service) ?? limitIn('every-service')) * 1024 * 1024
}

const pidOf = (service: string) => description.services[service]?.pid ?? 0
/** The peak of a process's resident memory since `forgetPeak`, in bytes. */
const peakOf = (service: string) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pidOf(service)}/status`, 'utf8'))?.[1]) * 1024
const forgetPeak = (service: string) => writeFileSync(`/proc/${pidOf(service)}/clear_refs`, '5')

/** Asks until the answer is no refusal that says when to come back. Resolves with the answer's bytes. */
async function largeAnswer({ key }: Workspace, path: string): Promise<Buffer> {
  for (;;) {
    const answer = await fetch(new URL(path, description.gateway), { headers: { authorization: `Bearer ${key}` } })
    const body = Buffer.from(await answer.arrayBuffer())
    if (answer.status === 200) return body
    if (answer.headers.get('retry-after') === null) throw new Error(`${answer.status} ${body}`)
    await pause(1000)
  }
}

test.each(LARGEST_ANSWERS)(
  '$service sends $what many times at once within its memory, and answers others meanwhile (OP-192)',
  async ({ service, prepare, small }) => {
    const [one, other] = [await newWorkspace(description), await newWorkspace(description)]
    const { path, bytes, items } = await stack.sql.begin(async (tx) => {
      await tx`select set_config('search_path', ${schemaOf(service)}, true)`
      return prepare(tx, one.id)
    })
    for (const name of [service, 'gateway']) forgetPeak(name)
    let isOver = false
    const answers = Promise.all(Array.from({ length: ANSWERS }, () => largeAnswer(one, path))).finally(() => {
      isOver = true
    })
    let slowest = 0
    do {
      const askedAt = performance.now()
      expect((await other.api('GET', small)).status).toBe(200)
      slowest = Math.max(slowest, performance.now() - askedAt)
      await pause(50)
    } while (!isOver)
    const arrived = await answers
    for (const answer of arrived) expect(answer.length).toBeGreaterThan(bytes)
    if (items !== undefined) expect(JSON.parse(String(arrived[0])).items).toHaveLength(items)
    for (const name of [service, 'gateway']) {
      const peak = peakOf(name)
      console.log(
        `${name}: ${Math.round(peak / 1e6)} MB at the peak, ${Math.round(memoryLimit(name) / 1e6)} MB are the limit; slowest ${Math.round(slowest)} ms`,
      )
      expect(peak).toBeLessThan(memoryLimit(name))
    }
  },
)
