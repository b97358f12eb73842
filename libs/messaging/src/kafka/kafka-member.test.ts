import { getEventListeners } from 'node:events'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test, vi } from 'vitest'
import { connectKafka } from './kafka.ts'

test('a member that cannot join keeps nothing of its former tries', async () => {
  const warn = vi.fn()
  const logger = Object.assign(createLogger('test', 'silent'), { warn })
  const listening = vi.spyOn(EventTarget.prototype, 'addEventListener')
  const kafka = connectKafka({ brokers: ['127.0.0.1:1'], clientId: 'test', logger })
  const member = kafka.consume({ group: 'away', topics: ['away'], concurrency: 1, onBatch: async () => undefined })
  const ends = () => warn.mock.calls.filter(([, message]) => message === 'group member ended, joining again').length
  await eventually('two tries', () => ends() === 2)
  const signals = new Set(listening.mock.contexts.filter((target) => target instanceof AbortSignal))
  // One waits for the end of the pause before the next try.
  const kept = [...signals].map((signal) => getEventListeners(signal, 'abort').length)
  await member.stop()
  expect(Math.max(...kept)).toBeLessThanOrEqual(1)
})
