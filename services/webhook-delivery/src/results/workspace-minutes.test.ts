import { metricsText } from '@backoffice/runtime/metrics.ts'
import { expect, test } from 'vitest'
import { workspaceMinutes } from './workspace-minutes.ts'

const response = { status: 500, headers: {}, body: Buffer.alloc(0), isTruncated: false }

async function counts() {
  const text = await metricsText()
  const of = (outcome: string) =>
    Number(new RegExp(`^webhook_workspace_minutes_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1])
  return [of('answered'), of('unanswered')]
}

test('a workspace counts once in a minute for each outcome; an answer after five seconds counts as none', async () => {
  const [answered = 0, unanswered = 0] = await counts()
  const note = workspaceMinutes()
  for (const now of [0, 1, 60_000]) note('busy', { response, durationMs: 10 }, now)
  note('slow', { response, durationMs: 5000 }, 60_001)
  for (const now of [60_002, 60_003]) note('busy', { response: null, durationMs: 10 }, now)
  expect(await counts()).toEqual([answered + 2, unanswered + 2])
})
