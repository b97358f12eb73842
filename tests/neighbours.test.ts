import { setTimeout as pause } from 'node:timers/promises'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { ATTACKS } from './testing/attacks/attacks.ts'
import { newNeighbour } from './testing/attacks/neighbour.ts'
import { ordinaryTraffic } from './testing/attacks/ordinary-traffic.ts'
import { startAttack } from './testing/attacks/start-attack.ts'
import { startStack } from './testing/stack.ts'

const ATTACK_MS = 10_000
const CALLS = 200
const WEBHOOKS = 50
/** Half of an attack: what takes longer has waited for its end. */
const WITHIN_MS = ATTACK_MS / 2
const RECOVERY_MS = 120_000

const stack = await startStack()

it.each(Object.keys(ATTACKS))('serves a workspace while another %s', async (name) => {
  const neighbour = await newNeighbour(stack.description())
  whenDone(neighbour.stop)
  await neighbour.untilServed(RECOVERY_MS)
  const end = await startAttack(name, stack.description())
  const [seen] = await Promise.all([ordinaryTraffic(neighbour, CALLS), pause(ATTACK_MS)]).finally(end)

  const { refused, calls, webhooks, projections } = seen
  const slowest = (times: readonly number[]) => Math.round(Math.max(0, ...times))
  console.log(
    `${name}: ${refused.length} refused; slowest call ${slowest(calls)} ms, webhook ${slowest(webhooks)} ms, ` +
      `product in its collection ${slowest(projections)} ms`,
  )
  expect(refused.slice(0, 3)).toEqual([])
  expect(webhooks).toHaveLength(WEBHOOKS)
  for (const times of [calls, webhooks]) expect(slowest(times)).toBeLessThan(WITHIN_MS)
  // Products come to collections in the order of their partition (decision 027): all of them, but perhaps later.
  expect(slowest(projections)).toBeLessThan(Number.POSITIVE_INFINITY)
})
