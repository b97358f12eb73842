import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { aCaller, testSigner } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type CallShares, InternalCalls } from './internal-calls.ts'

const SLOTS = { slots: 4, share: 1, most: 3, waiting: 2, waitMs: 5_000 }

/** Calls to a service, and its answers that are open. */
async function callsOf(differences: Partial<CallShares> = {}) {
  const service = await startReceiver()
  const open = new Map<string, ServerResponse>()
  service.answerWith((response, { path }) => void open.set(path, response))
  const refuse = (why: string) => new Error(`too many of ${why}`)
  const limits = { slots: SLOTS, refuse, deadlineMs: 30_000, ...differences }
  const calls = new InternalCalls('catalog', service.url, testSigner(), limits)
  whenDone(() => calls.stop())
  const send = (workspaceId: string, name: string) =>
    calls
      .send({
        ...{ caller: { ...aCaller(), workspaceId }, method: 'GET', path: `/internal/${name}` },
        answer: z.object({ name: z.string() }),
      })
      .catch((error: Error & { code?: unknown }) => error.code ?? error.message)
  const answer = (name: string) => open.get(`/internal/${name}`)?.end(JSON.stringify({ name }))
  const arrives = (name: string) => eventually(`${name} arrives`, () => open.has(`/internal/${name}`))
  return { send, answer, arrives, open }
}

test('an owner with many calls leaves a slot to another one, and what finds no place is refused and not sent', async () => {
  const { send, answer, arrives, open } = await callsOf()
  const [busy, other] = [randomUUID(), randomUUID()]
  const calls = ['1', '2', '3', '4', '5'].map((name) => send(busy, name))
  expect(await send(busy, '6')).toBe('too many of owner')
  const mine = send(other, 'mine')
  // Each has a connection of its own, and comes when it comes.
  for (const name of ['1', '2', '3', 'mine']) await arrives(name)
  expect([...open.keys()].toSorted()).toEqual(['1', '2', '3', 'mine'].map((name) => `/internal/${name}`))
  answer('mine')
  expect(await mine).toEqual({ name: 'mine' })
  for (const name of ['1', '2', '3', '4', '5']) await arrives(name).then(() => answer(name))
  expect(await Promise.all(calls)).toHaveLength(5)
})

test('a call ends by its deadline, also while its answer comes piece by piece, and gives its slot back', async () => {
  const { send, answer, arrives, open } = await callsOf({
    ...{ slots: { ...SLOTS, slots: 1, most: 1 }, deadlineMs: 3000 },
  })
  const owner = randomUUID()
  const slow = send(owner, 'slow')
  await arrives('slow')
  const dripping = setInterval(() => open.get('/internal/slow')?.write(' '), 20)
  whenDone(() => clearInterval(dripping))
  expect(await slow).toBe('service_unavailable')
  const next = send(owner, 'next')
  await arrives('next')
  answer('next')
  expect(await next).toEqual({ name: 'next' })
})

test('calls count as answered below 500, else as failed, also the one without an answer by its deadline', async () => {
  const counted = async (outcome: string) => {
    const line = new RegExp(`^service_calls_total\\{upstream="catalog",outcome="${outcome}"\\} (\\d+)$`, 'm')
    return Number(line.exec(await metricsText())?.[1] ?? 0)
  }
  const before = { answered: await counted('answered'), failed: await counted('failed') }
  const { send, answer, arrives, open } = await callsOf({ deadlineMs: 3000 })
  expect(await send(randomUUID(), 'none')).toBe('service_unavailable')
  const found = send(randomUUID(), 'found')
  await arrives('found')
  answer('found')
  await found
  const refused = send(randomUUID(), 'refused')
  await arrives('refused')
  open.get('/internal/refused')?.writeHead(500).end('{}')
  expect(await refused).toBe('service_unavailable')
  expect(await counted('answered')).toBe(before.answered + 1)
  expect(await counted('failed')).toBe(before.failed + 2)
})
