import { setTimeout as pause } from 'node:timers/promises'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { ATTACKS } from './testing/attacks/attacks.ts'
import { newNeighbour } from './testing/attacks/neighbour.ts'
import { ordinaryTraffic } from './testing/attacks/ordinary-traffic.ts'
import { startAttack } from './testing/attacks/start-attack.ts'
import { sharedStack } from './testing/stack.ts'

const ATTACK_MS = 5_000
const CALLS = 120
const WEBHOOKS = 30
const RECOVERY_MS = 120_000

/** Smaller forms of others; `npm run bench -- neighbours` has them. */
const SMALLER = [
  'previews rules over 4,000 products, 12 at a time',
  'updates a product with 2,048 variants, 8 at a time',
]

const stack = await sharedStack()

// An attack goes on until the other workspace has seen all: what waited for its end would never come. `npm run bench --
// neighbours` says how long calls take.
it.each(Object.keys(ATTACKS).filter((name) => !SMALLER.includes(name)))(
  'serves a workspace while another %s',
  async (name) => {
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
    for (const times of [webhooks, projections]) expect(times.filter(Number.isFinite)).toHaveLength(WEBHOOKS)
  },
)
