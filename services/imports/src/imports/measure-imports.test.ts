import { createLogger } from '@backoffice/runtime/logger.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { expect, it } from 'vitest'
import { storedImports } from '../testing/stored-imports.ts'
import { measureImports } from './measure-imports.ts'

const { add, worker } = await storedImports()
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)
const addWaiting = (minutes: number, workspaceId?: string) =>
  add({
    batches: 0,
    columns: { status: 'UPLOADED', claim: null, started_at: null, ends_at_batch: null, updated_at: ago(minutes) },
    ...(workspaceId !== undefined && { workspaceId }),
  })

async function idleMinutes(stage: string): Promise<number> {
  const measuring = measureImports(worker, createLogger('test', 'silent'))
  await measuring.start?.()
  await measuring.stop?.()
  const line = new RegExp(`^imports_longest_idle_seconds\\{stage="${stage}"\\} (\\S+)$`, 'm')
  return Math.round(Number(line.exec(await metricsText())?.[1]) / 60)
}

it('an import waits idly for validation when no import of its workspace changes', async () => {
  const { workspaceId } = await addWaiting(60)
  await addWaiting(5, workspaceId)
  expect(await idleMinutes('validation')).toBe(5)
  await addWaiting(30)
  expect(await idleMinutes('validation')).toBe(30)
})

it('imports that are applied are idle when none of their workspace changes: one waits for those before it', async () => {
  const { workspaceId } = await add({ columns: { updated_at: ago(5) } })
  await add({ workspaceId, columns: { updated_at: ago(60) } })
  expect(await idleMinutes('applying')).toBe(5)
  await add({ columns: { updated_at: ago(20) } })
  expect(await idleMinutes('applying')).toBe(20)
})
